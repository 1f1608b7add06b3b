"""Connections that go to the checked address and end at the deadline.

Imports requests and urllib3: imported by :mod:`.http` when the first request is made, by
nothing else.
"""

from __future__ import annotations

import socket
import ssl
import sys
import threading
import time
from http.client import HTTPException, LineTooLong, RemoteDisconnected
from typing import Any

import requests
from requests.adapters import HTTPAdapter
from requests.cookies import RequestsCookieJar
from requests.utils import (
    DEFAULT_CA_BUNDLE_PATH,
    get_environ_proxies,
    prepend_scheme_if_needed,
    select_proxy,
)
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import ConnectTimeoutError, NewConnectionError
from urllib3.poolmanager import ProxyManager
from urllib3.util.retry import Retry
from urllib3.util.ssl_ import create_urllib3_context
from urllib3.util.timeout import Timeout

from .http_line import hold, in_use
from .http_sockets import BudgetTLSSocket, connect
from .netguard import CheckedTarget


class StaleConnection(RemoteDisconnected):
    """A kept-alive connection turned out to be closed; nothing of a reply was read."""


class HeadersTooLarge(HTTPException):
    """A line of a reply's head is too long, or there are too many: http.client stopped reading."""


class _Connection(HTTPConnection):
    served = 0

    def _new_conn(self) -> socket.socket:
        self.served = 0
        limit_s = self.timeout if isinstance(self.timeout, (int, float)) else None
        sys.audit("http.client.connect", self, self.host, self.port)
        try:
            return connect(self._dns_host, self.port, limit_s, self.socket_options)
        except TimeoutError as exc:
            raise ConnectTimeoutError(self, f"{self.host} took no connection in time") from exc
        except OSError as exc:
            raise NewConnectionError(self, str(exc)) from exc

    def getresponse(self) -> Any:
        try:
            reply = super().getresponse()
        except (RemoteDisconnected, ConnectionResetError, BrokenPipeError) as exc:
            if self.served:
                raise StaleConnection(str(exc)) from exc
            raise
        except HTTPException as exc:
            if isinstance(exc, LineTooLong) or "got more than" in str(exc):
                raise HeadersTooLarge(str(exc)) from exc
            raise
        self.served += 1
        return reply


class _TLSConnection(_Connection, HTTPSConnection):
    pass


class _Kept:
    """Of a pool: a connection can be cut from when it is taken out until it is put back."""

    def _get_conn(self, timeout: float | None = None) -> Any:
        taken = super()._get_conn(timeout)  # type: ignore[misc]
        hold(taken.sock)
        return taken

    def _put_conn(self, conn: Any) -> None:
        line = in_use()
        if line is not None:
            line.let_go()
            if line.is_cut and conn is not None:
                conn.close()
        super()._put_conn(conn)  # type: ignore[misc]


class _Pool(_Kept, HTTPConnectionPool):
    ConnectionCls = _Connection


class _TLSPool(_Kept, HTTPSConnectionPool):
    ConnectionCls = _TLSConnection


_POOLS = {"http": _Pool, "https": _TLSPool}


