"""Values of PDFium's objects: boxes, matrices, colours, paths and links."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import pypdfium2.raw as raw

from .geometry import Matrix
from .records import Box, Link

MAX_PAGE_SIDE = 20_000.0
"""Points; no page of text is larger. Beyond, coordinates are not to be trusted."""
MAX_LINKS = 1_000
"""Links of one page that are looked at."""

_LETTER = Box(0.0, 0.0, 612.0, 792.0)
Points = list[tuple[float, float]]


def crop_box_of(page: Any) -> Box:
    """What of the page is shown, in its own coordinates; Letter size where the file says nonsense."""
    values = [ctypes.c_float() for _ in range(4)]
    refs = [ctypes.byref(value) for value in values]
    for get in (raw.FPDFPage_GetCropBox, raw.FPDFPage_GetMediaBox):
        if get(page, *refs):
            left, bottom, right, top = (value.value for value in values)
            box = Box(min(left, right), min(bottom, top), max(left, right), max(bottom, top))
            if 1 <= box.width <= MAX_PAGE_SIDE and 1 <= box.height <= MAX_PAGE_SIDE:
                return box
    return _LETTER


def matrix_of(item: Any) -> Matrix:
    """How an object is placed on what it belongs to."""
    found = raw.FS_MATRIX()
    if not raw.FPDFPageObj_GetMatrix(item, ctypes.byref(found)):
        return Matrix()
    return Matrix(found.a, found.b, found.c, found.d, found.e, found.f)


def colour_of(get: Any, item: Any) -> tuple[tuple[int, int, int], int] | None:
    """Red, green and blue, and the opacity (0-255); None for a pattern."""
    parts = [ctypes.c_uint() for _ in range(4)]
    if not get(item, *(ctypes.byref(part) for part in parts)):
        return None
    red, green, blue, alpha = (part.value for part in parts)
    return (red, green, blue), alpha


def subpaths_of(item: Any, count: int, matrix: Matrix) -> list[tuple[Points, bool, bool]]:
    """The points of each subpath, whether it is closed, and whether it has straight segments only."""
    found: list[tuple[Points, bool, bool]] = []
    x, y = ctypes.c_float(), ctypes.c_float()
    points: Points = []
    closed, straight = False, True
    for index in range(count):
        segment = raw.FPDFPath_GetPathSegment(item, index)
        if not segment or not raw.FPDFPathSegment_GetPoint(segment, ctypes.byref(x), ctypes.byref(y)):
            continue
        kind = raw.FPDFPathSegment_GetType(segment)
        if kind == raw.FPDF_SEGMENT_MOVETO:
            if len(points) > 1:
                found.append((points, closed, straight))
            points, closed, straight = [], False, True
        elif kind == raw.FPDF_SEGMENT_BEZIERTO:
            straight = False
        points.append(matrix.point(x.value, y.value))
        closed = closed or bool(raw.FPDFPathSegment_GetClose(segment))
    if len(points) > 1:
        found.append((points, closed, straight))
    return found


def links_of(document: Any, page: Any, view: Matrix) -> Iterator[Link]:
    """The links of a page that lead to a URL."""
    position, link = ctypes.c_int(0), raw.FPDF_LINK()
    rect = raw.FS_RECTF()
    for _ in range(MAX_LINKS):
        if not raw.FPDFLink_Enumerate(page, ctypes.byref(position), ctypes.byref(link)):
            return
        action = raw.FPDFLink_GetAction(link)
        if not action or raw.FPDFAction_GetType(action) != raw.PDFACTION_URI:
            continue
        length = raw.FPDFAction_GetURIPath(document, action, None, 0)
        if not 1 < length <= 4_096:
            continue
        buffer = ctypes.create_string_buffer(length)
        raw.FPDFAction_GetURIPath(document, action, buffer, length)
        if raw.FPDFLink_GetAnnotRect(link, ctypes.byref(rect)):
            box = view.box(rect.left, rect.bottom, rect.right, rect.top)
            yield Link(box, buffer.value.decode("utf-8", "replace").strip())
