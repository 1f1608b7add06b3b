"""Words as the index sees them; documents and queries go through the same function.

A term is a word in lower case without accents, vowel points or a possessive ending. Scripts that
are written without spaces give single characters and overlapping pairs, so that any two adjacent
characters of a query find their place in a text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

MAX_TERM_CHARS = 64
"""Longer words are cut: they are encoded data more often than words."""

# Marks that readers leave out when they type: Latin, Greek and Cyrillic accents, Hebrew points,
# Arabic vowel signs and tatweel, and the joiners inside Persian and Indic words. Vowel signs of
# Indic scripts and Japanese voicing marks change the word and stay.
_DROPPED = dict.fromkeys(
    [
        *range(0x0300, 0x0370),
        *range(0x0591, 0x05C8),
        0x0640,
        *range(0x064B, 0x0653),
        0x0670,
        0x200C,
        0x200D,
    ]
)

# Han, kana, Bopomofo, Hangul, and the scripts of South-East Asia that do not space their words.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3100-\u312f\u31f0-\u31ff"
    "\u1100-\u11ff\u3130-\u318f\uac00-\ud7af\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)

_ASCII_WORD = re.compile(r"(?<![a-z0-9])[a-z](?:\+\+|#)(?!\w)|[a-z0-9]+(?:'[a-z0-9]+)*")
# Typographic punctuation of otherwise plain English.
_PUNCTUATION = str.maketrans({"’": "'"} | dict.fromkeys("“”‘–—…•·\u00a0", " "))

STOPWORDS = frozenset(
    """
    a about all also am an and any are aren't as at be been being but by can can't could couldn't did
    didn't do does doesn't doing don't each few for from had has hasn't have haven't having he her here
    him his how i if in into is isn't it its just me more most my no not of on once one's only or other
    our out over own please same she should so some such tell than that that's the their them then there
    these they this those through to too under until up us very was wasn't we were what what's when where
    which while who who's whom whose why will with would you your yours
    """.replace("'", "").split()
)
"""English function words; dropped from a query unless nothing else is left of it."""


@lru_cache(maxsize=1)
def _word_pattern() -> re.Pattern[str]:
    # ``\w`` leaves out combining marks, which would tear Indic, Thai and pointed words apart.
    marks = "".join(
        re.escape(chr(c))
        for c in (
            *range(0x0300, 0x1CFF),
            *range(0x1DC0, 0x1E00),
            *range(0x3099, 0x309B),
            *range(0xA600, 0xAC00),
        )
        if unicodedata.category(chr(c)).startswith("M")
    )
    letter = rf"(?:[^\W_]|[{marks}\u200c\u200d])"
    return re.compile(rf"(?<![^\W_])[^\W\d_](?:\+\+|\#)(?!\w)|[^\W_]{letter}*(?:['’]{letter}+)*")


@lru_cache(maxsize=1)
def _unspaced_run() -> re.Pattern[str]:
    return re.compile(f"[{_UNSPACED}]+|[^{_UNSPACED}]+")


def fold(word: str) -> str:
    """Return ``word`` in lower case, compatibility forms unified, accents and apostrophes gone."""
    if word.isascii():
        folded = word.lower()
    else:
        apart = unicodedata.normalize("NFKD", word.replace("’", "'")).casefold()
        # Some ligatures decompose into a blank and a mark; a term never holds white space.
        folded = "".join(unicodedata.normalize("NFC", apart.translate(_DROPPED)).split())
    if "'" in folded:
        folded = folded.removesuffix("'s").replace("'", "")
    return folded


def spans(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield ``(term, start, end)`` for each term, offsets into ``text``."""
    for found in _word_pattern().finditer(text):
        word, start, end = found.group(), found.start(), found.end()
        if word.isascii():
            yield fold(word)[:MAX_TERM_CHARS], start, end
            continue
        for run in _unspaced_run().finditer(word):
            piece, left = run.group(), start + run.start()
            if not is_unspaced(piece[0]):
                folded = fold(piece)[:MAX_TERM_CHARS]
                if folded:
                    yield folded, left, left + len(piece)
                continue
            for i, char in enumerate(piece):
                yield fold(char), left + i, left + i + 1
                if i + 1 < len(piece):
                    yield fold(piece[i : i + 2]), left + i, left + i + 2


def word_at(text: str, start: int) -> str:
    """Return the word that begins at ``start``, or ""."""
    found = _word_pattern().match(text, start)
    return found.group() if found else ""


def is_unspaced(char: str) -> bool:
    """Whether ``char`` is of a script that is indexed by single characters and pairs."""
    return char > "\u0dff" and _unspaced_class().match(char) is not None


@lru_cache(maxsize=1)
def _unspaced_class() -> re.Pattern[str]:
    return re.compile(f"[{_UNSPACED}]")


def document_terms(text: str) -> list[str]:
    """Return every term of ``text``, in order; the same as ``spans`` gives, faster for English."""
    terms: list[str] = []
    for line in text.translate(_PUNCTUATION).split("\n"):
        if line.isascii():
            terms += [word if "'" not in word else fold(word) for word in _ASCII_WORD.findall(line.lower())]
        else:
            terms += [term for term, _, _ in spans(line) if term]
    return [term if len(term) <= MAX_TERM_CHARS else term[:MAX_TERM_CHARS] for term in terms]


def query_terms(query: str, limit: int = 64) -> list[str]:
    """Return the distinct terms to look for, in order, at most ``limit``.

    Stopwords go unless nothing else is left. A single character of an unspaced script goes when a
    pair holds it: the pair says more.
    """
    found = list(spans(query))
    pairs = [(start, end) for term, start, end in found if end - start == 2 and is_unspaced(query[start])]
    inside = {place for start, end in pairs for place in range(start, end)}
    kept = [
        term
        for term, start, end in found
        if term and not (end - start == 1 and start in inside and is_unspaced(query[start]))
    ]
    telling = [term for term in kept if term not in STOPWORDS]
    return list(dict.fromkeys(telling or kept))[:limit]
