"""Lines of running text put together again: divided words, and where a paragraph goes on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from .words import is_wide

_HYPHENS = "-\u00ad\u2010"
_DIVIDED = re.compile(r"(\w+)[-\u00ad\u2010]$")
_WITHIN = re.compile(r"[^\W\d_][\w-]{5,}")
_FIRST = re.compile(r"\w+")
_COMPOUND_HEADS = frozenset({
    "all", "anti", "cross", "ex", "half", "high", "low", "long", "mid", "multi", "near", "non", "one",
    "post", "pre", "quasi", "re", "self", "semi", "short", "so", "two", "three", "four", "five", "six",
    "seven", "eight", "nine", "ten", "first", "second", "third", "full", "part", "well", "ill", "open",
    "close", "closed", "hard", "soft", "deep", "wide", "large", "small", "early", "late", "then",
    "old", "new", "free", "fast", "slow", "dry", "wet", "hot", "cold", "left", "right", "top",
    "bottom", "north", "south", "east", "west", "co", "e", "x", "t", "u", "s",
})  # fmt: skip
"""Words that stand before a hyphen of their own more often than they are the first half of a word."""
_LIST_WORDS = frozenset({"and", "or", "to", "und", "oder", "bis", "et", "ou", "y", "o", "e", "en", "of"})


def mend(lines: Sequence[str], known: frozenset[str] = frozenset()) -> str:
    """Join lines with blanks; a word divided at the end of a line is made whole, a compound keeps its hyphen.

    Which of the two it is, ``known`` tells, the words that stand within lines; else how hyphens are used.
    """
    text = ""
    for raw in lines:
        line = raw.strip()
        if not line:
            continue
        if not text:
            text = line
        elif text[-1] in _HYPHENS and len(text) > 1 and text[-2].isalnum():
            text = _over_hyphen(text, line, known)
        elif is_wide(text[-1]) and is_wide(line[0]):
            text += line
        else:
            text += " " + line
    return text


def words_within(lines: Iterable[str]) -> frozenset[str]:
    """Words and compounds of at least six letters that stand within lines, in lower case."""
    return frozenset(
        found.lower() for line in lines for found in _WITHIN.findall(line) if found[-1] not in _HYPHENS
    )


def tidy(text: str) -> str:
    """Hyphens that only a line's end called for, and that stayed within a line, are hyphens."""
    return text.replace("\u00ad", "-")


def _over_hyphen(text: str, line: str, known: frozenset[str]) -> str:
    kept = text[:-1] + "-" + line
    divided, follows = _DIVIDED.search(text), _FIRST.match(line)
    if divided is None or follows is None:
        return kept
    head, tail = divided.group(1), follows.group(0)
    if not tail[0].islower() or not head[-1].islower():
        return kept  # 1990-1995, Anglo-American, COVID-19
    if (head + tail).lower() in known:
        return text[:-1] + line
    if f"{head}-{tail}".lower() in known:
        return kept
    if tail in _LIST_WORDS:
        return text[:-1] + "- " + line  # pre- and post-war
    before = text[: divided.start()]
    if before.endswith(tuple(_HYPHENS)):
        return kept  # state-of-the-art
    if head.lower() in _COMPOUND_HEADS or (len(line) > len(tail) and line[len(tail)] in _HYPHENS):
        return kept
    return text[:-1] + line


def ends_sentence(text: str) -> bool:
    """Whether a line closes with a mark that ends sentences."""
    return bool(re.search(r"[.!?:;…。！？：；؟۔]['\"”’»)\]]*(?:\[?\d{1,3}\]?)?$", text.strip()))


def goes_on(text: str) -> bool:
    """Whether a line begins within a sentence."""
    first = next((c for c in text if c.isalnum()), "")
    return bool(first) and (first.islower() or (text[:1] in ",;)"))


def letters(texts: Iterable[str]) -> int:
    """How many letters and digits there are."""
    return sum(c.isalnum() for text in texts for c in text)
