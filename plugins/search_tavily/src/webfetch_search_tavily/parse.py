"""From the JSON of ``/search`` to hits. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from webfetch_core.api import BadResponse, SearchHit, rows, text_at


def parse(data: Any) -> list[SearchHit]:
    """Return the results in Tavily's order; results without a web address are left out.

    Raises:
        BadResponse: it is no search reply, or none of its results has an address.
    """
    if not isinstance(data, Mapping) or "results" not in data:
        raise BadResponse("Tavily's answer is no search reply: it has no results")
    found = data["results"]
    if found is None:
        return []
    if not isinstance(found, list):
        raise BadResponse("Tavily's answer has another layout: results is no list")
    hits = [hit for row in rows(found) if (hit := _hit(row))]
    if found and not hits:
        raise BadResponse(f"Tavily's answer has another layout: none of its {len(found)} results has a URL")
    return hits


def _hit(row: Mapping[str, Any]) -> SearchHit | None:
    url = row.get("url")
    if not isinstance(url, str) or not url.strip().lower().startswith(("http://", "https://")):
        return None
    shown = text_at(row, "published_date")
    published = iso_date(shown)
    score = row.get("score")
    extra: dict[str, Any] = {} if published or not shown else {"date": shown}
    if isinstance(score, (int, float)) and not isinstance(score, bool) and math.isfinite(score):
        extra["score"] = score
    return SearchHit(
        url=url.strip(),
        title=text_at(row, "title"),
        snippet=text_at(row, "content"),
        published=published,
        extra=extra,
    )


def iso_date(text: str) -> str | None:
    """An e-mail date (``Tue, 10 Nov 2026 09:00:00 GMT``) or an ISO one, as ISO 8601; else None."""
    if not text:
        return None
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, TypeError, OverflowError, IndexError):
        try:
            datetime.fromisoformat(text)
        except ValueError:
            return None
        return text
    try:
        return (
            (moment if moment.tzinfo is None else moment.astimezone(UTC)).isoformat().replace("+00:00", "Z")
        )
    except (ValueError, OverflowError):
        return None
