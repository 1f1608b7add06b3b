"""From a search request to the JSON of ``/search``. Pure."""

from __future__ import annotations

from typing import Any

from webfetch_core.api import Freshness, SearchRequest, with_sites

from .locales import google_country, google_language
from .settings import SerperSettings

MAX_HITS = 10
"""A page of Google's. More than these cost a second credit and often do not come."""

MAX_QUERY_CHARS = 2_048

_TIME = {Freshness.REALTIME: "qdr:d", Freshness.RECENT: "qdr:m"}


def body_of(request: SearchRequest, settings: SerperSettings) -> dict[str, Any]:
    """Return the request's body: only fields that say something."""
    fields = {
        "q": with_sites(
            request.query.strip(), request.include_domains, request.exclude_domains, limit=MAX_QUERY_CHARS
        ),
        "gl": google_country(request.country) or google_country(settings.country),
        "hl": google_language(request.language) or google_language(settings.language),
        "tbs": _TIME.get(request.freshness, "") if request.freshness else "",
        "safe": settings.safe_search,
    }
    return {name: value for name, value in fields.items() if value}


def endpoint(base_url: str) -> str:
    """The address to call; one that names it already is left alone."""
    base = base_url.rstrip("/")
    return base if base.endswith("/search") else f"{base}/search"
