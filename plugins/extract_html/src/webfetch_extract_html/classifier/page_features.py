"""What the classifier sees of a page as a whole, from which it tells the page's type."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from ..blocks import Block
from .features import BlockFeatures, Sizes
from .layout import ANCESTORS, Floats, Layout
from .vocabulary import CATEGORIES, GENERATORS, JSON_LD_GROUPS, PHRASES, URL_PATTERNS

_REGIONS = [
    "main",
    "article",
    "nav",
    "header",
    "footer",
    "aside",
    "form",
    "table",
    "list",
    "pre",
    "button",
    "blockquote",
]
_TAGS = [
    "article",
    "p",
    "h1",
    "h2",
    "h3",
    "li",
    "table",
    "form",
    "pre",
    "button",
    "section",
    "dl",
    "blockquote",
    "td",
    "img",
    "input",
    "a",
    "time",
]
_NAMED = [
    "post",
    "product",
    "price",
    "description",
    "review",
    "card",
    "panel",
    "hero",
    "user",
    "comment",
    "content",
    "filter",
    "contents",
    "breadcrumb",
    "byline",
    "related",
]
_SAID = ["buy", "more", "thread", "filter", "shop", "byline", "signup", "paging"]
_OG_TYPES = ("article", "product", "website")
_LEAST_WORDS = 15
"""Of an element that counts as one of a series."""


@frozen(kw_only=True)
class About:
    """What a page says of itself: its address, JSON-LD types (lower case), ``og:type`` and generator."""

    url: str = ""
    kinds: frozenset[str] = frozenset()
    og_type: str = ""
    generator: str = ""


def about(root: Any, url: str, kinds: frozenset[str]) -> About:
    """Read the head. Where the address is not known, the page's own word for it is taken."""
    meta: dict[str, str] = {}
    for element in root.iter("meta"):
        name = (element.get("property") or element.get("name") or "").lower()
        if name in ("og:type", "generator", "og:url"):
            meta.setdefault(name, (element.get("content") or "").strip())
    if not url:
        links = (e for e in root.iter("link") if (e.get("rel") or "").lower() == "canonical")
        url = next((e.get("href") or "" for e in links), "") or meta.get("og:url", "")
    return About(
        url=url,
        kinds=kinds,
        og_type=meta.get("og:type", "").lower(),
        generator=meta.get("generator", "").lower(),
    )


def page_features(
    said: About, blocks: Sequence[Block], layout: Layout, sizes: Sizes, features: BlockFeatures
) -> dict[str, float]:
    """Numbers by name; the names do not depend on the page."""
    found: dict[str, float] = {}
    words = sizes.words
    total = max(1.0, float(words.sum()))
    count = max(1, len(blocks))
    found["words"] = np.log1p(total)
    found["blocks"] = np.log1p(count)
    found["links"] = float(sizes.linked.sum() / max(1.0, sizes.characters.sum()))
    found["long_share"] = float((words * sizes.long).sum() / total)
    found["mean_words"] = np.log1p(total / count)
    found["longest"] = np.log1p(words[sizes.long].max(initial=0))
    found["long_blocks"] = np.log1p(sizes.long.sum())
    kinds = layout.kinds[layout.element_of]
    for name in _REGIONS:
        found[f"words_in_{name}"] = float((words * ((kinds >> ANCESTORS.index(name)) & 1)).sum() / total)
    tags = Counter(layout.tags)
    for tag in _TAGS:
        found[f"tags_{tag}"] = np.log1p(tags[tag])
    column = {name: features.matrix[:, number] for number, name in enumerate(features.names)}
    money = float(column["money"].sum())
    found["money_share"], found["money"] = money / count, np.log1p(money)
    found["digits"] = float((column["digits"] * sizes.characters).sum() / max(1.0, sizes.characters.sum()))
    for name in _NAMED:
        assert name in CATEGORIES
        found[f"words_near_{name}"] = float((words * (column[f"near_{name}"] > 0)).sum() / total)
    for name in _SAID:
        found[f"blocks_saying_{name}"] = float(((features.phrases >> PHRASES.index(name)) & 1).sum() / count)
    _series(found, layout, sizes, total)
    for number, group in enumerate(JSON_LD_GROUPS):
        found[f"json_ld_{number}"] = float(any(kind in said.kinds for kind in group.split()))
    for name in _OG_TYPES:
        found[f"og_{name}"] = float(name in said.og_type)
    for number, group in enumerate(GENERATORS):
        found[f"generator_{number}"] = float(any(name in said.generator for name in group.split()))
    _address(found, said.url)
    return found


def _series(found: dict[str, float], layout: Layout, sizes: Sizes, total: float) -> None:
    """The largest set of siblings of one tag and class with some text each."""
    sums: Floats = np.concatenate([[0.0], np.cumsum(sizes.words)])
    size = sums[layout.last] - sums[layout.first]
    big = np.flatnonzero(size >= _LEAST_WORDS)
    found["series"] = found["series_share"] = found["series_words"] = found["series_links"] = 0.0
    if not len(big):
        return
    key = layout.parent[big] * (int(layout.signature.max(initial=0)) + 1) + layout.signature[big]
    _, group = np.unique(key, return_inverse=True)
    counts = np.bincount(group)
    members = big[group == int(np.argmax(counts))]
    linked = np.concatenate([[0.0], np.cumsum(sizes.linked)])
    characters = np.concatenate([[0.0], np.cumsum(sizes.characters)])
    first, last = layout.first[members], layout.last[members]
    share: NDArray[np.float64] = (linked[last] - linked[first]) / np.maximum(
        1, characters[last] - characters[first]
    )
    found["series"] = float(np.log1p(counts.max()))
    found["series_share"] = float(size[members].sum() / total)
    found["series_words"] = float(np.log1p(size[members].mean()))
    found["series_links"] = float(share.mean())


def _address(found: dict[str, float], url: str) -> None:
    for number, pattern in enumerate(URL_PATTERNS):
        found[f"url_{number}"] = float(bool(pattern.search(url)))
    try:
        path = urlsplit(url).path
    except ValueError:
        path = ""
    trimmed = path.strip("/")
    found["url_depth"] = trimmed.count("/") + 1.0 if trimmed else 0.0
    found["url_length"] = float(min(len(path), 300))
    found["url_hyphens"] = float(trimmed.rsplit("/", 1)[-1].count("-"))
    found["url_known"] = float(bool(url))
