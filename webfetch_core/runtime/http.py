"""The way to the network: calls of engines' APIs, and pages with every cap enforced.

requests is imported when the first request is made; importing this module costs nothing.
"""

from __future__ import annotations

import json as jsonlib
import os
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from ..errors import BadResponse, PageError, Unavailable, WebfetchError
from ..models import Page
from ..providers import Clock, Http
from ..settings import NetSettings
from .cancelling import require_wanted
from .http_body import accept_encoding, decoded, gather, paced, wire
from .http_errors import for_status, translate
from .http_line import cut_when_cancelled
from .http_pages import Limits, fetch
from .http_reply import Reply, pairs, with_params
from .http_slots import HostSlots
from .netguard import RESOLVE_S, CheckedTarget, Guard
from .pacing import Pace

if TYPE_CHECKING:
    import requests

    from .guard_proxy import GuardProxy
    from .http_pin import PinnedAdapter
    from .proxy_lease import Lease

CALL_S = 30.0
"""What a call without a deadline may take in all."""

CONNECT_S = 5.0
MAX_CALL_BYTES = 8 * 1024 * 1024
MAX_HEADER_BYTES = 64 * 1024

# Set here and by nobody else: who sends them decides about framing and routing.
_OURS = frozenset(
    {"host", "accept-encoding", "content-length", "transfer-encoding", "connection", "te", "upgrade"}
)

Secrets = Callable[[], tuple[str, ...]]


class HttpClient:
    """Owns the connections of one host program; plugins get a :class:`BoundHttp` each."""

    def __init__(
        self, guard: Guard, clock: Clock, net: NetSettings, version: str, *, ca_bundle: str = ""
    ) -> None:
        """Take what it works with; opens nothing.

        Args:
            guard: judges every URL.
            clock: deadlines are instants of its ``monotonic()``.
            net: ``user_agent``, ``use_env_proxies`` and ``per_host`` are read.
            version: webfetch's own, for the agent string.
            ca_bundle: a PEM file of authorities to trust instead of certifi's.
        """
        self.guard = guard
        self.clock = clock
        self.net = net
        self.user_agent = (
            net.user_agent
            or f"Mozilla/5.0 (compatible; webfetch/{version}; +https://pypi.org/project/webfetch-core/)"
        )
        self.slots = HostSlots(net.per_host)
        self._ca_bundle = ca_bundle
        self._closed = False
        self._begin()

    def _begin(self) -> None:
        self._pid = os.getpid()
        self._adapter: PinnedAdapter | None = None
        self._proxy: GuardProxy | None = None
        self._lock = threading.Lock()

    def bound(
        self, *, trusted: frozenset[tuple[str, int]] = frozenset(), secrets: Secrets = tuple
    ) -> BoundHttp:
        """Return the face that one plugin sees.

        Args:
            trusted: (host, port) pairs of the plugin's own base URLs; they may be private.
            secrets: asked when an error is put into words; what it returns never shows.
        """
        return BoundHttp(self, trusted, secrets)

    def close(self) -> None:
        """Close every idle connection. Calls under way end as they would; new ones fail."""
        with self._lock:
            adapter, self._adapter, self._closed = self._adapter, None, True
            proxy, self._proxy = self._proxy, None
        if adapter is not None:
            adapter.close()
        if proxy is not None:
            proxy.close()

    def load(self) -> None:
        """Import what the first request needs, and make the pool."""
        self._connections()

    def guard_proxy(self, max_bytes: int | None) -> Lease:
        """A lease of the one proxy, which listens from the first on."""
        from .guard_proxy import GuardProxy
        from .proxy_upstream import from_environment

        more: dict[str, Any] = {"upstream": from_environment} if self.net.use_env_proxies else {}
        self._after_fork()
        with self._lock:
            self._require_open()
            if self._proxy is None:
                self._proxy = GuardProxy(self.guard, **more)
            proxy = self._proxy
        return proxy.lease(max_bytes=max_bytes)

    def _after_fork(self) -> None:
        if self._pid != os.getpid():  # the open connections are the parent's, and it reads them
            self.slots = HostSlots(self.net.per_host)
            self._begin()

    def _require_open(self) -> None:
        if self._closed:
            raise WebfetchError("the network client is closed", kind="cancelled")

    def _connections(self) -> PinnedAdapter:
        """The one pool of connections, made on first use."""
        self._after_fork()
        with self._lock:
            self._require_open()
            if self._adapter is None:
                from .http_pin import PinnedAdapter

                self._adapter = PinnedAdapter(ca_bundle=self._ca_bundle, per_host=self.net.per_host)
            return self._adapter

    def check(self, url: str, trusted: frozenset[tuple[str, int]], deadline: float) -> CheckedTarget:
        """Ask the guard, within the deadline."""
        require_wanted()
        left = deadline - self.clock.monotonic()
        return self.guard.check(url, trusted=trusted, timeout_s=min(max(left, 0.001), RESOLVE_S))

    def send(
        self, method: str, target: CheckedTarget, headers: Mapping[str, str], deadline: float, **more: Any
    ) -> requests.Response:
        """Send one request; the caller reads and closes the reply.

        Raises:
            requests.RequestException: as it comes; callers translate.
            PageError: kind ``too_large``: the reply's headers are too large.
        """
        from .http_pin import HeadersTooLarge, StaleConnection, caused_by, send

        adapter = self._connections()

        def once() -> requests.Response:
            require_wanted()
            return send(
                adapter,
                method,
                target,
                self._headers(headers),
                total_s=max(deadline - self.clock.monotonic(), 0.001),
                connect_s=CONNECT_S,
                use_env_proxies=self.net.use_env_proxies,
                **more,
            )

        try:
            reply = once()
        except Exception as exc:
            if caused_by(exc, HeadersTooLarge):
                raise PageError("the headers are too long or too many", kind="too_large") from exc
            # The peer closed an idle connection as it was taken up again; nothing was answered.
            if method != "GET" or not caused_by(exc, StaleConnection):
                raise
            reply = once()
        if sum(len(name) + len(value) + 4 for name, value in reply.headers.items()) > MAX_HEADER_BYTES:
            reply.close()
            raise PageError(f"the headers are larger than {MAX_HEADER_BYTES:,} bytes", kind="too_large")
        return reply

    def _headers(self, given: Mapping[str, str]) -> dict[str, str]:
        own = {name: value for name, value in given.items() if name.lower() not in _OURS}
        if not any(name.lower() == "user-agent" for name in own):
            own["User-Agent"] = self.user_agent
        return {**own, "Accept-Encoding": accept_encoding()}


