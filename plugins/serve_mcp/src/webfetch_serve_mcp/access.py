"""Who may speak to the HTTP server: the host that a request names, the page that it comes from, its token."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from hmac import compare_digest
from typing import Any

from webfetch_core.api import (
    BodyRefused,
    HungUp,
    came_from_afar,
    host_allowed,
    origin_allowed,
    origin_listed,
    preflight_headers,
    read_body,
)

from .settings import McpSettings

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
Asgi = Callable[[Scope, Receive, Send], Awaitable[None]]

PATH = "/mcp"
BODY_S = 10.0
"""How long a client may take to send a message."""
_SINGLE = frozenset({"host", "origin", "authorization"})


class Gate:
    """An ASGI application behind the checks, at one path. What is not for it never gets to ``app``."""

    def __init__(self, app: Asgi, settings: McpSettings, token: str) -> None:
        self._app = app
        self._settings = settings
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a request and hand it on, or answer why not."""
        if scope["type"] != "http":
            return
        headers: dict[str, str] = {}
        for raw_name, raw_value in scope["headers"]:
            name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
            # Two of one kind are read differently by whoever is in between: neither counts.
            headers[name] = "?" if name in headers and name in _SINGLE else value
        if listed := self._listed(headers.get("origin", "")):
            send = _adding(send, listed)  # to refusals as well: the page is to know why
        status, told = self._refusal(scope, headers)
        if status:
            more = {401: (b"www-authenticate", b"Bearer"), 400: (b"connection", b"close")}.get(status)
            await answer(send, status, told, [more] if more else [])
        elif scope["method"] == "OPTIONS":
            if listed:
                asked = [(k.encode(), v.encode()) for k, v in preflight_headers(headers).items()]
                await answer(send, 204, "", asked)
            else:
                await answer(send, 405, "a preflight of no listed origin", [(b"allow", b"GET, POST, DELETE")])
        elif scope["path"] == "/healthz":
            await answer(send, 200, "ok", [])
        else:
            try:
                length = headers.get("content-length", "")
                body = await read_body(receive, length, self._settings.max_message_bytes, BODY_S)
            except HungUp:
                return
            except BodyRefused as exc:
                await answer(send, exc.status, exc.told, [(b"connection", b"close")])
                return
            whole = {"type": "http.request", "body": body, "more_body": False}
            await self._answered(scope, before(whole, receive), send)

    async def _answered(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand a request on. One that is still at work when the server has stopped waiting is told so."""
        begun = False

        async def sending(message: Any) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, sending)
        except asyncio.CancelledError:  # by uvicorn, once its patience is at an end
            if not begun:
                await answer(send, 503, "the server is being stopped", [(b"retry-after", b"5")])

    def _refusal(self, scope: Mapping[str, Any], headers: Mapping[str, str]) -> tuple[int, str]:
        host = headers.get("host", "")
        if "transfer-encoding" in headers and "content-length" in headers:
            return 400, "a length and an encoding of the body at the same time"
        if not host_allowed(host, self._settings.host, self._settings.allow_hosts):
            return 421, "this server does not go by that name (plugins.serve_mcp.allow_hosts)"
        if not origin_allowed(headers, self._settings.allow_origins):
            return 403, "pages of that origin may not call this server (plugins.serve_mcp.allow_origins)"
        if not self._token and came_from_afar(headers):
            return 403, "behind a proxy a bearer token is needed (WEBFETCH_MCP_TOKEN)"
        # Before the token: clients look for ways to log in at other paths, and there is none.
        if scope["path"].rstrip("/") not in (PATH, "/healthz"):
            return 404, f"not found; MCP is at {PATH}"
        open_to_all = scope["path"] == "/healthz" or scope["method"] == "OPTIONS"
        if self._token and not open_to_all and not self._known(headers.get("authorization", "")):
            return 401, "a bearer token is needed"
        return 0, ""

    def _known(self, given: str) -> bool:
        scheme, _, token = given.partition(" ")
        same = compare_digest(token.strip().encode("utf-8"), self._token.encode("utf-8"))
        return scheme.lower() == "bearer" and same

    def _listed(self, origin: str) -> list[tuple[bytes, bytes]]:
        """What lets pages of ``origin`` read the answers, where it is one of the listed."""
        if not origin or not origin_listed(origin, self._settings.allow_origins):
            return []
        return [
            (b"access-control-allow-origin", origin.encode("latin-1")),
            (b"access-control-expose-headers", b"mcp-session-id, retry-after, www-authenticate"),
            (b"vary", b"origin"),
        ]


def before(first: Any, receive: Receive) -> Receive:
    """``first``, then whatever else comes."""
    given = False

    async def receiving() -> Any:
        nonlocal given
        if given:
            return await receive()
        given = True
        return first

    return receiving


def _adding(send: Send, headers: list[tuple[bytes, bytes]]) -> Send:
    async def sending(message: Any) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", ()), *headers]}
        await send(message)

    return sending


async def answer(send: Send, status: int, told: str, headers: list[tuple[bytes, bytes]]) -> None:
    """Answer ``told`` as plain text; a refusal as a JSON-RPC error without an id."""
    kind, body = b"text/plain; charset=utf-8", told.encode("utf-8")
    if status >= 400:
        error = {"code": -32000, "message": told}
        kind = b"application/json"
        body = json.dumps({"jsonrpc": "2.0", "id": None, "error": error}).encode("utf-8")
    common = [(b"content-type", kind), (b"content-length", b"%d" % len(body))]
    kept = headers if status == 204 else [*common, *headers]
    await send({"type": "http.response.start", "status": status, "headers": kept})
    await send({"type": "http.response.body", "body": body})
