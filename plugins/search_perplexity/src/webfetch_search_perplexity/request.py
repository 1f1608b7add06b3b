"""From a search request to the body of Perplexity's ``POST /search``. Pure."""

from __future__ import annotations

import re
from typing import Any

from webfetch_core.api import Freshness, SearchRequest

from .settings import PerplexitySettings

MAX_RESULTS = 20
MAX_DOMAINS = 20

_RECENCY = {Freshness.REALTIME: "day", Freshness.RECENT: "month"}
_LANGUAGE = re.compile(r"([a-z]{2})(?:[-_].*)?\Z")
_COUNTRY = re.compile(r"[A-Z]{2}\Z")


def endpoint(base_url: str) -> str:
    """The address of ``/search`` under ``base_url``, which may name it already."""
    base = base_url.rstrip("/")
    return base if base.endswith("/search") else f"{base}/search"


def search_body(request: SearchRequest, settings: PerplexitySettings) -> dict[str, Any]:
    """Return the JSON to post. What Perplexity does not take is left out."""
    body: dict[str, Any] = {
        "query": request.query,
        "max_results": max(1, min(request.limit, MAX_RESULTS)),
    }
    if domains := domain_filter(request):
        body["search_domain_filter"] = domains
    if request.freshness in _RECENCY:
        body["search_recency_filter"] = _RECENCY[request.freshness]
    if language := language_code(request.language) or language_code(settings.language):
        body["search_language_filter"] = [language]
    if country := country_code(request.country) or country_code(settings.country):
        body["country"] = country
    for name in ("search_type", "search_mode"):  # sent only where it is not Perplexity's own default
        if getattr(settings, name) != "web":
            body[name] = getattr(settings, name)
    if settings.search_context_size:
        body["search_context_size"] = settings.search_context_size
    return body


def domain_filter(request: SearchRequest) -> list[str]:
    """The domains to search, else those to leave out with a minus in front: the two do not mix.

    The list has twenty places. Excluded domains beyond them, or beside included ones, are left to
    the core, which filters the hits again; included ones beyond them are not searched.
    """
    if request.include_domains:
        return list(request.include_domains[:MAX_DOMAINS])
    return [f"-{domain}" for domain in request.exclude_domains[:MAX_DOMAINS]]


def language_code(value: str | None) -> str:
    """The ISO 639-1 code of a language tag (``pt-BR`` is ``pt``), or "" for anything else."""
    found = _LANGUAGE.match((value or "").strip().lower())
    return found[1] if found else ""


def country_code(value: str | None) -> str:
    """The two-letter code that Perplexity takes, or "" for anything else."""
    code = (value or "").strip().upper()
    code = "GB" if code == "UK" else code
    return code if _COUNTRY.match(code) else ""
