"""Text to the units that query and passage are compared in. Pure.

- Case, accents and compatibility forms are folded: ``Ｃａｆé`` and ``cafe`` are one word.
- A word gives its stem (English suffixes; six letters in other alphabets) and, when it is long,
  its beginning, so that inflected forms still meet.
- Scripts that put no blanks between words give character n-grams: pairs for Chinese, Japanese
  and Korean, triples for Thai, Lao, Khmer and Burmese. A run shorter than that is one term.
- Numbers stay whole: ``41.3`` is not ``41`` and ``3``; ``1,234`` is ``1234``.
"""

from __future__ import annotations

import re
import unicodedata

from attrs import frozen

FUNCTION_WORD = 0.2
"""Weight of an English function word in a query: it decides only where nothing else does."""

_BEGINNING = 5
_OTHER_STEM = 6
_BEGINNING_MARK = "~"

# Marks that readers leave out: Latin, Greek and Cyrillic accents, Hebrew points, Arabic vowels.
_OPTIONAL_MARKS = re.compile(
    "[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0640\u064b-\u065f\u0670]"
)
_PAIRS = (
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\u1100-\u11ff\uac00-\ud7af\U00020000-\U0003ffff"
)
_TRIPLES = "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u0edc-\u0edf\u1000-\u1049\u1050-\u109f\u1780-\u17d3"
_INDIC = "\u0900-\u0963\u0966-\u0dff"  # whole blocks: \w misses their vowel signs
_TERM = re.compile(
    rf"([{_PAIRS}]+)"
    rf"|([{_TRIPLES}]+)"
    r"|(\d+(?:[.,]\d+)+)"
    rf"|((?:(?![{_PAIRS}{_TRIPLES}])[^\W_]|[{_INDIC}])+(?:\+\+|\#(?!\w))?)"
)
_ASCII_WORD = re.compile(r"\d+(?:[.,]\d+)+|[a-z0-9]+(?:\+\+|#(?!\w))?")  # _TERM for what has no other script
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?\Z")

_FUNCTION_WORDS = frozenset(
    """a about an and are as at be been but by can could did do does for from had has have how in into is it
    its of on or that the their there these this those to was were what when where which who whom whose why
    will with would""".split()  # noqa: SIM905 - prose reads better than sixty quoted strings
)


def fold(text: str) -> str:
    """Return ``text`` in the form in which it is compared: NFKC, case-folded, optional marks gone."""
    if text.isascii():
        return text.lower()
    bare = _OPTIONAL_MARKS.sub("", unicodedata.normalize("NFKD", text).casefold())
    return unicodedata.normalize("NFC", bare)


@frozen(kw_only=True)
class QueryTerms:
    """The distinct terms of a query with their weights.

    ``words`` are compared with the terms of a passage's words (:func:`word_terms`); ``grams`` are
    character n-grams, or runs shorter than one, and are looked for in the folded text itself.
    """

    words: dict[str, float]
    grams: dict[str, float]


def query_terms(query: str) -> QueryTerms:
    """Return what a passage is asked for."""
    words: dict[str, float] = {}
    grams: dict[str, float] = {}
    for pairs, triples, number, word in _TERM.findall(fold(query)):
        if pairs or triples:
            grams.update(dict.fromkeys(_grams(pairs or triples, 2 if pairs else 3), 1.0))
            continue
        weight = FUNCTION_WORD if word in _FUNCTION_WORDS else 1.0
        for term in word_terms(number or word):
            words[term] = max(weight, words.get(term, 0.0))
    return QueryTerms(words=words, grams=grams)


def split(folded: str) -> tuple[list[str], int]:
    """Return a folded passage's words and numbers in order, and how many n-grams its other runs hold."""
    if folded.isascii():
        return _ASCII_WORD.findall(folded), 0
    words: list[str] = []
    places = 0
    for pairs, triples, number, word in _TERM.findall(folded):
        if word or number:
            words.append(word or number)
        else:
            places += max(1, len(pairs) - 1 if pairs else len(triples) - 2)
    return words, places


def word_terms(word: str) -> tuple[str, ...]:
    """Return the terms of one folded word or number, the chief one first."""
    if not word.isalpha():
        if _THOUSANDS.match(word):
            return (word.replace(",", ""),)
        return (word if word.isascii() else word[:_OTHER_STEM],)
    chief = _stem(word) if word.isascii() else word[:_OTHER_STEM]
    return (chief, word[:_BEGINNING] + _BEGINNING_MARK) if len(word) > _BEGINNING else (chief,)


def _grams(run: str, size: int) -> list[str]:
    if len(run) <= size:
        return [run]
    return [run[i : i + size] for i in range(len(run) - size + 1)]


def _stem(word: str) -> str:
    """Fold English endings: plural, -ing, -ed, -ly, a doubled consonant, final e and y."""
    if len(word) <= 3:
        return word
    if word[-1] == "s" and word[-2] not in "su":
        if word.endswith("ies") and len(word) > 4:
            word = word[:-3] + "y"
        elif word.endswith("es") and len(word) > 4 and word[-3] in "sxzh":
            word = word[:-2]
        else:
            word = word[:-1]
    if len(word) > 5:
        for ending in ("ing", "ed", "ly"):
            if word.endswith(ending):
                word = word[: -len(ending)]
                if word[-1] == word[-2] and word[-1] not in "lsz":
                    word = word[:-1]
                break
    if len(word) > 3 and word[-1] == "e":
        word = word[:-1]
    if len(word) > 3 and word[-1] == "y":
        word = word[:-1] + "i"
    return word
