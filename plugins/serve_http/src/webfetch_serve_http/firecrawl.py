"""Firecrawl v2's ``/v2/scrape`` and ``/v2/search``. What needs a browser's picture or a model is not done."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from webfetch_core import Document

from .asking import Asked, Row, freshness_of, locale_of, rows_of, told_partial
from .desk import LEAST_S
from .dialects import request_id
from .faults import bad_request, fault_of
from .given import mended
from .reading import read_page
from .replies import JsonReply
from .serving import MAX_URLS, Serving, json_of

MAX_LIMIT = 100
_SERVED = ("markdown", "links")
_SCRAPE_SHARE = 0.4
_SPAN = re.compile(r"(?:\A|,)qdr:([a-z])")
_ENDINGS = {
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".pdf": "application/pdf",
    ".json": "application/json",
    ".xml": "application/xml",
    ".csv": "text/csv",
    ".txt": "text/plain",
}


async def scrape(serving: Serving, request: Request) -> Response:
    """``POST /v2/scrape``."""
    given = await json_of(request)
    url, formats = given.needed("url"), _formats(given.any("formats"))
    if not any(name in _SERVED for name in formats):
        raise bad_request(f"of the formats, only {' and '.join(_SERVED)} are served here")
    document = await read_page(
        serving,
        url,
        given.number("timeout", 60_000, 500, 300_000) / 1_000,
        force_fresh=given.any("maxAge") == 0,
    )
    body: dict[str, Any] = {"success": True, "data": _document(url, document, formats)}
    if left := [name for name in formats if name not in _SERVED]:
        body["warning"] = body["data"]["warning"] = _unserved(left)  # its clients see the data alone
    return JsonReply(body)


async def search(serving: Serving, request: Request) -> Response:
    """``POST /v2/search``."""
    started = time.monotonic()
    given = await json_of(request)
    query, limit = given.needed("query"), given.whole("limit", 5, 1, MAX_LIMIT)
    sources = _names(given.any("sources"), "sources") or ["web"]
    options = given.any("scrapeOptions")
    if options is not None and not isinstance(options, Mapping):
        raise bad_request("scrapeOptions must be an object")
    body: dict[str, Any] = {
        "success": True,
        "data": {},
        "warning": None,
        "id": request_id(),
        "creditsUsed": 0,
    }
    reads = options is not None and bool(options.get("formats"))
    formats = _formats(options.get("formats")) if options is not None else []
    others = [name for name in sources if name != "web"]
    body["data"] = {name: [] for name in sources}
    if left_out := [*others, *(name for name in formats if name not in _SERVED)]:
        body["warning"] = _unserved(left_out)
    if "web" not in sources:
        return JsonReply(body)
    whole = serving.search_s(given.number("timeout", 60_000, 500, 300_000) / 1_000)
    _, country = locale_of(f"en-{given.text('country')}")
    asked = Asked(
        query=query,
        limit=limit,
        freshness=freshness_of(span[1] if (span := _SPAN.search(given.text("tbs").lower())) else ""),
        include_domains=given.texts("includeDomains"),
        exclude_domains=given.texts("excludeDomains"),
        country=country,
    )
    result = await serving.search(asked, whole * (1 - _SCRAPE_SHARE) if reads else whole)
    rows = rows_of(result, limit)
    items = [_item(row, place) for place, row in enumerate(rows, 1)]
    if reads:
        formats = [name for name in formats if name in _SERVED] or ["markdown"]
        first = rows[:MAX_URLS]
        left = whole - (time.monotonic() - started)
        pages = await serving.fetch_all([row.url for row in first], left) if left > LEAST_S else []
        for item, row, page in zip(items, first, pages, strict=False):
            if isinstance(page, Document):
                item.update(_document(row.url, page, formats))
            else:
                fault = fault_of(page)
                item["metadata"] = {"sourceURL": row.url, "url": row.url, "error": fault.told}
                item["markdown"] = None
    body["data"]["web"] = items
    body["warning"] = body["warning"] or told_partial(result)
    return JsonReply(body)


def _item(row: Row, place: int) -> dict[str, Any]:
    return {"url": row.url, "title": row.title, "description": row.content or row.snippet, "position": place}


def _document(url: str, document: Document, formats: list[str]) -> dict[str, Any]:
    told: dict[str, Any] = {}
    if "markdown" in formats:
        told["markdown"] = document.text
    if "links" in formats:
        told["links"] = list(document.links)
    metadata = {
        "title": document.title,
        "description": document.metadata.get("description", ""),
        "language": document.metadata.get("language") or document.metadata.get("lang") or None,
        "sourceURL": url,
        "url": document.url,
        "statusCode": 200,
        "contentType": _content_type(document),
        "publishedTime": document.published,
        "scrapeId": request_id(),
    }
    told["metadata"] = {name: value for name, value in metadata.items() if value is not None}
    return told


def _content_type(document: Document) -> str:
    """What the page was. Documents do not say, but for what can be seen on them."""
    if kind := document.metadata.get("content_type"):
        return kind
    if document.page_type or document.metadata.get("extracted_by"):
        return "text/html"
    path = re.split("[?#]", document.url, maxsplit=1)[0].lower()
    if kind := next((kind for ending, kind in _ENDINGS.items() if path.endswith(ending)), ""):
        return kind
    if document.metadata.get("pages"):
        return "application/pdf"
    return "text/plain" if document.metadata.get("text_format") == "plain" else "text/html"


def _unserved(names: list[str]) -> str:
    return f"not served here: {', '.join(names)[:200]}"


def _formats(value: Any) -> list[str]:
    return _names(value, "formats") or ["markdown"]


def _names(value: Any, field: str) -> list[str]:
    """Names, each as a text or as an object with its ``type``."""
    if value is None:
        return []
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list):
        raise bad_request(f"{field} must be a list")
    names = [one.get("type") if isinstance(one, Mapping) else one for one in value[:50]]
    if not all(isinstance(name, str) for name in names):
        raise bad_request(f"{field} must be a list of names")
    return [mended(str(name))[:40] for name in names]
