"""What open-webui calls external: a web search and a web loader, both answered with a bare list."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from webfetch_core import Document

from .asking import Asked, rows_of
from .faults import bad_request
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
    value = given.any("urls")
    urls = [value] if isinstance(value, str) else value
    if not isinstance(urls, list) or not all(isinstance(url, str) for url in urls):
        raise bad_request("urls must be a list of URLs")
    if len(urls) > MAX_URLS:
        raise bad_request(f"at most {MAX_URLS} urls can be loaded at once")
    urls = list(dict.fromkeys(url.strip() for url in urls))
    pages = await serving.fetch_all(urls)
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
