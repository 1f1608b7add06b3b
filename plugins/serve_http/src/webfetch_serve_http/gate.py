"""The gate before the app: who may ask, how often and how much. What comes through it is a whole request.

The body is read here, up to the cap, so that nothing behind has to mind slow or endless senders; and a
client that hangs up cancels what is done for it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, MutableMapping
from contextlib import suppress
from typing import Any

from attrs import define
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from webfetch_core.api import (
    BodyRefused,
    HungUp,
    came_from_afar,
    client_of,
    host_allowed,
    origin_allowed,
    origin_listed,
    preflight_headers,
    read_body,
)

from .access import matches, tokens_of
from .dialects import PAGE, TAVILY, dialect_in, dialect_of, reply_to
from .faults import Fault, fault_of
from .rates import RateLimit
from .replies import TextReply
from .settings import HttpSettings

BODY_S = 10.0
"""How long a client may take to send its body."""

DISCARD_S, DISCARD_BYTES = 2.0, 8_388_608
"""How much of a body that is too large is read and thrown away before the answer."""

SECURITY_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)

_BODY_KINDS = {408: "slow_body", 413: "body_too_large"}
_ONCE = (b"host", b"origin", b"authorization", b"x-api-key", b"content-type")

PageOfFault = Callable[[Fault], Response]
Log = Callable[[str, BaseException | None], None]


class Gate:
    """ASGI middleware; the outermost layer.

    Args:
        token: what callers must show; empty lets everybody in, which is for loopback alone.
        page: writes a fault for somebody who looks at it.
        log: told of faults that are ours.
    """

    def __init__(self, app: ASGIApp, settings: HttpSettings, token: str, page: PageOfFault, log: Log) -> None:
        self._app = app
        self._settings = settings
        self._token = token
        self._page = page
        self._log = log
        self._rates = RateLimit(settings.rate_per_minute, settings.burst)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        headers = _headers(scope)
        query = scope.get("query_string", b"").decode("latin-1")
        dialect = dialect_of(scope["method"], scope["path"], query, headers.get("content-type", ""))
        scope["state"] = {**scope.get("state", {}), "dialect": dialect}
        sent = _Sent()
        guarded = _with_headers(send, self._extra(headers), sent)
        try:
            if await self._preflight(scope, headers, guarded, receive):
                return
            self._check(scope, headers)
            # Whoever has no token in a header may have it in the body, as old Tavily clients do.
            shown = not self._token or matches(tokens_of(headers), self._token)
            if not shown and dialect != TAVILY and not self._open_to_all(scope):
                raise _unauthorized()
            body = await self._body(headers, receive)
            dialect = scope["state"]["dialect"] = dialect_in(dialect, scope["path"], query, body)
            if not shown and not self._open_to_all(scope) and not self._in_body(body):
                raise _unauthorized()
            await self._forward(scope, body, receive, guarded, sent)
        except HungUp:
            return
        except asyncio.CancelledError:  # by uvicorn, when the server is stopped and its patience at an end
            if not sent.begun:
                stopped = Fault(503, "cancelled", "the server is being stopped", retry_after_s=5.0)
                await reply_to(stopped, dialect)(scope, receive, guarded)
        except Exception as exc:
            fault = fault_of(exc)
            if fault.status == 500:
                self._log("request.failed", exc)
            if sent.begun:  # it was answered in part, or the app's own handler has answered
                return
            response = self._page(fault) if dialect == PAGE else reply_to(fault, dialect)
            if fault.status == 401:
                kind = 'Basic realm="webfetch", charset="UTF-8"' if dialect == PAGE else "Bearer"
                response.headers["WWW-Authenticate"] = kind
            if fault.status in (408, 413) or fault.kind == "ambiguous_body":
                response.headers["Connection"] = "close"  # what is left of the body is not read
            if fault.status == 413 and "expect" not in headers:  # who asks first does not send it
                await _discard(receive)
            await response(scope, receive, guarded)

    # ---- who may ask -----------------------------------------------------------------------------

    def _check(self, scope: Scope, headers: dict[str, str]) -> None:
        settings = self._settings
        names = [name.lower() for name, _ in scope["headers"]]
        if any(names.count(name) > 1 for name in _ONCE):
            raise Fault(400, "bad_request", "a header that there may be one of is there twice")
        if "transfer-encoding" in headers and "content-length" in headers:
            raise Fault(400, "ambiguous_body", "a length and an encoding of the body at the same time")
        if not host_allowed(headers.get("host", ""), settings.host, settings.allow_hosts):
            raise Fault(
                421,
                "wrong_host",
                "this server does not go by the name in the Host header",
                fix="start it with --allow-host NAME if it should",
            )
        # Whoever names a proxy to trust leaves it to that one to say who may ask.
        if not self._token and not settings.trust_forwarded and came_from_afar(headers):
            raise Fault(
                403,
                "no_token",
                "a proxy hands on requests of other machines, and this server has no token",
                fix=f"set {settings.token_env or 'token_env'} to a long random text",
            )
        first = scope["path"] in ("/", "/healthz") and not scope.get("query_string")
        if not (first and scope["method"] in ("GET", "HEAD")) and not origin_allowed(
            headers, settings.allow_origins
        ):
            raise Fault(
                403,
                "wrong_origin",
                "pages of other sites may not call this server",
                fix="start it with --allow-origin ORIGIN if this one should",
            )
        if scope["path"] == "/healthz":
            return
        client = client_of((scope.get("client") or ("unknown",))[0])
        wait = self._rates.take(client, asyncio.get_running_loop().time())
        if wait:
            raise Fault(429, "rate_limited", "too many requests from this client", retry_after_s=wait)

    @staticmethod
    def _open_to_all(scope: Scope) -> bool:
        return bool(scope["path"] == "/healthz")

    def _in_body(self, body: bytes) -> bool:
        try:
            given = json.loads(body)
        except (ValueError, RecursionError):
            return False
        key = given.get("api_key") if isinstance(given, dict) else None
        return isinstance(key, str) and matches([key], self._token)

    async def _preflight(self, scope: Scope, headers: dict[str, str], send: Send, receive: Receive) -> bool:
        if scope["method"] != "OPTIONS" or "access-control-request-method" not in headers:
            return False
        self._check(scope, headers)
        response = TextReply("", 204)
        response.headers.update(preflight_headers(headers))
        await response(scope, receive, send)
        return True

    def _extra(self, headers: dict[str, str]) -> list[tuple[bytes, bytes]]:
        origin = headers.get("origin", "")
        if not origin or not origin_listed(origin, self._settings.allow_origins):
            return []
        return [
            (b"access-control-allow-origin", origin.encode("latin-1", "replace")),
            (b"access-control-expose-headers", b"Retry-After, Mcp-Session-Id, WWW-Authenticate"),
            (b"cross-origin-resource-policy", b"cross-origin"),
            (b"vary", b"Origin"),
        ]

    # ---- the request as a whole ------------------------------------------------------------------

    async def _body(self, headers: dict[str, str], receive: Receive) -> bytes:
        try:
            length = headers.get("content-length", "")
            return await read_body(receive, length, self._settings.max_body_bytes, BODY_S)
        except BodyRefused as exc:
            raise Fault(exc.status, _BODY_KINDS[exc.status], exc.told) from None

    async def _forward(self, scope: Scope, body: bytes, receive: Receive, send: Send, sent: _Sent) -> None:
        gone: asyncio.Task[Message] = asyncio.ensure_future(_disconnect(receive))
        given = False

        async def replay() -> Message:
            nonlocal given
            if not given:
                given = True
                return {"type": "http.request", "body": body, "more_body": False}
            return await asyncio.shield(gone)

        work = asyncio.ensure_future(_run(self._app, scope, replay, send))
        try:
            await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
            # A complete answer ends the wait as a hang-up does, but what comes after it is not cut off.
            if not work.done() and not sent.finished:
                work.cancel()
                await asyncio.wait({work})
                raise HungUp
            await work
        finally:
            gone.cancel()
            if not work.done():
                work.cancel()


@define
class _Sent:
    """How far an answer is."""

    begun: bool = False
    finished: bool = False


def _unauthorized() -> Fault:
    return Fault(401, "unauthorized", "a bearer token is needed, and it is missing or wrong")


async def _discard(receive: Receive) -> None:
    """Read on for a little: a client that is cut off while it sends does not see the answer."""
    size = 0
    with suppress(TimeoutError):
        async with asyncio.timeout(DISCARD_S):
            while size < DISCARD_BYTES:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return
                size += len(message.get("body", b""))
                if not message.get("more_body"):
                    return


async def _run(app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
    await app(scope, receive, send)


async def _disconnect(receive: Receive) -> Message:
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return message


def _headers(scope: Scope) -> dict[str, str]:
    """Header names and values; where one came twice, the last."""
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}


def _with_headers(send: Send, extra: list[tuple[bytes, bytes]], sent: _Sent) -> Send:
    async def sending(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            sent.begun = True
            own = list(message.get("headers", ()))
            names = {name.lower() for name, _ in own} | {name for name, _ in extra}
            added = [header for header in SECURITY_HEADERS if header[0] not in names]
            message = {**message, "headers": [*own, *extra, *added]}
        elif message["type"] == "http.response.body" and not message.get("more_body"):
            sent.finished = True  # before it is sent: the wait for a hang-up may end right then
        await send(message)

    return sending
