"""What a search is asked to do, checked and completed before anything starts."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from attrs import frozen

from ..errors import BadQuery, WebfetchError
from ..models import Freshness
from ..runtime.deadline import Deadline
from ..runtime.emitter import Scope
from ..runtime.host import Host
from ..runtime.replies import visible
from .freshness import classify_keywords

MAX_QUERY_CHARS = 2_000
"""Longer than any question; a pasted document is not a query. Engines cut to their own limits."""


MAX_SECONDS = 86_400.0
_CODE = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8})*\Z")


@frozen(kw_only=True)
class SearchOptions:
    """A search, complete: every default filled in."""

    query: str
    limit: int
    hint: Freshness | None = None
    force_fresh: bool = False
    cache_only: bool = False
    include_domains: tuple[str, ...] = ()
    exclude_domains: tuple[str, ...] = ()
    language: str | None = None
    country: str | None = None
    deadline_s: float = 8.0
    engines: tuple[str, ...] = ()

    def __attrs_post_init__(self) -> None:
        check_sources(self.force_fresh, self.cache_only)


def check_sources(force_fresh: bool, cache_only: bool) -> None:
    """Raises BadQuery where neither the caches nor the network may be used."""
    if force_fresh and cache_only:
        raise BadQuery("force_fresh and cache_only contradict each other", fix="give one of them")


def checked_query(query: object) -> str:
    """The query, folded to one line.

    Raises:
        BadQuery: it is not text, blank, or longer than ``MAX_QUERY_CHARS``.
    """
    if not isinstance(query, str):
        raise BadQuery(f"the query must be text, got {type(query).__name__}")
    folded = " ".join(visible(query.encode("utf-8", "replace").decode()).split())
    if not any(c.isalnum() for c in folded):
        raise BadQuery("the query is empty", fix="ask for something, in words")
    if len(folded) > MAX_QUERY_CHARS:
        raise BadQuery(
            f"the query has {len(folded)} characters, more than {MAX_QUERY_CHARS}",
            fix="ask one question at a time",
        )
    return folded


def checked_limit(value: object) -> int:
    """How many pages to look at. Raises BadQuery unless it is a whole number from 1 to 100."""
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 100:
        raise BadQuery(f"limit must be a whole number from 1 to 100; got {value!r}")
    return value


def checked_url(value: object) -> str:
    """An address of a page, stripped. Raises BadQuery where it has no scheme."""
    if not isinstance(value, str) or ("://" not in value and not value.startswith("local:")):
        raise BadQuery(
            f"not an absolute URL: {value!r}", fix="give it with its scheme, as in https://example.org/"
        )
    return value.strip()


def checked_freshness(value: object) -> Freshness | None:
    """A caller's freshness hint. Raises BadQuery when it is none of the classes."""
    if value is None or value == "":
        return None
    try:
        return Freshness(str(value).lower())
    except ValueError:
        raise BadQuery(f"freshness must be one of {', '.join(Freshness)}; got {value!r}") from None


def checked_seconds(value: object, name: str) -> float:
    """A time limit. Raises BadQuery unless it is a number of seconds above 0 and up to a day."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= MAX_SECONDS:
        raise BadQuery(f"{name} must be a number greater than 0 and at most {MAX_SECONDS:.0f}; got {value!r}")
    return float(value)


def checked_code(value: object, name: str) -> str | None:
    """A language or country code, as text. Raises BadQuery when it cannot be one."""
    if value is None or value == "":
        return None
    if not isinstance(value, str) or not _CODE.match(value):
        raise BadQuery(f"{name} must be a code such as 'en' or 'US'; got {value!r}")
    return value


def checked_domains(values: object, name: str) -> tuple[str, ...]:
    """Domain filters, as bare host names. Raises BadQuery for anything else."""
    if isinstance(values, str):
        values = [v for v in values.replace(",", " ").split() if v]
    if not isinstance(values, (list, tuple)) or not all(isinstance(v, str) for v in values):
        raise BadQuery(f"{name} must be a list of host names; got {values!r}")
    hosts = []
    for value in values:
        host = (
            value.strip()
            .lower()
            .removeprefix("https://")
            .removeprefix("http://")
            .partition("/")[0]
            .rstrip(".")
        )
        if not host or any(c.isspace() for c in host):
            raise BadQuery(f"{name}: {value!r} is not a host name")
        hosts.append(host)
    return tuple(dict.fromkeys(hosts))


def classify(host: Host, query: str, hint: Freshness | None, scope: Scope, deadline: Deadline) -> Freshness:
    """The freshness class: the caller's hint, else the classifiers in order, else cue words, else recent."""
    if hint is not None:
        return hint
    now = datetime.fromtimestamp(host.clock.time(), UTC)
    for handle in host.handles("freshness"):
        try:
            answer = host.caller.call(
                handle,
                lambda classifier: classifier.classify(query, now),
                scope=scope,
                deadline=deadline,
                check=lambda value: None if value is None else Freshness(value),
                count=lambda value: int(value is not None),
            )
        except WebfetchError:
            deadline.raise_if_cancelled()
            continue
        if answer is not None:
            return Freshness(answer)
    return classify_keywords(query, now) or Freshness.RECENT
