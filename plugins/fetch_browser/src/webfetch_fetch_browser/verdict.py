"""From what a visit came to, to a page or the reason why there is none. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from attrs import field, frozen

from webfetch_core.api import (
    BadResponse,
    Blocked,
    PageError,
    ProviderError,
    ProxyFailure,
    RateLimited,
    Refused,
    TimedOut,
    Unavailable,
    WebfetchError,
    retry_after_s,
)

from .walls import Outline, is_wall

_HTML = frozenset({"", "text/html", "application/xhtml+xml"})


@frozen(kw_only=True)
class Visit:
    """What was found at a URL.

    Attributes:
        url: of the document in the end.
        status: of its reply; 0 when there was none.
        headers: of its reply, names in lower case.
        html: the rendered page.
        body: the bytes of a document that is no HTML.
        size: characters of the rendered page, also where that was too much to hand over.
        complete: whether the reply came to its end.
        outline: what it looks like; None for a document that is no HTML.
        hops: navigations after the first, the page's own included.
    """

    url: str
    status: int = 0
    headers: Mapping[str, str] = field(factory=dict)
    html: str = ""
    body: bytes = b""
    size: int = 0
    complete: bool = True
    outline: Outline | None = None
    hops: int = 0

    @property
    def is_html(self) -> bool:
        return is_html(self.headers)


def is_html(headers: Mapping[str, str]) -> bool:
    """Whether a reply is a document that is rendered rather than shown."""
    return headers.get("content-type", "").partition(";")[0].strip().lower() in _HTML


def fault(
    visit: Visit, failures: Sequence[ProxyFailure], *, max_bytes: int, now: float
) -> WebfetchError | None:
    """Return why the visit gave no page, or None. No message has words of the page.

    Args:
        failures: what the guard's proxy could not serve.
        max_bytes: of a page.
        now: seconds since the epoch, for ``Retry-After`` dates.
    """
    if (failed := of_the_host(visit.url, failures)) and visit.status in _STATUS_OF[failed.kind]:
        return from_failure(failed)
    said = f"the site answered {visit.status}"
    status = visit.status
    if visit.outline is not None and is_wall(visit.outline, visit.headers):
        return Blocked("a bot wall answered instead of the page, and did not give way")
    if status in (404, 410):
        return PageError(said, kind="not_found")
    if status in (401, 407):
        return PageError(said, kind="login")
    if status == 402:
        return PageError(said, kind="paywall")
    if status == 429:
        return RateLimited(said, retry_after_s=retry_after_s(visit.headers, now))
    if status in (403, 406, 451) or status >= 600:
        return Blocked(said)
    if status >= 500 or status in (408, 425):
        return Unavailable(said)
    if status >= 300:
        return BadResponse(said)
    if visit.size > max_bytes or len(visit.body) > max_bytes:
        return PageError(f"the page is larger than {max_bytes:,} bytes", kind="too_large")
    if not visit.complete:
        cut = next((f for f in failures if f.kind == "too_large"), None)
        return from_failure(cut) if cut else Unavailable("the connection closed before the page was complete")
    if visit.outline is not None and not visit.html:
        return PageError("the page is empty", kind="empty")
    return None


_STATUS_OF: Mapping[str, frozenset[int]] = {
    "refused": frozenset({403}),
    "too_large": frozenset({403}),
    "timeout": frozenset({504}),
    "unavailable": frozenset({502}),
}


def of_the_host(url: str, failures: Sequence[ProxyFailure]) -> ProxyFailure | None:
    """The last failure at the host and port of ``url``."""
    try:
        parts = urlsplit(url)
        place = (parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80))
    except ValueError:
        return None
    return next((f for f in reversed(failures) if (f.host, f.port) == place), None)


def from_failure(failure: ProxyFailure) -> WebfetchError:
    """The error that a failure of the guard's proxy stands for."""
    if failure.kind == "refused":
        return Refused(failure.message)
    if failure.kind == "too_large":
        return PageError(failure.message, kind="too_large")
    if failure.kind == "timeout":
        return TimedOut(failure.message)
    return Unavailable(failure.message)


_NET_ERROR = re.compile(r"net::(ERR_[A-Z0-9_]+)")
_FORBIDDEN = (
    "ERR_BLOCKED",
    "ERR_ACCESS_DENIED",
    "ERR_UNSAFE_PORT",
    "ERR_UNKNOWN_URL_SCHEME",
    "ERR_DISALLOWED",
)
_HOST_SAID_NOTHING = "the browser could not load the page"


def from_navigation(message: str, url: str, failures: Sequence[ProxyFailure]) -> WebfetchError:
    """The error for a navigation that failed.

    Args:
        message: the driver's.
        url: what was being loaded when it failed, redirects included.
        failures: what the guard's proxy could not serve.
    """
    if failed := of_the_host(url, failures):
        return from_failure(failed)
    host = urlsplit(url).hostname or "the site"
    match = _NET_ERROR.search(message)
    code = match[1] if match else ""
    if code == "ERR_ABORTED" or "ownload" in message:
        return PageError("it is a file to download, not a page", kind="unsupported_type")
    if code == "ERR_TOO_MANY_REDIRECTS":
        return PageError("it redirects in a circle", kind="redirect_loop")
    if code == "ERR_INVALID_AUTH_CREDENTIALS":
        return PageError(f"{host} asks for a name and a password", kind="login")
    if code.startswith(_FORBIDDEN):
        return Refused(f"{host}: the browser may not go there")
    if code.startswith(("ERR_CERT", "ERR_SSL", "ERR_BAD_SSL")):
        return Unavailable(f"no secure connection to {host} ({code})")
    if code in ("ERR_TIMED_OUT", "ERR_CONNECTION_TIMED_OUT"):
        return TimedOut(f"{host} did not answer in time")
    if code.startswith(("ERR_INVALID", "ERR_CONTENT", "ERR_RESPONSE", "ERR_HTTP2", "ERR_INCOMPLETE")):
        return BadResponse(f"{host} sent what is no proper reply ({code})")
    return Unavailable(f"{host}: {_HOST_SAID_NOTHING}" + (f" ({code})" if code else ""))


__all__ = [
    "ProviderError",
    "Visit",
    "fault",
    "from_failure",
    "from_navigation",
    "is_html",
    "of_the_host",
]
