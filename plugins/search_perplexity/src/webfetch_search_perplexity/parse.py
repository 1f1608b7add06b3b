"""From the JSON of Perplexity's ``/search`` to hits. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from webfetch_core.api import SearchHit, iso_date, plain_text, result_rows, shorten, web_url

FIX_URL = "check plugins.search_perplexity.base_url"

SNIPPET_CHARS = 1_000
"""Longest snippet. Perplexity's are pieces of pages, often much longer; the page itself is fetched."""


def parse(data: Any) -> list[SearchHit]:
    """Return the hits in Perplexity's order, each page once; results without a web address are left out.

    Raises:
        BadResponse: it is no list of results, or none of them has a URL.
    """
    hits: dict[str, SearchHit] = {}
    for row in result_rows(flat(data), "results", service="Perplexity", fix=FIX_URL):
        url = web_url(row.get("url"))
        if url and url not in hits:
            updated = iso_date(row.get("last_updated"))
            hits[url] = SearchHit(
                url=url,
                title=plain_text(row.get("title")),
                snippet=shorten(plain_text(row.get("snippet")), SNIPPET_CHARS),
                published=iso_date(row.get("date")) or updated,
                extra={"last_updated": updated} if updated else {},
            )
    return list(hits.values())


def flat(data: Any) -> Any:
    """The reply with one list of results: they are lists in the list when several queries were asked."""
    listed = data.get("results") if isinstance(data, Mapping) else None
    if not isinstance(listed, list):
        return data
    return {
        "results": [row for item in listed for row in (item if isinstance(item, list) else [item])],
    }
