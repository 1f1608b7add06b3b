"""The passage of a text that says most about a query."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping

from .store import stems
from .terms import is_unspaced, spans, word_at

MAX_CHARS = 300
_LOOKED_AT = 400_000  # characters; the best passage of a longer text is sought in its beginning
_PLACES_A_STEM = 300
_MARKS_ROOM = 1.4  # Markdown takes more characters than the plain text that is left of it

_MARKDOWN = (
    (re.compile(r"!?\[([^\]\n]*)\]\([^)\n]*\)"), r"\1"),  # links and images: their text
    (re.compile(r"\A\S*\]\([^)\s]*\)|\]\([^)\s]*\Z"), ""),  # halves of links at either end
    (re.compile(r"^[ \t]*(?:#{1,6}[ \t]+|>[ \t]?|[-*+][ \t]+|```.*$|~~~.*$)", re.MULTILINE), ""),
    (re.compile(r"^[ \t|:-]*\|[ \t|:-]*$", re.MULTILINE), ""),  # rulers of tables
    (re.compile(r"[ \t]*\|[ \t]*"), " "),
    (re.compile(r"(\*\*|__|`)"), ""),
)


def plain(text: str) -> str:
    """Return Markdown ``text`` without its marks, white space folded to single blanks."""
    for pattern, replacement in _MARKDOWN:
        text = pattern.sub(replacement, text)
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def snippet(text: str, weights: Mapping[str, float], max_chars: int = MAX_CHARS) -> str:
    """Return at most ``max_chars`` characters of plain text around the terms that weigh most.

    Args:
        weights: worth of each stem; the passage with the greatest sum over distinct stems wins,
            the earlier of two equals.
    """
    text = text[:_LOOKED_AT]
    room = max_chars - 2  # an ellipsis at either end
    start, end = _best_window(text, weights, room)
    start = _sentence_start(text, start, end - room)
    rest = plain(text[start : start + int(max_chars * _MARKS_ROOM)])
    cut = len(rest) > room or start + int(max_chars * _MARKS_ROOM) < len(text)
    if len(rest) > room:
        blank = rest.rfind(" ", room // 2, room + 1)
        rest = rest[: blank if blank > 0 else room]
    return ("…" if start else "") + rest.strip() + ("…" if cut else "")


def _best_window(text: str, weights: Mapping[str, float], room: int) -> tuple[int, int]:
    """Return start and end of the stretch, at most ``room`` long, that holds the weightiest stems."""
    places = sorted(_places(text, weights))
    best, window = 0.0, (0, 0)
    held: Counter[str] = Counter()
    total, first = 0.0, 0
    for _, end, stem in places:
        total += 0.0 if held[stem] else weights[stem]
        held[stem] += 1
        while end - places[first][0] > room and places[first][1] < end:
            gone = places[first][2]
            held[gone] -= 1
            total -= 0.0 if held[gone] else weights[gone]
            first += 1
        if total > best + 1e-9:
            best, window = total, (places[first][0], end)
    return window


def _places(text: str, weights: Mapping[str, float]) -> Iterator[tuple[int, int, str]]:
    """Yield (start, end, stem) where a word of ``weights`` stands.

    Searching for the beginning of each stem is a hundred times faster than cutting a long text
    into words. It misses words that are written with accents in the text alone; when it finds
    nothing at all, the words of the beginning are gone through one by one.
    """
    lowered = text.lower()
    if len(lowered) != len(text):
        lowered = "".join(low if len(low := char.lower()) == 1 else char for char in text)
    found = False
    stem_of: dict[str, str] = {}
    for stem in weights:
        # The last letter may be the stemmer's: citi for cities and city, hope for hoping.
        opening = stem[:-1] if len(stem) > 3 and stem.isascii() and stem[-1] in "eiy" else stem
        unspaced = is_unspaced(stem[0])
        place = -1
        for _ in range(_PLACES_A_STEM):
            place = lowered.find(opening, place + 1)
            if place < 0:
                break
            if unspaced:
                found = True
                yield place, place + len(stem), stem
            elif (place == 0 or not text[place - 1].isalnum()) and (word := word_at(text, place)):
                if word not in stem_of:
                    terms = [term for term, _, _ in spans(word) if term]
                    stem_of[word] = stems(terms[:1])[0] if terms else ""
                if stem_of[word] == stem:
                    found = True
                    yield place, place + len(word), stem
    if not found:
        words = [word for word in spans(text[: _LOOKED_AT // 10]) if word[0]]
        for stem, (_, start, end) in zip(stems([term for term, _, _ in words]), words, strict=True):
            if stem in weights:
                yield start, end, stem


def _sentence_start(text: str, start: int, earliest: int) -> int:
    """Return where to begin: at the sentence's or line's start if it is in reach, else at a word's."""
    earliest = max(0, earliest)
    if earliest == 0:
        return 0
    found = max(text.rfind(mark, earliest, start) + len(mark) - 1 for mark in (". ", "! ", "? ", "。", "\n"))
    if found >= earliest:
        return found + 1
    # No sentence begins in reach: a few words of lead are better than none.
    blank = text.find(" ", max(earliest, start - 60), start)
    return blank + 1 if blank >= 0 else start
