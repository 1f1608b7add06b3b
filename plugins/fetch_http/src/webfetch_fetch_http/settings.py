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
    """

    user_agent: str = field(default="", validator=_one_line)
    accept_language: str = field(default="en,*;q=0.5", validator=_one_line)
    max_bytes: int = field(default=8 * 1024 * 1024, validator=gt(0))
    max_wire_bytes: int = field(default=8 * 1024 * 1024, validator=gt(0))
    max_redirects: int = field(default=8, validator=[ge(0), le(20)])
    min_bytes_per_s: float = field(default=200.0, validator=ge(0))
    obey_robots: bool = True
    robots_ttl_s: float = field(default=3600.0, validator=ge(0))
