"""What a reply means: hits, nothing found, or which error. Pure."""

from __future__ import annotations

from email.utils import parsedate_to_datetime

from attrs import frozen

from webfetch_core.api import BadResponse, Blocked, RateLimited, SearchHit, Unavailable

from .parse import read

TINY_BYTES = 1_024
"""A page with no result node and no marker under this size is a wall; a larger one a new layout."""

MAX_WAIT_S = 31 * 86_400.0

ANOTHER_ENGINE = "use another engine for a while; a key such as BRAVE_API_KEY adds one"


@frozen(kw_only=True)
class Reply:
    """A reply as it came: ``body`` inflated, ``retry_after`` and ``location`` as sent, or empty."""

    status: int
    body: bytes = b""
    retry_after: str = ""
    location_host: str = ""


def hits_of(reply: Reply, *, now: float) -> list[SearchHit]:
    """Return the hits; an empty list means that the engine says it found nothing.

    Args:
        now: in epoch seconds, for a ``Retry-After`` that is a date.

    Raises:
        Blocked: 403, or no hits and 202, a human check, or hardly any page at all.
        RateLimited: 429.
        Unavailable: a server error, or a redirect (they are not followed).
        BadResponse: another status, JSON, or a page with none of the known nodes.
    """
    status = reply.status
    if status == 403:
        raise Blocked("DuckDuckGo refused the request (HTTP 403)", fix=ANOTHER_ENGINE)
    if status == 429:
        raise RateLimited(
            "DuckDuckGo asks for fewer requests (HTTP 429)",
            retry_after_s=_wait_s(reply.retry_after, now),
            fix=ANOTHER_ENGINE,
        )
    if 300 <= status < 400:
        where = f" to {reply.location_host}" if reply.location_host else ""
        raise Unavailable(
            f"DuckDuckGo redirected{where} (HTTP {status}); redirects are not followed",
            fix="check plugins.search_ddg.base_url",
        )
    if status >= 500:
        raise Unavailable(
            f"DuckDuckGo answered with a server error (HTTP {status})",
            retry_after_s=_wait_s(reply.retry_after, now),
        )
    if not 200 <= status < 300:
        raise BadResponse(f"DuckDuckGo answered with HTTP {status}", fix="check plugins.search_ddg.base_url")
    page = read(reply.body)
    if page.hits:
        return list(page.hits)
    if status == 202 or page.challenge:
        raise Blocked(f"DuckDuckGo asks for a human check (HTTP {status})", fix=ANOTHER_ENGINE)
    if page.says_empty or page.known_layout:
        return []
    if reply.body.lstrip()[:1] in (b"{", b"["):  # no wall, however small: another protocol
        raise BadResponse(
            f"DuckDuckGo sent JSON where its page was expected (HTTP {status})",
            fix="check plugins.search_ddg.base_url, or update webfetch-search-ddg",
        )
    if len(reply.body) < TINY_BYTES:
        raise Blocked(
            f"DuckDuckGo sent {len(reply.body)} bytes without results (HTTP {status})", fix=ANOTHER_ENGINE
        )
    raise BadResponse(
        f"DuckDuckGo's page has an unknown layout: {len(reply.body)} bytes with neither results "
        "nor its no-results marker",
        fix="update webfetch-search-ddg, or use another engine",
    )


def _wait_s(retry_after: str, now: float) -> float | None:
    """Seconds of a ``Retry-After``, which may be a date; None for anything else."""
    text = retry_after.strip()
    if text.isascii() and text.isdigit() and len(text) <= 12:
        return min(float(text), MAX_WAIT_S)
    try:
        return min(max(parsedate_to_datetime(text).timestamp() - now, 0.0), MAX_WAIT_S)
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
