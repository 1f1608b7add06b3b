"""Perplexity's Search API: ``POST /search`` with JSON both ways."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from math import ceil
from typing import Any, ClassVar

from attrs import evolve

from .base import (
    ENGINE_FAULTS,
    WINDOWS,
    EngineSimulator,
    RateState,
    Received,
    Reply,
    SimulatedHit,
    SimulatedQuery,
    bearer,
    json_body,
    json_reply,
    whole,
)

MAX_QUERIES = 5
MAX_DOMAINS = 20

# Fault: status, type, text.
_ERRORS = {
    "auth": (401, "invalid_api_key", "Invalid API key provided. You can find your API key in the settings."),
    "quota": (401, "insufficient_quota", "You exceeded your current quota, please check your plan."),
    "no_credit": (401, "unauthorized", "Your account has no credits left."),
    "rate_limited": (429, "rate_limit_exceeded", "Request rate limit exceeded"),
    "bad_query": (400, "invalid_request_error", "query must be a text that is not empty"),
    "server_error": (500, "internal_server_error", "Internal server error"),
}
_WAIT = {"retry-after-ms": "250", "retry-after": "1"}


class PerplexitySimulator(EngineSimulator):
    """Perplexity's Search API.

    ``quota`` and ``no_credit`` are an account that is empty, told by a type and by words alone;
    ``validation`` is a refusal in the form of its web framework.
    """

    name = "perplexity"
    routes = ("/search",)
    key_env = "PERPLEXITY_API_KEY"
    max_limit = 20
    faults: ClassVar[tuple[str, ...]] = (*ENGINE_FAULTS, "no_credit", "validation")

    def parse_request(self, received: Received) -> SimulatedQuery:
        """The JSON body; the key from a bearer token. Several queries are joined by line breaks."""
        sent = json_body(received)
        domains = _texts(sent.get("search_domain_filter"))
        recency = sent.get("search_recency_filter")
        return SimulatedQuery(
            query="\n".join(_queries(sent)),
            limit=whole(sent.get("max_results")),
            freshness=recency if isinstance(recency, str) and recency in WINDOWS else "",
            after=_day(sent.get("search_after_date_filter")),
            before=_day(sent.get("search_before_date_filter")),
            include=tuple(d for d in domains if not d.startswith("-")),
            exclude=tuple(d[1:] for d in domains if d.startswith("-")),
            language=next(iter(_texts(sent.get("search_language_filter"))), ""),
            country=sent["country"] if isinstance(sent.get("country"), str) else "",
            key=bearer(received),
            params=sent,
        )

    def search(self, query: SimulatedQuery) -> list[SimulatedHit]:
        """The hits of each query, one after the other, in one flat list."""
        hits: list[SimulatedHit] = []
        for one in _queries(query.params):
            hits += super().search(evolve(query, query=one))
        return hits

    def validate(self, query: SimulatedQuery) -> Reply | None:
        """400 for what Perplexity refuses: limits, and domains of both kinds."""
        sent, limit = query.params, query.limit
        queries = _queries(sent)
        if not queries or len(queries) > MAX_QUERIES or not all(q.strip() for q in queries):
            return self.fault_reply("bad_query", query)
        most = 100 if sent.get("search_type") == "people" else self.max_limit
        if "max_results" in sent and (limit is None or not 1 <= limit <= most):
            return _refused(f"max_results must be between 1 and {most}")
        if len(query.include) + len(query.exclude) > MAX_DOMAINS:
            return _refused(f"search_domain_filter takes up to {MAX_DOMAINS} domains")
        if query.include and query.exclude:
            return _refused("search_domain_filter cannot mix domains with and without a minus")
        if "search_recency_filter" in sent and not query.freshness:
            return _refused(f"search_recency_filter must be one of {', '.join(WINDOWS)}")
        for name, day in (("after", query.after), ("before", query.before)):
            if f"search_{name}_date_filter" in sent and day is None:
                return _refused(f"search_{name}_date_filter must be MM/DD/YYYY")
        if any(len(tag) != 2 for tag in _texts(sent.get("search_language_filter"))):
            return _refused("search_language_filter takes ISO 639-1 codes")
        if "country" in sent and not (len(query.country) == 2 and query.country.isupper()):
            return _refused("country must be an ISO 3166 code of two letters")
        return None

    def hits_reply(self, hits: Sequence[SimulatedHit], query: SimulatedQuery) -> Reply:
        """Results whose snippet is the text of the page."""
        rows = [
            {
                "title": hit.title,
                "url": hit.url,
                "snippet": hit.text or hit.snippet,
                "date": hit.published[:10] or None,
                "last_updated": hit.published[:10] or None,
            }
            for hit in hits
        ]
        found = {"id": "e38104d5-6bd7-4d82-bc4e-0a21179d1f77", "results": rows, "server_time": None}
        return json_reply(found)

    def fault_reply(self, kind: str, query: SimulatedQuery) -> Reply:
        """The errors, each with a type and a code that repeats the status."""
        if kind in ("empty", "silent_block"):
            return self.hits_reply([], query)
        if kind == "validation":
            missing = {"type": "missing", "loc": ["body", "query"], "msg": "Field required", "input": {}}
            return json_reply({"detail": [missing]}, 422)
        status, type_, text = _ERRORS[kind]
        return _error(status, type_, text, _WAIT if kind == "rate_limited" else {})

    def rate_headers(self, state: RateState) -> Mapping[str, str]:
        """The wait in milliseconds and in seconds, where there is one to be told."""
        if not state.measured or state.refused != "rate_limited":
            return {}
        return {"retry-after-ms": str(ceil(state.reset_s * 1000)), "retry-after": str(ceil(state.reset_s))}


def _queries(sent: Mapping[str, Any]) -> tuple[str, ...]:
    query = sent.get("query")
    return (query,) if isinstance(query, str) else _texts(query)


def _day(value: Any) -> datetime | None:
    try:
        return datetime.strptime(value, "%m/%d/%Y").replace(tzinfo=UTC)
    except (TypeError, ValueError):
        return None


def _error(status: int, type_: str, text: str, headers: dict[str, str]) -> Reply:
    return json_reply({"error": {"message": text, "type": type_, "code": status}}, status, headers)


def _refused(text: str) -> Reply:
    return _error(400, "invalid_request_error", text, {})


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()
