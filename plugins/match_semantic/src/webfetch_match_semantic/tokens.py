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
_SIGN = re.compile(
    r"\[[^\]\s]{0,40}\]|(?<!\S)[-.!~/](?=\w)|(?<=\w)[?!]+[.\w]|[\^|~\\]\w?"
    r"|(?<!\S)(?!-\s|&\s)(?:[^\w\s'\"?!.,;]+|[?!.,;:]{2,}|[:;])(?!\S)|[*&=<>:+]{2,}|[<>!]=|[:;][()]"
)
_CASED = frozenset(
    ("who", "us", "it", "or", "in", "me", "am", "is", "to", "as", "at", "so", "ok", "hi", "may", "can", "he")
)  # fmt: skip
"""Small words that are names or codes in capitals."""
_CASED_FORM = re.compile(r"-[A-Za-z]|\\[A-Za-z]|[kKmMgGtT][bB](?:ps)?|[B-HJ-Z]")
_QUOTES = str.maketrans(
    {"’": "'", "‘": "'", "`": "'", "´": "'", "–": "-", "—": "-", "−": "-", "“": '"', "”": '"', "\u00a0": " "}
)


_POWERS = str.maketrans({c: f"^{n}" for n, c in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")})


def _normal(text: str) -> str:
    """NFKC with powers kept apart, quotes and dashes made plain."""
    return unicodedata.normalize("NFKC", text.translate(_POWERS)).translate(_QUOTES)


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
    text = _normal(text[: 2 * MAX_CHARS])
    if text.isascii():
        return text
    kept: list[str] = []
    for c in unicodedata.normalize("NFD", text):
        if unicodedata.combining(c) and kept and kept[-1].isascii():
            continue
        kept.append(str(unicodedata.decimal(c)) if c.isdecimal() else c)
    return unicodedata.normalize("NFC", "".join(kept))


def plain(text: str) -> str:
    """A text without what says nothing: case, blanks, quotes, commas between words, and what ends or begins a
    sentence. Signs and operators stay: "-5", ".5", "-car", "x^2". Equal here is equal in any language."""
    found = _normal(text).casefold().split()
    kept = []
    for at, word in enumerate(found):
        ends = "?!,;:。？！、" if at + 1 == len(found) else ",;、"
        bare = word.strip("\"'").lstrip("¿¡").rstrip(ends)
        bare = bare if bare.endswith("..") else bare.rstrip(".").rstrip("\"'")
        # A sign by itself says something, but not at the end, where it ends the sentence.
        kept.append(bare or (word if at + 1 < len(found) and word.strip("\"'") else ""))
    return " ".join(word for word in kept if word)


def signs(text: str) -> tuple[str, ...]:
    """Signs that say something and are no word or amount: operators, a minus before something, emoji."""
    flat = _normal(text[:MAX_CHARS])
    found = _SIGN.findall(flat.strip().rstrip("?!. "))
    return tuple(
        sorted([*found, *(c for c in text[:MAX_CHARS] if unicodedata.category(c) == "So" and c != "°")])
    )


def letters(text: str) -> tuple[frozenset[str], tuple[str, ...]]:
    """Words whose accents, and those whose capitals, may make another word of them."""
    words = unicodedata.normalize("NFC", text[:MAX_CHARS]).split()
    accented = frozenset(word.casefold().strip("?!.,;:\"'") for word in words if not word.isascii())
    if text.isupper():
        return accented, ()
    bare = (word.strip("?!.,;:\"'()") for word in words)
    capital = tuple(
        word
        for word in bare
        if (word.lower() in _CASED and word.isupper() and len(word) > 1) or _CASED_FORM.fullmatch(word)
    )
    return accented, capital


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
