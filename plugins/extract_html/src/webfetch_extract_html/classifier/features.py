"""What the classifier sees of each block: one row of numbers.

Words, characters and shares are of the block's own text; places count blocks and words in reading order;
containers are the elements around it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from ..blocks import Block, tokens_of
from .layout import ANCESTORS, Floats, Ints, Layout
from .vocabulary import CATEGORIES, PHRASES, category_bit, phrases_in

TAGS = [
    "p",
    "h1",
    "h2",
    "h3",
    "h4",
    "li",
    "td",
    "div",
    "span",
    "a",
    "pre",
    "blockquote",
    "dt",
    "dd",
    "figcaption",
    "button",
    "summary",
    "section",
    "article",
    "th",
    "table",
]
INLINE = ["navigation", "price", "byline", "user", "action", "concealed", "review", "share", "hero"]
LEVELS = (1, 2, 3, 5)
WINDOWS = (5, 15)
LONG_WORDS = 12
"""A block is long from this many words on, with less than ``LONG_LINKED`` of its characters in links."""
LONG_LINKED = 0.4
SECTION_SHARE = 0.6
"""A section is the topmost element with no more than this share of the page's words."""

_DIGIT = re.compile(r"\d")
_STOP = re.compile(r"[.,;:!?。，、；：！？]")
_MONEY = re.compile(r"[$€£¥₹]\s?\d|\d\s?(?:[$€£¥₹]|USD|EUR|GBP|kr\b|zł)")
_ENDS = tuple('.!?:。！？…"”»')


@frozen(kw_only=True)
class Sizes:
    """Per block: words, characters, characters in links, stops, and whether it is long. Length B each."""

    words: Floats
    characters: Floats
    linked: Floats
    stops: Floats
    long: NDArray[np.bool_]

    @property
    def link_share(self) -> Floats:
        return self.linked / np.maximum(self.characters, 1)


def sizes_of(blocks: Sequence[Block]) -> Sizes:
    words = np.array([len(block.tokens) for block in blocks], dtype=float)
    characters = np.array([len(block.text) for block in blocks], dtype=float)
    linked = characters * np.array([block.link_share for block in blocks], dtype=float)
    share = linked / np.maximum(characters, 1)
    return Sizes(
        words=words,
        characters=characters,
        linked=linked,
        stops=np.array([len(_STOP.findall(block.text)) for block in blocks], dtype=float),
        long=(words >= LONG_WORDS) & (share < LONG_LINKED),
    )


def running(values: Floats) -> Floats:
    """Cumulative sums with a leading zero: ``[n + 1]``."""
    return np.concatenate([[0.0], np.cumsum(values)])


def shifted(values: Floats, by: int, fill: float) -> Floats:
    """The value ``by`` blocks earlier (later if negative)."""
    out = np.full(len(values), fill)
    if abs(by) < len(values):
        if by > 0:
            out[by:] = values[:-by]
        else:
            out[:by] = values[-by:]
    return out


Columns = dict[str, NDArray[np.generic]]


@frozen(kw_only=True)
class BlockFeatures:
    """``matrix`` is float32 [blocks, columns]; ``phrases`` the phrase kinds of each block."""

    names: tuple[str, ...]
    matrix: NDArray[np.float32]
    phrases: Ints


def block_features(
    blocks: Sequence[Block], layout: Layout, sizes: Sizes, *, title: str, description: str
) -> BlockFeatures:
    """One row per block; the columns do not depend on the page."""
    phrases = np.array([phrases_in(block.tokens) for block in blocks], dtype=np.int64)
    columns: Columns = {}
    _text(columns, blocks, sizes, phrases, title, description)
    _place_in_tree(columns, blocks, layout)
    _neighbours(columns, blocks, layout, sizes, phrases)
    _containers(columns, layout, sizes)
    _repeats(columns, blocks, layout, sizes)
    return BlockFeatures(
        names=tuple(columns),
        matrix=np.column_stack(list(columns.values())).astype(np.float32),
        phrases=phrases,
    )


def _text(
    columns: Columns,
    blocks: Sequence[Block],
    sizes: Sizes,
    phrases: Ints,
    title: str,
    description: str,
) -> None:
    words, characters = sizes.words, np.maximum(sizes.characters, 1)
    columns["words"] = np.log1p(words)
    columns["characters"] = np.log1p(characters)
    columns["link_share"] = sizes.link_share
    columns["word_length"] = characters / np.maximum(words, 1)
    columns["stops"] = sizes.stops / np.maximum(words, 1)
    columns["ends_sentence"] = np.array([block.text.endswith(_ENDS) for block in blocks], dtype=float)
    columns["capitals"] = np.array([_capitals(block.text) for block in blocks])
    columns["all_capitals"] = np.array([block.text.isupper() for block in blocks], dtype=float)
    digits = np.array([len(_DIGIT.findall(block.text)) for block in blocks], dtype=float) / characters
    columns["digits"] = digits
    columns["money"] = np.array(
        [bool(share and _MONEY.search(block.text)) for block, share in zip(blocks, digits, strict=True)],
        dtype=float,
    )
    columns["lines"] = np.log1p(np.array([block.text.count("\n") for block in blocks], dtype=float))
    dilution = 1 / np.maximum(1, np.log2(1 + words))
    for bit, name in enumerate(PHRASES):
        columns[f"says_{name}"] = ((phrases >> bit) & 1) * dilution
    columns["in_title"] = _overlap(blocks, title)
    columns["in_description"] = _overlap(blocks, description)


