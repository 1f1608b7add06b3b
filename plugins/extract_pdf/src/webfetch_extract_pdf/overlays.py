"""What annotations add to a page: text boxes and the values of form fields."""

from __future__ import annotations

import ctypes
from typing import Any

import pypdfium2.raw as raw

MAX_ANNOTATIONS = 2_000
_SHOWING = (raw.FPDF_ANNOT_FREETEXT, raw.FPDF_ANNOT_WIDGET)
_UNSEEN = raw.FPDF_ANNOT_FLAG_HIDDEN | raw.FPDF_ANNOT_FLAG_NOVIEW
_MAX_BYTES = 100_000


def shown(page: Any) -> tuple[int, list[str]]:
    """How many annotations draw text on the page, and the text of those that leave drawing to the viewer."""
    drawn = 0
    notes: list[str] = []
    for index in range(min(raw.FPDFPage_GetAnnotCount(page), MAX_ANNOTATIONS)):
        annotation = raw.FPDFPage_GetAnnot(page, index)
        if not annotation:
            continue
        try:
            if raw.FPDFAnnot_GetSubtype(annotation) not in _SHOWING:
                continue
            if raw.FPDFAnnot_GetFlags(annotation) & _UNSEEN:
                continue
            if raw.FPDFAnnot_HasKey(annotation, b"AP"):
                drawn += 1
            elif text := _value(annotation, b"V") or _value(annotation, b"Contents"):
                name = _value(annotation, b"T")
                notes.append(f"{name}: {text}" if name else text)
        finally:
            raw.FPDFPage_CloseAnnot(annotation)
    return drawn, notes


def _value(annotation: Any, key: bytes) -> str:
    length = raw.FPDFAnnot_GetStringValue(annotation, key, None, 0)
    if not 2 < length <= _MAX_BYTES:
        return ""
    buffer = (ctypes.c_ushort * (length // 2 + 1))()
    raw.FPDFAnnot_GetStringValue(annotation, key, buffer, length)
    return bytes(buffer)[: length - 2].decode("utf-16-le", "replace").strip()
