"""Pages through PDFium: fast, and the engine of the common path.

PDFium keeps state of its own for the whole process and is not safe in threads, so every call is made
under one lock, however many hosts there are.
"""

from __future__ import annotations

import ctypes
import math
import threading
from collections.abc import Iterator
from itertools import islice
from typing import Any

import pypdfium2.raw as raw

from . import overlays, quick
from .geometry import Matrix, to_view
from .pdfium_values import colour_of, crop_box_of, links_of, matrix_of, subpaths_of
from .records import Area, Box, Char, PageContent, Style
from .ruling import Rulings

LOCK = threading.RLock()
"""Held for every call into PDFium."""

MAX_DEPTH = 12
"""Forms within forms that are followed: real files have two or three, bombs have no end."""
MAX_SEGMENTS = 4_000
"""Segments of one path that are looked at: more is a drawing, not a table."""

_INVISIBLE = (raw.FPDF_TEXTRENDERMODE_INVISIBLE, raw.FPDF_TEXTRENDERMODE_CLIP)
_SOFT_HYPHENS = (0x02, 0xAD, 0xFFFE)


class PdfiumPages:
    """An open file. Use it as a context manager, with the lock held.

    Raises:
        OpenFailed: PDFium does not read it; ``reason`` says why.
    """

    def __init__(self, body: bytes) -> None:
        _init()
        self._body = body  # PDFium reads from it for as long as the file is open
        self._raw = raw.FPDF_LoadMemDocument64(body, len(body), None)
        if not self._raw:
            raise OpenFailed(raw.FPDF_GetLastError())
        self.count: int = raw.FPDF_GetPageCount(self._raw)
        self.protected = raw.FPDF_GetSecurityHandlerRevision(self._raw) >= 0

    def __enter__(self) -> PdfiumPages:
        return self

    def __exit__(self, *_: object) -> None:
        raw.FPDF_CloseDocument(self._raw)

    @property
    def handle(self) -> Any:
        return self._raw

    def read(self, number: int, max_chars: int, max_objects: int) -> PageContent | None:
        """Return page ``number`` (from 0); None when it cannot be loaded."""
        page = raw.FPDF_LoadPage(self._raw, number)
        if not page:
            return None
        try:
            reader = _PageReader(self._raw, page, number, max_chars, max_objects)
            reader.read_drawing()
            drawn, notes = overlays.shown(page)
            if drawn and raw.FPDFPage_Flatten(page, raw.FLAT_NORMALDISPLAY) == raw.FLATTEN_SUCCESS:
                # The text of annotations is the page's from its next loading on. What they paint is not
                # looked at: most of it is highlighting, which hides nothing.
                raw.FPDF_ClosePage(page)
                page = raw.FPDF_LoadPage(self._raw, number)
                if not page:
                    return None
                reader.reload(page)
            reader.read_text()
            reader.content.notes.extend(notes)
            return reader.content
        finally:
            if page:
                raw.FPDF_ClosePage(page)


class OpenFailed(Exception):
    """``code`` is PDFium's: 3 not a PDF or damaged, 4 a password is needed, 5 an unknown security scheme."""

    def __init__(self, code: int) -> None:
        super().__init__(f"PDFium error {code}")
        self.code = code


_ready = False


def _init() -> None:
    global _ready
    if not _ready:
        import pypdfium2  # noqa: F401  (importing it initialises the library once for the process)

        _ready = True


