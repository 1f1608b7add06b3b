"""From the JSON of SearXNG's ``/search`` to hits. Pure."""

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
    """Return the hits in the instance's order, each page once.

    Results without a web address (torrents, files) are left out. Answers and info boxes that name
    their page follow the results.
    """
    hits: dict[str, SearchHit] = {}
    for row in rows(data, "results"):
        _add(hits, row.get("url"), row.get("title"), row.get("content"), row)
    for row in rows(data, "answers"):  # plain strings in older versions: those name no page
        _add(hits, row.get("url"), row.get("title") or row.get("engine"), row.get("answer"), row)
    for row in rows(data, "infoboxes"):
        _add(hits, row.get("id"), row.get("infobox"), row.get("content"), row)
    return list(hits.values())


def _add(hits: dict[str, SearchHit], address: Any, title: Any, text: Any, row: Mapping[str, Any]) -> None:
    url = web_url(address)
    if url and url not in hits:
        hits[url] = SearchHit(
            url=url,
            title=plain_text(title),
            snippet=shortened(plain_text(text)),
            published=iso_date(row.get("publishedDate")) or iso_date(row.get("pubdate")),
            extra=_extra(row),
        )


def _extra(row: Mapping[str, Any]) -> dict[str, Any]:
    """What is told of a result besides: the engines that found it, its score and its category."""
    listed = row.get("engines")
    engines = [name for name in listed if isinstance(name, str)] if isinstance(listed, list) else []
    single, score, category = row.get("engine"), row.get("score"), row.get("category")
    extra: dict[str, Any] = {}
    if engines or (isinstance(single, str) and single):
        extra["engines"] = engines or [single]
    if isinstance(score, (int, float)) and not isinstance(score, bool):
        extra["score"] = score
    if isinstance(category, str) and category:
        extra["category"] = category
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
