"""A page as a list of blocks in reading order, each with what is known of its place.

Whatever chooses the content chooses blocks; one renderer then writes them as Markdown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from attrs import define, field
from lxml import etree

from . import tables
from .inline import BLOCKS, SKIPPED, URL_END, URL_START, InlineText, flat_text, formula

_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_REGIONS = frozenset({"nav", "footer", "aside", "header", "form", "menu", "button", "fieldset"})
_REGION_ROLES = frozenset({"navigation", "banner", "contentinfo", "search", "complementary"})
_BOILERPLATE = re.compile(
    r"(?:^|[\s_-])(?:nav(?:bar|igation)?|menu|sidebar|footer|breadcrumbs?|cookies?|consent|share|sharing|social|related|"
    r"recommend(?:ed|ations)?|promo|newsletter|subscribe|advert(?:s|isement)?|ads?|pagination|pager|toc|skip|masthead|"
    r"comments?|commentbox|comment-?list|respond|disqus(?:_thread)?)(?:$|[\s_-])",
    re.I,
)
_WIDE = "\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_TOKEN = re.compile(rf"[{_WIDE}]|[^\W{_WIDE}]+")
_ADDRESS = re.compile(f"{URL_START}[^{URL_END}]*{URL_END}")
_PROGRAM = re.compile(r"function\s*\(|\bwindow\.|=>\s*\{|\bvar \w+\s*=|document\.")
_LANGUAGE = re.compile(r"(?:language-|lang-|highlight-source-|brush:\s*)([\w+#.-]+)")
_CODE_TAGS = ("code", "samp", "kbd", "tt")


def tokens_of(text: str) -> list[str]:
    """Words, lower case; each character of a script without spaces is one."""
    return _TOKEN.findall(text.lower())


@define(kw_only=True)
class Block:
    """One run of text.

    ``kind`` is ``text heading item term definition code table``; ``level`` is a heading's level or an
    item's depth; ``marker`` is an item's bullet or number; ``region`` says that it stands in navigation
    or other trimmings; ``link_share`` is the part of its characters within links; ``group`` is the list,
    table or other container it stands in.
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


@define
class _List:
    element: Any
    number: int | None
    step: int = 1


@define
class _Item:
    depth: int
    marker: str
    used: bool = False


def segment(root: Any, *, base: str = "", links: bool = False) -> list[Block]:
    """Return the blocks of a tree without hidden elements. Iterative: depth does not matter."""
    return list(_Segmenter(base, links).run(root))


class _Segmenter:
    def __init__(self, base: str, links: bool) -> None:
        self.base, self.links = base, links
        self.text = InlineText(base, links)
        self.lists: list[_List] = []
        self.items: list[_Item] = []
        self.regions = 0
        self.quotes = 0
        self.heading: tuple[Any, int] | None = None
        self.in_link = 0
        self.linked = 0
        self.characters = 0
        self.block: Any = None

    def run(self, root: Any) -> Iterator[Block]:
        walker = etree.iterwalk(root, events=("start", "end"))
        skipped: set[Any] = set()
        for event, element in walker:
            tag = element.tag
            if event == "start":
                if not isinstance(tag, str) or self._skips(element):
                    skipped.add(element)
                    walker.skip_subtree()
                    continue
                unit = self._unit(element)
                if unit is not None:
                    skipped.add(element)
                    walker.skip_subtree()
                    yield from self._flush(element)
                    yield from unit
                    continue
                if tag == "math" or (tag == "script" and "math/tex" in (element.get("type") or "")):
                    self._add(
                        formula(element) if tag == "math" else f"${(element.text or '').strip()}$", True
                    )
                    skipped.add(element)
                    walker.skip_subtree()
                    continue
                if tag in BLOCKS and not (tag == "button" and self.heading):
                    yield from self._flush(element)
                    self._enter(element)
                else:
                    if tag == "a":
                        self.in_link += 1
                    self.text.open(element)
                self._add(element.text, True)
                continue
            if element in skipped:
                skipped.discard(element)
            elif tag in BLOCKS and not (tag == "button" and self.heading and self.heading[0] is not element):
                yield from self._flush(element)
                self._leave(element)
            else:
                if tag == "a":
                    self.in_link -= 1
                self.text.close(element)
            if element is not root:
                self._add(element.tail, True)
        yield from self._flush(root)

    def _skips(self, element: Any) -> bool:
        tag = element.tag
        if tag == "script":
            return "math/tex" not in (element.get("type") or "")
        if tag == "noscript":
            text = " ".join(element.itertext())
            return len(text) < 300 or "<" in text
        return tag in SKIPPED

    def _unit(self, element: Any) -> list[Block] | None:
        """Blocks of an element that is written as one piece; None where its children are walked."""
        tag = element.tag
        if tag == "table" and not tables.is_layout(element):
            text = tables.to_markdown(element, lambda cell: flat_text(cell, self.base, self.links))
            return [self._block("table", text, element)] if text else []
        if tag == "pre" or (tag in _CODE_TAGS and _is_listing(element)):
            code = _code_of(element)
            if not code.strip() or not code.replace("\n", "").strip(" 0123456789"):
                return []  # nothing, or line numbers
            return [self._block("code", _fenced(code, _language_of(element)), element)]
        return None

    def _add(self, text: str | None, after_tag: bool) -> None:
        if text:
            self.text.add(text, after_tag=after_tag)
            size = len(text.strip())
            self.characters += size
            if self.in_link:
                self.linked += size

    def _enter(self, element: Any) -> None:
        tag = element.tag
        if tag in ("ul", "ol", "menu", "dir"):
            self.lists.append(_list_of(element))
        elif tag == "li":
            self.items.append(_Item(max(len(self.lists), 1), self._marker(element)))
        elif tag == "blockquote":
            self.quotes += 1
        level = _heading_level(element)
        if level and self.heading is None:
            self.heading = (element, level)
        if _is_region(element):
            self.regions += 1
        self.block = element

    def _leave(self, element: Any) -> None:
        tag = element.tag
        if tag in ("ul", "ol", "menu", "dir") and self.lists:
            self.lists.pop()
        elif tag == "li" and self.items:
            self.items.pop()
        elif tag == "blockquote":
            self.quotes -= 1
        if self.heading is not None and self.heading[0] is element:
            self.heading = None
        if _is_region(element):
            self.regions -= 1
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
        if self.heading is not None:
            if self.items:
                self.items[-1].used = True
            yield self._block("heading", text.replace("\n", " "), home, level=self.heading[1], share=share)
            return
        if home.tag in ("dt", "dd"):
            kind = "term" if home.tag == "dt" else "definition"
            yield self._block(kind, text, home, share=share)
            return
        if self.items:
            item = self.items[-1]
            marker = "" if item.used else item.marker
            item.used = True
            yield self._block("item", text, home, level=item.depth, marker=marker, share=share)
            return
        yield self._block("text", text, home, share=share)

    def _block(
        self, kind: str, text: str, element: Any, *, level: int = 0, marker: str = "", share: float = 0.0
    ) -> Block:
        return Block(
            kind=kind,
            text=text.replace(URL_START, "](").replace(URL_END, ")"),
            element=element,
            level=level,
            marker=marker,
            quoted=max(self.quotes, 0),
            region=self.regions > 0,
            link_share=share,
            group=self.lists[-1].element if self.lists else None,
            tokens=tokens_of(_ADDRESS.sub(" ", text)),
        )


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


