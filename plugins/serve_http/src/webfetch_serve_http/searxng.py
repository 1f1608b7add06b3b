"""SearXNG's JSON: ``GET /`` and ``GET /search`` with ``format=json``, and both as the POST of a form."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response

from webfetch_core import AllEnginesFailed, SearchResult
from webfetch_core.api import SearchHit

from .asking import Asked, Row, freshness_of, locale_of, rows_of
from .dates import utc_clock
from .faults import Fault, bad_request, clean
from .given import Given
from .replies import JsonReply
from .serving import Serving, query_given

PER_PAGE = 10
_RANGES = ("day", "week", "month", "year")
_PAGE = re.compile("0*[1-9][0-9]{0,8}")
_OTHER_MEDIA = frozenset({"images", "videos", "music", "files", "map"})


async def search(serving: Serving, request: Request) -> Response:
    """Both paths, both methods. ``engines`` names a SearXNG's own, and is no filter here."""
    given = query_given(request)
    if request.method == "POST":  # of a form whose address has parameters as well, the form's count first
        given = Given.of_form(await request.body(), request.headers.get("content-type", "")).before(given)
    wanted = given.text("format") or "json"
    if wanted != "json":
        raise Fault(403, "bad_request", f"the format {wanted[:20]} is not served", fix="ask for format=json")
    query = given.text("q")
    if not query:
        raise bad_request("No query")
    span = given.text("time_range")
    number = given.text("pageno") or "1"
    _check("time_range", span, not span or span in _RANGES)
    _check("pageno", number, _PAGE.fullmatch(number) is not None)
    _check("safesearch", given.text("safesearch"), given.text("safesearch") in ("", "0", "1", "2"))
    page = int(number)
    categories = set(given.texts("categories"))
    body = _body(query)
    if page * PER_PAGE > 100 or (categories and categories <= _OTHER_MEDIA):
        return JsonReply(body)  # nothing of that kind, or that far down, is ever found here
    language, country = locale_of(given.text("language"))
    asked = Asked(
        query=query,
        limit=page * PER_PAGE,
        freshness=freshness_of(span),
        language=language,
        country=country,
    )
    try:
        result = await serving.search(asked, given.number("timeout_limit", serving.search_s(), 0.5, 60.0))
    except AllEnginesFailed as exc:
        # SearXNG answers this with 200 as well: the engines are listed, and clients look there.
        body["unresponsive_engines"] = [
            [clean(a.provider, 60), clean(a.reason or a.outcome, 200)] for a in exc.attempts
        ]
        return JsonReply(body)
    hits = {hit.url: hit for hit in result.hits}
    rows = rows_of(result, PER_PAGE, (page - 1) * PER_PAGE)
    body["results"] = [_result(row, hits.get(row.url)) for row in rows]
    body["unresponsive_engines"] = _unresponsive(result)
    return JsonReply(body)


def _check(name: str, value: str, right: bool) -> None:
    if not right:
        raise bad_request(f"Invalid value {value[:40]} for parameter {name}")


def _body(query: str) -> dict[str, Any]:
    return {
        "query": query,
        "number_of_results": 0,  # gone from today's, looked for by older clients
        "results": [],
        "answers": [],
        "corrections": [],
        "infoboxes": [],
        "suggestions": [],
        "unresponsive_engines": [],
    }


def _result(row: Row, hit: SearchHit | None) -> dict[str, Any]:
    try:
        parts: list[str] = list(urlsplit(row.url))
        # scheme, host, path, parameters, query, fragment: urlparse's six, of which the fourth is no more
        parsed = [*parts[:3], "", *parts[3:]]
    except ValueError:
        parsed = ["", "", "", "", "", ""]
    engines = [name for name, _ in row.engines] or [row.engine]
    published = utc_clock(row.published)
    return {
        "url": row.url,
        "engine": row.engine,
        "parsed_url": parsed,
        "template": "default.html",
        "title": row.title,
        "content": row.content,
        "img_src": "",
        "iframe_src": "",
        "audio_src": "",
        "thumbnail": "",
        "publishedDate": published.isoformat() if published is not None else None,
        "pubdate": str(published) if published is not None else "",
        "length": None,
        "views": "",
        "author": "",
        "metadata": "",
        "priority": "",
        "engines": engines,
        "open_group": False,
        "close_group": False,
        "positions": [place for _, place in row.engines] or [hit.rank if hit is not None else 1],
        "score": row.score,
        "category": "general",
    }


def _unresponsive(result: SearchResult) -> list[list[str]]:
    return [
        [clean(a.provider, 60), clean(a.reason or a.outcome, 200)]
        for a in result.attempts
        if a.stage == "search" and a.outcome not in ("ok", "empty")
    ]
