"""A SearXNG instance: ``/search`` and ``/``, by GET or by a form, with JSON or a page as the answer."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar
from urllib.parse import urlsplit

from attrs import evolve

from .base import (
    WINDOWS,
    EngineSimulator,
    Received,
    Reply,
    SimulatedHit,
    SimulatedQuery,
    bearer,
    form_fields,
    json_reply,
    split_sites,
    text_reply,
    whole,
)

PAGE = 10
"""Results of one page; there is no parameter for more."""

TIME_RANGES = ("day", "week", "month", "year")

_LANGUAGE = re.compile(r"(?:all|auto|[a-z]{2,3}(?:-[a-zA-Z]{2})?)\Z")
_EXTERNAL_BANG = re.compile(r"(?<!\S)!!(\w+)")
_FORBIDDEN = (
    "<!doctype html>\n<html lang=en>\n<title>403 Forbidden</title>\n<h1>Forbidden</h1>\n"
    "<p>You don't have the permission to access the requested resource. "
    "It is either read-protected or not readable by the server.</p>\n"
)


class SearxngSimulator(EngineSimulator):
    """A SearXNG instance. It has no key; ``auth`` is the answer of a gateway in front of it.

    Attributes:
        formats: what ``search.formats`` of its settings lists; without ``json`` it answers 403.
        unresponsive: the engines behind it that did not answer, by name, and why.
    """

    name = "searxng"
    routes = ("/search", "/")
    max_limit = 10 * PAGE
    default_limit = PAGE
    faults: ClassVar[tuple[str, ...]] = (
        "empty",
        "silent_block",
        "engines_blocked",
        "engines_down",
        "json_disabled",
        "auth",
        "rate_limited",
        "bad_query",
        "server_error",
    )

    formats: tuple[str, ...] = ("html", "json")
    unresponsive: Mapping[str, str] = {}

    def parse_request(self, received: Received) -> SimulatedQuery:
        """The fields of the address or of a form; ``site:`` operators are read from the query."""
        sent = form_fields(received)
        words, include, exclude = split_sites(sent.get("q", ""))
        language, _, region = sent.get("language", "").partition("-")
        time_range = sent.get("time_range", "")
        return SimulatedQuery(
            query=words,
            freshness=time_range if time_range in WINDOWS else "",
            include=include,
            exclude=exclude,
            language=language,
            country=region,
            key=bearer(received) or received.headers.get("x-api-key", ""),
            params=sent,
        )

    def search(self, query: SimulatedQuery) -> list[SimulatedHit]:
        """The page ``pageno`` of the results."""
        page = max(1, whole(query.params.get("pageno")) or 1)
        return super().search(evolve(query, limit=page * PAGE))[(page - 1) * PAGE :]

    def validate(self, query: SimulatedQuery) -> Reply | None:
        """403 for a format that is off, 400 for a parameter, 302 for a bang that leads to another site."""
        sent = query.params
        if sent.get("format", "html") not in self.formats:
            return self.fault_reply("json_disabled", query)
        if not query.query.strip() and not query.include:
            return self.fault_reply("bad_query", query)
        if bang := _EXTERNAL_BANG.search(query.query):
            return Reply(status=302, headers={"Location": f"https://{bang[1]}.example/"})
        for name, valid in (
            ("pageno", (whole(sent.get("pageno", "1")) or 0) >= 1),
            ("time_range", sent.get("time_range", "day") in TIME_RANGES),
            ("language", bool(_LANGUAGE.match(sent.get("language", "all")))),
            ("safesearch", sent.get("safesearch", "0") in ("0", "1", "2")),
        ):
            if not valid:
                return json_reply({"error": f"Invalid value {sent.get(name)} for parameter {name}"}, 400)
        return None

    def hits_reply(self, hits: Sequence[SimulatedHit], query: SimulatedQuery) -> Reply:
        """JSON, or the page that a browser gets."""
        return self._results(hits, query, self.unresponsive)

    def fault_reply(self, kind: str, query: SimulatedQuery) -> Reply:
        """The faults of an instance, of the engines behind it, and of a gateway before it."""
        if kind in ("empty", "silent_block"):
            return self._results([], query, {})
        if kind == "engines_blocked":
            return self._results([], query, {"google": "Suspended: CAPTCHA", "qwant": "access denied"})
        if kind == "engines_down":
            return self._results([], query, {"bing": "timeout", "mojeek": "HTTP error"})
        if kind == "json_disabled":
            return text_reply(_FORBIDDEN, 403, "text/html; charset=utf-8")
        if kind == "rate_limited":
            return text_reply("Too Many Requests", 429, "text/html; charset=utf-8")
        if kind == "auth":
            return json_reply({"error": "a valid key is required"}, 401)
        if kind == "bad_query":
            return json_reply({"error": "No query"}, 400)
        return json_reply({"error": "search error"}, 500)

    def missing_fields(self, query: SimulatedQuery) -> Reply:
        """As of any engine, and always in JSON."""
        return super().missing_fields(evolve(query, params={**query.params, "format": "json"}))

    def _results(
        self, hits: Sequence[SimulatedHit], query: SimulatedQuery, unresponsive: Mapping[str, str]
    ) -> Reply:
        if query.params.get("format") != "json":
            links = "".join(
                f'<article><a href="{html.escape(h.url)}">{html.escape(h.title)}</a></article>' for h in hits
            )
            return text_reply(
                f"<!DOCTYPE html><html><body>{links}</body></html>", 200, "text/html; charset=utf-8"
            )
        return json_reply(
            {
                "query": query.params.get("q", ""),
                "results": [_row(place, hit) for place, hit in enumerate(hits, 1)],
                "answers": [],
                "corrections": [],
                "infoboxes": [],
                "suggestions": [],
                "unresponsive_engines": [list(pair) for pair in unresponsive.items()],
            }
        )


def _row(place: int, hit: SimulatedHit) -> dict[str, Any]:
    parts = urlsplit(hit.url)
    return {
        "url": hit.url,
        "engine": "mojeek",
        "parsed_url": [parts.scheme, parts.netloc, parts.path, "", parts.query, parts.fragment],
        "template": "default.html",
        "title": hit.title,
        "content": hit.snippet,
        "img_src": "",
        "thumbnail": "",
        "publishedDate": f"{hit.published[:10]}T00:00:00" if hit.published else None,
        "engines": ["mojeek"],
        "positions": [place],
        "score": 1.0 / place,
        "category": "general",
    }