def _capitals(text: str) -> float:
    words = text[:400].split()
    return sum([word[0].isupper() for word in words]) / max(1, len(words))


def _overlap(blocks: Sequence[Block], text: str) -> Floats:
    known = set(tokens_of(text))
    if not known:
        return np.zeros(len(blocks))
    has = known.__contains__
    return np.array([sum(map(has, block.tokens)) / max(1, len(block.tokens)) for block in blocks])


def _place_in_tree(columns: Columns, blocks: Sequence[Block], layout: Layout) -> None:
    element_of = layout.element_of
    tags = [layout.tags[element] for element in element_of]
    places = {tag: number for number, tag in enumerate(TAGS)}
    tag_of = np.array([places.get(tag, len(TAGS)) for tag in tags])
    for number, tag in enumerate([*TAGS, "other"]):
        columns[f"is_{tag}"] = (tag_of == number).astype(float)
    kinds = layout.kinds[element_of]
    for bit, name in enumerate(ANCESTORS):
        columns[f"in_{name}"] = (kinds >> bit) & 1
    depth = layout.depth[element_of]
    distance = depth[:, None] - layout.nearest[layout.row[element_of]]
    nearness = np.where(distance <= depth[:, None], 1 / (1 + np.maximum(distance, 0)), 0.0)
    for number, name in enumerate(CATEGORIES):
        columns[f"near_{name}"] = nearness[:, number]
    inline = layout.inline[element_of]
    for name in INLINE:
        columns[f"has_{name}"] = (inline & category_bit(name) > 0).astype(float)
    columns["depth"] = depth
    columns["region"] = np.array([block.region for block in blocks], dtype=float)
    columns["quoted"] = np.array([block.quoted for block in blocks], dtype=float)
    columns["level"] = np.array([block.level for block in blocks], dtype=float)
    columns["item"] = np.array([block.kind == "item" for block in blocks], dtype=float)


def _neighbours(
    columns: Columns, blocks: Sequence[Block], layout: Layout, sizes: Sizes, phrases: Ints
) -> None:
    count = len(blocks)
    place = np.arange(count)
    words, share = sizes.words, sizes.link_share
    before = running(words)
    total = max(1.0, before[-1])
    columns["place"] = place / count
    columns["words_before"] = before[:-1] / total
    headings = np.array([block.kind == "heading" for block in blocks])
    h1 = next((n for n, block in enumerate(blocks) if block.kind == "heading" and block.level == 1), -1)
    if h1 >= 0:
        columns["after_h1"] = (place >= h1).astype(float)
        columns["from_h1"] = np.sign(place - h1) * np.log1p(np.abs(before[:-1] - before[h1]))
    else:
        columns["after_h1"] = np.full(count, -1.0)
        columns["from_h1"] = np.full(count, -99.0)
    columns["from_long"] = np.minimum(_since(sizes.long), 50)
    columns["to_long"] = np.minimum(_since(sizes.long[::-1])[::-1], 50)
    last = np.maximum.accumulate(np.where(headings, place, -1))
    columns["from_heading"] = np.where(last >= 0, np.minimum(place - last, 60), 60)
    said = np.where(last >= 0, phrases[last], 0)
    for name in ("related", "thread", "signup", "shop", "more"):
        columns[f"headed_{name}"] = (said >> PHRASES.index(name)) & 1
    columns["heading_words"] = np.where(last >= 0, np.log1p(words[last]), -1)
    for by in (1, 2, -1, -2):
        columns[f"words{by:+d}"] = np.log1p(shifted(words, by, 0.0))
        columns[f"link_share{by:+d}"] = shifted(share, by, -1.0)
    columns["heading+1"] = shifted(headings.astype(float), 1, 0.0)
    columns["heading-1"] = shifted(headings.astype(float), -1, 0.0)
    linked, characters, long = running(sizes.linked), running(sizes.characters), running(words * sizes.long)
    for reach in WINDOWS:
        low, high = np.maximum(0, place - reach), np.minimum(count, place + reach + 1)
        columns[f"window{reach}_words"] = np.log1p((before[high] - before[low]) / (high - low))
        columns[f"window{reach}_links"] = (linked[high] - linked[low]) / np.maximum(
            1, characters[high] - characters[low]
        )
        columns[f"window{reach}_long"] = (long[high] - long[low]) / np.maximum(1, before[high] - before[low])


def _since(flags: NDArray[np.bool_]) -> Floats:
    """Blocks since the last flagged one (0 on it), 99 before the first."""
    place = np.arange(len(flags))
    last = np.maximum.accumulate(np.where(flags, place, -1))
    return np.where(last >= 0, place - last, 99).astype(float)


