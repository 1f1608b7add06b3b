"""From the JSON of ``/search`` to hits. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from webfetch_core.api import BadResponse, SearchHit, iso_date, result_rows, text_at, web_url


def parse(data: Any) -> list[SearchHit]:
    """Return the results in Tavily's order; results without a web address are left out.

    Raises:
        BadResponse: it is no search reply, or none of its results has a URL.
    """
    if not isinstance(data, Mapping) or "results" not in data:
        raise BadResponse("Tavily's answer is no search reply: it has no results")
    return [hit for row in result_rows(data, "results", service="Tavily") if (hit := _hit(row))]


def _hit(row: Mapping[str, Any]) -> SearchHit | None:
    url = web_url(row.get("url"))
    if not url:
        return None
    shown = text_at(row, "published_date")
    published = iso_date(shown)
    score = row.get("score")
    extra: dict[str, Any] = {} if published or not shown else {"date": shown}
    if isinstance(score, (int, float)) and not isinstance(score, bool) and math.isfinite(score):
        extra["score"] = score
    return SearchHit(
        url=url,
        title=text_at(row, "title"),
        snippet=text_at(row, "content"),
        published=published,
        extra=extra,
    )
