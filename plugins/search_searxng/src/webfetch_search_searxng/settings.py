"""The table ``[plugins.search_searxng]``."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from attrs import field, frozen
from attrs.validators import ge, in_, matches_re, optional

EXAMPLE_URL = "https://searx.example.org"


def _instance_url(_: Any, attribute: Any, value: str) -> None:
    try:
        parts = urlsplit(value)
        valid = parts.scheme in ("http", "https") and parts.hostname and not (parts.query or parts.fragment)
    except ValueError:
        valid = False
    if value and not valid:
        raise ValueError(
            f"'{attribute.name}' must be the http(s) address of an instance, such as {EXAMPLE_URL}, "
            "without a query"
        )


def _names(_: Any, attribute: Any, value: tuple[str, ...]) -> None:
    if any(not name.strip() or "," in name for name in value):
        raise ValueError(f"'{attribute.name}' must be a list of names, one each")


@frozen(kw_only=True)
class SearxngSettings:
    """Which instance is asked, and how. What a request names itself wins.

    Attributes:
        base_url: your instance's root (``https://searx.example.org``); ``/search`` is added unless it
            is there. There is no default: public instances do not answer programs.
        language: of the results where the request has none: ``en``, ``en-US``, ``all`` or ``auto``;
            empty leaves it to the instance.
        country: region that goes with the language where the request has none (``US``).
        safe_search: ``off``, ``moderate`` or ``strict``; empty leaves it to the instance.
        categories: the instance's categories (``general``, ``news``, ``science``, ...); empty is
            the instance's default.
        engines: the instance's engines to ask (``mojeek``, ...); empty is those of the categories.
        api_key_header: where the key in SEARXNG_API_KEY goes, for an instance behind a gateway:
            ``Authorization`` (as a bearer token) or a header of another name (as it stands).
        calls_per_s: calls a second that the instance takes; 0 and None do not space them.
    """

    base_url: str = field(default="", validator=_instance_url)
    language: str = field(
        default="", validator=matches_re(r"(?:all|auto|[A-Za-z]{2,3}(?:[-_][A-Za-z]{2})?)?")
    )
    country: str = field(default="", validator=matches_re(r"(?:[A-Za-z]{2})?"))
    safe_search: str = field(default="", validator=in_(("", "off", "moderate", "strict")))
    categories: tuple[str, ...] = field(default=(), validator=_names)
    engines: tuple[str, ...] = field(default=(), validator=_names)
    api_key_header: str = field(default="Authorization", validator=matches_re(r"[A-Za-z0-9-]+"))
    calls_per_s: float | None = field(default=None, validator=optional(ge(0)))
