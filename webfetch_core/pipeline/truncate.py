"""The output guard: JSON within a number of characters, cut by its structure and never through a link.

Pretty JSON if that fits, else compact JSON, else a smaller value of the same shape followed by a
line ``[truncated]``. Characters are code points.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from .graphemes import LONGEST, is_boundary

MARKER = "[truncated]"
MAX_CHARS = 96_000

_SHORTEST_TEXT = 40
"""Room that a text field is promised before one more entry of its list is taken."""

# A field is an identity or a link by the last word of its name: resultId, final_url, links.
_WHOLE = re.compile(
    r"(?:^|[^A-Za-z]|(?<=[a-z0-9])(?=[A-Z]))"
    r"(?i:ur[il]s?|hrefs?|(?:perma)?links?|src|dois?|uu?ids?|ids?|titles?|citations?|references?|sources?)\Z"
)
_LINK_START = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,30}://|www\.|(?:mailto|urn|magnet|doi|local):")
_LONGEST_START = 34
_LINK_STOP = re.compile(r"[\s<>\"、。，！？（）「」『』《》【】]")


class _Omitted:
    """Stands for a value that cannot be given within its room."""


_OMITTED = _Omitted()


def guard(payload: Any, max_chars: int = MAX_CHARS) -> tuple[str, bool]:
    """Return ``payload`` as JSON of at most ``max_chars`` characters, and whether data was lost.

    Where data is lost: sibling fields and array entries are given room independently of each
    other, each as much as the rest leaves; links, identities and titles stay whole or their entry
    is left out; other strings are cut, never inside a URL or a grapheme; trailing entries are left
    out. The JSON part stays valid and is followed by one line ``[truncated]``. Limits of 11 to 13
    give the marker alone, smaller ones a minimal JSON value (a limit below 1 gives nothing).

    Anything that is not JSON is turned into it: keys and unknown objects into text, NaN into null.
    """
    try:
        value = _plain(payload)
        compact = _dumps(value)
        if len(compact) <= max_chars:
            pretty = json.dumps(value, ensure_ascii=False, indent=2)
            return (pretty if len(pretty) <= max_chars else compact), False
        if max_chars < len(MARKER):
            return _minimal(value, max_chars), True
        room = max_chars - len(MARKER) - 1
        if room < 2:
            return MARKER, True
        fitted = _Fitter(value).fit(value, room)
    except RecursionError:
        value, fitted, room = None, _OMITTED, max_chars - len(MARKER) - 1
        if room < 2:
            return MARKER if max_chars >= len(MARKER) else _minimal(value, max_chars), True
    part = _minimal(value, room) if fitted is _OMITTED else _dumps(fitted)
    return f"{part}\n{MARKER}", True


# ---- values --------------------------------------------------------------------------------------


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {_text(str(key)): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(inner) for inner in value]
    return _text(str(value))


def _text(value: str) -> str:
    """Join surrogate pairs and replace lone surrogates, which no encoding can carry."""
    if any("\ud800" <= c <= "\udfff" for c in value):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return str(value)


def _dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _size(value: Any) -> int:
    return len(_dumps(value))


def _minimal(value: Any, limit: int) -> str:
    """The smallest value of the same kind that fits, ``null`` or ``0`` where the kind has none."""
    own = "{}" if isinstance(value, dict) else "[]" if isinstance(value, list) else "null"
    if isinstance(value, str):
        own = '""'
    return next((text for text in (own, "{}", "0") if len(text) <= limit), "")


# ---- fitting -------------------------------------------------------------------------------------


class _Fitter:
    """Makes one value smaller. The size of every part of it is counted once."""

    def __init__(self, value: Any) -> None:
        self._sizes: dict[int, int] = {}  # by id: the value outlives this object, so ids stay its own
        self._count(value)

    def fit(self, value: Any, room: int) -> Any:
        """Return as much of the value as goes into ``room`` characters of compact JSON."""
        return self._fit(value, room, whole=False)

    def _count(self, value: Any) -> int:
        if isinstance(value, dict):
            size = 1 + max(1, sum(_size(key) + 2 + self._count(inner) for key, inner in value.items()))
        elif isinstance(value, list):
            size = 1 + max(1, sum(1 + self._count(inner) for inner in value))
        else:
            return _size(value)
        self._sizes[id(value)] = size
        return size

    def _size(self, value: Any) -> int:
        known = self._sizes.get(id(value))
        return _size(value) if known is None else known

    def _fit(self, value: Any, room: int, *, whole: bool) -> Any:
        """Return ``value``, or as much of it as goes into ``room`` characters of compact JSON.

        ``whole`` forbids cutting a string.
        """
        if self._size(value) <= room:
            return value
        if isinstance(value, dict):
            return self._fit_object(value, room)
        if isinstance(value, list):
            return self._fit_array(value, room, whole=whole)
        if isinstance(value, str) and not whole:
            return _cut(value, room)
        return _OMITTED

    def _fit_object(self, value: dict[str, Any], room: int) -> Any:
        room -= 2
        fixed = {key: self._field_size(key, inner) for key, inner in value.items() if _fixed(key, inner)}
        room -= sum(fixed.values())
        if room + 1 < 0:  # the last field has no comma
            return _OMITTED
        room += 1
        wanted = {key: inner for key, inner in value.items() if key not in fixed}
        fitted: dict[str, Any] = {}
        left = len(wanted)
        for key in sorted(wanted, key=lambda k: self._field_size(k, wanted[k])):
            share = room // left
            left -= 1
            part = self._fit(wanted[key], share - self._size(key) - 2, whole=_is_whole(key))
            if part is not _OMITTED:
                fitted[key] = part
                room -= self._field_size(key, part)
        if not fitted and not fixed:
            return _OMITTED
        return {
            key: value[key] if key in fixed else fitted[key] for key in value if key in fixed or key in fitted
        }

    def _fit_array(self, value: list[Any], room: int, *, whole: bool) -> Any:
        room -= 1  # two brackets; the last entry has no comma
        taken: list[int] = []
        used = 0
        for n, entry in enumerate(value):
            least = self._least(entry, whole=whole) + 1
            if used + least <= room:
                taken.append(n)
                used += least
            elif self._hard(entry, whole=whole) + 1 <= room:
                break  # it would fit alone: from here on entries are trailing
        if not taken:
            for entry in value:
                part = self._fit(entry, room - 1, whole=whole)
                if part is not _OMITTED:
                    return [part]
            return _OMITTED
        fitted: dict[int, Any] = {}
        promised = {n: self._least(value[n], whole=whole) + 1 for n in taken}
        spare = room - sum(promised.values())
        left = len(taken)
        for n in sorted(taken, key=lambda k: self._size(value[k]) - promised[k]):
            part = self._fit(value[n], promised[n] - 1 + spare // left, whole=whole)
            left -= 1
            if part is _OMITTED:
                spare += promised[n]
            else:
                fitted[n] = part
                spare -= self._size(part) + 1 - promised[n]
        return [fitted[n] for n in taken if n in fitted] or _OMITTED

    def _field_size(self, key: str, value: Any) -> int:
        return self._size(key) + 1 + self._size(value) + 1

    def _hard(self, value: Any, *, whole: bool) -> int:
        """The least room in which anything of ``value`` can be given."""
        if isinstance(value, dict):
            return 2 + sum(self._field_size(k, v) for k, v in value.items() if _fixed(k, v))
        if isinstance(value, list):
            return 2
        return self._size(value) if whole or not isinstance(value, str) else min(3, self._size(value))

    def _least(self, value: Any, *, whole: bool) -> int:
        """The room in which ``value`` is worth giving: what is fixed, and the beginnings of the rest."""
        size = self._size(value)
        if isinstance(value, dict):
            fields = (
                self._field_size(k, v)
                if _fixed(k, v)
                else self._size(k) + 2 + self._least(v, whole=_is_whole(k))
                for k, v in value.items()
            )
            return min(size, 2 + sum(fields))
        if isinstance(value, list):
            return min(size, 2 + (self._least(value[0], whole=whole) if value else 0))
        return size if whole or not isinstance(value, str) else min(size, _SHORTEST_TEXT)


def _fixed(key: str, value: Any) -> bool:
    """Whether a field is given whole or its object is not given at all."""
    return _is_whole(key) and not isinstance(value, dict | list)


def _is_whole(key: str) -> bool:
    return _WHOLE.search(key) is not None


def _cut(text: str, room: int) -> Any:
    """The longest beginning of ``text`` whose JSON goes into ``room``, ending outside URLs and graphemes."""
    low, high = 0, min(len(text), max(room, 0))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if _size(text[:middle]) <= room else (low, middle - 1)
    end = next((k for k in range(low, max(low - LONGEST, 0), -1) if is_boundary(text, k, 0)), 0)
    end = _before_link(text, end)
    return text[:end] if end else _OMITTED


def _before_link(text: str, end: int) -> int:
    """``end``, or the start of the link that a cut there would break."""
    if end >= len(text) or _LINK_STOP.match(text, end):
        return end
    start = end
    while start and not _LINK_STOP.match(text, start - 1):
        start -= 1
    link = _LINK_START.search(text, start, end + _LONGEST_START)
    return link.start() if link and link.start() < end else end
