"""What open-webui calls external: a web search and a web loader, both answered with a bare list."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from webfetch_core import Document

from .asking import Asked, rows_of
from .faults import bad_request
from .reading import read_pages
from .replies import JsonReply
from .serving import MAX_URLS, Serving, json_of


async def search(serving: Serving, request: Request) -> Response:
    """``POST /openwebui/search``: ``{"query", "count"}``."""
    given = await json_of(request)
    count = given.whole("count", 5, 1, 100)
    result = await serving.search(Asked(query=given.needed("query"), limit=count))
    return JsonReply(
        [
            {"link": row.url, "url": row.url, "title": row.title, "snippet": row.content}
            for row in rows_of(result, count)
        ]
    )


async def load(serving: Serving, request: Request) -> Response:
    """``POST /openwebui/load``: ``{"urls"}``. A page that cannot be read is left out."""
    given = await json_of(request)
    if not given.has("urls"):
        raise bad_request("urls is missing")
    urls = given.addresses("urls", MAX_URLS)
    pages = await read_pages(serving, urls)
    return JsonReply(
        [
            {"page_content": page.text, "metadata": _metadata(url, page)}
            for url, page in zip(urls, pages, strict=True)
            if isinstance(page, Document)
        ]
    )


def _metadata(url: str, page: Document) -> dict[str, str]:
    told = {"source": url, "title": page.title, "description": page.metadata.get("description", "")}
    return {name: value for name, value in told.items() if value or name == "source"}
