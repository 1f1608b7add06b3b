"""From a parsed tree to what a reader of the page sees, cut into blocks."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from attrs import frozen

from . import dom, hidden
from .banners import remove_banners
from .blocks import Block, segment
from .noscript import place_noscript
from .steps import is_contentlike

_LEAST_HIDDEN = 200
_HIDDEN_TIMES = 5


@frozen(kw_only=True)
class Prepared:
    """``root`` is the tree without what is hidden, ``blocks`` its text; ``flags`` say what was done."""

    root: Any
    blocks: Sequence[Block]
    flags: tuple[str, ...] = ()


def prepare(root: Any, *, base: str = "", links: bool = False) -> Prepared:
    """Take out what is not seen and cut the rest into blocks. ``root`` itself loses its comments, and
    hidden orders to language models.

    A page that is hidden for the most part (200 words or more, and five times what is shown outside
    navigation) waits for a script to reveal it: it is kept whole and flagged as of low trust.
    """
    hidden.place_streamed(root)
    dom.strip_comments(root)
    seen = copy.deepcopy(root)
    taken, had_words = hidden.remove_hidden(seen)
    remove_banners(seen)
    place_noscript(seen)
    blocks = segment(seen, base=base, links=links)
    if not had_words:
        return Prepared(root=seen, blocks=blocks)
    shown = _words(blocks)
    least = max(_LEAST_HIDDEN, _HIDDEN_TIMES * shown)
    if shown + sum(len(" ".join(each.itertext()).split()) for each in taken) > least:
        hidden.remove_orders(root)
        everything = segment(root, base=base, links=links)
        if _words(everything) > least:
            return Prepared(root=root, blocks=everything, flags=("hidden_text_kept",))
    return Prepared(root=seen, blocks=blocks, flags=("hidden_text_removed",))


def _words(blocks: Sequence[Block]) -> int:
    return sum(len(block.tokens) for block in blocks if is_contentlike(block))
