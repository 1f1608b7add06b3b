"""The steps of the chain: each proposes which blocks of a page are its content.

A step sees the page and its blocks, and answers with one flag per block. Steps are functions of one
shape, so that a chain is a tuple of them.
"""

from __future__ import annotations

import contextlib
import copy
import threading
from collections.abc import Callable, Sequence
from typing import Any

from attrs import define
from lxml import etree

from .blocks import Block, tokens_of

Selection = list[bool]

_FORUM_KINDS = frozenset({"qapage", "discussionforumposting", "question", "faqpage"})
_IMPORTS = threading.Lock()


@define(kw_only=True)
class PageView:
    """What a step may look at. ``root`` is not to be changed."""

    url: str
    root: Any
    blocks: Sequence[Block]
    kinds: frozenset[str] = frozenset()


Step = Callable[[PageView], Selection | None]


def trafilatura_step(view: PageView) -> Selection | None:
    """The blocks that trafilatura's default mode keeps."""
    extract = _trafilatura()
    try:
        text = extract(
            copy.deepcopy(view.root),
            url=view.url or None,
            include_comments=bool(view.kinds & _FORUM_KINDS),
            include_tables=True,
            output_format="txt",
        )
    except Exception:  # it fails on odd trees; the next step serves them
        return None
    return members(view.blocks, text) if text else None


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
    return members(view.blocks, " ".join(tree.itertext())) if tree is not None else None


def visible_step(view: PageView) -> Selection | None:
    """Everything outside navigation and other trimmings that is not a list of links."""
    return [is_contentlike(block) for block in view.blocks]


def is_contentlike(block: Block) -> bool:
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
    from bisect import bisect_left

    place = bisect_left(anchors, number)
    return any(abs(anchor - number) <= reach for anchor in anchors[max(place - 1, 0) : place + 1])


# ---- evidence ----------------------------------------------------------------------------------------


def choose(view: PageView, steps: Sequence[Step], *, enough: float) -> tuple[Selection, str]:
    """Run steps until one keeps ``enough`` of the page's content-like words; else the fullest one wins.

    Returns the selection and the name of its step.
    """
    total = sum(len(block.tokens) for block in view.blocks if is_contentlike(block)) or 1
    best: tuple[float, Selection, str] = (-1.0, [False] * len(view.blocks), "")
    for step in steps:
        selection = step(view)
        if selection is None:
            continue
        kept = sum(len(block.tokens) for block, keep in zip(view.blocks, selection, strict=True) if keep)
        share = kept / total
        if share > best[0]:
            best = (share, selection, step.__name__.removesuffix("_step"))
        if share >= enough:
            break
    return best[1], best[2]