def _containers(columns: Columns, layout: Layout, sizes: Sizes) -> None:
    words, linked = running(sizes.words), running(sizes.linked)
    characters, long = running(sizes.characters), running(sizes.words * sizes.long)
    first, last = layout.first, layout.last
    total = max(1.0, words[-1])
    size = words[last] - words[first]
    links = (linked[last] - linked[first]) / np.maximum(1, characters[last] - characters[first])
    inside = np.maximum(last - first, 1)
    prose = (long[last] - long[first]) / np.maximum(1, size)
    repeated = np.log(sibling_repeats(layout))
    element = layout.element_of
    up = element.copy()
    most, most_size = repeated[element].copy(), np.zeros(len(element))
    for level in range(1, 8):
        above = layout.parent[up]
        up = np.where(above >= 0, above, up)
        if level in LEVELS:
            columns[f"up{level}_words"] = np.log1p(size[up])
            columns[f"up{level}_share"] = size[up] / total
            columns[f"up{level}_links"] = links[up]
            columns[f"up{level}_blocks"] = np.log1p(inside[up])
            columns[f"up{level}_long"] = prose[up]
            columns[f"up{level}_mean"] = np.log1p(size[up] / inside[up])
            columns[f"up{level}_repeats"] = repeated[up]
        better = repeated[up] > most
        most = np.where(better, repeated[up], most)
        most_size = np.where(better, size[up], most_size)
    columns["repeats"] = repeated[element]
    columns["most_repeats"] = most
    columns["most_repeated_words"] = np.log1p(most_size)
    section = _sections(layout, size, total)[element]
    section = np.where(section >= 0, section, element)
    columns["section_share"] = size[section] / total
    columns["section_links"] = links[section]
    columns["section_long"] = prose[section]
    columns["section_starts"] = first[section] / len(element)
    columns["section_ends"] = last[section] / len(element)
    columns["section_blocks"] = np.log1p(inside[section])


def sibling_repeats(layout: Layout) -> Floats:
    """For each element, how many siblings with text (itself among them) have its tag and class; 1 or more."""
    filled = layout.last > layout.first
    key = layout.parent * (int(layout.signature.max(initial=0)) + 1) + layout.signature
    _, group = np.unique(key, return_inverse=True)
    counts = np.bincount(group, weights=filled.astype(float))
    return np.maximum(counts[group], 1.0)


def _sections(layout: Layout, size: Floats, total: float) -> Ints:
    """Each element's topmost ancestor (or self) with at most ``SECTION_SHARE`` of the words, -1 for none."""
    small = (size <= SECTION_SHARE * total).tolist()
    section: list[int] = []
    for element, above in enumerate(layout.parent.tolist()):
        if above >= 0 and section[above] >= 0:
            section.append(section[above])
        else:
            section.append(element if small[element] else -1)
    return np.array(section, dtype=np.int64)


def _repeats(columns: Columns, blocks: Sequence[Block], layout: Layout, sizes: Sizes) -> None:
    """Over blocks made alike: same tag and class of element and of its parent."""
    group = alike(layout)
    size = np.bincount(group).astype(float)
    words = np.bincount(group, weights=sizes.words)
    linked = np.bincount(group, weights=sizes.linked)
    characters = np.bincount(group, weights=sizes.characters)
    place = np.arange(len(blocks))
    begin, end = np.full(len(size), len(blocks)), np.zeros(len(size), dtype=np.int64)
    np.minimum.at(begin, group, place)
    np.maximum.at(end, group, place)
    number: dict[str, int] = {}
    text_of = np.array([number.setdefault(block.text, len(number)) for block in blocks], dtype=np.int64)
    different = np.bincount(np.unique(np.stack([group, text_of]), axis=1)[0], minlength=len(size))
    columns["alike"] = np.log(size[group])
    columns["alike_words"] = np.log1p(words / size)[group]
    columns["alike_links"] = (linked / np.maximum(1, characters))[group]
    columns["alike_spread"] = ((end - begin) / len(blocks))[group]
    columns["alike_different"] = (different / size)[group]
    columns["alike_share"] = (words / max(1.0, sizes.words.sum()))[group]
    columns["copies"] = np.log(np.bincount(text_of).astype(float))[text_of]
    seen: dict[int, int] = {}
    earlier = []
    for text in text_of.tolist():
        earlier.append(min(seen.get(text, 0), 5))
        seen[text] = seen.get(text, 0) + 1
    columns["copies_before"] = np.array(earlier, dtype=float)


def alike(layout: Layout) -> Ints:
    """Numbers of the groups of blocks whose elements, and their parents, have the same tag and class."""
    element = layout.element_of
    above = layout.parent[element]
    parent = np.where(above >= 0, layout.signature[above], -1)
    key = (parent + 1) * (int(layout.signature.max(initial=0)) + 2) + layout.signature[element]
    _, group = np.unique(key, return_inverse=True)
    return group.astype(np.int64)
