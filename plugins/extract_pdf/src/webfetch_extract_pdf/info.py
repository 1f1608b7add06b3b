"""What a file says of itself through PDFium: its information dictionary and its outline."""

from __future__ import annotations

import ctypes
from typing import Any

import pypdfium2.raw as raw

from .shape import key_of

MAX_BOOKMARKS = 2_000
_FIELDS = ("Title", "Author", "Subject", "Keywords", "CreationDate", "ModDate")


def information(document: Any) -> dict[str, str]:
    """The information dictionary, by the names of its keys."""
    found = {}
    for name in _FIELDS:
        length = raw.FPDF_GetMetaText(document, name.encode(), None, 0)
        if not 2 < length <= 20_000:
            continue
        buffer = ctypes.create_string_buffer(length)
        raw.FPDF_GetMetaText(document, name.encode(), buffer, length)
        found[name] = buffer.raw[: length - 2].decode("utf-16-le", "replace")
    return found


def outline(document: Any) -> dict[str, int]:
    """The bookmarks' titles (see ``key_of``) and their depth from 1; a title that comes twice counts once."""
    found: dict[str, int] = {}
    seen: set[int] = set()
    stack = [(raw.FPDFBookmark_GetFirstChild(document, None), 1)]
    while stack and len(seen) < MAX_BOOKMARKS:
        bookmark, depth = stack.pop()
        if not bookmark:
            continue
        address = ctypes.addressof(bookmark.contents)
        if address in seen:  # a ring
            continue
        seen.add(address)
        if key := key_of(_title(bookmark)):
            found.setdefault(key, min(depth, 6))
        stack.append((raw.FPDFBookmark_GetNextSibling(document, bookmark), depth))
        stack.append((raw.FPDFBookmark_GetFirstChild(document, bookmark), depth + 1))
    return found


def _title(bookmark: Any) -> str:
    length = raw.FPDFBookmark_GetTitle(bookmark, None, 0)
    if not 2 < length <= 2_000:
        return ""
    buffer = ctypes.create_string_buffer(length)
    raw.FPDFBookmark_GetTitle(bookmark, buffer, length)
    return buffer.raw[: length - 2].decode("utf-16-le", "replace")
