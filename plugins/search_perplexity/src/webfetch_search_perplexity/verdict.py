"""What a reply of Perplexity means: hits, nothing found, or which error. Pure.

The error's type and text decide before the status does: an account without credit is answered
with 401, 402 or 429.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from webfetch_core.api import (
    AuthFailed,
    BadQuery,
    BadResponse,
    Blocked,
    HttpReply,
    QuotaExceeded,
    RateLimited,
    SearchHit,
    Unavailable,
    WebfetchError,
    plain_text,
    retry_after_s,
    without_secret,
)

from .parse import FIX_URL, parse

KEY = "PERPLEXITY_API_KEY"
"""The environment variable that holds the key."""

SHOWN_CHARS = 300
"""Characters of Perplexity's own words that an error shows."""

_KEY_STATUSES = (401, 403)
# What says that the account is empty. Of 429 fewer words do: a rate limit may point to the bill.
_NO_CREDIT = {
    **dict.fromkeys((401, 403), re.compile(r"\b(?:quota|credits?|balance|billing|budget)\b", re.IGNORECASE)),
    429: re.compile(r"\b(?:quota|credits?)\b", re.IGNORECASE),
}


def hits_of(data: Any, key: str) -> list[SearchHit]:
    """Return the hits of a reply with status 200; an empty list means that nothing was found.

    Raises:
        BadResponse: it is no list of results, or none of them has a URL.
        AuthFailed, QuotaExceeded, RateLimited, BadQuery, Unavailable: it is an error after all.
    """
    if isinstance(data, Mapping) and data.get("error") and not data.get("results"):
        raise fault(200, without_secret(data, key))
    return parse(data)


def body_of(reply: HttpReply) -> tuple[Any, str]:
    """The body's JSON, or what is to be said of a body that has none.

    The client's own error would keep the body, and the key if that repeats it.
    """
    try:
        return reply.json(), ""
    except BadResponse as exc:
        return None, exc.message


def refusal(reply: HttpReply, key: str, now: float) -> WebfetchError:
    """The error that a reply with a status of 300 or above stands for; ``key`` never shows in it.

    ``now`` is in seconds since the epoch: ``Retry-After`` may be a date.
    """
    data, _ = body_of(reply)
    wait_s = retry_after_s(reply.headers, now)
    if isinstance(data, Mapping):
        return fault(reply.status, without_secret(data, key), wait_s)
    return _unworded(reply.status, wait_s)


def fault(status: int, data: Mapping[str, Any], wait_s: float | None = None) -> WebfetchError:
    """The error in the JSON of a reply, which does not hold the key any more."""
    error = data.get("error")
    told = error if isinstance(error, Mapping) else data
    code, kind = told.get("code"), f"{_text(told.get('type'))} {_text(told.get('code'))}".lower()
    if status < 300 and isinstance(code, int) and code >= 400:
        status = code
    said = _said(data)
    about = f" ({said})" if said else ""
    no_credit = status in _NO_CREDIT and _NO_CREDIT[status].search(said)
    if status == 402 or no_credit or "quota" in kind or "credit" in kind:
        return QuotaExceeded(
            f"the credit of the Perplexity key is used up{about}",
            fix="add credit to the account",
            retry_after_s=wait_s,
            status=status,
        )
    if status in _KEY_STATUSES or "api_key" in kind or "authentication" in kind:
        return AuthFailed(
            f"Perplexity refused the key{about}", fix=f"set {KEY} to a valid key", status=status
        )
    if status == 429 or "rate_limit" in kind:
        return RateLimited(
            f"Perplexity asks for fewer requests{about}",
            retry_after_s=wait_s,
            fix="set plugins.search_perplexity.calls_per_s to what your plan takes",
            status=status,
        )
    if status in (400, 422) or "invalid_request" in kind or "validation" in kind:
        return BadQuery(
            f"Perplexity cannot serve this request: {said or status}",
            fix="check the query and plugins.search_perplexity",
        )
    return _other(status, f"Perplexity answered {status}{about}", wait_s)


def _unworded(status: int, wait_s: float | None) -> WebfetchError:
    """The error of a reply that is no JSON: of a proxy or a wall in between, or of a wrong address."""
    told = f"Perplexity answered {status} without JSON"
    if status == 401:
        return AuthFailed(told, fix=f"set {KEY} to a valid key", status=status)
    if status == 403:
        return Blocked(f"{told}: something in between refused the request", status=status)
    if status == 402:
        return QuotaExceeded(told, status=status)
    if status == 429:
        return RateLimited(told, retry_after_s=wait_s, status=status)
    return _other(status, told, wait_s)


def _other(status: int, told: str, wait_s: float | None) -> WebfetchError:
    if status >= 500 or status in (408, 409, 425):
        return Unavailable(told, retry_after_s=wait_s, status=status)
    return BadResponse(told, fix=FIX_URL, status=status)


def _said(data: Mapping[str, Any]) -> str:
    """Perplexity's own words: an error's message, or the messages of a validation."""
    error, detail = data.get("error"), data.get("detail")
    raw = error.get("message") if isinstance(error, Mapping) else error
    words = [_text(raw) or _text(data.get("message")) or _text(detail)]
    for item in detail if isinstance(detail, list) else ():
        if isinstance(item, Mapping):
            where = item.get("loc")
            name = str(where[-1]) if isinstance(where, list) and where else ""
            words.append(": ".join(filter(None, (name, _text(item.get("msg"))))))
    return plain_text("; ".join(filter(None, words)))[:SHOWN_CHARS]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
