"""The table ``[plugins.fetch_http]``."""

from __future__ import annotations

from typing import Any

from attrs import field, frozen
from attrs.validators import ge, gt, le


def _one_line(_: Any, attribute: Any, value: str) -> None:
    if not value.isprintable() or not value.isascii():
        raise ValueError(f"'{attribute.name}' must be one line of plain ASCII text; got {value!r}")


@frozen(kw_only=True)
class FetchHttpSettings:
    """How pages are fetched.

    Attributes:
        user_agent: the agent string; empty means webfetch's own. Some sites ask for a contact in it.
        accept_language: the header of that name.
        max_bytes: of a page, inflated.
        max_wire_bytes: of a page as it is sent.
        max_redirects: hops of one fetch, those of the page's own (meta refresh, script) included.
        min_bytes_per_s: slower bodies are given up; 0 switches this off.
        obey_robots: ask robots.txt before pages that nobody named (search); pages that a person or
            a model named are fetched without asking.
        robots_ttl_s: how long the rules of a host are remembered.
        host_delay_s: between two requests to one host, whoever asks.
        max_crawl_delay_s: a longer ``Crawl-delay`` of robots.txt, where that is obeyed, is cut to this:
            a search wants three pages of a site in a few seconds, not a crawl of it.
        max_retry_after_s: a host that answers 429 or 503 with a longer ``Retry-After`` is left alone
            this long by pages that nobody named.
    """

    user_agent: str = field(default="", validator=_one_line)
    accept_language: str = field(default="en,*;q=0.5", validator=_one_line)
    max_bytes: int = field(default=8 * 1024 * 1024, validator=gt(0))
    max_wire_bytes: int = field(default=8 * 1024 * 1024, validator=gt(0))
    max_redirects: int = field(default=8, validator=[ge(0), le(20)])
    min_bytes_per_s: float = field(default=200.0, validator=ge(0))
    obey_robots: bool = True
    robots_ttl_s: float = field(default=3600.0, validator=ge(0))
    host_delay_s: float = field(default=0.0, validator=[ge(0), le(60)])
    max_crawl_delay_s: float = field(default=0.5, validator=[ge(0), le(60)])
    max_retry_after_s: float = field(default=600.0, validator=ge(0))