class BoundHttp:
    """``context.http`` of one plugin: see :class:`~webfetch_core.providers.Http`."""

    def __init__(self, client: HttpClient, trusted: frozenset[tuple[str, int]], secrets: Secrets) -> None:
        self._client = client
        self._trusted = trusted
        self._secrets = secrets
        self._pace = Pace(client.clock)

    def pace(self, calls_per_s: float | None) -> None:
        """Space the calls from now on. Pages are paced by host instead."""
        self._pace.set(calls_per_s)

    def get(
        self,
        url: str,
        *,
        params: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        deadline: float | None = None,
        raise_for_status: bool = True,
    ) -> Reply:
        """Call an API by GET. See :class:`~webfetch_core.providers.Http` for what is raised."""
        return self._call("GET", with_params(url, params), headers or {}, None, deadline, raise_for_status)

    def post(
        self,
        url: str,
        *,
        json: Any = None,
        data: Mapping[str, Any] | bytes | None = None,
        params: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        deadline: float | None = None,
        raise_for_status: bool = True,
    ) -> Reply:
        """Call an API by POST with ``json``, or with ``data``: form fields, or bytes as they are."""
        sent = dict(headers or {})
        if json is not None:
            body, kind = jsonlib.dumps(json, ensure_ascii=False).encode(), "application/json"
        elif isinstance(data, bytes):
            body, kind = data, "application/octet-stream"
        else:
            body, kind = urlencode(pairs(data)).encode(), "application/x-www-form-urlencoded"
        if not any(name.lower() == "content-type" for name in sent):
            sent["Content-Type"] = kind
        return self._call("POST", with_params(url, params), sent, body, deadline, raise_for_status)

    def fetch_page(self, url: str, *, headers: Mapping[str, str] | None = None, **limits: Any) -> Page:
        """Fetch a page; see :func:`.http_pages.fetch` for limits and errors."""
        return fetch(self._client, url, headers or {}, Limits(**limits), self._trusted, self._secrets)

    def guard_proxy(self, *, max_bytes: int | None = None) -> Lease:
        """A way out for a client with connections of its own."""
        return self._client.guard_proxy(max_bytes)

    @cut_when_cancelled()
    def _call(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: bytes | None,
        deadline: float | None,
        raise_for_status: bool,
    ) -> Reply:
        client, now = self._client, self._client.clock.monotonic
        end = now() + CALL_S if deadline is None else deadline
        target = client.check(url, self._trusted, end)
        secrets = self._secrets()
        client.load()  # before the turn: the first import would eat the distance to the next call
        self._pace.wait(end)
        reply = None
        try:
            reply = client.send(method, target, headers, end, body=body)
            pieces = paced(wire(reply), max_bytes=MAX_CALL_BYTES, min_bytes_per_s=0.0, deadline=end, now=now)
            inflated = decoded(pieces, reply.headers.get("content-encoding", ""))
            content = gather(inflated, max_bytes=MAX_CALL_BYTES, deadline=end, now=now)
        except PageError as exc:  # no page here: an API that breaks its format
            raise BadResponse(f"{target.host}: {exc.message}") from exc
        except WebfetchError:
            raise
        except Exception as exc:
            told = translate(exc, target.host, secrets)
            if reply is not None and isinstance(told, Unavailable):
                # It was there and answered: what it sent is not what it promised.
                told = BadResponse(f"{told.message} (status {reply.status_code})")
            raise told from exc
        finally:
            if reply is not None:
                reply.close()
        seen = {name.lower(): value for name, value in reply.headers.items()}
        if raise_for_status:
            error = for_status(
                reply.status_code, seen, content, host=target.host, secrets=secrets, now=client.clock.time()
            )
            if error is not None:
                raise error
        return Reply(status=reply.status_code, headers=seen, url=target.url, body=content, secrets=secrets)


if TYPE_CHECKING:

    def _keeps_the_contract(bound: BoundHttp) -> Http:
        return bound
