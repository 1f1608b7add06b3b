"""Tavily: ``POST /search``.

Statuses of its own tell the limits of a plan (432, 433) from too many requests (429); errors are under
``detail``, those of the keyless mode under ``error``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from email.utils import format_datetime
from math import ceil
from typing import Any

from attrs import evolve

from .base import (
    ENGINE_FAULTS,
    EngineSimulator,
    RateState,
    Received,
    Reply,
    SimulatedHit,
    SimulatedQuery,
    bearer,
    instant,
    json_body,
    json_reply,
    whole,
)

MAX_QUERY_CHARS, MAX_INCLUDE, MAX_EXCLUDE = 400, 300, 150

_TIME = {"d": "day", "w": "week", "m": "month", "y": "year"}
_DEPTHS = ("basic", "advanced", "fast", "ultra-fast")
_TOPICS = ("general", "news", "finance")
_COUNTRY = re.compile(r"[a-z]{3,}(?: [a-z]+)*\Z")


class TavilySimulator(EngineSimulator):
    """Tavily. A request in keyless mode has the key ``keyless``."""

    name = "tavily"
    routes = ("/search",)
    key_env = "TAVILY_API_KEY"
    max_limit = 20
    default_limit = 5
    faults = (*ENGINE_FAULTS, "pay_as_you_go_limit", "keyless_limit", "invalid_fields", "error_in_200")

    def parse_request(self, received: Received) -> SimulatedQuery:
        """The JSON object; the key is a bearer token or, from old clients, ``api_key``."""
        sent = json_body(received)
        keyless = received.headers.get("x-tavily-access-mode", "").lower() == "keyless"
        time = str(sent.get("time_range") or "")
        return SimulatedQuery(
            query=sent["query"] if isinstance(sent.get("query"), str) else "",
            limit=whole(sent.get("max_results")),
            freshness=_TIME.get(time[:1], ""),
            after=_day(sent.get("start_date")),
            before=_day(sent.get("end_date")),
            include=_texts(sent.get("include_domains")),
            exclude=_texts(sent.get("exclude_domains")),
            country=str(sent.get("country") or ""),
            key=bearer(received) or str(sent.get("api_key") or "") or ("keyless" if keyless else ""),
            params=sent,
        )

    def search(self, query: SimulatedQuery) -> list[SimulatedHit]:
        """As the base; the country puts its pages first, it filters nothing."""
        return super().search(evolve(query, country=""))

    def validate(self, query: SimulatedQuery) -> Reply | None:
        """422 with a list for a missing query, 400 with a sentence for anything else."""
        sent = query.params
        topic, depth = sent.get("topic") or "general", sent.get("search_depth") or "basic"
        time, limit = sent.get("time_range"), sent.get("max_results", self.default_limit)
        if not query.query:
            return _fields([("query", "Field required")])
        if not query.query.strip():
            return _refused(400, "Query is missing.")
        checks = (
            (len(query.query) <= MAX_QUERY_CHARS, "Query is too long. Max query length is 400 characters."),
            (depth in _DEPTHS, "Invalid search depth. Must be 'basic', 'advanced', 'fast' or 'ultra-fast'."),
            (topic in _TOPICS, "Invalid topic. Must be 'general', 'news' or 'finance'."),
            (
                time is None or time in (*_TIME, *_TIME.values()),
                "Invalid time range. Must be 'day', 'week', 'month', 'year', 'd', 'w', 'm' or 'y'.",
            ),
            (
                0 <= (-1 if (n := whole(limit)) is None else n) <= self.max_limit,
                "Max results must be 0 to 20.",
            ),
            (len(query.include) <= MAX_INCLUDE, "Max number of included domains is 300."),
            (len(query.exclude) <= MAX_EXCLUDE, "Max number of excluded domains is 150."),
            (not query.country or topic == "general", "Country is available for topic 'general' only."),
            (not query.country or bool(_COUNTRY.match(query.country)), "Invalid country."),
        )
        return next((_refused(400, message) for holds, message in checks if not holds), None)

    def hits_reply(self, hits: Sequence[SimulatedHit], query: SimulatedQuery) -> Reply:
        """The whole reply; ``results`` is an empty list when nothing was found."""
        sent = query.params
        data: dict[str, Any] = {
            "query": query.query,
            "follow_up_questions": None,
            "answer": None,
            "images": [],
            "results": [_result(hit, query) for hit in hits],
            "response_time": 0.42,
            "request_id": "2f6c1c0e-7a57-4c5b-9a51-6a6b7d3c0f11",
        }
        if sent.get("include_usage"):
            data["usage"] = {"credits": 2 if sent.get("search_depth") == "advanced" else 1}
        return json_reply(data)

    def fault_reply(self, kind: str, query: SimulatedQuery) -> Reply:
        """The faults, each with its status."""
        if kind in ("empty", "silent_block"):
            return self.hits_reply([], query)
        if kind == "invalid_fields":
            return _fields([("max_results", "Input should be a valid integer")])
        if kind == "keyless_limit":
            error = {
                "code": "keyless_limit",
                "message": "The daily limit of requests without a key is reached.",
                "window": "day",
                "retry_after_seconds": 3600,
                "next_actions": ["Get a key."],
            }
            return json_reply({"error": error}, 429)
        if kind == "error_in_200":
            return json_reply({"detail": {"error": "Your account has run out of credits."}})
        status, message = _FAULTS[kind]
        reply = _refused(status, message)
        if kind == "rate_limited":
            reply = evolve(reply, headers={**reply.headers, "Retry-After": "7"})
        return reply

    def rate_headers(self, state: RateState) -> Mapping[str, str]:
        """The wait, where there is one to be told."""
        waits = state.measured and state.refused == "rate_limited"
        return {"Retry-After": str(ceil(state.reset_s))} if waits else {}


_FAULTS = {
    "auth": (401, "Unauthorized: missing or invalid API key."),
    "quota": (432, "This request exceeds your plan's set usage limit."),
    "pay_as_you_go_limit": (433, "This request exceeds your pay-as-you-go limit."),
    "rate_limited": (429, "Your request has been blocked due to excessive requests."),
    "bad_query": (400, "Query is missing."),
    "server_error": (500, "Internal server error"),
}


def _refused(status: int, message: str) -> Reply:
    return json_reply({"detail": {"error": message}}, status)


def _fields(wrong: Sequence[tuple[str, str]]) -> Reply:
    return json_reply(
        {"detail": [{"type": "value_error", "loc": ["body", name], "msg": said} for name, said in wrong]}, 422
    )


def _result(hit: SimulatedHit, query: SimulatedQuery) -> dict[str, Any]:
    raw = query.params.get("include_raw_content")
    row: dict[str, Any] = {
        "url": hit.url,
        "title": hit.title,
        "content": hit.snippet,
        "score": hit.score,
        "raw_content": (hit.text or None) if raw else None,
    }
    moment = instant(hit.published) if hit.published else None
    if moment and query.params.get("topic") == "news":
        row["published_date"] = (
            format_datetime(moment, usegmt=True) if not moment.utcoffset() else hit.published
        )
    if query.params.get("include_favicon"):
        row["favicon"] = None
    return row


def _day(value: Any) -> Any:
    return instant(value) if isinstance(value, str) else None


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(v for v in value if isinstance(v, str)) if isinstance(value, list) else ()
