"""The page: a form, and after a search every stage of it. Written on the server; it needs no script.

Whatever comes from the web is escaped, and the policy sent with the page allows no script, no image and
no style but the page's own.
"""

from __future__ import annotations

import time
from base64 import b64encode
from contextlib import suppress
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from webfetch_core import AllEnginesFailed, Document, SearchResult, WebfetchError, __version__

from . import view
from .asking import presentable
from .faults import Fault, fault_of
from .given import Given
from .reading import read_page
from .serving import Serving, query_given

MAX_DOCUMENTS, CACHE_S, LOOKING_S = 20, 0.25, 0.5
"""Documents that are looked up for a result, the seconds for each, and for how long beyond the deadline."""
MAX_TEXT_CHARS = 60_000
"""Of a page that is read; the rest is counted."""


async def show(serving: Serving, request: Request) -> Response:
    """``GET /``: the form; with ``q`` a search, with ``read`` one page's text."""
    try:
        given = query_given(request)
        if url := given.text("read"):
            return await _reading(serving, given, url)
        query = given.text("q")
        if not query:
            return await _start(serving)
        return await _search(serving, given, query)
    except (WebfetchError, Fault) as exc:
        return _failed(exc, query_given(request))


async def _start(serving: Serving) -> Response:
    outcome = await serving.desk.run(lambda _: serving.box.call("status", {}), serving.search_s())
    providers = outcome.structured.get("providers", []) if not outcome.is_error else []
    engines = [row for row in providers if row.get("stage") == "search"]
    return _page(
        "start.html",
        title="webfetch",
        serving=outcome.structured.get("serving", ""),
        engines=engines,
        notes=outcome.structured.get("notes", []),
    )


async def _search(serving: Serving, given: Given, query: str) -> Response:
    freshness = given.text("freshness")
    fresh = given.flag("fresh")

    def job(left: float) -> Response:
        late = time.monotonic() + left + LOOKING_S
        found = serving.wf.search(query, freshness=freshness or None, force_fresh=fresh, deadline_s=left)
        result = presentable(found)
        excerpts = serving.wf.excerpts(result)
        passages = view.passages_of(result, excerpts)
        return _page(
            "result.html",
            title=f"{query[:80]} - webfetch",
            query=query,
            freshness=freshness,
            fresh=fresh,
            result=result,
            excerpts=[chunk for chunk in excerpts if chunk.text.strip()],
            passages=passages,
            engines=view.engines_of(result.attempts),
            pages=view.pages_of(result, _at_hand(serving, result, late)),
            bars=view.bars_of(result),
            provenance=view.provenance_of(result),
            kept=sum(passage.kept for passage in passages),
            size=sum(passage.size for passage in passages),
            took=view.seconds(result.elapsed_s),
        )

    return await serving.desk.run(job, serving.search_s())


def _at_hand(serving: Serving, result: SearchResult, late: float) -> dict[str, Document]:
    """The documents of a result that are in the page cache, looked for until ``late`` at most; the network is
    not asked."""
    failed = {failure.url for failure in result.failed_urls}
    found = {}
    for hit in result.hits[:MAX_DOCUMENTS]:
        if hit.url not in failed and time.monotonic() < late:
            with suppress(WebfetchError):
                found[hit.url] = serving.wf.fetch(hit.url, cache_only=True, deadline_s=CACHE_S)
    return found


async def _reading(serving: Serving, given: Given, url: str) -> Response:
    document = await read_page(serving, url)
    return _page("reading.html", title=f"{document.title[:80] or url[:80]} - webfetch", **_document(document))


def _document(document: Document) -> dict[str, Any]:
    return {
        "document": document,
        "link": view.link_of(document.url),
        "text": document.text[:MAX_TEXT_CHARS],
        "more": max(len(document.text) - MAX_TEXT_CHARS, 0),
    }


def _failed(exc: BaseException, given: Given) -> Response:
    fault = fault_of(exc)
    engines = view.engines_of(exc.attempts) if isinstance(exc, AllEnginesFailed) else []
    try:
        query = given.text("q")
    except Fault:
        query = ""
    return _of_fault(fault, query, engines)


def of_fault(fault: Fault) -> Response:
    """A fault for somebody who looks at it."""
    return _of_fault(fault, "", [])


def _of_fault(fault: Fault, query: str, engines: list[view.EngineRow]) -> Response:
    response = _page("failed.html", fault.status, title="webfetch", fault=fault, query=query, engines=engines)
    response.headers.update(fault.headers)
    return response


# ---- templates -----------------------------------------------------------------------------------


@cache
def _templates() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    # Every template is HTML, whatever its name is.
    made = Environment(
        loader=PackageLoader("webfetch_serve_http"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals.update(version=__version__, style=_style(), query="", freshness="", fresh=False)
    made.filters.update(seconds=view.seconds, link_of=view.link_of, host_of=view.host_of)
    return made


@cache
def _style() -> Any:
    from markupsafe import Markup

    return Markup(files("webfetch_serve_http").joinpath("templates/page.css").read_text(encoding="utf-8"))


@cache
def policy() -> str:
    """The content security policy: nothing but the one style sheet in the page, by its hash."""
    digest = b64encode(sha256(str(_style()).encode()).digest()).decode()
    return (
        f"default-src 'none'; style-src 'sha256-{digest}'; form-action 'self'; base-uri 'none'; "
        "frame-ancestors 'none'"
    )


def _page(template: str, status: int = 200, **values: Any) -> Response:
    text = _templates().get_template(template).render(**values)
    headers = {"Content-Security-Policy": policy()}
    return Response(
        text.encode("utf-8", "replace"), status, headers=headers, media_type="text/html; charset=utf-8"
    )
