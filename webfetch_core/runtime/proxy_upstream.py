"""Another proxy on the way out: the environment's, where the operator opted in (``net.use_env_proxies``)."""

from __future__ import annotations

import base64
import socket
import time
from collections.abc import Callable
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from attrs import frozen

from ..errors import TimedOut, Unavailable
from .netguard import CheckedTarget
from .proxy_streams import CONNECT_S, Closed, Incoming, send
from .proxy_wire import BadMessage, parse_reply


@frozen
class Upstream:
    """A proxy that speaks plain HTTP to us; ``credentials`` is a header line or empty."""

    host: str
    port: int
    credentials: str = ""


Select = Callable[[CheckedTarget], Upstream | None]


def from_environment(target: CheckedTarget) -> Upstream | None:
    """The proxy that ``http_proxy``, ``https_proxy`` and ``no_proxy`` name for this target.

    Raises:
        Unavailable: it is named in a way that cannot be used.
    """
    found = getproxies()
    url = found.get(target.scheme) or found.get("all")
    if not url or proxy_bypass(f"{target.host}:{target.port}"):
        return None
    try:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        host, port = parts.hostname, parts.port or 8080
    except ValueError:
        host, port, parts = None, 0, urlsplit("")
    if not host or parts.scheme != "http":
        raise Unavailable("the environment's proxy cannot be used", fix="name one as http://host:port")
    pair = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
    line = f"Proxy-Authorization: Basic {base64.b64encode(pair.encode()).decode()}" if pair != ":" else ""
    return Upstream(host, port, line)


def dial_through(upstream: Upstream, target: CheckedTarget, until: float, *, tunnel: bool) -> socket.socket:
    """Connect to the proxy and, for a tunnel, on to the target.

    Raises:
        Unavailable, TimedOut: no connection, or the proxy does not make one.
    """
    until = min(until, time.monotonic() + 2 * CONNECT_S)
    try:
        made = socket.create_connection((upstream.host, upstream.port), timeout=CONNECT_S)
    except TimeoutError:
        raise TimedOut("the environment's proxy took no connection in time") from None
    except OSError:
        raise Unavailable("the environment's proxy takes no connection") from None
    try:
        if tunnel:
            host = f"[{target.host}]" if ":" in target.host else target.host
            lines = [f"CONNECT {host}:{target.port} HTTP/1.1", f"Host: {host}:{target.port}"]
            lines += [upstream.credentials] if upstream.credentials else []
            send(made, ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"), until)
            status = parse_reply(Incoming(made).head(until), "HEAD").status
            if not 200 <= status < 300:
                raise Unavailable(f"the environment's proxy answered {status} for {target.host}")
    except TimeoutError:
        made.close()
        raise TimedOut("the environment's proxy did not answer in time") from None
    except (Closed, BadMessage, OSError):
        made.close()
        raise Unavailable(f"the environment's proxy makes no connection to {target.host}") from None
    except BaseException:
        made.close()
        raise
    return made
