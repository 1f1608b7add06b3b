"""Which encoding undeclared bytes are in: tried by what a language looks like when it is right.

Each candidate is a language in an encoding. Bytes that are read wrongly show letters that the
language does not have, capitals inside words and signs between letters; the reading without
them wins. General detectors look at bytes without languages, and take Spanish for Polish.
"""

from __future__ import annotations

import re
from collections import Counter

from attrs import frozen

from .languages import CJK, LANGUAGES, Language

_SAMPLE_BYTES = 1 << 17
_TAG = re.compile(rb"<[^<>]*>")
_BULK = re.compile(rb"<script\b|<style\b|<!--", re.I)
_BULK_ENDS = {b"<script": b"</script", b"<style": b"</style", b"<!--": b"-->"}
_LANG = re.compile(rb"<(?:html|body)[^>]{0,300}?\slang\s*=\s*[\"']?([a-zA-Z]{2,3})\b", re.I)
_XML_LANG = re.compile(rb"<(?:dc:)?language>\s*([a-zA-Z]{2,3})\b", re.I)
_PLAIN = re.compile(rb"(?<![\x80-\xff])\b[A-Za-z]+\b(?![\x80-\xff])")
_PIECE = re.compile(rb"[A-Za-z]{0,40}[\x80-\xff][A-Za-z\x80-\xff]{0,200}")
_CJK_BYTES = 16_384
_PIECES_BYTES = 4_000
_ALONE = 0.4  # a letter that stands alone may as well be a sign in another encoding
_OLD_FIRM = 0.02
_OF_THE_WEB = frozenset(
    [
        "cp1250",
        "cp1251",
        "cp1252",
        "cp1253",
        "cp1254",
        "cp1255",
        "cp1256",
        "cp1257",
        "cp1258",
        "cp874",
        "koi8-r",
        "koi8-u",
        "iso8859-2",
        "iso8859-4",
        "iso8859-5",
        "iso8859-6",
        "iso8859-7",
        "iso8859-8",
        "iso8859-9",
        "iso8859-13",
        "iso8859-15",
        "iso8859-16",
    ]
)
_WITHIN = frozenset("\u2019\u2013\u2014\u2026\u00a0")
_QUOTES = frozenset(
    "\u2018\u2019\u201a\u201c\u201d\u201e\u2013\u2014\u2026\u2022\u20ac\u2122\u00a0\u00ab\u00bb"
)
_SIGNS = frozenset(
    "\u00a9\u00ae\u00b0\u00b7\u00a7\u00a3\u00b4\u00b1\u00d7\u00bd\u00bc\u00be\u00b2\u00b3\u00b5\u00ad"
)
_ESCAPES = (b"\x1b$B", b"\x1b$@", b"\x1b(J")
_ENOUGH = 0.55
"""Share of the best possible score below which no reading is believed."""


@frozen
class _Reading:
    score: float
    encoding: str


def detect(body: bytes) -> str | None:
    """Return Python's name of the encoding of ``body``, which is no valid UTF-8; None when nothing fits."""
    sample = body[:_SAMPLE_BYTES]
    text = _TAG.sub(b" ", _without_bulk(sample))
    if not any(byte > 0x7F for byte in text):
        text = sample  # only attributes and scripts have other letters
    named = _LANG.search(sample[:4096]) or _XML_LANG.search(sample[:4096])
    hint = named[1].decode("ascii").lower() if named else ""
    readings = [*_many_byte(text, hint), *_single_byte(text, hint)]
    best = max(readings, key=lambda reading: reading.score, default=None)
    return best.encoding if best is not None and best.score >= _ENOUGH else None


def _without_bulk(sample: bytes) -> bytes:
    """``sample`` without scripts, style sheets and comments; linear in its length, whatever is unclosed."""
    low = sample.lower()
    parts: list[bytes] = []
    at = 0
    unclosed: set[bytes] = set()
    for match in _BULK.finditer(low):
        name = match[0]
        if match.start() < at or name in unclosed:
            continue
        end = low.find(_BULK_ENDS[name], match.end())
        if end < 0:
            unclosed.add(name)
            continue
        parts.append(sample[at : match.start()])
        at = end + len(_BULK_ENDS[name])
    return b" ".join([*parts, sample[at:]])


def is_iso_2022_jp(body: bytes) -> bool:
    """Whether bytes that look like ASCII are Japanese between escapes."""
    sample = body[:_SAMPLE_BYTES]
    return any(mark in sample for mark in _ESCAPES) and sample.isascii()


