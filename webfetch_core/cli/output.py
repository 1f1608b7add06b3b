"""Writing for people and for programs: encodable on any console, and safe on a terminal."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TextIO

from attrs import frozen

MAX_WIDTH = 160


@frozen(kw_only=True)
class Streams:
    """Where a command writes. Never the process's own streams, unless ``main`` was given those."""

    out: TextIO
    err: TextIO

    def text(self, text: str) -> None:
        """Write lines for a reader to stdout."""
        put(self.out, text)

    def note(self, text: str) -> None:
        """Write a line to stderr."""
        put(self.err, text)

    def json(self, data: Any) -> None:
        """Write JSON-shaped data to stdout, in ASCII where the stream is not UTF-8."""
        from ..models import SCHEMA_VERSION

        if isinstance(data, dict) and "schema_version" not in data:
            data = {"schema_version": SCHEMA_VERSION, **data}
        ascii_only = not is_unicode(self.out)
        put(self.out, json.dumps(data, ensure_ascii=ascii_only, indent=2, default=str), raw=True)

    def record(self, record: Any) -> None:
        """Write the JSON of a record, or of a sequence of them under one key, to stdout."""
        from ..wire import to_plain

        self.json(to_plain(record))


def put(stream: TextIO, text: str, *, raw: bool = False) -> None:
    """Write ``text`` and a line end. What the stream cannot encode is replaced; what a terminal
    would obey is made visible (``raw`` leaves it: JSON has it escaped already)."""
    if not raw and is_terminal(stream):
        text = harmless(text)
    encoding = getattr(stream, "encoding", None) or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        text = text.encode(encoding, "replace").decode(encoding)
    stream.write(text + "\n")


def harmless(text: str) -> str:
    """``text`` without control characters other than line ends and tabs: pages and names come from
    strangers, and a terminal acts on escape sequences."""
    if text.isprintable():
        return text
    return "".join(c if c in "\n\t" or not _is_control(c) else ascii(c)[1:-1] for c in text)


def _is_control(c: str) -> bool:
    return ord(c) < 32 or 127 <= ord(c) < 160


def one_line(text: str) -> str:
    """``text`` on one line and harmless."""
    return harmless(" ".join(text.split()))


def is_terminal(stream: TextIO) -> bool:
    """Whether a person sees the stream."""
    try:
        return stream.isatty()
    except (AttributeError, ValueError):
        return False


def is_unicode(stream: TextIO) -> bool:
    """Whether the stream takes any character. A stream of text in memory does."""
    encoding = getattr(stream, "encoding", None)
    return encoding is None or encoding.lower().replace("-", "").replace("_", "").startswith("utf")


def width_of(environ: Mapping[str, str]) -> int:
    """Columns of the terminal, within reason; ``COLUMNS`` wins."""
    given = environ.get("COLUMNS", "")
    told = int(given) if given.isascii() and given.isdigit() and len(given) < 9 else 0
    columns = told or shutil.get_terminal_size((100, 24)).columns
    return max(40, min(columns, MAX_WIDTH))


def cut(text: str, width: int, *, unicode: bool = True) -> str:
    """``text`` of one line, in at most ``width`` characters."""
    if len(text) <= width:
        return text
    mark = "…" if unicode else "..."
    return text[: max(width - len(mark), 0)] + mark


def table(rows: Iterable[Sequence[str]], *, indent: str = "", width: int | None = None) -> list[str]:
    """Lines of aligned columns, two blanks apart; with ``width`` the last column runs on below itself."""
    cells = [[one_line(cell) for cell in row] for row in rows]
    if not cells:
        return []
    widths = [max(len(row[i]) for row in cells) for i in range(len(cells[0]) - 1)]
    lines = []
    for row in cells:
        head = indent + "".join(cell.ljust(size + 2) for cell, size in zip(row, widths, strict=False))
        lines += [(head + row[-1]).rstrip()] if width is None else wrapped(head, row[-1], width)
    return lines


def wrapped(head: str, text: str, width: int) -> list[str]:
    """``head`` and ``text`` in lines of ``width``; further lines are indented to where text began."""
    room = width - len(head)
    if len(text) <= room or room < 24:
        return [(head + text).rstrip()]
    lines, line = [], ""
    for word in text.split(" "):
        if line and len(line) + 1 + len(word) > room:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    lines.append(line)
    return [head + lines[0], *(" " * len(head) + more for more in lines[1:])]


def told_size(size: int) -> str:
    """``812 B``, ``3.4 kB``, ``12.0 MB``."""
    value = float(size)
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1_000 or unit == "GB":
            return f"{int(value)} B" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1_000
    return ""


def told_time(value: float) -> str:
    """``0.4 ms``, ``31 ms``, ``1.24 s``."""
    if value < 0.01:
        return f"{value * 1_000:.1f} ms"
    return f"{value * 1_000:.0f} ms" if value < 1 else f"{value:.2f} s"