class PinnedAdapter(HTTPAdapter):
    """Sends a request to the address of its ``target``; names are never resolved here.

    It keeps connections and nothing else: no cookies, no netrc, no settings of the environment.
    Pools are keyed by address, port and TLS name, so that no connection serves another host's
    certificate or another address.
    """

    def __init__(self, *, ca_bundle: str, per_host: int) -> None:
        self._ca_bundle = ca_bundle
        self._tls: ssl.SSLContext | None = None
        self._lock = threading.Lock()
        super().__init__(pool_connections=64, pool_maxsize=per_host, max_retries=Retry(0, read=False))

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        super().init_poolmanager(*args, **kwargs)
        self.poolmanager.pool_classes_by_scheme = _POOLS

    def proxy_manager_for(self, proxy: str, **kwargs: Any) -> Any:
        manager = super().proxy_manager_for(proxy, **kwargs)
        if isinstance(manager, ProxyManager):
            manager.pool_classes_by_scheme = _POOLS
        return manager

    def get_connection_with_tls_context(
        self, request: Any, verify: Any, proxies: Any = None, cert: Any = None
    ) -> Any:
        target: CheckedTarget = request.target
        options: dict[str, Any] = {"ssl_context": self._context()} if target.scheme == "https" else {}
        proxy = select_proxy(target.url, proxies)
        if proxy:  # the operator opted in: the proxy resolves and connects for us
            proxy = prepend_scheme_if_needed(proxy, "http")  # type: ignore[no-untyped-call]
            return self.proxy_manager_for(proxy).connection_from_host(
                target.host, port=target.port, scheme=target.scheme, pool_kwargs=options
            )
        if options:
            options["server_hostname"] = target.host
        return self.poolmanager.connection_from_host(
            request.ip, port=target.port, scheme=target.scheme, pool_kwargs=options
        )

    def get_connection(self, url: Any, proxies: Any = None) -> Any:
        """Refuse the old way in, which knows nothing of the checked address."""
        raise NotImplementedError("requests 2.32.2 or newer is needed")

    def cert_verify(self, conn: Any, url: Any, verify: Any, cert: Any) -> None:
        """Leave the authorities to the one shared context; always verify."""
        if conn.scheme == "https":
            conn.cert_reqs = "CERT_REQUIRED"

    def _context(self) -> ssl.SSLContext:
        with self._lock:
            if self._tls is None:
                made = create_urllib3_context()
                made.load_verify_locations(self._ca_bundle or DEFAULT_CA_BUNDLE_PATH)
                made.sslsocket_class = BudgetTLSSocket
                self._tls = made
            return self._tls


def send(
    adapter: PinnedAdapter,
    method: str,
    target: CheckedTarget,
    headers: dict[str, str],
    *,
    body: bytes | None = None,
    cookies: RequestsCookieJar | None = None,
    total_s: float,
    connect_s: float,
    use_env_proxies: bool = False,
) -> requests.Response:
    """Send one request and return once the reply's headers are in; the body is not yet read.

    The other addresses of the target are tried only when the first takes no connection.

    Raises:
        requests.RequestException: see :func:`..http_errors.translate`.
    """
    request = requests.Request(method, target.url, data=body, cookies=cookies)
    prepared = request.prepare()
    prepared.headers.update({**headers, "Host": target.netloc})
    proxies = get_environ_proxies(target.url) if use_env_proxies else {}
    proxies = proxies if select_proxy(target.url, proxies) else {}
    started = time.monotonic()
    addresses = (target.ip,) if proxies else (target.ip, *target.others[:1])
    for last, ip in enumerate(addresses, start=1 - len(addresses)):
        left = max(total_s - (time.monotonic() - started), 0.001)
        vars(prepared).update(target=target, ip=ip)
        try:
            # Not by a Session, which would read the whole body of a redirect on its own account.
            return adapter.send(
                prepared,
                stream=True,
                timeout=Timeout(total=left, connect=min(connect_s, left), read=left),  # type: ignore[arg-type]
                verify=True,
                proxies=proxies,
            )
        except requests.ConnectionError as exc:
            if last == 0 or not _unreached(exc):
                raise
    raise AssertionError("a target has at least one address")


def _unreached(exc: BaseException) -> bool:
    return caused_by(exc, (ConnectTimeoutError, NewConnectionError))


def caused_by(exc: BaseException, kinds: type[BaseException] | tuple[type[BaseException], ...]) -> bool:
    """Whether ``exc`` is, wraps or follows from one of ``kinds``."""
    seen: set[int] = set()
    todo: list[Any] = [exc]
    while todo:
        this = todo.pop()
        if not isinstance(this, BaseException) or id(this) in seen:
            continue
        seen.add(id(this))
        if isinstance(this, kinds):
            return True
        todo += [this.__cause__, this.__context__, getattr(this, "reason", None), *this.args]
    return False
