"""From a search request to the parameters of ``/web/search``. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from webfetch_core.api import Freshness, SearchRequest, with_sites

from .locales import country_code, search_lang
from .settings import BraveSettings

MAX_QUERY_CHARS = 400
MAX_QUERY_WORDS = 50
MAX_COUNT = 20

_FRESHNESS = {Freshness.REALTIME: "pd", Freshness.RECENT: "pm"}


def params_of(request: SearchRequest, settings: BraveSettings) -> dict[str, str | int | bool | None]:
    """Return the parameters; those that are None or empty are not to be sent."""
    return {
        "q": query_text(request.query, request.include_domains, request.exclude_domains),
        "count": max(1, min(request.limit, MAX_COUNT)),
        "country": country_code(request.country) or settings.country.upper() or None,
        "search_lang": search_lang(request.language) or search_lang(settings.language) or None,
        "safesearch": settings.safe_search,
        "freshness": _FRESHNESS.get(request.freshness) if request.freshness else None,
        "result_filter": "web",
        "text_decorations": False,
        "extra_snippets": True if settings.extra_snippets else None,
    }


def query_text(query: str, include: Sequence[str] = (), exclude: Sequence[str] = ()) -> str:
    """The query with ``site:`` operators, within Brave's 400 characters and 50 words.

    Words of the question come first; an include list is written whole or not at all.
    """
    words = query.split()[:MAX_QUERY_WORDS]
    while len(words) > 1 and len(" ".join(words)) > MAX_QUERY_CHARS:
        words.pop()
    text = " ".join(words)[:MAX_QUERY_CHARS]
    spare = MAX_QUERY_WORDS - len(words)
    wanted = 2 * len(include) - 1 if include else 0  # the ORs are words too
    if wanted > spare:
        include, wanted = (), 0
    return with_sites(text, include, tuple(exclude)[: spare - wanted], limit=MAX_QUERY_CHARS)


def endpoint(base_url: str) -> str:
    """The address to call; one that names it already is left alone."""
    base = base_url.rstrip("/")
    return base if base.endswith("/web/search") else f"{base}/web/search"
