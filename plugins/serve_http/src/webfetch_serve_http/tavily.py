"""Tavily's ``/search`` and ``/extract``, as its clients send and read them."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from webfetch_core import Document, SearchResult
from webfetch_core.api import Freshness

from .asking import Asked, Row, freshness_of, freshness_of_days, rows_of
from .asking import search as searched
from .dates import days_since, http_date
from .desk import LEAST_S
from .dialects import request_id
from .faults import bad_request, fault_of
from .given import Given
from .reading import read_pages
from .replies import JsonReply
from .serving import MAX_URLS, Serving, json_of

MAX_RESULTS = 20
_RAW_SHARE = 0.4
"""Part of the time that is left for reading whole pages after a search."""


async def search(serving: Serving, request: Request) -> Response:
    """``POST /search``."""
    started = time.monotonic()
    given = await json_of(request)
    asked, wanted = _asked(given), given.whole("max_results", 5, 0, MAX_RESULTS)
    raw = given.flag("include_raw_content")
    whole = serving.search_s()
    answers = given.flag("include_answer")

    def job(left: float) -> tuple[SearchResult, str | None]:
        found = searched(serving.wf, asked, left)
        return found, serving.wf.excerpts(found)[0].text if answers and found.chunks else None

    result, answer = await serving.desk.run(job, whole * (1 - _RAW_SHARE) if raw else whole)
    rows = rows_of(result, wanted)
    texts: dict[str, str] = {}
    left = whole - (time.monotonic() - started)
    if raw and rows and left > LEAST_S:
        pages = await serving.fetch_all([row.url for row in rows], left)
        texts = {
            row.url: page.text for row, page in zip(rows, pages, strict=True) if isinstance(page, Document)
        }
    news, icons = given.text("topic") == "news", given.flag("include_favicon")
    body: dict[str, Any] = {
        "query": asked.query,
        "follow_up_questions": None,
        "answer": answer,
        "images": [],
        "results": [_result(row, raw, texts, news, icons) for row in rows],
        "response_time": round(time.monotonic() - started, 2),
        "request_id": request_id(),
    }
    if given.flag("include_usage"):
        body["usage"] = {"credits": 0}
    return JsonReply(body)


async def extract(serving: Serving, request: Request) -> Response:
    """``POST /extract``."""
    started = time.monotonic()
    given = await json_of(request)
    urls = given.addresses("urls", MAX_URLS)
    if not urls:
        raise bad_request("urls must be a URL or a list of URLs")
    pages = await read_pages(serving, urls, given.number("timeout", serving.scrape_s(), 0.5, 60.0))
    results: list[dict[str, Any]] = []
    failed: list[dict[str, str]] = []
    for url, page in zip(urls, pages, strict=True):
        if isinstance(page, Document):
            results.append(
                {"url": url, "title": page.title, "raw_content": page.text, "images": [], "favicon": None}
            )
        else:
            failed.append({"url": url, "error": fault_of(page).told})
    body: dict[str, Any] = {
        "results": results,
        "failed_results": failed,
        "response_time": round(time.monotonic() - started, 2),
        "request_id": request_id(),
    }
    if given.flag("include_usage"):
        body["usage"] = {"credits": 0}
    return JsonReply(body)


def _asked(given: Given) -> Asked:
    freshness = freshness_of(given.text("time_range"))
    if given.any("days") is not None:
        freshness = freshness or freshness_of_days(given.number("days", 7, 0, 36_500))
    if given.any("max_age_hours") is not None:
        freshness = freshness or freshness_of_days(given.number("max_age_hours", 24, 0, 876_000) / 24)
    if (days := days_since(given.text("start_date"), datetime.now(UTC).date())) is not None:
        freshness = freshness or freshness_of_days(days)
    if given.text("topic") == "news":
        freshness = freshness or Freshness.RECENT
    prefer = given.text("include_domains_mode") == "prefer"
    return Asked(
        query=given.needed("query"),
        limit=given.whole("max_results", 5, 1, MAX_RESULTS),
        freshness=freshness,
        include_domains=() if prefer else given.texts("include_domains"),
        exclude_domains=given.texts("exclude_domains"),
        country=_COUNTRIES.get(given.text("country").lower()),
    )


def _result(row: Row, raw: bool, texts: dict[str, str], news: bool, icons: bool) -> dict[str, Any]:
    told: dict[str, Any] = {
        "url": row.url,
        "title": row.title,
        "content": row.content,
        "score": row.score,
        "raw_content": texts.get(row.url) if raw else None,
    }
    if news and (published := http_date(row.published)):
        told["published_date"] = published
    if icons:
        told["favicon"] = None  # asked for, so it is there; none is looked up
    return told


_COUNTRIES = {
    "argentina": "AR", "australia": "AU", "austria": "AT", "belgium": "BE", "brazil": "BR", "canada": "CA",
    "chile": "CL", "china": "CN", "denmark": "DK", "finland": "FI", "france": "FR", "germany": "DE",
    "india": "IN", "indonesia": "ID", "ireland": "IE", "israel": "IL", "italy": "IT", "japan": "JP",
    "malaysia": "MY", "mexico": "MX", "netherlands": "NL", "new zealand": "NZ", "norway": "NO",
    "philippines": "PH", "poland": "PL", "portugal": "PT", "saudi arabia": "SA", "singapore": "SG",
    "south africa": "ZA", "south korea": "KR", "spain": "ES", "sweden": "SE", "switzerland": "CH",
    "taiwan": "TW", "thailand": "TH", "turkey": "TR", "united kingdom": "GB", "united states": "US",
}  # fmt: skip
"""Tavily writes countries out; one that is not here is no filter."""
