"""Which error an answer of Tavily's is. Pure.

Its statuses tell most; a body of the keyless mode has a code and a waiting time of its own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from webfetch_core.api import (
    AuthFailed,
    BadQuery,
    BadResponse,
    QuotaExceeded,
    RateLimited,
    WebfetchError,
    plain_text,
    rows,
    text_at,
)

KEY = "TAVILY_API_KEY"
FIX_KEY = f"set {KEY} to a key of https://app.tavily.com"

MAX_WAIT_S = 31 * 86_400.0
_SHOWN = 300
_BY_STATUS = {
    400: "query",
    401: "auth",
    402: "quota",
    403: "auth",
    422: "query",
    429: "rate",
    432: "quota",  # the limit of the key or the plan
    433: "quota",  # the limit of pay as you go
}
_BY_WORDS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"(?i)credit|quota|run out|billing|usage limit|plan.{0,20} limit"), "quota"),
    (re.compile(r"(?i)too many requests|rate limit|excessive requests"), "rate"),
    (re.compile(r"(?i)unauthori[sz]ed|forbidden|api[ _-]?key|invalid token"), "auth"),
)
_LONG_WINDOWS = frozenset({"day", "week", "month", "year"})


def refusal(status: int, data: Any, *, retry_after_s: float | None = None) -> WebfetchError | None:
    """Return the error that an answer stands for.

    None when it is none, or one that its status tells in full (a server error, a redirect).

    Args:
        data: the body's JSON; None when it has none.
        retry_after_s: what a header says of when to come back.
    """
    message = message_of(data)
    if status < 300 and not message:
        return None
    kind = _by_code(data) or _BY_STATUS.get(status, "")
    if not kind and status < 300:
        kind = next((kind for words, kind in _BY_WORDS if words.search(message)), "")
    wait = retry_after_s if retry_after_s is not None else _wait_in(data)
    said = f"Tavily answered {status}" + (f": {message}" if message else "")
    if kind == "quota":
        return QuotaExceeded(
            said, fix="raise the limit of your Tavily plan", retry_after_s=wait, status=status
        )
    if kind == "auth":
        return AuthFailed(said, fix=FIX_KEY, status=status)
    if kind == "rate":
        return RateLimited(said, retry_after_s=wait, status=status)
    if kind == "query":
        return BadQuery(said, fix="shorten or reword the query, or check [plugins.search_tavily]")
    return BadResponse(said, status=status) if status < 300 else None


def message_of(data: Any) -> str:
    """The error's words in a body; empty for a search reply.

    ``detail`` is an object with ``error``, a text, or a list of what was wrong with single fields.
    """
    if not isinstance(data, Mapping) or isinstance(data.get("results"), list):
        return ""
    fields = []
    for row in rows(data, "detail"):
        where = row.get("loc")
        name = plain_text(where[-1]) if isinstance(where, list) and where else ""
        fields.append(": ".join(filter(None, (name, text_at(row, "msg")))))
    places = (
        ("detail", "error"),
        ("detail",),
        ("error", "message"),
        ("error", "code"),
        ("error",),
        ("message",),
    )
    text = "; ".join(filter(None, fields)) or next(filter(None, (text_at(data, *p) for p in places)), "")
    return text[:_SHOWN] or ("an error without a message" if data.get("error") else "")


def _by_code(data: Any) -> str:
    """The kind of a keyless refusal: a quota of a day or more, or a rate."""
    code = text_at(data, "error", "code")
    if not code.endswith("_limit"):
        return ""
    return "quota" if text_at(data, "error", "window") in _LONG_WINDOWS else "rate"


def _wait_in(data: Any) -> float | None:
    error = data.get("error") if isinstance(data, Mapping) else None
    value = error.get("retry_after_seconds") if isinstance(error, Mapping) else None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < float("inf"):
        return None
    return min(float(value), MAX_WAIT_S)
