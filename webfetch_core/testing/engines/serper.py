"""Serper: Google's results at ``POST /search``.

A key without credits is 400, a wrong one 403; there are no rate headers. Parameters are taken from the
JSON body or, where that is empty, from the URL.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from attrs import evolve

from .base import (
    ENGINE_FAULTS,
    EngineSimulator,
    Received,
    Reply,
    SimulatedHit,
    SimulatedQuery,
    instant,
    json_body,
    json_reply,
    query_fields,
    split_sites,
    whole,
)

_TIME = {"qdr:h": "hour", "qdr:d": "day", "qdr:w": "week", "qdr:m": "month", "qdr:y": "year"}


class SerperSimulator(EngineSimulator):
    """Serper.

    Attributes:
        beside: what stands in an answer beside the organic results: ``answerBox``, ``ads``, ...
    """

    name = "serper"
    routes = ("/search",)
    key_env = "SERPER_API_KEY"
    max_limit = 100
    default_limit = 10
    results_at: ClassVar[tuple[str, ...]] = ("organic",)
    url_field = "link"
    faults = (*ENGINE_FAULTS, "error_in_200")

    beside: Mapping[str, Any]

    def __init__(self, *args: Any, beside: Mapping[str, Any] | None = None, **options: Any) -> None:
        """As the base, and ``beside``."""
        super().__init__(*args, **options)
        self.beside = dict(beside or {})

    def parse_request(self, received: Received) -> SimulatedQuery:
        """The JSON object, over the fields of the URL's query; the key is in ``X-API-KEY``."""
        sent = {**query_fields(received), **json_body(received)}
        asked = sent.get("q")
        words, include, exclude = split_sites(asked if isinstance(asked, str) else "")
        return SimulatedQuery(
            query=words,
            limit=whole(sent.get("num")),
            freshness=_TIME.get(str(sent.get("tbs", "")), ""),
            include=include,
            exclude=exclude,
            language=str(sent.get("hl", "")).partition("-")[0],
            country=str(sent.get("gl", "")),
            key=received.headers.get("x-api-key", "").strip(),
            params=sent,
        )

    def search(self, query: SimulatedQuery) -> list[SimulatedHit]:
        """The page that is asked for. ``hl`` is the language of Google's own words, not of the results."""
        size = query.limit or self.default_limit
        page = max(1, whole(query.params.get("page")) or 1)
        found = super().search(evolve(query, limit=size * page, language=""))
        return found[size * (page - 1) :]

    def validate(self, query: SimulatedQuery) -> Reply | None:
        """400 for a request without ``q``."""
        return None if query.query.strip() or query.include else self.fault_reply("bad_query", query)

    def hits_reply(self, hits: Sequence[SimulatedHit], query: SimulatedQuery) -> Reply:
        """The whole reply; ``organic`` is an empty list when nothing was found."""
        size = query.limit or self.default_limit
        shown = {k: v for k, v in query.params.items() if k in ("q", "gl", "hl", "num", "page", "tbs")}
        data = {
            "searchParameters": {"type": "search", "engine": "google", **shown},
            **self.beside,
            "organic": [_organic(hit, place) for place, hit in enumerate(hits, 1)],
            "credits": 1 if size <= self.default_limit else 2,
        }
        return json_reply(data)

    def fault_reply(self, kind: str, query: SimulatedQuery) -> Reply:
        """The faults: a message and its status."""
        if kind in ("empty", "silent_block"):
            return self.hits_reply([], query)
        status, message = _FAULTS[kind]
        sent = 200 if kind == "error_in_200" else status
        return json_reply({"message": message, "statusCode": status}, sent)


_FAULTS = {
    "auth": (403, "Unauthorized."),
    "quota": (400, "Not enough credits"),
    "rate_limited": (429, "Too many requests"),
    "bad_query": (400, "Missing query parameter"),
    "server_error": (500, "Internal server error"),
    "error_in_200": (400, "Not enough credits"),
}


def _organic(hit: SimulatedHit, place: int) -> dict[str, Any]:
    row: dict[str, Any] = {"title": hit.title, "link": hit.url, "snippet": hit.snippet, "position": place}
    if moment := instant(hit.published) if hit.published else None:
        row["date"] = f"{moment:%b} {moment.day}, {moment.year}"
    return row
