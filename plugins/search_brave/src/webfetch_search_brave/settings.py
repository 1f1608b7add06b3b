"""The table ``[plugins.search_brave]``."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from attrs import field, frozen
from attrs.validators import ge, in_, optional

from .locales import COUNTRIES, search_lang

DEFAULT_URL = "https://api.search.brave.com/res/v1"


def _web_url(_: Any, attribute: Any, value: str) -> None:
    try:
        parts = urlsplit(value)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        valid = False
    if not valid:
        raise ValueError(f"'{attribute.name}' must be an http(s) address such as {DEFAULT_URL}")


def _country(_: Any, attribute: Any, value: str) -> None:
    if value and value.upper() not in COUNTRIES:
        raise ValueError(
            f"'{attribute.name}' must be ALL or one of {' '.join(sorted(COUNTRIES - {'ALL'}))}; got {value!r}"
        )


def _language(_: Any, attribute: Any, value: str) -> None:
    if value and not search_lang(value):
        raise ValueError(
            f"'{attribute.name}' must be a language that Brave takes, as en or pt-br; got {value!r}"
        )


@frozen(kw_only=True)
class BraveSettings:
    """How Brave is asked.

    Attributes:
        base_url: the API's address up to its version; ``/web/search`` is added.
        country: where results are from when the request does not say: a code of two letters or
            ``ALL``; empty leaves it to Brave.
        language: of the results, when the request does not say; empty leaves it to Brave.
        safe_search: ``off``, ``moderate`` or ``strict``.
        extra_snippets: ask for up to five more excerpts of each page; not in every plan.
        calls_per_s: the pace, in place of the one that Brave's headers tell; 0 is no pacing.
    """

    base_url: str = field(default=DEFAULT_URL, validator=_web_url)
    country: str = field(default="", validator=_country)
    language: str = field(default="", validator=_language)
    safe_search: str = field(default="moderate", validator=in_(("off", "moderate", "strict")))
    extra_snippets: bool = False
    calls_per_s: float | None = field(default=None, validator=optional(ge(0)))
