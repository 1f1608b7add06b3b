"""Words as they are compared: folded, stemmed; character pairs where there are no blanks. Pure."""

from __future__ import annotations

import itertools
import re
import unicodedata
from functools import lru_cache

_ACCENTS = re.compile("[\u0300-\u036f]")
_PAIRED = (
    "\u0e01-\u0e4e\u0e81-\u0edf\u1000-\u109f\u1780-\u17d3\u3005-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_WORD = re.compile(rf"([{_PAIRED}]+)|(\d+(?:[.,]\d+)+|(?:(?![{_PAIRED}])[^\W_]|[\u0900-\u0dff])+)")
_ENDINGS = ("ing", "ed", "ly")

QUERY_STOPWORDS = frozenset(
    """a about an and are as at be been but by can could did do does for from give had has have he her here
    his how i if in into is it its may me might my name of on or our please shall she should so some tell than
    that the their them then there these they this those to was we were what when where which who whom whose
    why will with would you your""".split()  # noqa: SIM905 - prose reads better than quoted strings
)


def terms(text: str) -> list[str]:
    """Return the text's terms in order, with repeats."""
    found: list[str] = []
    for run, word in _WORD.findall(fold(text)):
        if word:
            found.append(stem(word))
        elif len(run) == 1:
            found.append(run)
        else:
            found.extend(map("".join, itertools.pairwise(run)))
    return found


def query_terms(query: str) -> list[str]:
    """Return the distinct terms that carry the question; all of them where nothing else is left."""
    said = [word or run for run, word in _WORD.findall(fold(query))]
    telling = " ".join(w for w in said if w not in QUERY_STOPWORDS)
    return list(dict.fromkeys(terms(telling or query)))


def fold(text: str) -> str:
    """Case and Latin accents folded, compatibility forms resolved."""
    if text.isascii():
        return text.lower()
    bare = _ACCENTS.sub("", unicodedata.normalize("NFKD", text).casefold())
    return unicodedata.normalize("NFC", bare)


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """Fold English endings; in other alphabets keep the first six letters."""
    if not word.isascii():
        return word[:6] if word.isalpha() else word
    if len(word) <= 3 or not word.isalpha():
        return word.replace(",", "")
    if word[-1] == "s" and word[-2] not in "su":
        word = word[:-3] + "y" if word.endswith("ies") and len(word) > 4 else word[:-1]
    if len(word) > 5:
        for ending in _ENDINGS:
            if word.endswith(ending):
                word = word[: -len(ending)]
                if word[-1] == word[-2] and word[-1] not in "lsz":
                    word = word[:-1]
                break
    if len(word) > 3 and word[-1] == "e":
        word = word[:-1]
    return word[:-1] + "i" if len(word) > 3 and word[-1] == "y" else word
