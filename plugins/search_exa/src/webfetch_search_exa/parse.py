"""From the JSON of Exa's ``/search`` to hits. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from webfetch_core.api import SearchHit, iso_date, plain_text, result_rows, shorten, web_url

FIX_URL = "check plugins.search_exa.base_url"

SNIPPET_CHARS = 1_000
"""Longest snippet; the page itself is fetched for more."""


def parse(data: Any) -> list[SearchHit]:
    """Return the hits in Exa's order, each page once; results without a web address are left out.

    Raises:
        BadResponse: it is no list of results, or none of them has a URL.
    """
    hits: dict[str, SearchHit] = {}
    for row in result_rows(data, "results", service="Exa", url_fields=("url", "id"), fix=FIX_URL):
        url = web_url(row.get("url")) or web_url(row.get("id"))
        if url and url not in hits:
            hits[url] = SearchHit(
                url=url,
                title=plain_text(row.get("title")),
                snippet=shorten(_snippet(row), SNIPPET_CHARS),
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
    extra: dict[str, Any] = {}
    identifier, author, score = row.get("id"), plain_text(row.get("author")), row.get("score")
    if isinstance(identifier, str) and identifier:  # mostly the URL, so it stays as it is
        extra["id"] = identifier
    if author:
        extra["author"] = author
    if isinstance(score, (int, float)) and not isinstance(score, bool):
        extra["score"] = score
    return extra
