"""The steps of the chain: each proposes which blocks of a page are its content.

A step sees the page and its blocks, and answers with one flag per block. Steps are functions of one
shape, so that a chain is a tuple of them.
"""

from __future__ import annotations

import contextlib
import copy
import re
import threading
from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import urlsplit

from attrs import define
from lxml import etree

from .blocks import Block, tokens_of

Selection = list[bool]

_FORUM_KINDS = frozenset({"qapage", "discussionforumposting", "question", "faqpage"})
_FORUM_PATH = re.compile(
    r"(?:^|[/._-])(?:forums?|topics?|threads?|discussions?|viewtopic|showthread|questions|comments)(?:[/._-]|$)"
    r"|/[trs]/[\w-]+/"
)
_THIN = 150
"""Words below which a selection without comments is doubted."""

_IMPORTS = threading.Lock()


@define(kw_only=True)
class PageView:
    """What a step may look at. ``root`` is not to be changed; ``kinds`` are the JSON-LD types, lower case."""

    url: str
    root: Any
    blocks: Sequence[Block]
    kinds: frozenset[str] = frozenset()
    title: str = ""
    description: str = ""


_GAP = 6

Step = Callable[[PageView], Selection | None]


def trafilatura_step(view: PageView) -> Selection | None:
    """The blocks that trafilatura's default mode keeps; reader comments only where they are the content."""
    discussion = bool(view.kinds & _FORUM_KINDS or _FORUM_PATH.search(urlsplit(view.url).path))
    selection = _by_trafilatura(view, comments=discussion)
    if selection is None or (not discussion and size_of(view, selection) < _THIN):
        # Little but comments: a thread in a layout that nothing names as one.
        other = _by_trafilatura(view, comments=not discussion)
        if other is not None and (selection is None or size_of(view, other) >= 3 * size_of(view, selection)):
            return other
    return selection


def article_step(view: PageView) -> Selection | None:
    """The blocks that trafilatura keeps of an article without looking twice: a third of the time."""
    return _by_trafilatura(view, comments=False, fast=True)


def _by_trafilatura(view: PageView, *, comments: bool, fast: bool = False) -> Selection | None:
    extract = _trafilatura()
    try:
        text = extract(
            _html_elements(view.root),
            url=view.url or None,
            include_comments=comments,
            include_tables=True,
            output_format="txt",
            fast=fast,
        )
    except Exception:  # it fails on odd trees; the next step serves them
        return None
    return members(view.blocks, text) if text else None


def _html_elements(root: Any) -> Any:
    """A copy of the tree of the elements that trafilatura works on."""
    from lxml import html

    copied = html.html_parser.makeelement(root.tag, root.attrib)
    copied.text = root.text
    copied.extend(list(copy.deepcopy(root)))
    return copied


def readability_step(view: PageView) -> Selection | None:
    """The blocks that readability keeps."""
    from readability import Document

    try:
        summary = Document(etree.tostring(view.root, encoding="unicode", method="html")).summary(
            html_partial=True
        )
        tree = etree.fromstring(summary, etree.HTMLParser(encoding="utf-8"))
    except Exception:
        return None
    return members(view.blocks, " ".join(map(str, tree.itertext()))) if tree is not None else None


def visible_step(view: PageView) -> Selection:
    """Everything outside navigation and other trimmings that is not a list of links."""
    return [is_contentlike(block) for block in view.blocks]


def size_of(view: PageView, selection: Selection) -> int:
    """The words of the selected blocks."""
    return sum(len(block.tokens) for block, keep in zip(view.blocks, selection, strict=True) if keep)


def is_contentlike(block: Block) -> bool:
    """Whether a block stands outside trimmings and is not mostly links."""
    if block.region:
        return False
    return block.kind in ("code", "table", "heading") or block.link_share < 0.6


def _trafilatura() -> Callable[..., str | None]:
    """trafilatura's ``extract``, imported without what its import changes in the process."""
    import logging
    import warnings

    with _IMPORTS:
        filters, level = list(warnings.filters), logging.getLogger().level
        try:
            from trafilatura import extract
        finally:
            warnings.filters[:] = filters  # type: ignore[index]
            logging.getLogger().setLevel(level)
    with contextlib.suppress(Exception):
        logging.getLogger("trafilatura").propagate = False
    found: Callable[..., str | None] = extract
    return found


# ---- membership --------------------------------------------------------------------------------------


def members(blocks: Sequence[Block], text: str) -> Selection:
    """Which blocks occur in a text that another tool extracted from the same page.

    A block of five words or more is in if more than half of its three-word runs are; a table if a third
    is. Shorter ones must occur whole and have such a block near them.
    """
    words = tokens_of(text)
    runs = {size: set(zip(*(words[offset:] for offset in range(size)), strict=False)) for size in (1, 2, 3)}
    selected = [False] * len(blocks)
    short: list[int] = []
    for number, block in enumerate(blocks):
        size = len(block.tokens)
        if size < 5:
            short.append(number)
            continue
        grams = list(zip(block.tokens, block.tokens[1:], block.tokens[2:], strict=False))
        share = sum(gram in runs[3] for gram in grams) / len(grams)
        selected[number] = share > (0.3 if block.kind == "table" else 0.5)
    anchors = [number for number, kept in enumerate(selected) if kept]
    if not anchors:
        anchors = short
    for number in short:
        tokens = blocks[number].tokens
        if not tokens:
            continue
        size = min(len(tokens), 3)
        grams = list(zip(*(tokens[offset:] for offset in range(size)), strict=False))
        selected[number] = all(gram in runs[size] for gram in grams) and _near(anchors, number)
    return selected


def _near(anchors: list[int], number: int, reach: int = 6) -> bool:
    place = bisect_left(anchors, number)
    return any(abs(anchor - number) <= reach for anchor in anchors[max(place - 1, 0) : place + 1])


def mend(blocks: Sequence[Block], selection: Selection) -> Selection:
    """Give back what a step tore out of the middle: tables, code and lists next to kept blocks of the same
    container, and any text between two of them."""
    mended = list(selection)
    containers = [_container(block) for block in blocks]
    kept = [number for number, keep in enumerate(selection) if keep]
    for number, block in enumerate(blocks):
        if mended[number] or not is_contentlike(block):
            continue
        place = bisect_left(kept, number)
        before = kept[place - 1] if place else None
        after = kept[place] if place < len(kept) else None
        sides = [
            side
            for side in (before, after)
            if side is not None and containers[side] is containers[number] and abs(side - number) <= _GAP
        ]
        structured = block.kind in ("table", "code", "item", "term", "definition")
        mended[number] = len(sides) == 2 or (structured and bool(sides))
    return mended


def _container(block: Block) -> Any:
    """What holds the block; for an item, what holds its outermost list."""
    element = block.element if block.group is None else block.group
    if block.kind in ("term", "definition"):
        element = element.getparent()
    parent = element.getparent()
    while block.group is not None and parent is not None and parent.tag in ("li", "ul", "ol"):
        element, parent = parent, parent.getparent()
    return element if parent is None else parent
