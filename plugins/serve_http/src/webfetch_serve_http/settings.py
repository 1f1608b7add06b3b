"""Settings of the plugin: the table ``[plugins.serve_http]``. The flags of ``webfetch serve http`` win."""

from __future__ import annotations

from attrs import field, frozen
from attrs.validators import ge, gt, le

TOKEN_ENV = "WEBFETCH_HTTP_TOKEN"


@frozen(kw_only=True)
class HttpSettings:
    """How the server listens, whom it answers, and how much of it there is.

    Attributes:
        host, port: where it listens; port 0 takes a free one.
        token_env: the environment variable that holds the bearer token. Off loopback there must be one.
        allow_hosts: names that a request may be addressed to, beside loopback, addresses and ``host``
            itself; ``*`` allows any. A page of another site cannot reach a server by a name of its own.
        allow_origins: origins whose pages may call, as ``https://chat.example``; none by default.
        trust_forwarded: addresses of reverse proxies whose ``X-Forwarded-For`` tells who the client is.
        max_connections: at the same time, as far as the limit of open files allows (``ulimit -n``); of one
            client, other than this machine and the proxies, a quarter of them.
        max_body_bytes: a longer body is refused with 413.
        rate_per_minute, burst: what one client may ask for; beyond it 429 tells when to come back.
        search_deadline_s: seconds for a search. LibreChat hangs up after 10.
        scrape_deadline_s: seconds for a page. LibreChat hangs up after 7.5.
        workers: requests that are worked on at the same time.
        queue: requests that wait for a worker; the next one is told to come back.
        drain_s: seconds that running requests have to end when the server is stopped.
    """

    host: str = "127.0.0.1"
    port: int = field(default=8080, validator=[ge(0), le(65_535)])
    token_env: str = TOKEN_ENV
    allow_hosts: tuple[str, ...] = ()
    allow_origins: tuple[str, ...] = ()
    trust_forwarded: tuple[str, ...] = ()
    max_connections: int = field(default=1_000, validator=ge(8))
    max_body_bytes: int = field(default=1_048_576, validator=ge(1_024))
    rate_per_minute: int = field(default=600, validator=ge(1))
    burst: int = field(default=100, validator=ge(1))
    search_deadline_s: float = field(default=7.5, validator=[gt(0), le(600)])
    scrape_deadline_s: float = field(default=5.0, validator=[gt(0), le(600)])
    workers: int = field(default=8, validator=[ge(1), le(256)])
    queue: int = field(default=64, validator=ge(0))
    drain_s: float = field(default=10.0, validator=[ge(0), le(600)])
