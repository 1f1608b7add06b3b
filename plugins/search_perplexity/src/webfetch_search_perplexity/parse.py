"""From the JSON of Perplexity's ``/search`` to hits. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime, time
from typing import Any
from urllib.parse import urlsplit

from webfetch_core.api import SearchHit, plain_text

SNIPPET_CHARS = 1_000
"""Longest snippet. Perplexity's are pieces of pages, often much longer; the page itself is fetched."""

_BLANK = re.compile(r"\s")


def parse(data: Any) -> list[SearchHit]:
    """Return the hits in Perplexity's order, each page once; results without a web address are left out."""
    hits: dict[str, SearchHit] = {}
    for row in result_rows(data):
        url = web_url(row.get("url"))
        if url and url not in hits:
            updated = iso_date(row.get("last_updated"))
            hits[url] = SearchHit(
                url=url,
                title=plain_text(row.get("title")),
                snippet=shortened(plain_text(row.get("snippet"))),
                published=iso_date(row.get("date")) or updated,
                extra={"last_updated": updated} if updated else {},
            )
    return list(hits.values())


def result_rows(data: Any) -> Iterator[Mapping[str, Any]]:
    """The results, flat: they are lists in the list when several queries were asked at once."""
    listed = data.get("results") if isinstance(data, Mapping) else None
    for item in listed if isinstance(listed, list) else ():
        for row in item if isinstance(item, list) else (item,):
            if isinstance(row, Mapping):
                yield row


def web_url(value: Any) -> str:
    """``value`` where it is an http or https address, else an empty string."""
    text = value.strip() if isinstance(value, str) else ""
    try:
        parts = urlsplit(text)
    except ValueError:
        return ""
    usable = parts.scheme in ("http", "https") and parts.hostname and not _BLANK.search(text)
    return text if usable else ""


def iso_date(value: Any) -> str | None:
    """An ISO 8601 date or date-time in one form; midnight, which stands for an unknown hour, is left out."""
    try:
        moment = datetime.fromisoformat(value.strip()) if isinstance(value, str) else None
    except ValueError:
        return None
    if moment is None:
        return None
    if moment.time() == time() and not moment.utcoffset():
        return moment.date().isoformat()
    return moment.isoformat(timespec="seconds")


def shortened(text: str, limit: int = SNIPPET_CHARS) -> str:
    """``text``, cut to ``limit`` characters: at a word, unless the last one takes most of them."""
    if len(text) <= limit:
        return text
    cut = text[: limit - 1]
    at_word = text[:limit].rpartition(" ")[0]
    return (at_word if len(at_word) > limit // 2 else cut) + "…"
