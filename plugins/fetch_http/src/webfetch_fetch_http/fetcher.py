"""The fetcher: one page by HTTP, judged before it is handed on."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from urllib.parse import urlsplit

import attrs

from webfetch_core.api import (
    BadResponse,
    Blocked,
    Clock,
    FetchRequest,
    Http,
    Page,
    PageError,
    ProviderError,
    RateLimited,
    Refused,
    Unavailable,
    retry_after_s,
)

from .conditional import conditions, unchanged
from .onward import onward
from .outline import MAX_BYTES, Outline, outline
from .paywall import is_paywalled
from .politeness import Politeness
from .robots import Robots
from .settings import FetchHttpSettings
from .sniff import media_type, sniff
from .walls import challenge, hollow

_ACCEPT = (
    "text/html,application/xhtml+xml,application/xml;q=0.9,application/pdf;q=0.9,"
    "text/markdown;q=0.9,text/plain;q=0.8,*/*;q=0.5"
)
_HTML = frozenset({"text/html", "application/xhtml+xml"})
_EMPTY = Outline()
_MAX_URL_CHARS = 8192
_Judgement = tuple[str | None, ProviderError | None, tuple[str, ...]]
"""Where a page sends its reader on, or why it is no content, and what else is to be known of it."""


class HttpFetcher:
    """Fetches pages over ``context.http``, whose guard and limits hold for every request."""

    def __init__(
        self,
        settings: FetchHttpSettings,
        http: Http,
        clock: Clock,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._settings = settings
        self._http = http
        self._clock = clock
        self._headers = {"Accept": _ACCEPT, "Accept-Language": settings.accept_language}
        if settings.user_agent:
            self._headers["User-Agent"] = settings.user_agent
        self._robots = Robots(
            http, clock, product_token(settings.user_agent), self._headers, settings.robots_ttl_s
        )
        self._manners = Politeness(clock, settings.max_retry_after_s, sleep)

    def fetch(self, request: FetchRequest) -> Page:
        """Return the page, its content type corrected by its bytes; of status 304 where the request has
        validators and the page has not changed since.

        Raises:
            Refused: by the guard, a veto or robots.txt.
            Blocked: 403 and its kin, or a bot wall under any status.
            RateLimited: 429, or a host that asked to be left alone for longer; of kind ``busy`` where the
                turn of this page comes after the deadline.
            PageError: not_found, login, paywall, consent, empty, too_large, bad_encoding,
                redirect_loop.
            Unavailable, TimedOut, BadResponse: the site failed.
        """
        settings = self._settings
        asked = conditions(request)

        def allowed(url: str) -> None:
            self._mind_manners(url, request)

        url, left, elapsed_s = request.url, settings.max_redirects, 0.0
        while True:
            allowed(url)
            page = self._http.fetch_page(
                url,
                headers=self._headers,
                deadline=request.deadline,
                max_bytes=settings.max_bytes,
                max_wire_bytes=settings.max_wire_bytes,
                max_redirects=left,
                min_bytes_per_s=settings.min_bytes_per_s,
                check_hop=allowed,
                conditions=asked,
                conditions_url=request.validated_url,
            )
            elapsed_s += page.elapsed_s
            left -= page.redirects
            kind = sniff(page.body, page.content_type)
            following, error, flags = None, None, page.flags
            if not unchanged(page, request):
                following, error, flags = self._judge(page, kind)
            if error is not None:
                self._manners.rest(_host(page.final_url), error.retry_after_s)
                raise error
            if following is None:
                return attrs.evolve(
                    page,
                    url=request.url,
                    content_type=kind,
                    fetched_by="http",
                    flags=flags,
                    elapsed_s=elapsed_s,
                    redirects=settings.max_redirects - left,
                )
            left -= 1
            if left < 0:
                raise PageError(f"more than {settings.max_redirects} redirects", kind="redirect_loop")
            url = following

    def _mind_manners(self, url: str, request: FetchRequest) -> None:
        """Before each request: what the host wishes, which binds pages that nobody named.

        Raises:
            Refused, TimedOut: see :meth:`Robots.require`.
            RateLimited: see :class:`Politeness`.
        """
        settings, host = self._settings, _host(url)
        distance_s = settings.host_delay_s
        if request.purpose == "search":
            self._manners.require_rested(host)
            if settings.obey_robots:
                wished_s = self._robots.require(url, request.deadline)
                distance_s = max(distance_s, min(wished_s, settings.max_crawl_delay_s))
        self._manners.wait(host, distance_s, request.deadline)

    def _judge(self, page: Page, kind: str) -> _Judgement:
        html = media_type(kind) in _HTML and len(page.body) <= MAX_BYTES
        seen = outline(page.body) if html else _EMPTY
        if error := _fault(page, seen, self._clock.time()):
            return None, error, page.flags
        if not html:
            return None, None, page.flags
        if following := onward(seen, page.final_url, _as_utf8(page.headers.get("refresh", ""))):
            return following, None, page.flags
        flags = (*page.flags, "paywalled") if is_paywalled(seen) else page.flags
        return None, hollow(seen, page.final_url), flags


def _host(url: str) -> str:
    """The host, whose manners are minded before the guard is asked: so nothing is asked of a host whose URL
    the guard refuses by its form, or reads in another way than ``urlsplit``, which drops controls."""
    if len(url) > _MAX_URL_CHARS or any(c <= " " or c == "\x7f" for c in url):
        raise Refused("the URL has a blank or a control character, or is too long")
    try:
        return (urlsplit(url).hostname or "").rstrip(".")
    except ValueError as exc:
        raise Refused("the URL cannot be parsed") from exc


def _as_utf8(header: str) -> str:
    """A header's value, which was read as Latin-1: servers that send more mean UTF-8."""
    try:
        return header.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return header


def product_token(user_agent: str) -> str:
    """Return the name by which robots.txt may address us: the agent string's own, else webfetch.

    ``Mozilla/5.0 (compatible; Name/1.0)`` is read as Name.
    """
    inner = re.search(r"compatible;\s*([A-Za-z_-]+)", user_agent)
    first = re.match(r"[A-Za-z_-]+", user_agent)
    name = inner[1] if inner else first[0] if first else "webfetch"
    return "webfetch" if name.lower() == "mozilla" else name


def _fault(page: Page, seen: Outline, now: float) -> ProviderError | None:
    """Return why a page is none. No message has words of the page: it may be a wall's."""
    status = page.status
    wall = challenge(seen, page.headers)
    said = f"the site answered {status}"
    if wall is not None and (status < 300 or status in (401, 403, 405, 429) or status >= 500):
        return wall
    if status in (404, 410):
        return PageError(said, kind="not_found")
    if status in (401, 407):
        return PageError(said, kind="login")
    if status == 402:
        return PageError(said, kind="paywall")
    if status == 429:
        return RateLimited(said, retry_after_s=retry_after_s(page.headers, now))
    if status in (403, 406, 451) or status >= 600:
        return Blocked(said)
    if status >= 500 or status in (408, 425):
        return Unavailable(said, retry_after_s=retry_after_s(page.headers, now) if status == 503 else None)
    if status >= 300:
        return BadResponse(said)
    if not page.body.strip():
        return PageError("the page is empty", kind="empty")
    return None
