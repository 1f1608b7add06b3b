"""A question as tokens: words, numbers, symbols. In time linear in its length, which is capped."""

from __future__ import annotations

import re
import unicodedata

from attrs import frozen

MAX_CHARS = 400
"""A longer text matches only what is equal to it: nothing here was measured on more."""

_NUMBER = r"\d+(?:[.,:/]\d+)*"
_TOKEN = re.compile(
    r"(?P<iso>\d{4}-\d{1,2}-\d{1,2}(?!\d))"
    r"|(?P<span>(?:19|20)\d\d[-/]\d\d(?![\d/-]))"
    r"|(?P<short>(?<![\w'])'\d\d(?![\d\w]))"
    r"|(?P<ordinal>\d+(?:st|nd|rd|th)(?!\w))"
    r"|(?P<decade>\d*\d0'?s(?!\w))"
    rf"|(?P<scaled>{_NUMBER}(?:k|bn|mn)(?!\w))"
    rf"|(?P<number>{_NUMBER})"
    r"|(?P<word>[^\W\d_]+(?:'[^\W\d_]+)*(?:\+\+|#(?!\w))?)"
    r"|(?P<symbol>[$€£¥₹₩₽₺₴฿%°&+@<>=→*])",
    re.IGNORECASE,
)
_DOTTED = re.compile(r"(?<![\w.])(?:[A-Za-z]\.){2,}[A-Za-z]?(?!\w)")
_TAG = re.compile(
    r",\s*(?:is|are|am|was|were|do|does|did|can|will|would|has|have)(?:n't|\s+not)?"
    r"\s+(?:i|you|he|she|it|we|they|that|there)\s*\??\s*$",
    re.IGNORECASE,
)
"""The "isn't it" after a statement, which negates nothing."""
_QUOTES = str.maketrans(
    {"’": "'", "‘": "'", "`": "'", "´": "'", "–": "-", "—": "-", "−": "-", "“": '"', "”": '"', "\u00a0": " "}
)


@frozen
class Token:
    """One token: ``kind`` is ``word``, ``number`` (any) or ``symbol``; ``glued`` to the one before it."""

    text: str
    kind: str
    glued: bool
    form: str
    first: bool = False


def folded(text: str) -> str:
    """NFKC, curly quotes and dashes made plain, accents of Latin letters taken off."""
    text = unicodedata.normalize("NFKC", text[: 2 * MAX_CHARS]).translate(_QUOTES)
    if text.isascii():
        return text
    kept: list[str] = []
    for c in unicodedata.normalize("NFD", text):
        if unicodedata.combining(c) and kept and kept[-1].isascii():
            continue
        kept.append(str(unicodedata.decimal(c)) if c.isdecimal() else c)
    return unicodedata.normalize("NFC", "".join(kept))


def plain(text: str) -> str:
    """What is left of a text without case, punctuation and blanks: letters with all their marks, digits, and
    symbols that mean something. Equal here is equal in any language."""
    kept = []
    for c in unicodedata.normalize("NFKC", text).translate(_QUOTES).casefold():
        kind = unicodedata.category(c)
        if kind[0] in "LMN" or kind in ("Sc", "Sm", "So") or c in "#%&@*'./:-":
            kept.append(c)
        else:
            kept.append(" ")
    # A full stop, a dash and the like mean something between characters only: 3.11, c++, don't.
    words = (word.strip("'./:-*&") for word in "".join(kept).split())
    return " ".join(word for word in words if word)


def tokens(text: str) -> list[Token]:
    """The tokens of a folded text, in lower case."""
    text = _TAG.sub("", text[:MAX_CHARS])
    text = _DOTTED.sub(lambda m: m[0].replace(".", ""), text)
    found: list[Token] = []
    end, fresh = -1, True
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or ""
        found.append(
            Token(
                text=match[0].lower(),
                kind=kind if kind in ("word", "symbol") else "number",
                glued=match.start() == end,
                form=match[0] if kind == "word" else kind,
                first=fresh or (end >= 0 and any(c in '.?!:"' for c in text[end : match.start()])),
            )
        )
        fresh = False
        end = match.end()
    return found
