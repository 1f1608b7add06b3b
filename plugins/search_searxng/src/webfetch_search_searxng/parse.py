"""From the JSON of SearXNG's ``/search`` to hits. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from webfetch_core.api import SearchHit, iso_date, plain_text, result_rows, rows, shorten, web_url

FIX_URL = "check plugins.search_searxng.base_url"

SNIPPET_CHARS = 1_000
"""Longest snippet; the page itself is fetched for more."""


def parse(data: Any) -> list[SearchHit]:
    """Return the hits in the instance's order, each page once.

    Results without a web address (torrents, files) are left out. Answers and info boxes that name
    their page follow the results.

    Raises:
        BadResponse: it is no list of results, or none of them has a URL.
    """
    hits: dict[str, SearchHit] = {}
    for row in result_rows(data, "results", service="SearXNG", fix=FIX_URL):
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
            snippet=shorten(plain_text(text), SNIPPET_CHARS),
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
