"""From a search request to the fields of SearXNG's ``/search``. Pure."""

from __future__ import annotations

import re

from webfetch_core.api import Freshness, SearchRequest, with_sites

from .settings import SearxngSettings

MAX_QUERY_CHARS = 500
"""What the engines behind an instance take; longer ones also make long addresses."""

_TIME_RANGE = {Freshness.REALTIME: "day", Freshness.RECENT: "month"}
_SAFE_SEARCH = {"off": "0", "moderate": "1", "strict": "2"}
_LANGUAGE = re.compile(r"(?:all|auto)\Z|[a-z]{2,3}(?=[-_]|\Z)")
_REGION = re.compile(r"[-_]([a-z]{2})(?=[-_]|\Z)")
_COUNTRY = re.compile(r"[A-Z]{2}\Z")

# "!images", ":fr" and "<850" choose engines, a language and a time-out, and "!!g" leads to another site.
_OWN_SYNTAX = re.compile(r"(?<!\S)[!:<]+(?=\w)")


def endpoint(base_url: str) -> str:
    """The address of ``/search`` under ``base_url``, which may name it already."""
    base = base_url.rstrip("/")
    return base if base.endswith("/search") else f"{base}/search"


def search_fields(request: SearchRequest, settings: SearxngSettings) -> dict[str, str]:
    """Return the fields of the first page. What the instance would refuse is left out."""
    fields = {
        "q": with_sites(
            plain_query(request.query),
            request.include_domains,
            request.exclude_domains,
            limit=MAX_QUERY_CHARS,
        ),
        "format": "json",
        "pageno": "1",
    }
    optional = {
        "language": language_tag(request, settings),
        "time_range": _TIME_RANGE.get(request.freshness) if request.freshness else "",
        "safesearch": _SAFE_SEARCH.get(settings.safe_search, ""),
        "categories": ",".join(settings.categories),
        "engines": ",".join(settings.engines),
    }
    return {**fields, **{name: value for name, value in optional.items() if value}}


def plain_query(query: str) -> str:
    """The query without what an instance would take for commands."""
    return _OWN_SYNTAX.sub("", query).strip()


def language_tag(request: SearchRequest, settings: SearxngSettings) -> str:
    """``de`` or ``de-AT``, or "" where no language is asked for: a region alone has no form.

    A tag that has another shape (``zh-Hant-TW``) is brought into this one; ``all`` and ``auto`` stay.
    """
    tag = next(
        filter(_LANGUAGE.match, ((request.language or "").strip().lower(), settings.language.lower())), ""
    )
    if tag in ("", "all", "auto"):
        return tag
    region = country_code(request.country)
    if not region and (own := _REGION.search(tag)):
        region = own[1].upper()
    region = region or country_code(settings.country)
    language = re.split("[-_]", tag)[0]
    return f"{language}-{region}" if region else language


def accept_language(tag: str) -> str:
    """The header for a language; an instance's bot filter refuses requests without one."""
    if tag in ("", "all", "auto"):
        return "en"
    language = tag.partition("-")[0]
    return tag if tag == language else f"{tag},{language};q=0.9"


def country_code(value: str | None) -> str:
    """A two-letter code, or "" for anything else."""
    code = (value or "").strip().upper()
    code = "GB" if code == "UK" else code
    return code if _COUNTRY.match(code) else ""
