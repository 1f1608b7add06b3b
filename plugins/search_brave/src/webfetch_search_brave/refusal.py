"""Which error an answer of Brave's is. Pure.

The code in the body decides, then the status: a wrong key comes as 422, like a bad parameter.
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
    QuotaExceeded,
    RateLimited,
    Unavailable,
    WebfetchError,
    plain_text,
    retry_after_s,
    rows,
    text_at,
)

from .rates import Tier, pause_s, tiers, used_up

KEY = "BRAVE_API_KEY"
FIX_KEY = f"set {KEY} to a key of https://api-dashboard.search.brave.com"
FIX_URL = "check base_url in [plugins.search_brave]"

MAX_WAIT_S = 31 * 86_400.0
_SHOWN = 300
_QUOTA = re.compile(r"(?i)quota|credit|run out|billing|usage limit|spend")
_AUTH = re.compile(r"(?i)subscription token|api[ _-]?key|unauthori[sz]ed|forbidden|authenticat")
_RATE = re.compile(r"(?i)rate limit|too many requests")


def refusal(
    status: int, headers: Mapping[str, str], data: Any, *, now: float, unread: str = ""
) -> WebfetchError | None:
    """Return the error that an answer stands for, or None when it is none.

    Args:
        headers: with lower-case names.
        data: the body's JSON; None when it has none.
        now: in epoch seconds, for a ``Retry-After`` that is a date.
        unread: what is said of a body that is no JSON.
    """
    error = error_of(data)
    if status < 300 and not error:
        return None
    code, detail = text_at(error, "code").upper(), _detail(error)
    said = unread or f"Brave answered {status}" + (f": {detail}" if detail else "")
    known = tiers(headers)
    if code.startswith("SUBSCRIPTION") or (code == "VALIDATION" and _in_header(error)):
        return AuthFailed(said, fix=FIX_KEY, status=status)
    if code == "OPTION_NOT_IN_PLAN":
        return AuthFailed(
            said,
            fix="set extra_snippets = false in [plugins.search_brave], or take a plan with it",
            status=status,
        )
    if code == "VALIDATION":
        return BadQuery(said, fix="shorten or reword the query")
    if code.startswith("QUOTA") or status == 402:
        return _quota(said, used_up(known), status)
    if code == "RATE_LIMITED" or status == 429:
        spent = used_up(known)
        if spent or _month_is_used_up(error):
            return _quota(said, spent, status)
        wait = retry_after_s(headers, now)
        return RateLimited(said, retry_after_s=pause_s(known) if wait is None else wait, status=status)
    if status < 300:
        return _by_words(said, detail, status)
    if status in (401, 403):
        if "html" in headers.get("content-type", "").lower():
            return Blocked(f"a web page answered {status} in Brave's place", fix=FIX_URL, status=status)
        return AuthFailed(said, fix=FIX_KEY, status=status)
    if status >= 500 or status in (408, 425):
        return Unavailable(said, status=status)
    if status in (400, 422):
        if _AUTH.search(detail):
            return AuthFailed(said, fix=FIX_KEY, status=status)
        return BadQuery(said, fix="shorten or reword the query")
    return BadResponse(said, fix=FIX_URL, status=status)


def error_of(data: Any) -> Mapping[str, Any]:
    """The error in a body, ``error`` or the first of ``errors``; empty when there is none."""
    if not isinstance(data, Mapping):
        return {}
    error = data.get("error")
    if isinstance(error, Mapping) and error:
        return error
    if isinstance(error, str) and error.strip():
        return {"detail": error}
    listed = rows(data, "errors")
    if listed and "loc" in listed[0]:
        return {"code": "VALIDATION", "meta": {"errors": listed}}
    if listed:
        return listed[0]
    if data.get("type") == "ErrorResponse" or data.keys() <= {"message", "detail", "status", "code"}:
        return {"code": data.get("code"), "detail": data.get("detail") or data.get("message")} if data else {}
    return {}


def _detail(error: Mapping[str, Any]) -> str:
    """The vendor's words, and what it says of single parameters."""
    parts = [text_at(error, "detail") or text_at(error, "message") or text_at(error, "code")]
    for row in rows(error, "meta", "errors"):
        where = row.get("loc")
        name = plain_text(where[-1]) if isinstance(where, list) and where else ""
        parts.append(": ".join(filter(None, (name, text_at(row, "msg")))))
    return "; ".join(filter(None, parts))[:_SHOWN]


def _in_header(error: Mapping[str, Any]) -> bool:
    places = [row.get("loc") for row in rows(error, "meta", "errors")]
    return any(isinstance(place, list) and place[:1] == ["header"] for place in places)


def _month_is_used_up(error: Mapping[str, Any]) -> bool:
    meta = error.get("meta")
    limit, current = (
        (meta.get("quota_limit"), meta.get("quota_current")) if isinstance(meta, Mapping) else (None, None)
    )
    return isinstance(limit, int) and isinstance(current, int) and 0 < limit <= current


def _quota(said: str, spent: Tier | None, status: int) -> QuotaExceeded:
    wait = min(spent.reset_s, MAX_WAIT_S) if spent and spent.reset_s else None
    return QuotaExceeded(said, fix="raise the limit of your Brave plan", retry_after_s=wait, status=status)


def _by_words(said: str, detail: str, status: int) -> WebfetchError:
    """An error inside a 200 that has no code: by what it says."""
    if _QUOTA.search(detail):
        return _quota(said, None, status)
    if _AUTH.search(detail):
        return AuthFailed(said, fix=FIX_KEY, status=status)
    if _RATE.search(detail):
        return RateLimited(said, status=status)
    return BadResponse(said, status=status)
