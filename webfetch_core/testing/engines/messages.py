"""What simulators of engines share: requests as understood, hits, and reading and writing the wire. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from attrs import Factory, frozen

from ..site import Received, Reply

WINDOWS: Mapping[str, timedelta] = {
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
    "week": timedelta(days=7),
    "month": timedelta(days=31),
    "year": timedelta(days=365),
}
"""The words that ``SimulatedQuery.freshness`` may hold, and how far back each goes."""


@frozen(kw_only=True)
class SimulatedQuery:
    """A request to an engine, read from its own wire format.

    Attributes:
        query: the words, without ``site:`` operators where the engine knows these.
        limit: how many hits are asked for; None leaves it to the engine.
        freshness: a word of WINDOWS, or empty.
        after, before: absolute bounds of the date of publication, for engines that take dates.
        include, exclude: domains; each stands for itself and its subdomains.
        language, country: as sent, or empty.
        key: the key as sent, from the header (or field) that this engine reads; empty if there is none.
        params: the parameters as sent, for assertions and for the simulator's own checks.
    """

    query: str = ""
    limit: int | None = None
    freshness: str = ""
    after: datetime | None = None
    before: datetime | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    language: str = ""
    country: str = ""
    key: str = ""
    params: Mapping[str, Any] = Factory(dict)


@frozen(kw_only=True)
class SimulatedHit:
    """A result to be put into an engine's wire format. ``published`` is ISO 8601 or empty."""

    url: str
    title: str = ""
    snippet: str = ""
    published: str = ""
    score: float = 0.0
    text: str = ""


@frozen(kw_only=True)
class Answered:
    """What was asked, and what came of it: ``outcome`` is ``ok``, ``reply``, ``crashed`` or a fault."""

    query: SimulatedQuery
    outcome: str
    hits: tuple[SimulatedHit, ...] = ()
    reply: Reply


# ---- reading ----------------------------------------------------------------------------------------


def json_body(received: Received) -> dict[str, Any]:
    """The request's JSON object; anything else gives an empty one."""
    try:
        data = json.loads(received.body or b"{}")
    except ValueError:
        return {}
    return data if isinstance(data, dict) else {}


def query_fields(received: Received) -> dict[str, str]:
    """The fields of the URL's query, the last of each name, blank ones left out."""
    return dict(parse_qsl(received.query))


def form_fields(received: Received) -> dict[str, str]:
    """The fields of the URL's query and of a form-encoded body, which wins; blank ones left out."""
    body = received.body.decode("utf-8", "replace")
    return {**query_fields(received), **dict(parse_qsl(body))}


def bearer(received: Received) -> str:
    """The token of ``Authorization: Bearer``, or an empty string."""
    kind, _, token = received.headers.get("authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else ""


def whole(value: Any) -> int | None:
    """``value`` as a whole number, from text too; None for anything else."""
    try:
        return None if isinstance(value, bool) else int(value)
    except (TypeError, ValueError, OverflowError):
        return None


_OPERATOR = re.compile(r"(?:(?P<no>-|\bNOT\s+))?\bsite:(?P<domain>[^\s()]+)", re.IGNORECASE)
_LEFT = re.compile(r"[()]|(?<!\S)(?:AND|OR)(?!\S)")


def split_sites(query: str) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Words, included and excluded domains of a query with ``site:`` operators.

    Understands ``q site:a``, ``(q) (site:a OR site:b)``, ``(q) AND (site:a)``, ``-site:c`` and
    ``NOT site:c``. A query without operators comes back as it is.
    """
    include: list[str] = []
    exclude: list[str] = []
    for found in _OPERATOR.finditer(query):
        (exclude if found["no"] else include).append(found["domain"].lower().strip("/"))
    if not include and not exclude:
        return query, (), ()
    words = " ".join(_LEFT.sub(" ", _OPERATOR.sub(" ", query)).split())
    return words, tuple(include), tuple(exclude)


def within(url: str, domain: str) -> bool:
    """Whether the URL's host is ``domain`` or below it."""
    host = (urlsplit(url).hostname or "").lower()
    domain = domain.lower().removeprefix("*.").strip("./")
    return bool(domain) and (host == domain or host.endswith(f".{domain}"))


def instant(text: str) -> datetime | None:
    """An ISO date or instant as an aware datetime (UTC where it names no zone); None if it is none."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


# ---- writing ----------------------------------------------------------------------------------------


def json_reply(data: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Reply:
    """A reply of JSON."""
    body = json.dumps(data, ensure_ascii=False).encode()
    return Reply(body=body, status=status, headers={"Content-Type": "application/json", **(headers or {})})


def text_reply(text: str, status: int = 200, kind: str = "text/plain; charset=utf-8") -> Reply:
    """A reply of text."""
    return Reply(body=text.encode(), status=status, headers={"Content-Type": kind})


def hit_of(url: str) -> SimulatedHit:
    """A hit of a URL alone, with a title and a snippet made of it."""
    return SimulatedHit(url=url, title=f"Title of {url}", snippet=f"Snippet of {url}", score=1.0)
