"""The table ``[plugins.search_serper]``."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from attrs import field, frozen
from attrs.validators import ge, in_, optional

from .locales import google_country, google_language

DEFAULT_URL = "https://google.serper.dev"


def _web_url(_: Any, attribute: Any, value: str) -> None:
    try:
        parts = urlsplit(value)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        valid = False
    if not valid:
        raise ValueError(f"'{attribute.name}' must be an http(s) address such as {DEFAULT_URL}")


def _country(_: Any, attribute: Any, value: str) -> None:
    if value and not google_country(value):
        raise ValueError(f"'{attribute.name}' must be a country code of two letters; got {value!r}")


def _language(_: Any, attribute: Any, value: str) -> None:
    if value and not google_language(value):
        raise ValueError(f"'{attribute.name}' must be a language code such as en or pt-br; got {value!r}")


@frozen(kw_only=True)
class SerperSettings:
    """How Serper is asked.

    Attributes:
        base_url: the API's address without a path; ``/search`` is added.
        country: where results are from when the request does not say; empty leaves it to Serper.
        language: of the results, when the request does not say; empty leaves it to Serper.
        safe_search: ``off``, ``moderate`` or ``active``; empty leaves it to Google.
        calls_per_s: calls are spaced to so many a second; none and 0 are no pacing.
    """

    base_url: str = field(default=DEFAULT_URL, validator=_web_url)
    country: str = field(default="", validator=_country)
    language: str = field(default="", validator=_language)
    safe_search: str = field(default="", validator=in_(("", "off", "moderate", "active")))
    calls_per_s: float | None = field(default=None, validator=optional(ge(0)))
