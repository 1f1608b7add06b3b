"""How the core's cache rows look: keys, and one JSON line of facts before an optional body.

A row is ``<header JSON>\\n<body>``. Listing, purging and expiry read the header alone; the body
(a result or a document, as JSON) is deflated when that pays. Every header has ``at``, the
wall-clock second from which the row's age is counted. Nothing here raises on a damaged row:
decoding answers None.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import unicodedata
import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from attrs import Factory, frozen

from .. import wire
from ..models import Freshness

T = TypeVar("T")

CACHE_FORMAT = 1
"""Version of keys and rows. It is part of every key, so versions never read each other's rows."""

PAGES, QUERIES, VECTORS, NEGATIVE, FINDINGS, STATS = (
    "pages",
    "queries",
    "vectors",
    "negative",
    "findings",
    "stats",
)
ASKED = "asked"
"""The queries of ``queries`` and ``findings``, for those who look for a reworded one."""

_DEFLATE_FROM = 2_048  # a result of 6 kB takes half the disk so, and some 30 µs more to read
_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u200e\u200f\u2060\ufeff\u202a\u202b\u202c\u202d\u202e"))
_ENDING = re.compile(r"[\s?!.…。؟।]+\Z")
_SET_APART = ("?", "?!", "؟", "。", "।")
_FACTORIAL = re.compile(r"(?:[\d)]|\b[a-z])\Z")
_MEANING_IN_PLACE = ("<super>", "<sub>", "<fraction>")


# ---- keys ----------------------------------------------------------------------------------------


def normalise_query(query: str) -> str:
    """Return the form under which two spellings of one question are the same.

    Compatibility forms, case, invisible characters, white space and closing punctuation are
    folded. Raised and lowered digits and fractions stay what they are (10⁶ is not 106), and so
    do the mark of a factorial, ß (Maße are not Masse) and marks that stand apart, which may be
    what is asked about ("swift ??"), but for the question mark of French.
    """
    text = _fold(_fold(query))
    ending = _ENDING.search(text)
    if ending is None or ending.start() == 0:
        return text
    marks = ending.group()
    if marks[0] == " " and marks.strip() not in _SET_APART:
        return text
    kept = text[: ending.start()]
    return kept + "!" if marks[0] == "!" and _FACTORIAL.search(kept) else kept


def _fold(text: str) -> str:
    text = unicodedata.normalize("NFC", text.translate(_INVISIBLE))
    if not text.isascii():
        text = "".join(
            c
            if unicodedata.decomposition(c).startswith(_MEANING_IN_PLACE)
            else unicodedata.normalize("NFKC", c)
            for c in text
        )
    text = "ß".join(part.casefold() for part in text.replace("ẞ", "ß").split("ß"))
    return " ".join(unicodedata.normalize("NFC", text).split())


def query_key(
    query: str,
    *,
    engines: Sequence[str],
    limit: int,
    mode: str = "fuse",
    time_filter: Freshness | None = None,
    include_domains: Iterable[str] = (),
    exclude_domains: Iterable[str] = (),
    language: str | None = None,
    country: str | None = None,
) -> bytes:
    """Return the 32-byte key of a search: equal for requests that any cached answer serves alike.

    Args:
        engines: names of the engines asked; their order counts unless ``mode`` is ``fuse``.
        time_filter: the freshness only where it changed what the engines were asked.
    """
    asked = {
        "format": CACHE_FORMAT,
        "query": normalise_query(query),
        "engines": sorted(set(engines)) if mode == "fuse" else list(engines),
        "mode": mode,
        "limit": limit,
        "time_filter": time_filter.value if time_filter else None,
        "include": sorted({d.strip().lower() for d in include_domains}),
        "exclude": sorted({d.strip().lower() for d in exclude_domains}),
        "language": (language or "").lower(),
        "country": (country or "").lower(),
    }
    return _digest(json.dumps(asked, sort_keys=True))


def url_key(url: str) -> bytes:
    """Return the 32-byte key of a page; ``url`` is in canonical form."""
    return _digest(f"{CACHE_FORMAT} {url}")


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


# ---- rows ----------------------------------------------------------------------------------------


@frozen(kw_only=True)
class Row:
    """A decoded row: when it was written, its other header fields, and its body still packed."""

    at: float
    facts: Mapping[str, Any] = Factory(dict)
    body: bytes = b""


def encode_row(at: float, facts: Mapping[str, Any], record: Any = None) -> bytes:
    """Return the bytes of a row; ``record`` (any record of the core) becomes its body."""
    body = b"" if record is None else _json(wire.to_plain(record))
    packed = len(body) >= _DEFLATE_FROM
    if packed:
        body = zlib.compress(body, 1)
    return _json({"at": at, "packed": packed, "check": zlib.crc32(body), **facts}) + b"\n" + body


def decode_row(value: bytes) -> Row | None:
    """Return the row's header with the body unread, or None when it is no row of ours."""
    line, newline, body = value.partition(b"\n")
    try:
        facts = json.loads(line)
        at = float(facts.pop("at"))
    except Exception:  # whatever the damage looks like, it is only a missing row
        return None
    if not newline or not math.isfinite(at):
        return None
    return Row(at=at, facts=facts, body=body)


def decode_body(row: Row, record_type: type[T]) -> T | None:
    """Return the row's record, or None when the body is damaged."""
    try:
        if zlib.crc32(row.body) != row.facts["check"]:
            return None
        body = zlib.decompress(row.body) if row.facts["packed"] else row.body
        plain = json.loads(body.decode("utf-8", "surrogatepass"), parse_float=_finite, parse_constant=_finite)
        return wire.from_plain(plain, record_type)
    except Exception:  # truncated, of another layout, not JSON: a missing row again
        return None


def _finite(text: str) -> float:
    """A number of a row. Python reads NaN and 1e999 too, which no JSON of ours could say again."""
    if not math.isfinite(number := float(text)):
        raise ValueError(text)
    return number


def _json(plain: Any) -> bytes:
    return json.dumps(plain, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def freshness_of(row: Row) -> Freshness:
    """Return the row's class; rows without a known one count as recent."""
    try:
        return Freshness(row.facts.get("freshness", ""))
    except ValueError:
        return Freshness.RECENT
