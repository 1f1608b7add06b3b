"""The table ``[plugins.search_tavily]``."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from attrs import field, frozen
from attrs.validators import and_, ge, in_, le, optional

from .countries import country_name

DEFAULT_URL = "https://api.tavily.com"


def _web_url(_: Any, attribute: Any, value: str) -> None:
    try:
        parts = urlsplit(value)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        valid = False
    if not valid:
        raise ValueError(f"'{attribute.name}' must be an http(s) address such as {DEFAULT_URL}")


def _country(_: Any, attribute: Any, value: str) -> None:
    if value and not country_name(value):
        raise ValueError(f"'{attribute.name}' must be the code of a country that Tavily knows; got {value!r}")


@frozen(kw_only=True)
class TavilySettings:
    """How Tavily is asked.

    Attributes:
        base_url: the API's address without a path; ``/search`` is added.
        depth: ``basic``, ``fast`` and ``ultra-fast`` cost one credit a call, ``advanced`` two.
        topic: ``general``, ``news`` (results carry dates) or ``finance``.
        country: whose results come first when the request does not say, as a code of two letters;
            topic ``general`` only.
        safe_search: leave out adult content; not in every plan.
        chunks_per_source: passages of each page that make up its snippet, with depth ``advanced``.
        calls_per_s: calls are spaced to so many a second; none and 0 are no pacing.
    """

    base_url: str = field(default=DEFAULT_URL, validator=_web_url)
    depth: str = field(default="basic", validator=in_(("basic", "advanced", "fast", "ultra-fast")))
    topic: str = field(default="general", validator=in_(("general", "news", "finance")))
    country: str = field(default="", validator=_country)
    safe_search: bool = False
    chunks_per_source: int = field(default=3, validator=and_(ge(1), le(3)))
    calls_per_s: float | None = field(default=None, validator=optional(ge(0)))
