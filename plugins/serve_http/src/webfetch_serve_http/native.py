"""The native API under ``/api/v1``: the library's own records as JSON."""

from __future__ import annotations

import time
from typing import Any

from attrs import evolve
from fastapi import APIRouter, Depends
from fastapi.security import HTTPBearer
from starlette.responses import Response

from webfetch_core import ConfigError, SearchResult, __version__

from .asking import presentable
from .faults import Fault, clean
from .reading import read_page
from .replies import SCHEMA_VERSION, JsonReply, plain
from .schemas import (
    ErrorReply,
    FetchInput,
    FetchReply,
    Health,
    RerankInput,
    RerankReply,
    SearchInput,
    SearchReply,
    StatusReply,
)
from .serving import Serving

_CAUSES = {
    400: "The input cannot be taken as it is.",
    401: "The token is missing or wrong.",
    403: "The address is not fetched, or the page that calls may not.",
    404: "The page is not there.",
    408: "The body did not arrive in time.",
    413: "The body is too large.",
    421: "The server does not go by that name.",
    422: "The body is not what the schema says, or the page holds nothing to read.",
    429: "Too many requests, or all workers busy: Retry-After says when to come back.",
    500: "A fault of the server.",
    502: "The page's site does not answer, or not in a way that can be read.",
    503: "No engine answered, or the server is being stopped.",
    504: "The deadline passed.",
}
ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorReply, "description": text} for status, text in _CAUSES.items()
}


def make_router(serving: Serving, *, locked: bool) -> APIRouter:
    """The routes, in the order of the documentation; ``locked`` has the schema say that a token is needed."""
    needs = [Depends(HTTPBearer(auto_error=False))] if locked else []  # the gate is what asks for it
    router = APIRouter(prefix="/api/v1", responses=ERRORS, tags=["webfetch"], dependencies=needs)
    wf, desk = serving.wf, serving.desk

    @router.post("/search", response_model=None, responses={200: {"model": SearchReply}})
    async def search(given: SearchInput) -> Response:
        """Search, read the pages, and return the passages that answer, best first."""

        def job(left: float) -> dict[str, Any]:
            result = wf.search(
                given.query,
                given.limit,
                given.freshness,
                force_fresh=given.force_fresh,
                cache_only=given.cache_only,
                include_domains=given.include_domains,
                exclude_domains=given.exclude_domains,
                language=given.language,
                country=given.country,
                deadline_s=left,
                engines=given.engines,
            )
            return _answer(presentable(result))

        def _answer(result: SearchResult) -> dict[str, Any]:
            excerpts = wf.excerpts(result, given.max_tokens, full_results=given.full_results)
            text = None
            if given.render:
                # The excerpts are compressed already: what is full of them is all of them.
                shown = evolve(result, chunks=tuple(excerpts))
                text = wf.render(shown, given.max_tokens, full_results=True)
            told = {"schema_version": SCHEMA_VERSION, "excerpts": plain(excerpts), "text": text}
            return {**told, **plain(result)}

        try:
            return JsonReply(await desk.run(job, serving.search_s(given.deadline_s)))
        except ConfigError as exc:
            if given.engines:  # it names one that is not there, or is off
                raise Fault(400, "config", clean(exc.message), fix=clean(exc.fix)) from exc
            raise

    @router.post("/fetch", response_model=None, responses={200: {"model": FetchReply}})
    async def fetch(given: FetchInput) -> Response:
        """Read one page as Markdown; guarded, and from the page cache where it is there."""
        document = await read_page(serving, given.url, given.deadline_s, force_fresh=given.force_fresh)
        return JsonReply({"schema_version": SCHEMA_VERSION, **plain(document)})

    @router.post("/rerank", response_model=None, responses={200: {"model": RerankReply}})
    async def rerank(given: RerankInput) -> Response:
        """Rank passages by how well they answer the query."""
        started = time.monotonic()
        ranked = await desk.run(lambda _: wf.rank(given.query, given.passages), serving.search_s())
        return JsonReply(
            {
                "schema_version": SCHEMA_VERSION,
                "results": plain(ranked[: given.limit]),
                "took_s": round(time.monotonic() - started, 4),
            }
        )

    @router.get("/status", response_model=None, responses={200: {"model": StatusReply}})
    async def status() -> Response:
        """What runs, and why the rest does not."""
        outcome = await desk.run(lambda left: serving.box.call("status", {}), serving.search_s())
        if outcome.is_error:
            raise Fault(503, "cancelled", "the server is being stopped", retry_after_s=5.0)
        return JsonReply({"schema_version": SCHEMA_VERSION, **outcome.structured})

    return router


def health() -> Response:
    """The answer of ``/healthz``."""
    return JsonReply(Health(status="ok", version=__version__).model_dump())
