"""What a reply of Exa means: hits, nothing found, or which error. Pure.

Exa's tag decides before the status does: it tells a budget that is used up from a plan that does
not allow something, whatever status carries it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from webfetch_core.api import (
    AuthFailed,
    BadQuery,
    BadResponse,
    Blocked,
    ProviderError,
    QuotaExceeded,
    RateLimited,
    SearchHit,
    WebfetchError,
    error_json,
    plain_text,
    without_secret,
)

from .parse import parse

KEY = "EXA_API_KEY"
"""The environment variable that holds the key."""

SHOWN_CHARS = 300
"""Characters of Exa's own words that an error shows."""

_QUOTA_TAGS = frozenset({"NO_MORE_CREDITS", "API_KEY_BUDGET_EXCEEDED"})
_KEY_TAGS = frozenset({"INVALID_API_KEY", "MISSING_API_KEY"})


def hits_of(data: Any, key: str) -> list[SearchHit]:
    """Return the hits of a reply with status 200; an empty list means that nothing was found.

    Raises:
        BadResponse: it is no list of results, or none of them has a URL.
        AuthFailed, QuotaExceeded, RateLimited, BadQuery: it is an error after all.
    """
    if isinstance(data, Mapping) and data.get("error") and not data.get("results"):
        silent = BadResponse("Exa answered 200 with an error that says nothing")
        raise fault(200, without_secret(data, key), silent)
    return parse(data)


def judged(error: ProviderError, key: str) -> WebfetchError:
    """The error that ``error``, of the HTTP client, stands for; ``key`` never shows in it."""
    if error.status is None or isinstance(error, Blocked):
        return error
    return fault(error.status, without_secret(error_json(error), key), error)


def fault(status: int, data: Mapping[str, Any], error: ProviderError) -> WebfetchError:
    """The error in the JSON of a reply, which does not hold the key any more.

    ``error`` is what its status alone stands for.
    """
    tag = _text(data.get("tag")).upper()
    said = _said(data)
    about = f" ({said})" if said else ""
    if tag in _QUOTA_TAGS or status == 402:
        return QuotaExceeded(
            f"the credit or budget of the Exa key is used up{about}",
            fix="add credit, or raise the budget of the key, at Exa",
            status=status,
        )
    if tag in _KEY_TAGS or status == 401:
        return AuthFailed(f"Exa refused the key{about}", fix=f"set {KEY} to a valid key", status=status)
    if status == 429:
        return RateLimited(
            f"Exa asks for fewer requests{about}",
            retry_after_s=error.retry_after_s,
            fix="set plugins.search_exa.calls_per_s to what your plan takes",
            status=status,
        )
    if tag.startswith("INVALID_") or tag == "NUM_RESULTS_EXCEEDED" or (said and status in (400, 422)):
        return BadQuery(
            f"Exa cannot serve this request: {said or tag}", fix="check the query and plugins.search_exa"
        )
    if isinstance(error, AuthFailed):
        return AuthFailed(
            f"Exa does not allow this with the key in {KEY}{about}",
            fix="see what its plan and policies allow",
            status=status,
        )
    told = f"Exa answered {status}: {said}" if said else error.message
    return type(error)(told, fix=error.fix, retry_after_s=error.retry_after_s, status=status)


def _said(data: Mapping[str, Any]) -> str:
    error = data.get("error")
    raw = error.get("message") if isinstance(error, Mapping) else error
    return plain_text(_text(raw) or _text(data.get("message")))[:SHOWN_CHARS]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