def wide_without_mark(body: bytes) -> str:
    """UTF-16 or UTF-32 without a mark, by where the zero bytes of ASCII letters stand; else empty."""
    sample = body[:_SAMPLE_BYTES]
    zeros = [sample[place : 1 << 14 : 4].count(0) for place in range(4)]
    quarter = max(len(sample[: 1 << 14]) // 4, 1)
    shares = [count / quarter for count in zeros]
    if shares[2] > 0.9 and shares[3] > 0.9 and shares[0] < 0.3:
        return "utf-32-le"
    if shares[0] > 0.9 and shares[1] > 0.9 and shares[3] < 0.3:
        return "utf-32-be"
    if shares[1] > 0.3 and shares[3] > 0.3 and max(shares[0], shares[2]) < 0.1:
        return "utf-16-le"
    if shares[0] > 0.3 and shares[2] > 0.3 and max(shares[1], shares[3]) < 0.1:
        return "utf-16-be"
    return ""


# ---- encodings of several bytes a letter ---------------------------------------------------------


def _many_byte(text: bytes, hint: str) -> list[_Reading]:
    text = text[:_CJK_BYTES]
    found = []
    for language, encoding, common, script in CJK:
        try:
            read = text.decode(encoding)
        except UnicodeDecodeError as error:
            if error.start < len(text) - 4 and not _few_faults(text, encoding):
                continue
            read = text.decode(encoding, "ignore")
        letters = [character for character in read if character > "\u02ff" and character not in _QUOTES]
        if not letters or len(letters) * 3 < sum(byte > 0x7F for byte in text):
            continue
        usual = sum(character in common for character in letters)
        fitting = sum(bool(script(character)) for character in letters)
        score = 0.5 * min(usual / len(letters) / 0.35, 1.0) + 0.5 * fitting / len(letters)
        found.append(_Reading(score + 0.05 * (hint == language), encoding))
    return found


def _few_faults(text: bytes, encoding: str) -> bool:
    read = text.decode(encoding, "replace")
    return read.count("\ufffd") * 100 < sum(character > "\x7f" for character in read)


# ---- encodings of one byte a letter --------------------------------------------------------------


def _single_byte(text: bytes, hint: str) -> list[_Reading]:
    plain = Counter(word.decode("ascii").lower() for word in _PLAIN.findall(text))
    total = max(sum(plain.values()), 1)
    telling = _telling(text)
    reads: dict[str, list[str]] = {}
    found = []
    for place, language in enumerate(LANGUAGES):
        spoken = sum(plain[word] for word in language.words) / total
        for order, encoding in enumerate(language.encodings):
            if encoding not in reads:
                reads[encoding] = telling.decode(encoding, "replace").split("\n")
            score = _fitness(reads[encoding], language)
            score += min(spoken, 0.25) * 0.8 + 0.1 * (hint == language.code)
            score -= 0.0001 * place + 0.002 * order + _OLD_FIRM * (encoding not in _OF_THE_WEB)
            found.append(_Reading(score, encoding))
    return found


def _telling(text: bytes) -> bytes:
    """The words with bytes beyond ASCII, one a line, each spelling once, as far as they are needed."""
    taken: dict[bytes, None] = {}
    size = 0
    for match in _PIECE.finditer(text):
        if match[0] not in taken:
            taken[match[0]] = None
            size += len(match[0])
            if size > _PIECES_BYTES:
                break
    return b"\n".join(taken)


def _fitness(words: list[str], language: Language) -> float:
    """How well the letters beyond ASCII suit a language; 1 when all do, below 0 when few do."""
    common, letters = language.common, language.letters
    points = count = 0.0
    for word in words:
        last = len(word) - 1
        before = ""
        for place, character in enumerate(word):
            within = 0 < place < last
            if character > "\x7f":
                count += 1
                low = character.lower()
                if low in common or character in common:
                    points += 1.0 if last else _ALONE
                elif low in letters or character in letters:
                    points += 0.6 if last else _ALONE
                elif character in _QUOTES:
                    points += 0.7 if not within or character in _WITHIN else -0.5
                elif character in _SIGNS:
                    points += 0.7 if not within else -1.0
                else:
                    points -= 1.5 if character.isalpha() else 2.0
            if before:
                if before.islower() and character.isupper() and max(before, character) > "\x7f":
                    points -= 1.0  # a capital after a small letter: the wrong half of a table
                if language.foreign and (before > "\x7f") != (character > "\x7f"):
                    points -= 0.75 * (before.isalpha() and character.isalpha())  # two scripts in a word
            before = character
    return points / count if count else 0.0
