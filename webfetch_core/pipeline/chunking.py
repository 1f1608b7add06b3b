"""Cutting a document into passages.

A passage ends where a reader would pause: at the end of a section, a paragraph, a line, a sentence, a
clause, a word, and only then between two graphemes. Pure functions, linear time.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator

from attrs import evolve, frozen

from ..models import Chunk, Document
from .graphemes import grapheme_cut, is_boundary
from .outline import CLAUSE, LINE, SENTENCE, WORD, Line, lines_of, sections_of

WIDE_COST = 1.6
"""What a character of a script without spaces (or an emoji) counts. Encoders spend about one token on each,
and four characters of Latin text on one: 400 characters must not become 400 tokens of a 256-token window."""

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_WIDE = re.compile(
    "[\u0e00-\u0eff\u1100-\u11ff\u2e80-\ud7ff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef\U0001f000-\U0003ffff]"
)
_INK = re.compile(r"\S")
_BORDER = re.compile(
    r"(?P<sentence>(?<![.!?…؟۔।॥])[.!?…؟۔।॥]++[\"'”’»)\]]*+(?=\s)|[。！？．]+[」』”’）】]*)"
    r"|(?P<clause>(?<![,;:،؛])[,;:،؛]++(?=\s)|[，、；：]+|\|(?=\s))"
    r"|(?P<word>\s+)"
)


def chunk(document: Document, *, chars: int = 400, overlap: float = 0.10) -> list[Chunk]:
    """Return the passages of a document, in order.

    A passage holds at most ``chars`` characters, its overlap with the one before (``overlap`` as a share of
    ``chars``, within one section) included; only a single grapheme longer than a tiny limit passes it.
    Characters of scripts without spaces count ``WIDE_COST``. Table rows and code lines are cut only where
    one alone is longer than the limit. Passages are trimmed: between the end of one and the start of the
    next lies white space or nothing. ``heading_path`` is what the whole passage lies under.

    ``text == document.text[start:end]`` with lone surrogates replaced by U+FFFD, except where a passage
    begins inside a table or a fenced block: then the header rows, or the line that opens the block,
    precede, and ``start`` and ``end`` cover the rest. What the limit has no room for is left out.
    """
    if chars < 1:
        raise ValueError(f"chars must be at least 1; got {chars}")
    if not 0 <= overlap <= 0.5:
        raise ValueError(f"overlap must be between 0 and 0.5; got {overlap}")
    text = _LONE_SURROGATE.sub("\ufffd", document.text)
    cutter = _Cutter(text, lines_of(text), chars, int(chars * overlap))
    return [
        Chunk(
            text=piece.header + text[piece.start : piece.end],
            url=document.url,
            title=_LONE_SURROGATE.sub("\ufffd", document.title),
            heading_path=piece.path,
            start=piece.start,
            end=piece.end,
        )
        for piece in _merged(cutter)
    ]


@frozen(kw_only=True)
class _Piece:
    start: int
    end: int
    path: tuple[str, ...]
    header: str = ""


def _merged(cutter: _Cutter) -> Iterator[_Piece]:
    """Cut long sections; let short ones share a passage while it is less than half full."""
    pending: _Piece | None = None
    for section_start, section_end, path, body in sections_of(cutter.lines, len(cutter.text)):
        start, end = cutter.trim(section_start, section_end)
        if start == end:
            continue
        if pending is not None and cutter.fits(pending.start, end):
            if not body:  # headings at the very end, with nothing below
                pending = evolve(pending, end=end)
                continue
            if pending.end - pending.start < cutter.chars // 2:
                pending = _Piece(start=pending.start, end=end, path=_shared(pending.path, path))
                continue
        if pending is not None:
            yield pending
            pending = None
        if cutter.fits(start, end):
            pending = _Piece(start=start, end=end, path=path)
        else:
            yield from cutter.cut(start, end, path)
    if pending is not None:
        yield pending


def _shared(one: Iterable[str], other: Iterable[str]) -> tuple[str, ...]:
    shared = []
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        shared.append(left)
    return tuple(shared)


# ---- cutting -----------------------------------------------------------------------------------------


class _Cutter:
    """One text, its lines and the limits."""

    def __init__(self, text: str, lines: list[Line], chars: int, overlap: int) -> None:
        self.text = text
        self.lines = lines
        self.chars = chars
        self.overlap = overlap
        self._starts = [line.start for line in lines]

    def line_at(self, position: int) -> int:
        return max(bisect_right(self._starts, position) - 1, 0)

    def fits(self, start: int, end: int) -> bool:
        return end - start <= self.chars and self.reach(start, self.chars) >= end

    def reach(self, start: int, room: int) -> int:
        """Where a passage of ``room`` characters that begins at ``start`` ends at the latest."""
        window = self.text[start : start + room]
        if window.isascii() or not _WIDE.search(window):
            return start + len(window)
        cost = 0.0
        for offset, character in enumerate(window):
            cost += WIDE_COST if _WIDE.match(character) else 1
            if cost > room:
                return start + offset
        return start + len(window)

    def trim(self, start: int, end: int) -> tuple[int, int]:
        """Leave out white space at both ends, but not the indentation of code."""
        first = self.skip_space(start, end)
        return first, first + len(self.text[first:end].rstrip())

    def skip_space(self, start: int, end: int) -> int:
        ink = _INK.search(self.text, start, end)
        if ink is None:
            return end
        line = self.lines[self.line_at(ink.start())]
        return max(start, line.start) if line.kind == "code" else ink.start()

    def cut(self, start: int, end: int, path: tuple[str, ...]) -> Iterator[_Piece]:
        done = start
        while True:
            start, stop, header = self._next(start, done, end)
            piece_start, piece_end = self.trim(start, stop)
            if piece_end > max(piece_start, done):  # what is new may be no more than indentation
                yield _Piece(start=piece_start, end=piece_end, path=path, header=header)
            if stop >= end:
                return
            done = self.skip_space(stop, end)
            start = self._overlap_start(piece_start, stop) if done < end else done

    def _next(self, start: int, done: int, end: int) -> tuple[int, int, str]:
        """The next passage from ``start`` that goes beyond ``done``: its start, its end, its header.

        What does not fit is given up in this order: the overlap, the repeated header, whole words.
        """
        attempts = (
            [(start, True), (done, True), (done, False)] if start < done else [(done, True), (done, False)]
        )
        for begin, with_header in attempts:
            header = self._header(begin) if with_header else ""
            if not with_header and not self._header(begin):
                continue
            stop = self._best_cut(begin, done, end, self.reach(begin, self.chars - len(header)))
            if stop is not None:
                return begin, stop, header
        limit = self.reach(start, self.chars)
        if limit <= done:
            start, limit = done, self.reach(done, self.chars)
        return start, grapheme_cut(self.text, done, min(limit, end)), ""

    def _header(self, start: int) -> str:
        line = self.lines[self.line_at(start)]
        return line.header if len(line.header) <= self.chars // 2 else ""

    def _best_cut(self, start: int, done: int, end: int, limit: int) -> int | None:
        if limit >= end:
            return end
        half = start + (limit - start) // 2
        best: tuple[bool, float, int] | None = None
        for position, worth in self._borders(done, limit):
            key = (position >= half, worth if position >= half else 0, position)
            best = key if best is None or key > best else best
        return best[2] if best else None

    def _borders(self, after: int, limit: int) -> Iterator[tuple[int, float]]:
        """Places to cut in ``(after, limit]`` with their worth."""
        number = self.line_at(after)
        while number < len(self.lines) and self.lines[number].start <= limit:
            line = self.lines[number]
            number += 1
            if after < line.end <= limit:
                yield line.end, line.border
            if line.kind in ("row", "code") and line.end - line.start <= self.chars:
                continue
            for match in _BORDER.finditer(self.text, max(after, line.start), min(limit + 1, line.end)):
                position = match.start() if match.lastgroup == "word" else match.end()
                if after < position <= limit:
                    yield position, _WORTH[match.lastgroup or "word"]

    def _overlap_start(self, start: int, stop: int) -> int:
        """Where the next passage begins so that it repeats the end of this one."""
        earliest = max(stop - self.overlap, start + 1)
        number = self.line_at(stop - 1)
        while number and self.lines[number].start > earliest:
            number -= 1
        starts: list[tuple[float, int]] = []
        for line in self.lines[number : self.line_at(stop - 1) + 1]:
            if line.closes:
                continue
            if line.kind in ("row", "code", "heading", "blank"):
                if line.kind != "blank" and earliest <= line.start < stop:
                    starts.append((-LINE, line.start))
                continue
            if earliest <= line.start < stop:
                starts.append((-LINE, line.start))
            for match in _BORDER.finditer(self.text, max(line.start, earliest - 1), min(stop, line.end)):
                if earliest <= match.end() < stop:
                    worth = SENTENCE if match.lastgroup == "sentence" else WORD
                    starts.append((-worth, match.end()))
            if not starts and line.start < earliest:
                boundary = earliest
                while boundary < stop and not is_boundary(self.text, boundary, start):
                    boundary += 1
                if boundary < stop:
                    starts.append((0, boundary))
        return min(starts)[1] if starts else stop


_WORTH = {"sentence": SENTENCE, "clause": CLAUSE, "word": WORD}
