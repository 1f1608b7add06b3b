"""Pages: redirects by hand with each hop judged, and every cap enforced while streaming."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urljoin, urlsplit

from attrs import field, frozen
from attrs.validators import ge, gt

from ..errors import PageError, Refused, TimedOut, WebfetchError
from ..models import Page
from .http_body import decoded, gather, paced, wire
from .http_errors import translate
from .http_line import cut_when_cancelled
from .netguard import CheckedTarget

if TYPE_CHECKING:
    from .http import HttpClient

PAGE_S = 60.0
"""What a page without a deadline may take in all."""

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_BODILESS = frozenset({204, 304})
# What another origin may be told; all else, keys and cookies above all, stays with the first.
_TRAVELS = frozenset({"user-agent", "accept", "accept-language", "cache-control", "dnt"})


@frozen(kw_only=True)
class Limits:
    """The limits of one fetch.

    Attributes:
        deadline: instant on the clock's monotonic; None means a minute from now.
        max_bytes: of the inflated body.
        max_wire_bytes: of the body as sent; None means ``max_bytes``.
        max_redirects: hops after the first request.
        min_bytes_per_s: of the body on the wire, judged after three seconds.
        check_hop: called with each redirect's URL before it is followed; may raise.
        conditions: headers that ask whether a page has changed; sent to ``conditions_url`` alone.
        conditions_url: the URL that gave the validators, as ``Page.final_url`` has it.
    """

    deadline: float | None = None
    max_bytes: int = field(default=8 * 1024 * 1024, validator=gt(0))
    max_wire_bytes: int | None = None
    max_redirects: int = field(default=8, validator=ge(0))
    min_bytes_per_s: float = field(default=0.0, validator=ge(0))
    check_hop: Callable[[str], None] | None = None
    conditions: Mapping[str, str] = field(factory=dict)
    conditions_url: str = ""


def fetch(
    client: HttpClient,
    url: str,
    headers: Mapping[str, str],
    limits: Limits,
    trusted: frozenset[tuple[str, int]],
    secrets: Callable[[], tuple[str, ...]],
) -> Page:
    """Fetch ``url`` and return the page with its final URL; the status is not judged.

    Cookies live from hop to hop and no longer. Only the first origin is sent headers beyond the
    harmless ones, and only it can be ``trusted``.

    Raises:
        Refused: the guard, a veto or ``check_hop`` speaks against the URL or a hop of it.
        PageError: ``too_large``, ``bad_encoding`` or ``redirect_loop``.
        TimedOut: the deadline passed, or the body came too slowly; of kind ``cancelled``, the caller did.
        Unavailable: no connection, or one that broke.
    """
    from requests.cookies import RequestsCookieJar, extract_cookies_to_jar

    now = client.clock.monotonic
    started = now()
    deadline = started + PAGE_S if limits.deadline is None else limits.deadline
    cookies = RequestsCookieJar()
    first = target = client.check(url, trusted, deadline)
    trusted = trusted & {(first.host, first.port)}
    for hop in range(limits.max_redirects + 1):
        if now() >= deadline:
            raise TimedOut(f"{target.host} did not answer in time")
        with client.slots.hold(target.host, deadline - now()), cut_when_cancelled():
            reply = None
            try:
                asked = {**headers, **limits.conditions} if target.url == limits.conditions_url else headers
                reply = client.send("GET", target, asked, deadline, cookies=cookies)
                extract_cookies_to_jar(cookies, reply.request, reply.raw)  # type: ignore[no-untyped-call]
                location = reply.headers.get("location", "")
                if reply.status_code not in _REDIRECTS or not location:
                    body, flags = _body(reply, limits, deadline, now)
                    return _page(url, target, reply, body, flags, hop, now() - started)
            except WebfetchError:
                raise
            except Exception as exc:
                raise translate(exc, target.host, secrets()) from exc
            finally:
                if reply is not None:
                    reply.close()
        following = _follow(target.url, location)
        if limits.check_hop is not None:
            limits.check_hop(following)
        target = client.check(following, trusted, deadline)
        if not _same_origin(first, target):
            headers = {name: value for name, value in headers.items() if name.lower() in _TRAVELS}
    raise PageError(f"more than {limits.max_redirects} redirects", kind="redirect_loop")


def _body(
    reply: Any, limits: Limits, deadline: float, now: Callable[[], float]
) -> tuple[bytes, tuple[str, ...]]:
    if reply.status_code in _BODILESS:
        return b"", ()
    most = limits.max_bytes if limits.max_wire_bytes is None else limits.max_wire_bytes
    length = reply.headers.get("content-length", "")
    if length.isascii() and length.isdigit() and (len(length) > 18 or int(length) > most):
        raise PageError(f"the body is {length[:18]} bytes, more than {most:,}", kind="too_large")
    pieces = paced(
        wire(reply), max_bytes=most, min_bytes_per_s=limits.min_bytes_per_s, deadline=deadline, now=now
    )
    flags: list[str] = []
    inflated = decoded(
        pieces, reply.headers.get("content-encoding", ""), cut_off=lambda: flags.append("truncated")
    )
    body = gather(inflated, max_bytes=limits.max_bytes, deadline=deadline, now=now)
    return body, tuple(flags[:1])


def _page(
    url: str,
    target: CheckedTarget,
    reply: Any,
    body: bytes,
    flags: tuple[str, ...],
    hops: int,
    elapsed_s: float,
) -> Page:
    headers = {name.lower(): value for name, value in reply.headers.items()}
    return Page(
        url=url,
        final_url=target.url,
        status=reply.status_code,
        headers=headers,
        content_type=headers.get("content-type", ""),
        body=body,
        redirects=hops,
        flags=flags,
        elapsed_s=elapsed_s,
    )


def _follow(base: str, location: str) -> str:
    """Return where a ``Location`` leads, mended as browsers mend it.

    Raises:
        Refused: it cannot be read.
    """
    with suppress(UnicodeError):  # http.client reads Latin-1; servers that send more mean UTF-8
        location = location.encode("latin-1").decode("utf-8")
    location = re.sub(r"[\t\r\n]", "", location).strip(" ")
    try:
        joined = urljoin(base, quote(location, safe="%/:=&?#+!$,;'@()*~[]|^\\"))
        urlsplit(joined)
    except ValueError as exc:
        raise Refused("a redirect leads to a URL that cannot be parsed") from exc
    return joined.partition("#")[0]


def _same_origin(one: CheckedTarget, other: CheckedTarget) -> bool:
    return (one.scheme, one.host, one.port) == (other.scheme, other.host, other.port)
