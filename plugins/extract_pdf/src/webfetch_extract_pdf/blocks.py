"""Paragraphs, headings, lists and code out of lines."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from attrs import Factory, define

from .flow import TextLine
from .furniture import Furniture
from .prose import ends_sentence, goes_on, letters
from .shape import LARGER, Shape, key_of
from .tables import Table, continues, joined
from .words import is_bullet

MAX_HEADING = 160
"""Characters; what is longer is text in large type."""
PARAGRAPH_GAP = 1.28
"""Distance of base lines, in usual ones, from which a paragraph begins."""
_NUMBERED = re.compile(r"^(\(?\d{1,3}[.)]|\(?[a-zA-Z][.)]|\(?[ivx]{1,4}[.)]|\[\d{1,3}\])\s+(?=\S)")
_BULLET = re.compile(r"^([^\w\s])\s+(?=\S)")
_LEADER = re.compile(r"\s*(?:[.·…_]\s?){4,}\s*")


@define(slots=True, kw_only=True, eq=False)
class Block:
    """``kind`` is ``text heading item code table``; ``level`` a heading's level or an item's depth.

    ``pieces`` are the lines as they stand; ``breaks`` the numbers of those that a deliberate line break
    precedes. ``aside`` is what stands beside the text, such as a running head.
    """

    kind: str
    pieces: list[str] = Factory(list)
    level: int = 0
    marker: str = ""
    size: float = 0.0
    indent: float = 0.0
    page: int = 0
    column: int = 0
    last: TextLine | None = None
    breaks: set[int] = Factory(set)
    aside: bool = False
    table: Table | None = None


def blocks_of(
    flow: Sequence[TextLine | Table], shape: Shape, outline: Mapping[str, int], beside: Furniture
) -> list[Block]:
    """Return the blocks of a file. ``outline`` maps headings (see ``key_of``) to levels."""
    builder = _Builder(shape, outline, _pitches(flow))
    for item in flow:
        if isinstance(item, Table):
            builder.add_table(item)
        elif id(item) in beside.kept:
            builder.add_aside(item)
        elif id(item) not in beside.dropped:
            builder.add(item)
    return builder.blocks


def _pitches(flow: Sequence[TextLine | Table]) -> dict[tuple[int, int], float]:
    """The usual distance of base lines in each column of each page."""
    gaps: dict[tuple[int, int], list[float]] = {}
    last: TextLine | None = None
    for item in flow:
        if isinstance(item, Table):
            last = None
            continue
        if last is not None and (last.page, last.column) == (item.page, item.column):
            follows = item.base > last.base and abs(item.size - last.size) < 0.6
            if follows:
                gaps.setdefault((item.page, item.column), []).append(
                    (item.base - last.base) / max(item.size, 1.0)
                )
        last = item
    return {key: _usual(values) for key, values in gaps.items()}


def _usual(values: Sequence[float]) -> float:
    """The lower quartile, within reason: most lines follow closely, gaps between paragraphs do not count."""
    ordered = sorted(values)
    return min(max(ordered[len(ordered) // 4], 0.9), 2.6)


class _Builder:
    def __init__(
        self, shape: Shape, outline: Mapping[str, int], pitches: Mapping[tuple[int, int], float]
    ) -> None:
        self.shape, self.outline, self.pitches = shape, outline, pitches
        self.blocks: list[Block] = []
        self.indents: list[float] = []

    def add_table(self, table: Table) -> None:
        last = self.blocks[-1] if self.blocks else None
        if (
            last is not None
            and last.kind == "table"
            and last.table is not None
            and continues(last.table, table)
        ):
            joined(last.table, table)
            return
        self.blocks.append(Block(kind="table", table=table))

    def add_aside(self, line: TextLine) -> None:
        self.blocks.append(
            Block(kind="text", pieces=[line.text], size=line.size, page=line.page, column=-1, aside=True)
        )

    def add(self, line: TextLine) -> None:
        last = self.blocks[-1] if self.blocks else None
        level = self._level(line)
        if level:
            self._heading(line, level, last)
            return
        if line.mono and not self.shape.mono and len(line.text) > 1:
            self._code(line, last)
            return
        marker, text = _marker(line.text)
        if marker:
            self._item(line, marker, text)
            return
        if (
            last is not None
            and last.last is not None
            and last.kind in ("text", "item")
            and self._belongs(line, last)
        ):
            self._append(last, line)
            return
        self.blocks.append(
            Block(
                kind="text",
                pieces=[line.text],
                size=line.size,
                page=line.page,
                column=line.column,
                last=line,
                indent=line.x0,
            )
        )

    # ---- headings ---------------------------------------------------------------------------------------

    def _level(self, line: TextLine) -> int:
        text = line.text.strip()
        if len(text) > MAX_HEADING or letters([text]) < 2:
            return 0
        if (found := self.outline.get(key_of(text))) and not text.endswith((".", ",", ";")):
            return found
        size = round(line.size * 2) / 2
        if size >= LARGER * self.shape.body:
            if text[0].islower() and text.endswith((".", ",")):
                return 0
            return min(1 + sum(1 for s in self._levels() if s > size + 0.25), 5)
        return 0

    def _levels(self) -> tuple[float, ...]:
        """Heading sizes that are apart: at most four."""
        kept: list[float] = []
        for size in self.shape.sizes:
            if not kept or kept[-1] > 1.05 * size:
                kept.append(size)
        return tuple(kept[-4:])

    def _heading(self, line: TextLine, level: int, last: Block | None) -> None:
        if (
            last is not None
            and last.kind == "heading"
            and last.level == level
            and last.last is not None
            and last.page == line.page
            and last.column == line.column
            and abs(last.size - line.size) < 0.6
            and 0 < line.base - last.last.base < 1.7 * line.size
            and key_of(" ".join(last.pieces)) not in self.outline
            and sum(map(len, last.pieces)) < 2 * MAX_HEADING
        ):
            last.pieces.append(line.text)
            last.last = line
            return
        self.blocks.append(
            Block(
                kind="heading",
                pieces=[line.text],
                level=level,
                size=line.size,
                page=line.page,
                column=line.column,
                last=line,
            )
        )

    # ---- code and lists ---------------------------------------------------------------------------------

    def _code(self, line: TextLine, last: Block | None) -> None:
        if last is None or last.kind != "code" or last.page != line.page or last.column != line.column:
            last = Block(kind="code", page=line.page, column=line.column, indent=line.left, size=line.size)
            self.blocks.append(last)
        advance = 0.6 * line.size
        last.pieces.append(" " * max(0, round((line.x0 - last.indent) / advance)) + line.text)
        last.last = line

    def _item(self, line: TextLine, marker: str, text: str) -> None:
        last = self.blocks[-1] if self.blocks else None
        if last is None or last.kind != "item":
            self.indents = []
        while self.indents and line.x0 < self.indents[-1] - 3:
            self.indents.pop()
        if not self.indents or line.x0 > self.indents[-1] + 3:
            self.indents.append(line.x0)
        self.blocks.append(
            Block(
                kind="item",
                pieces=[text],
                level=len(self.indents),
                marker=marker,
                size=line.size,
                page=line.page,
                column=line.column,
                last=line,
                indent=line.x0,
            )
        )

    # ---- paragraphs -------------------------------------------------------------------------------------

    def _belongs(self, line: TextLine, block: Block) -> bool:
        """Whether a line goes on with a block."""
        above = block.last
        assert above is not None
        if abs(line.size - above.size) > 0.08 * max(line.size, above.size) + 0.2:
            return False
        if (line.page, line.column) != (above.page, above.column):
            return not ends_sentence(above.text) and goes_on(line.text)
        distance = line.base - above.base
        if distance <= 0:
            return distance > -0.5 * line.size
        pitch = self.pitches.get((line.page, line.column), 1.2) * max(line.size, 1.0)
        if distance > PARAGRAPH_GAP * pitch:
            return False
        if line.bold != above.bold and (_is_short(above) or _is_short(line)):
            return False
        if block.kind == "item":
            return line.x0 > block.indent + 2 or not _could_have_fitted(above, line)
        indented = line.x0 - above.x0
        if 0.8 * line.size < indented < 5 * line.size and len(block.pieces) > 1 and ends_sentence(above.text):
            return False
        return not (_could_have_fitted(above, line) and ends_sentence(above.text))

    def _append(self, block: Block, line: TextLine) -> None:
        above = block.last
        assert above is not None
        if (
            (line.page, line.column) == (above.page, above.column)
            and _could_have_fitted(above, line)
            and not above.text.endswith(("-", "\u00ad", "\u2010"))
        ):
            block.breaks.add(len(block.pieces))
        block.pieces.append(line.text)
        block.last = line


def _is_short(line: TextLine) -> bool:
    return line.x1 < line.left + 0.75 * (line.right - line.left)


def _could_have_fitted(above: TextLine, line: TextLine) -> bool:
    """Whether the first word of ``line`` had room at the end of the line above: the break is meant."""
    return above.x1 + 0.3 * above.size + line.first_width < above.right - 1.2 * above.size


def _marker(text: str) -> tuple[str, str]:
    """The marker of a list's item and the item's text; no marker when the line begins none."""
    if found := _BULLET.match(text):
        if is_bullet(found.group(1)) or found.group(1) in "\uf0b7":
            return "-", text[found.end() :]
        return "", text
    if text[:2] == "o " and len(text) > 4:
        return "-", text[2:]
    if found := _NUMBERED.match(text):
        return found.group(1), text[found.end() :]
    return "", text
