"""The ddgs engine, subclassed so that its reply is seen before ddgs judges it.

ddgs folds blocks, throttling and empty pages into one exception. Its transport imitates a
browser's TLS and headers, which is why it is used at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import primp
from ddgs.engines.duckduckgo import Duckduckgo

from webfetch_core.api import BadResponse, TimedOut, Unavailable

from .verdict import Reply

MAX_BODY_BYTES = 4_000_000
"""Inflated. A result page has about 40 kB."""


class DdgTransport(Duckduckgo):
    """DuckDuckGo's form by ddgs, giving back the reply. Holds no state but the connection pool."""

    def __init__(self, base_url: str, proxy: str = "", timeout_s: float = 5.0) -> None:
        super().__init__(proxy=proxy or None, timeout=max(1, round(timeout_s)))
        self.search_url = base_url
        # The address is the operator's; where it might redirect to is not.
        self.http_client.client.follow_redirects = False

    def send(self, fields: Mapping[str, str], headers: Mapping[str, str], timeout_s: float) -> Reply:
        """Post the form. ``timeout_s`` bounds the whole exchange, body included.

        Raises:
            TimedOut: not finished in time.
            Unavailable: no connection, or it broke off.
            BadResponse: the body is larger than MAX_BODY_BYTES.
        """
        try:
            response = self.http_client.client.request(
                self.search_method,
                self.search_url,
                data=dict(fields),
                headers=dict(headers),
                timeout=timeout_s,
                stream=True,
            )
            body = bytearray()
            for block in response.iter_bytes():
                body += block
                if len(body) > MAX_BODY_BYTES:
                    raise BadResponse(f"DuckDuckGo's page is larger than {MAX_BODY_BYTES:,} bytes")
        except primp.TimeoutError as exc:
            raise TimedOut(f"DuckDuckGo did not answer within {timeout_s:.1f} s") from exc
        except primp.PrimpError as exc:
            raise Unavailable(f"DuckDuckGo cannot be reached: {_plain(exc)}") from exc
        sent = {name.lower(): value for name, value in response.headers.items()}
        return Reply(
            status=response.status_code,
            body=bytes(body),
            retry_after=sent.get("retry-after", ""),
            location_host=_host(sent.get("location", "")),
        )


def _plain(exc: Exception) -> str:
    # primp's texts are chains "outer > ... > cause"; the outer part repeats the address.
    text = str(exc.args[0]) if exc.args else ""
    return text.rsplit(" > ", 1)[-1].split(" for query", 1)[0].split(" for Query", 1)[0] or type(exc).__name__


def _host(location: Any) -> str:
    try:
        return urlsplit(str(location)).hostname or ""
    except ValueError:
        return ""
