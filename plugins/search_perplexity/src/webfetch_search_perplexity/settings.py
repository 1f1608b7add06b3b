"""The table ``[plugins.search_perplexity]``."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from attrs import field, frozen
from attrs.validators import ge, in_, matches_re, optional

DEFAULT_URL = "https://api.perplexity.ai"


def _web_url(_: Any, attribute: Any, value: str) -> None:
    try:
        parts = urlsplit(value)
        valid = parts.scheme in ("http", "https") and parts.hostname and not (parts.query or parts.fragment)
    except ValueError:
        valid = False
    if not valid:
        raise ValueError(f"'{attribute.name}' must be an http(s) address such as {DEFAULT_URL}")


@frozen(kw_only=True)
class PerplexitySettings:
    """How Perplexity's Search API is asked. What a request names itself wins.

    Attributes:
        base_url: the API's root (``https://api.perplexity.ai``), a gateway or a test server;
            ``/search`` is added unless it is there.
        search_type: ``web``, ``fast`` (quicker and cheaper) or ``people``.
        search_mode: ``web``, ``academic`` or ``sec``.
        search_context_size: how much of each page is sent: ``low``, ``medium`` or ``high``; empty
            leaves it to Perplexity. A snippet keeps 1,000 characters of it.
        language: ISO 639-1 code where the request has none.
        country: ISO 3166 code where the request has none (``US``).
        calls_per_s: calls a second that your plan takes; 0 and None do not space them.
    """

    base_url: str = field(default=DEFAULT_URL, validator=_web_url)
    search_type: str = field(default="web", validator=in_(("web", "fast", "people")))
    search_mode: str = field(default="web", validator=in_(("web", "academic", "sec")))
    search_context_size: str = field(default="", validator=in_(("", "low", "medium", "high")))
    language: str = field(default="", validator=matches_re(r"(?:[A-Za-z]{2}(?:[-_][A-Za-z0-9]+)*)?"))
    country: str = field(default="", validator=matches_re(r"(?:[A-Za-z]{2})?"))
    calls_per_s: float | None = field(default=None, validator=optional(ge(0)))