class _PageReader:
    def __init__(self, document: Any, page: Any, number: int, max_chars: int, max_objects: int) -> None:
        self.document, self.page = document, page
        self.max_chars, self.max_objects = max_chars, max_objects
        crop = crop_box_of(page)
        self.view, width, height = to_view(crop, raw.FPDFPage_GetRotation(page))
        self.content = PageContent(number=number, width=width, height=height)
        self.rulings = Rulings()
        self.order: dict[int, int] = {}
        self.fonts: dict[int, tuple[str, bool, bool]] = {}

    def read_drawing(self) -> None:
        """Lines, areas and images, and the order in which everything is painted."""
        self._objects()
        self.content.across, self.content.down = self.rulings.across, self.rulings.down

    def reload(self, page: Any) -> None:
        """Go on with the same page, loaded again: its objects are others, in the same order."""
        self.page = page
        self.order = {
            ctypes.addressof(item.contents): z
            for z, (item, kind, _) in enumerate(islice(self._walk(), self.max_objects))
            if kind == raw.FPDF_PAGEOBJ_TEXT
        }
        self.fonts = {}

    def read_text(self) -> None:
        """Characters and links."""
        text = raw.FPDFText_LoadPage(self.page)
        if text:
            try:
                self._chars(text)
            finally:
                raw.FPDFText_ClosePage(text)
        self.content.links.extend(links_of(self.document, self.page, self.view))

    # ---- what is drawn --------------------------------------------------------------------------------

    def _objects(self) -> None:
        left, top = ctypes.c_float(), ctypes.c_float()
        right, bottom = ctypes.c_float(), ctypes.c_float()
        refs = [ctypes.byref(v) for v in (left, bottom, right, top)]
        for z, (item, kind, matrix) in enumerate(self._walk()):
            if z >= self.max_objects:
                self.content.truncated = True
                return
            if kind == raw.FPDF_PAGEOBJ_TEXT:
                self.order[ctypes.addressof(item.contents)] = z
                self.content.texts += 1
                continue
            if not raw.FPDFPageObj_GetBounds(item, *refs):
                continue
            box = matrix.box(left.value, bottom.value, right.value, top.value)
            if kind == raw.FPDF_PAGEOBJ_IMAGE:
                self.content.images.append(Area(box, None, z))
            elif kind == raw.FPDF_PAGEOBJ_PATH:
                self._path(item, matrix, box, z)

    def _walk(self) -> Iterator[tuple[Any, int, Matrix]]:
        """Every object in the order of painting, forms opened, without recursion."""
        stack = [iter(self._children(self.page, self.view, of_form=False))]
        while stack:
            for item, matrix in stack[-1]:
                kind = raw.FPDFPageObj_GetType(item)
                if kind == raw.FPDF_PAGEOBJ_FORM:
                    if len(stack) <= MAX_DEPTH:
                        stack.append(iter(self._children(item, matrix_of(item).then(matrix), of_form=True)))
                        break
                    continue
                yield item, kind, matrix
            else:
                stack.pop()

    def _children(self, parent: Any, matrix: Matrix, *, of_form: bool) -> Iterator[tuple[Any, Matrix]]:
        count = (raw.FPDFFormObj_CountObjects if of_form else raw.FPDFPage_CountObjects)(parent)
        get = raw.FPDFFormObj_GetObject if of_form else raw.FPDFPage_GetObject
        for index in range(count):
            item = get(parent, index)
            if item:
                yield item, matrix

    def _path(self, item: Any, matrix: Matrix, box: Box, z: int) -> None:
        mode, stroke = ctypes.c_int(), ctypes.c_int()
        if not raw.FPDFPath_GetDrawMode(item, ctypes.byref(mode), ctypes.byref(stroke)):
            return
        filled, stroked = mode.value != raw.FPDF_FILLMODE_NONE, bool(stroke.value)
        if not filled and not stroked:
            return
        count = raw.FPDFPath_CountSegments(item)
        if not 2 <= count <= MAX_SEGMENTS:
            return
        subpaths = subpaths_of(item, count, matrix_of(item).then(matrix))
        colour = colour_of(raw.FPDFPageObj_GetFillColor, item) if filled else None
        for points, closed, straight in subpaths:
            if not straight:
                self.content.shapes += 1
                continue
            if stroked:
                self.rulings.stroke(points, closed)
            area = self.rulings.fill(points) if filled else None
            opaque = colour is not None and colour[1] == 255
            if area and colour and opaque and not raw.FPDFPageObj_HasTransparency(item):
                self.content.fills.append(Area(area, colour[0], z))

    # ---- what is written ------------------------------------------------------------------------------

    def _chars(self, text: Any) -> None:
        count = raw.FPDFText_CountChars(text)
        if count > self.max_chars:
            count, self.content.truncated = self.max_chars, True
        box = raw.FS_RECTF()
        x, y = ctypes.c_double(), ctypes.c_double()
        x_ref, y_ref = ctypes.byref(x), ctypes.byref(y)
        to_box, to_point = self.view.box, self.view.point
        straight, right_by, down_from = self.view[:4] == (1, 0, 0, -1), self.view.e, self.view.f
        unicode_of, object_of, box_of = quick.unicode_of, quick.object_of, quick.loose_box_of
        handle, box_at = quick.handle_of(text), ctypes.addressof(box)
        unmapped: dict[int, bool] = {}
        by_font: dict[str, dict[int, bool]] = {}
        add, last, style, base = self.content.chars.append, 0, Style(10.0), 0.0
        for index in range(count):
            code = unicode_of(handle, index)
            if code == 10 or code == 13 or (code == 32 and raw.FPDFText_IsGenerated(text, index)):
                continue
            address = object_of(handle, index)
            if not address or not box_of(handle, index, box_at):
                continue
            if address != last:
                last = address
                style = self._style(text, index, raw.FPDFText_GetTextObject(text, index), address)
                raw.FPDFText_GetCharOrigin(text, index, x_ref, y_ref)
                at = to_point(x.value, y.value)
                base = at[0] if style.angle in (90, 270) else at[1]
                unmapped = by_font.setdefault(style.font, {})
            if (bad := unmapped.get(code)) is None:
                bad = unmapped[code] = raw.FPDFText_HasUnicodeMapError(text, index) == 1
            if code in _SOFT_HYPHENS:
                code = 0xAD
            if straight:
                add(
                    Char(
                        chr(code), box.left + right_by, down_from - box.top, box.right + right_by,
                        down_from - box.bottom, base, style, bad,
                    )
                )  # fmt: skip
            else:
                add(Char(chr(code), *to_box(box.left, box.bottom, box.right, box.top), base, style, bad))

    def _style(self, text: Any, index: int, item: Any, address: int) -> Style:
        matrix = raw.FS_MATRIX()
        raw.FPDFText_GetMatrix(text, index, ctypes.byref(matrix))
        drawn = Matrix(matrix.a, matrix.b, matrix.c, matrix.d).then(
            Matrix(self.view.a, self.view.b, self.view.c, self.view.d)
        )
        size = raw.FPDFText_GetFontSize(text, index) * math.hypot(drawn.c, drawn.d)
        angle = round(math.degrees(math.atan2(drawn.b, drawn.a))) % 360
        font = raw.FPDFTextObj_GetFont(item)
        name, bold, mono = self._font(font)
        colour = colour_of(raw.FPDFPageObj_GetFillColor, item)
        ghost = raw.FPDFTextObj_GetTextRenderMode(item) in _INVISIBLE or (
            colour is not None and colour[1] == 0
        )
        return Style(
            abs(size),
            angle,
            bold,
            mono,
            colour[0] if colour else None,
            self.order.get(address, -1),
            ghost,
            name,
        )

    def _font(self, font: Any) -> tuple[str, bool, bool]:
        if not font:
            return "", False, False
        address = ctypes.addressof(font.contents)
        if address in self.fonts:
            return self.fonts[address]
        buffer = ctypes.create_string_buffer(128)
        raw.FPDFFont_GetBaseFontName(font, buffer, 128)
        name = buffer.value.decode("utf-8", "replace")
        flags = max(raw.FPDFFont_GetFlags(font), 0)
        weight = raw.FPDFFont_GetWeight(font)
        lower = name.lower()
        bold = weight >= 600 or any(word in lower for word in ("bold", "black", "heavy", "-bd", "demi"))
        mono = bool(flags & 1) or any(
            word in lower for word in ("mono", "courier", "consol", "typewriter", "cmtt")
        )
        self.fonts[address] = f"{name}@{address:x}", bold, mono
        return self.fonts[address]
