"""What a reply of SearXNG means: hits, nothing found, or which error. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from webfetch_core.api import (
    AuthFailed,
    BadQuery,
    BadResponse,
    Blocked,
    ProviderError,
    RateLimited,
    SearchHit,
    Unavailable,
    WebfetchError,
    error_json,
    plain_text,
    without_secret,
)

from .parse import FIX_URL, parse

KEY = "SEARXNG_API_KEY"
"""The environment variable that may hold a key, for an instance behind a gateway."""

SHOWN_CHARS = 300
"""Characters of the instance's own words that an error shows."""

LIMITER_WINDOW_S = 3_600.0
"""An instance's own limiter takes four requests for JSON an hour from one address, and says no time."""

ENABLE_JSON = (
    "add json to search.formats in the instance's settings.yml and restart it; public instances "
    "refuse JSON on purpose: run your own and set plugins.search_searxng.base_url to it"
)

_WALL = re.compile(r"captcha|denied|suspended|too many requests|blocked|cloudflare", re.IGNORECASE)


def hits_of(data: Any, key: str = "") -> list[SearchHit]:
    """Return the hits of a reply with status 200; an empty list means that nothing was found.

    Raises:
        BadResponse: it is no list of results, or none of them has a URL.
        Blocked, Unavailable: it is empty because the engines behind the instance did not answer.
    """
    if isinstance(data, Mapping) and "results" not in data and (said := _said(without_secret(data, key))):
        raise BadResponse(f"SearXNG's answer is an error: {said}", fix=FIX_URL)
    hits = parse(data)
    if hits or data.get("answers"):
        return hits
    if silent := unresponsive(without_secret(data, key)):
        raise _upstream(silent)
    return []


def unresponsive(data: Any) -> dict[str, str]:
    """Each engine behind the instance that did not answer, and why."""
    listed = data.get("unresponsive_engines") if isinstance(data, Mapping) else None
    found = {}
    for item in listed if isinstance(listed, list) else ():
        name, reason = (item[0], item[1:]) if isinstance(item, list) and item else (item, [])
        if isinstance(name, str) and name.strip():
            found[plain_text(name)] = plain_text(reason[0]) if reason else ""
    return found


def _upstream(silent: Mapping[str, str]) -> WebfetchError:
    named = ", ".join(f"{name}: {reason}" if reason else name for name, reason in silent.items())
    told = f"the engines behind SearXNG did not answer ({named[:SHOWN_CHARS]})"
    if all(_WALL.search(reason) for reason in silent.values()):
        return Blocked(told, fix="enable other engines in the instance's settings.yml, or wait")
    return Unavailable(told, fix="enable other engines in the instance's settings.yml")


def judged(error: ProviderError, key: str = "") -> WebfetchError:
    """The error that ``error``, of the HTTP client, stands for; ``key`` never shows in it."""
    status, data = error.status, without_secret(error_json(error), key)
    said = _said(data)
    about = f" ({said})" if said else ""
    if isinstance(error, Blocked) or status is None:
        return _again(error)
    if status == 403 and not data:
        return BadResponse("SearXNG refuses to answer with JSON (403)", fix=ENABLE_JSON, status=status)
    if status in (401, 403):
        return AuthFailed(
            f"SearXNG, or a gateway before it, refused the request ({status}){about}",
            fix=f"set {KEY} to the key that it wants, and plugins.search_searxng.api_key_header to where",
            status=status,
        )
    if status == 429:
        return _limited(error)
    if status == 400 and said:
        return BadQuery(
            f"SearXNG cannot serve this request: {said}", fix="check the query and plugins.search_searxng"
        )
    if 200 <= status < 300 and _is_html(error.body):
        return BadResponse("SearXNG answered with a page where JSON was asked for", fix=ENABLE_JSON)
    if status < 500 and isinstance(error, BadResponse):
        return _again(error, fix=FIX_URL)
    return _again(error)


def _limited(error: ProviderError) -> RateLimited:
    own = error.body.strip().lower().startswith(b"too many requests")
    wait_s = LIMITER_WINDOW_S if own and error.retry_after_s is None else error.retry_after_s
    return RateLimited(
        "SearXNG asks for fewer requests",
        retry_after_s=wait_s,
        fix="set server.limiter to false in your instance's settings.yml, "
        "or let this address pass in limiter.toml",
        status=error.status,
    )


def _again(error: ProviderError, *, fix: str = "") -> ProviderError:
    """``error`` without its body, which may repeat the key."""
    return type(error)(
        error.message, fix=error.fix or fix, retry_after_s=error.retry_after_s, status=error.status
    )


def _is_html(body: bytes) -> bool:
    return body.lstrip()[:1] == b"<"


def _said(data: Mapping[str, Any]) -> str:
    error = data.get("error")
    raw = error.get("message") if isinstance(error, Mapping) else error
    return plain_text(raw)[:SHOWN_CHARS]
