"""The app: every route, behind the gate."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from webfetch_core import ToolBox, Webfetch, __version__

from . import firecrawl, jina, native, openwebui, page, searxng, tavily
from .desk import Desk
from .dialects import PAGE, SEARXNG, TAVILY, reply_to
from .faults import Fault, clean, fault_of
from .gate import Gate
from .schemas import Health
from .serving import Serving
from .settings import HttpSettings

Endpoint = Callable[[Serving, Request], Awaitable[Response]]

_log = logging.getLogger("webfetch.serve_http")


def make_app(
    wf: Webfetch,
    settings: HttpSettings | None = None,
    *,
    token: str = "",
    mounts: Mapping[str, ASGIApp] | None = None,
    desk: Desk | None = None,
) -> ASGIApp:
    """The ASGI app over ``wf``, which stays the caller's to close.

    Args:
        token: what callers must show; empty lets everybody in.
        mounts: apps of others, by path prefix, behind the same gate.
        desk: who is worked for; by default one of the settings' size.
    """
    settings = settings or HttpSettings()
    desk = desk or Desk(settings.workers, settings.queue)
    serving = Serving(wf=wf, box=ToolBox(wf), settings=settings, desk=desk)
    app = FastAPI(
        title="webfetch",
        version=__version__,
        summary="Web search for LLM agents that you run yourself.",
        docs_url=None,  # both pages load scripts from elsewhere
        redoc_url=None,
        openapi_url="/openapi.json",
        redirect_slashes=False,
    )
    app.include_router(native.make_router(serving, locked=bool(token)))

    @app.head("/healthz", include_in_schema=False)
    @app.get("/healthz", responses={200: {"model": Health}}, response_model=None, tags=["webfetch"])
    async def healthz() -> Response:
        """Whether the server is there. Needs no token."""
        return native.health()

    def add(path: str, methods: list[str], endpoint: Endpoint) -> None:
        async def serve(request: Request) -> Response:
            return await endpoint(serving, request)

        app.add_api_route(path, serve, methods=methods, include_in_schema=False)

    add("/", ["GET", "HEAD", "POST"], _root)
    add("/search", ["GET", "HEAD", "POST"], _root)
    add("/extract", ["POST"], tavily.extract)
    add("/v2/scrape", ["POST"], firecrawl.scrape)
    add("/v2/search", ["POST"], firecrawl.search)
    add("/openwebui/search", ["POST"], openwebui.search)
    add("/openwebui/load", ["POST"], openwebui.load)
    add("/v1/rerank", ["POST"], jina.rerank)
    add("/r", ["POST"], jina.read)
    add("/r/{rest:path}", ["GET", "POST"], jina.read)
    _tell_faults(app)
    return Gate(_with_mounts(app, mounts or {}), settings, token, page.of_fault, _logged)


def _with_mounts(app: ASGIApp, mounts: Mapping[str, ASGIApp]) -> ASGIApp:
    """``app``, with every path at or below a prefix left to the app mounted there, as it came."""

    async def choose(scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        for prefix, mounted in mounts.items():
            if path == prefix or path.startswith(f"{prefix}/"):
                return await mounted(scope, receive, send)
        return await app(scope, receive, send)

    return choose


async def _root(serving: Serving, request: Request) -> Response:
    """``/`` and ``/search`` are wanted by three: told apart as :func:`dialects.dialect_of` says."""
    dialect = request.state.dialect
    if dialect == SEARXNG:
        return await searxng.search(serving, request)
    if dialect == TAVILY:
        return await tavily.search(serving, request)
    return await page.show(serving, request)


def _tell_faults(app: FastAPI) -> None:
    async def tell(request: Request, exc: Exception) -> Response:
        fault = fault_of(exc)
        if fault.status == 500:
            _logged("request.failed", exc)
        dialect = request.state.dialect
        return page.of_fault(fault) if dialect == PAGE else reply_to(fault, dialect)

    async def invalid(request: Request, exc: Exception) -> Response:
        assert isinstance(exc, RequestValidationError)
        first: dict[str, Any] = dict(next(iter(exc.errors()), {}))
        where = ".".join(str(part) for part in first.get("loc", ())[1:]) or "body"
        message = clean(f"{where}: {first.get('msg', 'not what the schema says')}", 300)
        return await tell(request, Fault(422, "bad_request", message, fix="see /openapi.json"))

    async def unrouted(request: Request, exc: Exception) -> Response:
        assert isinstance(exc, HTTPException)
        kinds = {404: "no_such_path", 405: "wrong_method"}
        fault = Fault(exc.status_code, kinds.get(exc.status_code, "bad_request"), clean(str(exc.detail), 200))
        response = await tell(request, fault)
        for name, value in (exc.headers or {}).items():
            response.headers[name] = value
        return response

    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, unrouted)
    app.add_exception_handler(Fault, tell)
    app.add_exception_handler(Exception, tell)


def _logged(event: str, exc: BaseException | None) -> None:
    _log.error(event, exc_info=exc)
