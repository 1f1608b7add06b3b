"""A page as a list of blocks in reading order, each with what is known of its place.

Whatever chooses the content chooses blocks; one renderer (``markdown``) then writes them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from attrs import define, field
from lxml import etree

from . import listings, tables
from .formulas import FORMULA_TAGS, formula_of
from .inline import (
    BLOCKS,
    CODE_TAGS,
    MARK_TAGS,
    SKIPPED,
    URL_END,
    URL_START,
    InlineText,
    flat_text,
    is_mark,
)
from .regions import is_region

_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_LISTS = frozenset({"ul", "ol", "menu", "dir"})
_WIDE = "\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_TOKEN = re.compile(rf"[{_WIDE}]|[^\W{_WIDE}]+")
_ADDRESS = re.compile(f"{URL_START}[^{URL_END}]*{URL_END}")
_PROGRAM = re.compile(r"function\s*\(|\bwindow\.|=>\s*\{|\bvar \w+\s*=|document\.")
_SHORTEST_NOSCRIPT = 300
_PERHAPS_SKIPPED = MARK_TAGS | {"noscript"}
_STRUCTURE = _LISTS | {"dt", "dd", "li", "blockquote"}
_UNIT_TAGS = frozenset({"table", *listings.PRE_TAGS, *CODE_TAGS})


def tokens_of(text: str) -> list[str]:
    """Words, lower case; each character of a script without spaces is one."""
    return _TOKEN.findall(text.lower())


@define(eq=False)
class Frame:
    """A container that shows in Markdown: ``kind`` is ``quote``, ``item`` or ``definition``; ``marker`` is
    what opens an item (``-``, ``3.``)."""

    kind: str
    marker: str = ""
    used: bool = False
    broken: bool = False
    """It has a heading: what follows stands under that, not in the list."""


@define(kw_only=True)
class Block:
    """One run of text.

    ``kind`` is ``text heading item term definition code table``; ``level`` is a heading's level or an
    item's depth; ``marker`` is an item's bullet or number, on its first block; ``quoted`` counts the
    quotations around it; ``region`` says that it stands in navigation or other trimmings; ``link_share`` is
    the part of its characters within links; ``group`` is the innermost list it stands in; ``frames`` are
    the containers that are written around it, outermost first.
    """

    kind: str
    text: str
    element: Any
    level: int = 0
    marker: str = ""
    quoted: int = 0
    region: bool = False
    link_share: float = 0.0
    group: Any = None
    tokens: list[str] = field(factory=list)
    frames: tuple[Frame, ...] = ()


@define
class _List:
    element: Any
    number: int | None
    step: int = 1


def segment(root: Any, *, base: str = "", links: bool = False) -> list[Block]:
    """Return the blocks of a tree without hidden elements. Iterative: depth does not matter."""
    return list(_Segmenter(base, links).run(root))


class _Segmenter:
    def __init__(self, base: str, links: bool) -> None:
        self.base, self.links = base, links
        self.text = InlineText(base, links)
        self.lists: list[_List] = []
        self.frames: list[tuple[Any, Frame]] = []
        self.regions: list[Any] = []
        self.heading: tuple[Any, int] | None = None
        self.in_link = 0
        self.linked = 0
        self.characters = 0
        self.block: Any = None

    def run(self, root: Any) -> Iterator[Block]:
        walker = etree.iterwalk(root, events=("start", "end"))
        skipped: Any = None
        for event, element in walker:
            tag = element.tag
            if event == "start":
                known = formula_of(element) if tag in FORMULA_TAGS else None
                if (
                    known is not None
                    or not isinstance(tag, str)
                    or tag in SKIPPED
                    or (tag in _PERHAPS_SKIPPED and _skips(element, tag))
                ):
                    self._add(known)
                    skipped = element
                    walker.skip_subtree()
                    continue
                unit = self._unit(element) if _may_be_unit(element, tag) else None
                if unit is not None:
                    skipped = element
                    walker.skip_subtree()
                    yield from self._flush(element)
                    yield from unit
                    continue
                if tag in BLOCKS and self._is_block(element):
                    if self._has_text():
                        yield from self._flush(element)
                    self._enter(element)
                else:
                    self.in_link += tag == "a"
                    self.text.open(element)
                self._add(element.text)
                continue
            if element is skipped:
                skipped = None
            elif tag in BLOCKS and self._is_block(element):
                if self._has_text():
                    yield from self._flush(element)
                self._leave(element)
            else:
                self.in_link -= tag == "a"
                self.text.close(element)
            if element is not root:
                self._add(element.tail)
        yield from self._flush(root)

    def _has_text(self) -> bool:
        """Whether there is anything for the next block; blanks alone are dropped."""
        if self.text.is_filled():
            return True
        self.linked = self.characters = 0
        return False

    def _is_block(self, element: Any) -> bool:
        """Of an element that is one by its tag: a button within a heading is part of its line."""
        return self.heading is None or element.tag != "button" or self.heading[0] is element

    def _unit(self, element: Any) -> list[Block] | None:
        """Blocks of an element that is written as one piece; None where its children are walked."""
        tag = element.tag
        if tag == "table" and (cells := listings.code_cells(element)):
            return self._code(element, "\n".join(listings.code_of(cell) for cell in cells))
        if tables.is_table(element) and not tables.is_layout(element):
            text = tables.to_markdown(element, lambda cell: flat_text(cell, self.base, self.links))
            return [self._block("table", text, element)] if text else []
        if (tag in listings.PRE_TAGS or tag in CODE_TAGS or tag == "div") and listings.is_listing(element):
            return self._code(element, listings.code_of(element))
        return None

    def _code(self, element: Any, code: str) -> list[Block]:
        if listings.is_numbering(code):
            return []
        return [self._block("code", listings.fenced(code, listings.language_of(element)), element)]

    def _add(self, text: str | None) -> None:
        if text:
            self.text.add(text, after_tag=True)
            size = len(text.strip())
            self.characters += size
            if self.in_link:
                self.linked += size

    def _enter(self, element: Any) -> None:
        if element.tag in _STRUCTURE:
            self._enter_structure(element)
        level = _heading_level(element)
        if level and self.heading is None:
            self.heading = (element, level)
        if is_region(element):
            self.regions.append(element)
        self.block = element

    def _enter_structure(self, element: Any) -> None:
        tag = element.tag
        if tag in ("dt", "dd") and self.frames and self.frames[-1][0] is _unclosed(element):
            self.frames.pop()
        if tag in _LISTS:
            self.lists.append(_list_of(element))
        elif tag == "li":
            self.frames.append((element, Frame("item", self._marker(element))))
        elif tag == "dd":
            self.frames.append((element, Frame("definition", ":")))
        elif tag == "blockquote":
            self.frames.append((element, Frame("quote")))

    def _leave(self, element: Any) -> None:
        if self.lists and self.lists[-1].element is element:
            self.lists.pop()
        if self.frames and self.frames[-1][0] is element:
            self.frames.pop()
        if self.heading is not None and self.heading[0] is element:
            self.heading = None
        if self.regions and self.regions[-1] is element:
            self.regions.pop()
        self.block = element.getparent()

    def _marker(self, element: Any) -> str:
        if not self.lists or self.lists[-1].number is None:
            return "-"
        current = self.lists[-1]
        number = _integer(element.get("value"), current.number or 0)
        current.number = number + current.step
        return f"{number}."

    def _flush(self, element: Any) -> Iterator[Block]:
        text = self.text.take()
        linked, characters = self.linked, self.characters
        self.linked = self.characters = 0
        if not text or _is_program(text):
            return
        share = linked / characters if characters else 0.0
        home = self.block if self.block is not None else element
        frame = next((each for _, each in reversed(self.frames) if each.kind != "quote"), None)
        if self.heading is not None:
            marker = frame.marker if frame and not frame.used and frame.marker[:1].isdigit() else ""
            for _, each in self.frames:
                each.used = each.broken = True
            text = re.sub(r"\s*\n\s*", " ", text)
            yield self._block("heading", text, home, level=self.heading[1], marker=marker, share=share)
            return
        if home.tag == "dt":
            yield self._block("term", text, home, share=share)
            return
        if frame is None:
            yield self._block("text", text, home, share=share)
            return
        if frame.kind == "definition":
            yield self._block("definition", text, home, share=share)
            return
        marker = "" if frame.used else frame.marker
        frame.used = True
        depth = sum(each.kind == "item" for _, each in self.frames)
        yield self._block(
            "item", text, home, level=max(depth, len(self.lists), 1), marker=marker, share=share
        )

    def _block(
        self, kind: str, text: str, element: Any, *, level: int = 0, marker: str = "", share: float = 0.0
    ) -> Block:
        frames = [frame for _, frame in self.frames]
        last = next((at for at in range(len(frames) - 1, -1, -1) if frames[at].broken), -1) if frames else -1
        return Block(
            kind=kind,
            text=text.replace(URL_START, "](").replace(URL_END, ")") if URL_START in text else text,
            element=element,
            level=level,
            marker=marker,
            quoted=sum(frame.kind == "quote" for frame in frames),
            region=bool(self.regions),
            link_share=share,
            group=self.lists[-1].element if self.lists else None,
            tokens=tokens_of(_ADDRESS.sub(" ", text) if URL_START in text else text),
            frames=tuple(
                frame for number, frame in enumerate(frames) if frame.kind == "quote" or number > last
            ),
        )


def _may_be_unit(element: Any, tag: str) -> bool:
    """Whether an element may be written as one piece; cheap, as it is asked of every element."""
    if tag == "div":
        return element.get("style") is not None or element.get("role") is not None
    return tag in _UNIT_TAGS or element.get("role") is not None


def _skips(element: Any, tag: str) -> bool:
    if tag == "noscript":
        text = " ".join(element.itertext())
        return len(text) < _SHORTEST_NOSCRIPT or "<" in text
    return is_mark(element)


def _unclosed(element: Any) -> Any | None:
    """The definition that should have ended where another term or definition of its list begins."""
    for ancestor in element.iterancestors():
        if ancestor.tag in ("dl", "table", "li"):
            return None
        if ancestor.tag == "dd":
            return ancestor
    return None


def _is_program(text: str) -> bool:
    """Script source that leaked out of its element: outside code, nobody writes like this."""
    if len(text) <= 40 or not _PROGRAM.search(text):
        return False
    return sum(text.count(sign) for sign in "{}();=[]") > 0.08 * len(text)


def _heading_level(element: Any) -> int:
    level = _HEADINGS.get(element.tag, 0)
    if not level and element.get("role") == "heading":
        level = min(max(_integer(element.get("aria-level"), 2), 1), 6)
    return level


def _list_of(element: Any) -> _List:
    if element.tag != "ol":
        return _List(element, None)
    backwards = "reversed" in element.attrib
    start = _integer(element.get("start"), len(element) if backwards else 1)
    return _List(element, start, -1 if backwards else 1)


def _integer(value: str | None, default: int) -> int:
    try:
        return int(value) if value else default
    except ValueError:
        return default
