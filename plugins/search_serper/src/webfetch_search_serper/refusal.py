"""Which error an answer of Serper's is. Pure.

The message in the body decides, then the status: a key without credits comes as 400.
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
    text_at,
)

KEY = "SERPER_API_KEY"
FIX_KEY = f"set {KEY} to a key of https://serper.dev"

_SHOWN = 300
_BY_WORDS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"(?i)(not enough|out of|no|insufficient) credit|quota|run out|usage limit"), "quota"),
    (re.compile(r"(?i)too many requests|rate limit"), "rate"),
    (re.compile(r"(?i)unauthori[sz]ed|forbidden|api[ _-]?key|invalid token"), "auth"),
)
_BY_STATUS = {400: "query", 422: "query", 401: "auth", 402: "quota", 403: "auth", 429: "rate"}


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
    kind = next((kind for words, kind in _BY_WORDS if words.search(message)), "") if status < 500 else ""
    kind = kind or _BY_STATUS.get(status, "")
    said = f"Serper answered {status}" + (f": {message}" if message else "")
    if kind == "quota":
        return QuotaExceeded(said, fix="buy credits at https://serper.dev", status=status)
    if kind == "auth":
        return AuthFailed(said, fix=FIX_KEY, status=status)
    if kind == "rate":
        return RateLimited(said, retry_after_s=retry_after_s, status=status)
    if kind == "query":
        return BadQuery(said, fix="shorten or reword the query")
    return BadResponse(said, status=status) if status < 300 else None


def message_of(data: Any) -> str:
    """The error's words in a body; empty for a search reply."""
    if not isinstance(data, Mapping) or isinstance(data.get("organic"), list):
        return ""
    found = (text_at(data, *path) for path in (("message",), ("error", "message"), ("error",), ("detail",)))
    text = next(filter(None, found), "")
    return text[:_SHOWN] or ("an error without a message" if data.get("error") else "")
