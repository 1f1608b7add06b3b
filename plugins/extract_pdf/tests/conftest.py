"""What the tests of this plugin share: PDF files written by hand, and the extractor as a function."""

from __future__ import annotations

import hashlib
import time
import zlib
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from webfetch_extract_pdf.extractor import PdfExtractor
from webfetch_extract_pdf.settings import ExtractPdfSettings

from webfetch_core.api import Document, Page

WIDTH, HEIGHT = 595, 842
_PAD = bytes.fromhex("28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A")


class Writer:
    """Writes a PDF file. Positions are points from the top left corner.

    Fonts: ``F1`` Helvetica, ``F2`` Helvetica-Bold, ``F3`` Courier, ``FU`` two bytes a character in UTF-16 and an em
    wide, ``FV`` the same from top to bottom; ``fonts`` adds others by their dictionaries.
    """  # noqa: E501

    def __init__(self, **fonts: str) -> None:
        self.objects: list[bytes] = []
        self.pages: list[int] = []
        self.catalog = ""
        self.info = ""
        identity = self.stream(_cmap([(0, 0xFFFF, 0)]))
        unicode_font = (
            "<< /Type /Font /Subtype /Type0 /BaseFont /Any /Encoding /{way} /ToUnicode {map} 0 R "
            "/DescendantFonts [<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Any /DW 1000 "
            "/CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> >>] >>"
        )
        self.fonts: dict[str, str] = {
            **{
                name: f"<< /Type /Font /Subtype /Type1 /BaseFont /{base} /Encoding /WinAnsiEncoding >>"
                for name, base in (("F1", "Helvetica"), ("F2", "Helvetica-Bold"), ("F3", "Courier"))
            },
            "FU": unicode_font.format(way="Identity-H", map=identity),
            "FV": unicode_font.format(way="Identity-V", map=identity),
            **fonts,
        }

    def add(self, body: str | bytes) -> int:
        """Add an object; returns its number."""
        self.objects.append(body.encode("latin-1") if isinstance(body, str) else body)
        return len(self.objects)

    def stream(self, data: bytes, entries: str = "", *, packed: int = 0) -> int:
        """Add a stream, deflated ``packed`` times."""
        for _ in range(packed):
            data = zlib.compress(data, 9)
        filters = "/Filter [" + "/FlateDecode " * packed + "]" if packed else ""
        head = f"<< /Length {len(data)} {filters} {entries} >>\nstream\n".encode()
        return self.add(head + data + b"\nendstream")

    def page(
        self, *content: str, rotate: int = 0, extra: str = "", resources: str = "", width: int = WIDTH
    ) -> Writer:
        """Add a page with these drawing operations."""
        body = self.stream("\n".join(content).encode("latin-1"))
        fonts = " ".join(f"/{name} {font}" for name, font in self.fonts.items())
        self.pages.append(
            self.add(
                f"<< /Type /Page /Parent PAGES /MediaBox [0 0 {width} {HEIGHT}] /Rotate {rotate} "
                f"/Contents {body} 0 R /Resources << /Font << {fonts} >> {resources} >> {extra} >>"
            )
        )
        return self

    def build(self, *, user: str | None = None, owner: str = "owner") -> bytes:
        """The file; ``user`` encrypts it (RC4, 40 bits) with this password, which may be empty."""
        tree = self.add(
            f"<< /Type /Pages /Count {len(self.pages)} /Kids [{' '.join(f'{n} 0 R' for n in self.pages)}] >>"
        )
        root = self.add(f"<< /Type /Catalog /Pages {tree} 0 R {self.catalog} >>")
        trailer = f"/Root {root} 0 R"
        if self.info:
            trailer += f" /Info {self.add(f'<< {self.info} >>')} 0 R"
        objects = [body.replace(b"PAGES", f"{tree} 0 R".encode()) for body in self.objects]
        if user is not None:
            objects, entries = _encrypted(objects, user, owner)
            trailer += entries
        out = bytearray(b"%PDF-1.4\n")
        places = []
        for number, body in enumerate(objects, start=1):
            places.append(len(out))
            out += f"{number} 0 obj\n".encode() + body + b"\nendobj\n"
        start = len(out)
        out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
        out += b"".join(f"{place:010d} 00000 n \n".encode() for place in places)
        out += f"trailer\n<< /Size {len(objects) + 1} {trailer} >>\nstartxref\n{start}\n%%EOF\n".encode()
        return bytes(out)


def _cmap(ranges: list[tuple[int, int, int]], width: int = 4) -> bytes:
    """Codes of ``width`` hexadecimal digits to characters."""
    rows = "".join(f"<{a:0{width}X}> <{b:0{width}X}> <{to:04X}>\n" for a, b, to in ranges)
    return (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def /CMapType 2 def\n"
        f"1 begincodespacerange <{'0' * width}> <{'F' * width}> endcodespacerange\n"
        f"{len(ranges)} beginbfrange\n{rows}endbfrange endcmap end end"
    ).encode()


