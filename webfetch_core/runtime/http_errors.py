"""From statuses and exceptions of the network to webfetch's errors, with nothing secret in them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping

from ..enginekit import retry_after_s
from ..errors import (
    AuthFailed,
    BadResponse,
    Blocked,
    ProviderError,
    QuotaExceeded,
    RateLimited,
    TimedOut,
    Unavailable,
    WebfetchError,
)
from .redaction import redact

SHOWN_CHARS = 200
"""Characters of a reply's body that an error message shows."""

_READ_BYTES = 64 * 1024  # redacted before it is cut, so that no half of a secret shows
_WALL_MARKS = (
    b"/cdn-cgi/challenge-platform/",
    b"_cf_chl_opt",
    b"captcha-delivery.com",
    b"px-captcha",
    b"_incapsula_resource",
    b"g-recaptcha",
    b"h-captcha",
    b"cf-turnstile",
    b"unusual traffic",
)


def excerpt(body: bytes, secrets: Iterable[str] = ()) -> str:
    """Return the first characters of ``body`` that are safe to print, on one line."""
    text = redact(body[:_READ_BYTES].decode("utf-8", "replace"), secrets)
    clean = "".join(c if unicodedata.category(c)[0] != "C" else " " for c in text)
    return " ".join(clean.split())[:SHOWN_CHARS]


def is_wall(headers: Mapping[str, str], body: bytes) -> bool:
    """Whether an error reply of an API is really a bot wall's page."""
    if headers.get("cf-mitigated", "").lower() == "challenge":
        return True
    if "html" not in headers.get("content-type", "html").lower():
        return False
    low = body[: 256 * 1024].lower()
    return any(mark in low for mark in _WALL_MARKS)


def for_status(
    status: int, headers: Mapping[str, str], body: bytes, *, host: str, secrets: Iterable[str], now: float
) -> ProviderError | None:
    """Return the error that the status of an API's reply stands for; None below 300.

    The error has the attributes ``status`` and ``body``. ``headers`` have lower-case names.
    """
    if status < 300:
        return None
    shown = excerpt(body, secrets)
    said = f"{host} answered {status}" + (f": {shown}" if shown else "")
    error: ProviderError
    if status in (401, 403, 429, 503) and is_wall(headers, body):
        error = Blocked(f"{host} answered {status} with a bot wall")
    elif status in (401, 403):
        error = AuthFailed(said, fix="check the key")
    elif status == 402:
        error = QuotaExceeded(said)
    elif status == 429:
        error = RateLimited(said, retry_after_s=retry_after_s(headers, now))
    elif status >= 500 or status in (408, 425):
        error = Unavailable(said)
    elif status < 400:
        error = BadResponse(f"{host} answered {status}: a redirect where an API was expected")
    else:
        error = BadResponse(said)
    error.status, error.body = status, body
    return error


def translate(exc: Exception, host: str, secrets: Iterable[str] = ()) -> WebfetchError:
    """Return the webfetch error for an exception of requests, urllib3 or the socket below them."""
    from http.client import BadStatusLine, RemoteDisconnected

    import requests
    import urllib3.exceptions as u3

    from .http_pin import caused_by

    if isinstance(exc, WebfetchError):
        return exc
    if caused_by(exc, u3.NewConnectionError):  # of urllib3's time-out family, though it is none
        return Unavailable(f"{host} takes no connection")
    if isinstance(exc, requests.Timeout) or caused_by(exc, (u3.TimeoutError, TimeoutError)):
        return TimedOut(f"{host} did not answer in time")
    if caused_by(exc, u3.SSLError) or isinstance(exc, requests.exceptions.SSLError):
        return Unavailable(f"no secure connection to {host}: {_why(exc, secrets)}")
    if caused_by(exc, BadStatusLine) and not caused_by(exc, RemoteDisconnected):
        return Unavailable(f"{host} did not answer in HTTP")  # the exception quotes what it said
    if caused_by(exc, (u3.IncompleteRead, u3.InvalidChunkLength)):
        return Unavailable(f"{host} closed the connection before the body was complete")
    if isinstance(exc, (requests.exceptions.InvalidURL, requests.exceptions.InvalidHeader, ValueError)):
        return BadResponse(f"the request to {host} cannot be made: {_why(exc, secrets)}")
    return Unavailable(f"the connection to {host} failed: {_why(exc, secrets)}")


_ADDRESS = re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}\b|\[?[0-9a-fA-F]{0,4}(?::[0-9a-fA-F]{0,4}){3,}\]?")


def _why(exc: BaseException, secrets: Iterable[str]) -> str:
    inner: BaseException = exc
    for _ in range(8):
        reason = getattr(inner, "reason", None)
        following = (
            reason
            if isinstance(reason, BaseException)
            else next((arg for arg in inner.args if isinstance(arg, BaseException)), None)
        )
        if following is None:
            break
        inner = following
    text = excerpt(str(inner).encode("utf-8", "replace"), secrets)
    return _ADDRESS.sub("(address)", text) or type(inner).__name__
