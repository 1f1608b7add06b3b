"""From a search request to the JSON of ``/search``. Pure."""

from __future__ import annotations

from typing import Any

from webfetch_core.api import Freshness, SearchRequest, shorten

from .countries import country_name
from .settings import TavilySettings

MAX_QUERY_CHARS = 400
MAX_RESULTS = 20
MAX_INCLUDE = 300
MAX_EXCLUDE = 150

_TIME = {Freshness.REALTIME: "day", Freshness.RECENT: "month"}


def body_of(request: SearchRequest, settings: TavilySettings) -> dict[str, Any]:
    """Return the request's body: only fields that say something.

    Of more domains to include than Tavily takes none is sent, since a part of them would be
    another question; of those to exclude the first ones are.
    """
    include = request.include_domains if len(request.include_domains) <= MAX_INCLUDE else ()
    general = settings.topic == "general"
    fields = {
        "query": shorten(request.query.strip(), MAX_QUERY_CHARS, mark=""),
        "max_results": max(1, min(request.limit, MAX_RESULTS)),
        "search_depth": settings.depth,
        "topic": settings.topic,
        "time_range": _TIME.get(request.freshness) if request.freshness else None,
        "include_domains": list(include),
        "exclude_domains": list(request.exclude_domains[:MAX_EXCLUDE]),
        "country": (country_name(request.country) or country_name(settings.country)) if general else None,
        "chunks_per_source": settings.chunks_per_source if settings.depth == "advanced" else None,
        "safe_search": settings.safe_search,
    }
    return {name: value for name, value in fields.items() if value}


def endpoint(base_url: str) -> str:
    """The address to call; one that names it already is left alone."""
    base = base_url.rstrip("/")
    return base if base.endswith("/search") else f"{base}/search"