def rc4(key: bytes, data: bytes) -> bytes:
    state = list(range(256))
    j = 0
    for i in range(256):
        j = (j + state[i] + key[i % len(key)]) % 256
        state[i], state[j] = state[j], state[i]
    out = bytearray()
    i = j = 0
    for byte in data:
        i = (i + 1) % 256
        j = (j + state[i]) % 256
        state[i], state[j] = state[j], state[i]
        out.append(byte ^ state[(state[i] + state[j]) % 256])
    return bytes(out)


def _encrypted(objects: list[bytes], user: str, owner: str) -> tuple[list[bytes], str]:
    """The standard security handler, revision 2. Strings outside streams are none in these files' pages."""

    def padded(password: str) -> bytes:
        return (password.encode() + _PAD)[:32]

    permissions = -44
    owner_entry = rc4(hashlib.md5(padded(owner)).digest()[:5], padded(user))
    seed = padded(user) + owner_entry + permissions.to_bytes(4, "little", signed=True) + b"0123456789abcdef"
    key = hashlib.md5(seed).digest()[:5]
    locked = []
    for number, body in enumerate(objects, start=1):
        head, mark, rest = body.partition(b"stream\n")
        if mark:
            data = rest.removesuffix(b"\nendstream")
            own = hashlib.md5(key + number.to_bytes(3, "little") + b"\0\0").digest()[:10]
            body = head + mark + rc4(own, data) + b"\nendstream"  # noqa: PLW2901
        locked.append(body)
    entries = (
        f" /Encrypt << /Filter /Standard /V 1 /R 2 /P {permissions} /O <{owner_entry.hex()}> "
        f"/U <{rc4(key, _PAD).hex()}> >> /ID [<{b'0123456789abcdef'.hex()}> <{b'0123456789abcdef'.hex()}>]"
    )
    return locked, entries


def show(x: float, y: float, text: str, size: float = 10, font: str = "F1", **more: Any) -> str:
    """Text at a place. ``more``: ``mode`` (rendering), ``colour`` (grey), ``matrix`` (a b c d), ``spread`` (between
    characters), ``before`` (operations first)."""  # noqa: E501
    if font in ("FU", "FV"):
        shown = f"<{text.encode('utf-16-be').hex()}>"
    else:
        escaped = text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
        shown = f"({escaped.encode('cp1252', 'surrogateescape').decode('latin-1')})"
    a, b, c, d = more.get("matrix", (1, 0, 0, 1))
    return (
        f"BT {more.get('colour', 0)} g {more.get('mode', 0)} Tr {more.get('spread', 0)} Tc "
        f"/{font} {size} Tf {a} {b} {c} {d} {x} {HEIGHT - y} Tm {shown} Tj ET"
    )


def lines(x: float, y: float, texts: list[str], size: float = 10, lead: float = 12, font: str = "F1") -> str:
    """Lines of text one under the other."""
    return "\n".join(show(x, y + i * lead, text, size, font) for i, text in enumerate(texts))


def box(x: float, y: float, width: float, height: float, grey: float = 0, *, stroke: bool = False) -> str:
    """A filled or a stroked rectangle."""
    paint = f"{grey} G 1 w" if stroke else f"{grey} g"
    return f"{paint} {x} {HEIGHT - y - height} {width} {height} re {'S' if stroke else 'f'}"


def table(
    x: float, y: float, widths: list[float], rows: list[list[str]], *, ruled: bool, height: float = 16
) -> str:
    """A table; empty cells stay empty."""
    parts = []
    for r, row in enumerate(rows):
        left = x
        for text, width in zip(row, widths, strict=True):
            if text:
                parts.append(show(left + 3, y + r * height + 11, text, 9))
            if ruled:
                parts.append(box(left, y + r * height, width, height, stroke=True))
            left += width
    return "\n".join(parts)


class Kit:
    """The writer and its drawing operations, for tests; ``read`` extracts."""

    Writer = Writer
    show = staticmethod(show)
    lines = staticmethod(lines)
    box = staticmethod(box)
    table = staticmethod(table)
    cmap = staticmethod(_cmap)

    @staticmethod
    def extractor(clock: Any = time, **settings: Any) -> PdfExtractor:
        return PdfExtractor(ExtractPdfSettings(**settings), clock)

    def read(self, body: bytes, **settings: Any) -> Document:
        page = Page(url="https://a.example/x.pdf", body=body, content_type="application/pdf")
        document = self.extractor(**settings).extract(page)
        assert document is not None
        return document

    def text(self, *content: str, **settings: Any) -> str:
        """The text of a file of one page."""
        return self.read(Writer().page(*content).build(), **settings).text


@pytest.fixture
def kit() -> Kit:
    return Kit()


Text = Callable[..., str]
Facts = Mapping[str, str]