def _is_region(element: Any) -> bool:
    tag = element.tag
    if tag == "header":  # an article's own header is content
        return not any(ancestor.tag in ("article", "main") for ancestor in element.iterancestors())
    if tag in _REGIONS or element.get("role") in (
        "navigation",
        "banner",
        "contentinfo",
        "search",
        "complementary",
    ):
        return True
    if tag in ("body", "html", "main", "article", "h1"):
        return False
    names = f"{element.get('class') or ''} {element.get('id') or ''}"
    return bool(_BOILERPLATE.search(names))


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


def _is_listing(element: Any) -> bool:
    """An inline code element that is written over several lines."""
    if "display:block" in (element.get("style") or "").replace(" ", ""):
        return True
    lines = sum(1 for _ in element.iter("br"))
    return lines >= 2


def _code_of(element: Any) -> str:
    """The text of code, byte for byte; only the first and last line breaks go."""
    parts: list[str] = []
    for event, node in etree.iterwalk(element, events=("start", "end")):
        if event == "start":
            if node.tag == "br":
                parts.append("\n")
            if isinstance(node.tag, str) and node.tag not in ("script", "style", "button"):
                parts.append(node.text or "")
        elif node is not element:
            parts.append(node.tail or "")
    code = "".join(parts).replace("\r\n", "\n").replace("\r", "\n")
    code = re.sub(r"\A(?:[ \t]*\n)+", "", code)
    return code.rstrip()


def _language_of(element: Any) -> str:
    candidates = [element, *element.iter("code"), *list(element.iterancestors())[:2]]
    for each in candidates:
        if match := _LANGUAGE.search(each.get("class") or ""):
            return match.group(1).lower()
    return ""


def _fenced(code: str, language: str) -> str:
    longest = max((len(run) for run in re.findall(r"`{3,}", code)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{code}\n{fence}"


def render(blocks: Sequence[Block]) -> str:
    """Write blocks as Markdown."""
    parts: list[str] = []
    previous: Block | None = None
    for block in blocks:
        text = _written(block, previous)
        if block.quoted:
            text = "\n".join("> " * block.quoted + line for line in text.split("\n"))
        if previous is not None:
            parts.append("\n" if _adjacent(previous, block) else "\n\n")
        parts.append(text)
        previous = block
    return "".join(parts)


def _adjacent(first: Block, second: Block) -> bool:
    if first.quoted != second.quoted:
        return False
    if first.kind == "item" and second.kind == "item":
        return True
    return first.kind in ("term", "definition") and second.kind == "definition"


def _written(block: Block, previous: Block | None) -> str:
    if block.kind == "heading":
        return f"{'#' * block.level} {block.text}"
    if block.kind == "item":
        indent = "  " * (block.level - 1)
        if block.marker:
            hanging = indent + " " * (len(block.marker) + 1)
            return f"{indent}{block.marker} " + block.text.replace("\n", f"\n{hanging}")
        if previous is not None and previous.kind == "item":
            return indent + "  " + block.text.replace("\n", f"\n{indent}  ")
        return block.text
    if block.kind == "definition":
        return ": " + block.text.replace("\n", "\n  ")
    return block.text
