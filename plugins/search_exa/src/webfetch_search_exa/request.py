"""From a search request to the body of Exa's ``POST /search``. Pure."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

from webfetch_core.api import Freshness, SearchRequest

from .parse import SNIPPET_CHARS
from .settings import ExaSettings

MAX_RESULTS = 100

_DAY_S = 86_400.0
_WINDOW_S = {Freshness.REALTIME: _DAY_S, Freshness.RECENT: 30 * _DAY_S}
_COUNTRY = re.compile(r"[A-Z]{2}\Z")


def endpoint(base_url: str) -> str:
    """The address of ``/search`` under ``base_url``, which may name it already."""
    base = base_url.rstrip("/")
    return base if base.endswith("/search") else f"{base}/search"


def search_body(request: SearchRequest, settings: ExaSettings, now: float) -> dict[str, Any]:
    """Return the JSON to post; ``now`` is in seconds since the epoch.

    What Exa does not take is left out. It takes included or excluded domains, not both: with both,
    the excluded ones are left to the core, which filters the hits again.
    """
    body: dict[str, Any] = {
        "query": request.query,
        "type": settings.search_type,
        "numResults": max(1, min(request.limit, MAX_RESULTS)),
    }
    if request.include_domains:
        body["includeDomains"] = list(request.include_domains)
    elif request.exclude_domains:
        body["excludeDomains"] = list(request.exclude_domains)
    if request.freshness in _WINDOW_S:
        body["startPublishedDate"] = instant(now - _WINDOW_S[request.freshness])
    if country := country_code(request.country) or country_code(settings.country):
        body["userLocation"] = country
    if settings.category:
        body["category"] = settings.category
    if settings.moderation:
        body["moderation"] = True
    if contents := wanted_contents(settings):
        body["contents"] = contents
    return body


def wanted_contents(settings: ExaSettings) -> dict[str, Any]:
    """What Exa sends of each page besides title and address: no more than a snippet holds."""
    contents: dict[str, Any] = {}
    if settings.contents == "summary":
        contents["summary"] = True
    elif settings.contents != "none":
        contents[settings.contents] = {"maxCharacters": SNIPPET_CHARS}
    if contents and settings.max_age_hours is not None:
        contents["maxAgeHours"] = settings.max_age_hours
    return contents


def instant(epoch_s: float) -> str:
    """ISO 8601 in UTC, to the second, as Exa writes it (``2026-11-29T08:00:00.000Z``)."""
    return datetime.fromtimestamp(int(epoch_s), UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def country_code(value: str | None) -> str:
    """The two-letter code that Exa takes, or "" for anything else."""
    code = (value or "").strip().upper()
    code = "GB" if code == "UK" else code
    return code if _COUNTRY.match(code) else ""
