"""Text that reads like an order to a language model. It is flagged, never deleted where readers see it.

Each pattern is a way of speaking to a model that ordinary pages do not use; pages *about* such attacks quote
them and are flagged as well. A text is tried as it stands, and decoded where it hides behind base64, hex,
escapes or single spaced letters.
"""

from __future__ import annotations

import base64
import binascii
import re
import unicodedata
from collections.abc import Iterator

from .instruction_phrases import SOURCES, TRIGGERS

MAX_CHARS = 400_000
"""Of a text are searched; an attack that far down is past every excerpt."""

_PATTERNS = {name: re.compile("|".join(f"(?:{each})" for each in sources), re.I | re.M)
             for name, sources in SOURCES.items()}  # fmt: skip
_AROUND = 160
_SPACED = re.compile(r"(?<!\w)(?:\w ){4,}\w(?!\w)")
_BASE64 = re.compile(r"(?<![\w+/=-])[A-Za-z0-9+/]{40,8000}={0,2}(?![\w+/=])")
_HEX = re.compile(r"(?<![\w])(?:[0-9a-fA-F]{2}){20,4000}(?!\w)")
_BITS = re.compile(r"(?<!\w)(?:[01]{8} ?){12,2000}")
_ESCAPES = re.compile(r"(?:\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|%[0-9a-fA-F]{2}|&#\d{2,4};){12,4000}")
_PERHAPS_SPACED, _PERHAPS_BITS = re.compile(r" \w \w "), re.compile("[01]{8}")
_SHORTEST_ESCAPES = 36
"""What is coded has a run without blanks, of 40 characters or twelve escapes: that is asked first."""
_MOST_DECODED = 20
_SPACE = re.compile("  +")


def instruction_patterns(text: str) -> dict[str, int]:
    """How often each kind of order to a model occurs; empty for ordinary text. Linear time."""
    text = unicodedata.normalize("NFKC", text[:MAX_CHARS]).replace("’", "'")
    found = _search(text)
    for hidden in _decoded(text):
        for name in _search(hidden):
            found[f"encoded_{name}".removeprefix("encoded_encoded_")] = 1
    return found


def reads_like_instruction(text: str) -> bool:
    """Whether a short text has any of the patterns."""
    return bool(instruction_patterns(text))


def _search(text: str) -> dict[str, int]:
    text = _SPACE.sub(" ", text.replace("\t", " ").replace("\xa0", " "))
    folded = text.lower()
    counts = {}
    for name, pattern in _PATTERNS.items():
        near = _near(TRIGGERS[name], text, folded)
        if near and (count := sum(1 for _ in pattern.finditer(near))):
            counts[name] = count
    return counts


def _near(triggers: tuple[str, ...], text: str, folded: str) -> str:
    """The stretches of the text around the triggers, each on lines of its own."""
    if len(folded) != len(text):  # a few characters grow when folded; then all of it is looked at
        return text
    places: list[int] = []
    for trigger in triggers:
        at = folded.find(trigger)
        while at >= 0:
            places.append(at)
            at = folded.find(trigger, at + len(trigger))
    parts: list[str] = []
    start = end = -1
    for at in sorted(places):
        if end < 0 or at - _AROUND > end:
            if end >= 0:
                parts.append(text[start:end])
            start = max(at - _AROUND, 0)
        end = at + _AROUND
    if end >= 0:
        parts.append(text[start:end])
    return "\n\x00\n".join(parts)


def _decoded(text: str) -> Iterator[str]:
    """What is spelled in another way: once decoded, and only where it gives readable text."""
    for match in _first(_SPACED, text) if _PERHAPS_SPACED.search(text) else ():
        words = re.sub(r" (?=\w(?: |$))", "", match.group())
        yield (
            text[max(match.start() - 200, 0) : match.start()] + words + text[match.end() : match.end() + 200]
        )
    longest = max(map(len, text.split()), default=0)
    for match in _first(_BASE64, text) if longest >= 40 else ():
        raw = match.group().rstrip("=")
        try:
            yield _readable(base64.b64decode(raw + "=" * (-len(raw) % 4)))
        except (binascii.Error, ValueError):
            continue
    for match in _first(_HEX, text) if longest >= 40 else ():
        yield _readable(bytes.fromhex(match.group()))
    for match in _first(_BITS, text) if _PERHAPS_BITS.search(text) else ():
        bits = match.group().replace(" ", "")
        yield _readable(bytes(int(bits[at : at + 8], 2) for at in range(0, len(bits) - 7, 8)))
    for match in _first(_ESCAPES, text) if longest >= _SHORTEST_ESCAPES else ():
        codes = re.findall(
            r"\\u([0-9a-fA-F]{4})|\\x([0-9a-fA-F]{2})|%([0-9a-fA-F]{2})|&#(\d{2,4});", match.group()
        )
        yield "".join(chr(int(a or b or c, 16) if not d else int(d)) for a, b, c, d in codes)


def _first(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    for number, match in enumerate(pattern.finditer(text)):
        if number >= _MOST_DECODED:
            return
        yield match


def _readable(raw: bytes) -> str:
    """The bytes as text; nothing where they are no words."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return ""
    return text if " " in text and text.isprintable() else ""
