"""The table ``[plugins.search_ddg]``."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from attrs import field, frozen
from attrs.validators import gt, matches_re

DEFAULT_URL = "https://html.duckduckgo.com/html/"


def _web_url(_: Any, attribute: Any, value: str) -> None:
    try:
        parts = urlsplit(value)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        valid = False
    if not valid:
        raise ValueError(
            f"'{attribute.name}' must be an http(s) address such as {DEFAULT_URL}; got {value!r}"
        )


@frozen(kw_only=True)
class DdgSettings:
    """Where DuckDuckGo is asked, and how.

    Attributes:
        base_url: the form's address: the html page, the lite page, a gateway, a test server.
        region: DuckDuckGo's region code where the request has none (``us-en``; ``wt-wt`` is all).
        proxy: address of an http, https or socks5 proxy; empty means the environment's, if any.
        timeout_s: longest time of one call; the request's deadline may be nearer.
    """

    base_url: str = field(default=DEFAULT_URL, validator=_web_url)
    region: str = field(default="wt-wt", validator=matches_re(r"[a-z]{2}-[a-z]{2,3}"))
    proxy: str = ""
    timeout_s: float = field(default=5.0, validator=gt(0))
