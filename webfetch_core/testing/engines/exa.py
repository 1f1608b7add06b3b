"""Exa: ``POST /search`` with JSON both ways."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from .base import (
    ENGINE_FAULTS,
    EngineSimulator,
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

TYPES = frozenset(
    ("auto", "lite", "deep", "deep-lite", "deep-reasoning", "fast", "instant", "neural")
)  # "keyword" is gone
_REQUEST_ID = "b5947044c4b78efa9552a7c89b306d95"
_PRICE_USD = 0.007

# Fault: status, tag, text.
_ERRORS = {
    "auth": (401, "INVALID_API_KEY", "Invalid API key"),
    "quota": (402, "NO_MORE_CREDITS", "You have used up the credits of your account"),
    "budget": (402, "API_KEY_BUDGET_EXCEEDED", "This API key has reached its budget"),
    "forbidden": (403, "ACCESS_DENIED", "Your plan does not include this feature"),
    "bad_query": (400, "INVALID_REQUEST_BODY", "query: must be a text that is not empty"),
    "server_error": (500, "DEFAULT_ERROR", "Something went wrong"),
}


class ExaSimulator(EngineSimulator):
    """Exa. ``rate_limited`` has no tag and no ``Retry-After``, as seen in the wild."""

    name = "exa"
    routes = ("/search",)
    key_env = "EXA_API_KEY"
    max_limit = 100
    faults: ClassVar[tuple[str, ...]] = (*ENGINE_FAULTS, "budget", "forbidden")

    def parse_request(self, received: Received) -> SimulatedQuery:
        """The JSON body; the key from ``x-api-key`` or a bearer token."""
        sent = json_body(received)
        location = sent.get("userLocation")
        return SimulatedQuery(
            query=_text(sent.get("query")),
            limit=whole(sent.get("numResults")),
            after=instant(_text(sent.get("startPublishedDate"))),
            before=instant(_text(sent.get("endPublishedDate"))),
            include=_texts(sent.get("includeDomains")),
            exclude=_texts(sent.get("excludeDomains")),
            country=_text(location.get("country") if isinstance(location, dict) else location),
            key=received.headers.get("x-api-key", "").strip() or bearer(received),
            params=sent,
        )

    def validate(self, query: SimulatedQuery) -> Reply | None:
        """400 with a tag for what Exa refuses: one list of domains, up to 100 results, ISO dates."""
        sent, limit = query.params, query.limit
        if not query.query.strip():
            return self.fault_reply("bad_query", query)
        if "numResults" in sent and (limit is None or limit < 1):
            return _error(400, "INVALID_NUM_RESULTS", "numResults: must be a number from 1 to 100")
        if limit is not None and limit > self.max_limit:
            return _error(400, "NUM_RESULTS_EXCEEDED", "numResults: your plan allows up to 100 results")
        if query.include and query.exclude:
            return _refused("includeDomains and excludeDomains cannot be used together")
        if _text(sent.get("type", "auto")) not in TYPES:
            return _refused(f"type: must be one of {', '.join(sorted(TYPES))}")
        for name, moment in (("startPublishedDate", query.after), ("endPublishedDate", query.before)):
            if name in sent and moment is None:
                return _refused(f"{name}: must be an ISO 8601 date")
        return None

    def hits_reply(self, hits: Sequence[SimulatedHit], query: SimulatedQuery) -> Reply:
        """Results with the contents that were asked for."""
        contents = query.params.get("contents")
        wanted = contents if isinstance(contents, dict) else {}
        cost = {"total": _PRICE_USD, "search": {"neural": _PRICE_USD}}
        return json_reply(
            {
                "requestId": _REQUEST_ID,
                "resolvedSearchType": "neural",
                "results": [_row(hit, wanted) for hit in hits],
                "statuses": [{"id": hit.url, "status": "success", "source": "cached"} for hit in hits],
                "searchTime": 431.2,
                "costDollars": cost,
            }
        )

    def fault_reply(self, kind: str, query: SimulatedQuery) -> Reply:
        """The errors that Exa documents, each with its tag."""
        if kind in ("empty", "silent_block"):
            return self.hits_reply([], query)
        if kind == "rate_limited":
            return json_reply({"error": "You have exceeded your requests per second"}, 429)
        return _error(*_ERRORS[kind])


def _row(hit: SimulatedHit, wanted: dict[str, Any]) -> dict[str, Any]:
    row: dict[str, Any] = {
        "id": hit.url,
        "url": hit.url,
        "title": hit.title,
        "publishedDate": f"{hit.published[:10]}T00:00:00.000Z" if hit.published else None,
        "author": None,
    }
    if wanted.get("text"):
        row["text"] = _cut(hit.text or hit.snippet, wanted["text"])
    if wanted.get("highlights"):
        row |= {"highlights": [_cut(hit.snippet, wanted["highlights"])], "highlightScores": [0.46]}
    if wanted.get("summary"):
        row["summary"] = hit.snippet
    return row


def _cut(text: str, options: Any) -> str:
    limit = whole(options.get("maxCharacters")) if isinstance(options, dict) else None
    return text if limit is None else text[:limit]


def _error(status: int, tag: str, text: str) -> Reply:
    return json_reply({"requestId": _REQUEST_ID, "error": text, "tag": tag}, status)


def _refused(text: str) -> Reply:
    return _error(400, "INVALID_REQUEST_BODY", text)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()
