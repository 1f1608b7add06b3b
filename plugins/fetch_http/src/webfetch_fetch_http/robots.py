"""robots.txt (RFC 9309): rules as a pure function, and a small cache of them by origin."""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from urllib.parse import quote, urlsplit

from attrs import Factory, define, frozen

from webfetch_core.api import Clock, Http, PageError, Refused, TimedOut, WebfetchError

FETCH_S = 5.0
"""What asking for robots.txt may take, within the deadline of the page."""

_MAX_BYTES = 1024 * 1024
_MAX_REDIRECTS = 5
_MAX_HOSTS = 512
_FAILURE_TTL_S = 300.0
_DELAY = re.compile(r"\d{1,6}(?:\.\d{0,6})?\Z")
_UNRESERVED = re.compile(r"%(?:2D|2E|5F|7E|3[0-9]|[46][1-9A-F]|[57][0-9A])")


@frozen
class Rules:
    """The rules of one agent: (allow, pattern) pairs. No rules allow everything.

    ``delay_s`` is its ``Crawl-delay``, which is no part of the RFC and still widely written.
    """

    rules: tuple[tuple[bool, str], ...] = ()
    delay_s: float = 0.0

    def allow(self, url: str) -> bool:
        """Whether ``url`` may be fetched: the longest pattern decides, and allow wins a tie."""
        parts = urlsplit(url)
        path = _normal((parts.path or "/") + (f"?{parts.query}" if parts.query else ""))
        if path == "/robots.txt":
            return True
        best = max(
            ((len(pattern), allow) for allow, pattern in self.rules if matches(pattern, path)),
            default=(0, True),
        )
        return best[1]


def parse(text: str, agent: str) -> Rules:
    """Return the rules for the product token ``agent``, or those for everyone."""
    mine, everyone = _Group(), _Group()
    named = False
    current: list[_Group] = []
    in_agents = False
    for line in text.lstrip("\ufeff").splitlines():
        key, colon, value = line.partition("#")[0].partition(":")
        key, value = key.strip().lower(), value.strip()
        if not colon:
            continue
        if key == "user-agent":
            current = current if in_agents else []
            in_agents = True
            token = value.split("/")[0].strip().lower()
            if token == agent.lower():
                named = True
                current.append(mine)
            elif token == "*":
                current.append(everyone)
        elif key in ("allow", "disallow"):
            in_agents = False
            if value:
                for group in current:
                    group.rules.append((key == "allow", _normal(value)))
        elif key == "crawl-delay":
            in_agents = False
            if _DELAY.match(value):
                for group in current:
                    group.delay_s = float(value)
    chosen = mine if named else everyone
    return Rules(tuple(chosen.rules), chosen.delay_s)


@define
class _Group:
    rules: list[tuple[bool, str]] = Factory(list)
    delay_s: float = 0.0


def matches(pattern: str, path: str) -> bool:
    """Match a pattern with ``*`` (anything) and a final ``$`` (the end), in linear time."""
    anchored = pattern.endswith("$")
    first, *rest = (pattern[:-1] if anchored else pattern).split("*")
    if not path.startswith(first):
        return False
    at = len(first)
    if not rest:
        return not anchored or at == len(path)
    *middle, last = rest
    for piece in middle:
        found = path.find(piece, at)
        if found < 0:
            return False
        at = found + len(piece)
    if anchored:
        return len(path) - len(last) >= at and path.endswith(last)
    return path.find(last, at) >= 0


def _normal(path: str) -> str:
    """One spelling of percent-encoding, so that patterns and paths can be compared as text."""
    encoded = re.sub(r"%[0-9a-fA-F]{2}", lambda m: m[0].upper(), quote(path, safe="%/:=&?#+!$,;'@()*~[]|^"))
    return _UNRESERVED.sub(lambda m: chr(int(m[0][1:], 16)), encoded)


@frozen
class _Verdict:
    rules: Rules
    problem: str = ""


class _AskerGone(Exception):
    """The one whose answer was waited for has given up."""


