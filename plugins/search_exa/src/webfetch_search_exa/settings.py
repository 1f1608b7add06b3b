"""The table ``[plugins.search_exa]``."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from attrs import field, frozen
from attrs.validators import ge, in_, matches_re, optional

DEFAULT_URL = "https://api.exa.ai"
CONTENTS = ("highlights", "text", "summary", "none")


def _web_url(_: Any, attribute: Any, value: str) -> None:
    try:
        parts = urlsplit(value)
        valid = parts.scheme in ("http", "https") and parts.hostname and not (parts.query or parts.fragment)
    except ValueError:
        valid = False
    if not valid:
        raise ValueError(f"'{attribute.name}' must be an http(s) address such as {DEFAULT_URL}")


@frozen(kw_only=True)
class ExaSettings:
    """How Exa is asked. What a request names itself wins.

    Attributes:
        base_url: the API's root (``https://api.exa.ai``), a gateway or a test server; ``/search``
            is added unless it is there.
        search_type: Exa's ``type``: ``auto``, ``fast``, ``instant``, ``lite``, ``deep``, ... The deep
            ones cost more and take longer than an engine is waited for by default.
        category: Exa's ``category`` (``news``, ``company``, ...); empty for all.
        contents: what becomes of a hit's snippet: ``highlights`` (passages close to the query),
            ``text`` (the page's beginning), ``summary`` (written by Exa's model, slower) or ``none``.
        max_age_hours: the oldest copy of a page that its contents are taken from; 0 reads every
            page anew, -1 none, and None leaves it to Exa.
        country: ISO 3166 code where the request has none (``US``).
        moderation: leave unsafe results out.
        calls_per_s: calls a second that your plan takes; 0 and None do not space them.
    """

    base_url: str = field(default=DEFAULT_URL, validator=_web_url)
    search_type: str = field(default="auto", validator=matches_re(r"[a-z]+(?:-[a-z]+)*"))
    category: str = ""
    contents: str = field(default="highlights", validator=in_(CONTENTS))
    max_age_hours: int | None = field(default=None, validator=optional(ge(-1)))
    country: str = field(default="", validator=matches_re(r"(?:[A-Za-z]{2})?"))
    moderation: bool = False
    calls_per_s: float | None = field(default=None, validator=optional(ge(0)))
