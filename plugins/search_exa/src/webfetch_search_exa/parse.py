"""From the JSON of Exa's ``/search`` to hits. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime, time
from typing import Any
from urllib.parse import urlsplit

from webfetch_core.api import SearchHit, plain_text, rows

SNIPPET_CHARS = 1_000
"""Longest snippet; the page itself is fetched for more."""

_BLANK = re.compile(r"\s")


def parse(data: Any) -> list[SearchHit]:
    """Return the hits in Exa's order, each page once; results without a web address are left out."""
    hits: dict[str, SearchHit] = {}
    for row in rows(data, "results"):
        url = web_url(row.get("url")) or web_url(row.get("id"))
        if url and url not in hits:
            hits[url] = SearchHit(
                url=url,
                title=plain_text(row.get("title")),
                snippet=shortened(_snippet(row)),
                published=iso_date(row.get("publishedDate")),
                extra=_extra(row),
            )
    return list(hits.values())


def _snippet(row: Mapping[str, Any]) -> str:
    """The passages that answer the query, else what the page is about, else how it begins."""
    highlights = row.get("highlights")
    parts = highlights if isinstance(highlights, list) else [highlights]
    passages = " … ".join(filter(None, map(plain_text, parts)))
    return passages or plain_text(row.get("summary")) or plain_text(row.get("text"))


def _extra(row: Mapping[str, Any]) -> dict[str, Any]:
    extra: dict[str, Any] = {name: text for name in ("id", "author") if (text := plain_text(row.get(name)))}
    score = row.get("score")
    if isinstance(score, (int, float)) and not isinstance(score, bool):
        extra["score"] = score
    return extra


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