class Robots:
    """Asks robots.txt of an origin once in a while. Thread-safe."""

    def __init__(self, http: Http, clock: Clock, agent: str, headers: dict[str, str], ttl_s: float) -> None:
        self._http = http
        self._clock = clock
        self._agent = agent
        self._headers = headers
        self._ttl_s = ttl_s
        self._known: OrderedDict[str, tuple[float, Future[_Verdict]]] = OrderedDict()
        self._lock = threading.Lock()

    def require(self, url: str, deadline: float | None) -> float:
        """Return when ``url`` may be fetched: the seconds that its host wants between requests, 0 for none.

        Raises:
            Refused: its rules forbid it, or cannot be had because of a fault on the site's side.
            TimedOut: they did not come in time.
        """
        parts = urlsplit(url)
        verdict = self._verdict(f"{parts.scheme}://{parts.netloc}", deadline)
        host = parts.hostname or ""
        if verdict.problem:
            raise Refused(
                f"robots.txt of {host} {verdict.problem}, which counts as a no",
                fix="name the page to fetch it anyway",
            )
        if not verdict.rules.allow(url):
            raise Refused(
                f"robots.txt of {host} asks to leave this page", fix="name the page to fetch it anyway"
            )
        return verdict.rules.delay_s

    def _verdict(self, origin: str, deadline: float | None) -> _Verdict:
        began = self._clock.monotonic()
        limit = began + FETCH_S if deadline is None else min(deadline, began + FETCH_S)
        while True:
            try:
                return self._verdict_within(origin, limit)
            except _AskerGone:  # whoever asked ran out of time, or was cancelled: the next one asks
                if self._clock.monotonic() >= limit:
                    raise TimedOut(f"{origin}/robots.txt did not come in time") from None

    def _verdict_within(self, origin: str, limit: float) -> _Verdict:
        now = self._clock.monotonic()
        with self._lock:
            expires, future = self._known.get(origin, (0.0, None))
            mine = future is None or now >= expires
            if mine or future is None:
                future = Future()
                self._known[origin] = (now + FETCH_S, future)
                while len(self._known) > _MAX_HOSTS:
                    self._known.popitem(last=False)
            self._known.move_to_end(origin)
        if not mine:
            try:
                return future.result(max(limit - now, 0.001))
            except FutureTimeout:
                raise TimedOut(f"{origin}/robots.txt did not come in time") from None
        try:
            verdict = self._ask(origin, limit)
        except BaseException as exc:
            with self._lock:
                if self._known.get(origin, (0.0, None))[1] is future:  # others may ask anew by now
                    del self._known[origin]
            # Out of time, cancelled or interrupted: of that the others have nothing.
            its_own = isinstance(exc, TimedOut) or not isinstance(exc, Exception)
            future.set_exception(_AskerGone() if its_own else exc)
            raise
        ttl_s = min(self._ttl_s, _FAILURE_TTL_S) if verdict.problem else self._ttl_s
        with self._lock:
            self._known[origin] = (self._clock.monotonic() + ttl_s, future)
        future.set_result(verdict)
        return verdict

    def _ask(self, origin: str, limit: float) -> _Verdict:
        started = self._clock.monotonic()
        try:
            page = self._http.fetch_page(
                f"{origin}/robots.txt",
                headers=self._headers,
                deadline=limit,
                max_bytes=_MAX_BYTES,
                max_wire_bytes=_MAX_BYTES,
                max_redirects=_MAX_REDIRECTS,
            )
        except PageError as exc:
            if exc.kind == "redirect_loop":
                return _Verdict(Rules())  # RFC 9309 section 2.3.1.2: as if there were none
            return _Verdict(Rules(), "cannot be read")
        except TimedOut as exc:
            if exc.kind == "cancelled" or self._clock.monotonic() - started < FETCH_S * 0.9:
                raise  # the caller, or the page's own deadline, cut it short: that says nothing of the site
            return _Verdict(Rules(), "did not come in time")
        except Refused:
            return _Verdict(Rules(), "leads to an address that is refused")
        except WebfetchError:
            return _Verdict(Rules(), "cannot be reached")
        if page.status >= 500:
            return _Verdict(Rules(), f"answered {page.status}")
        if page.status >= 300:
            return _Verdict(Rules())
        return _Verdict(parse(page.body.decode("utf-8", "replace"), self._agent))
