"""Who holds the sessions of the older era, and which one ends when there is no room for another.

The SDK refuses a new session while there are enough, and forgets one after half an hour without a request:
whoever opens many would keep everybody else out. Here a new session always finds room as long as some
session has no request under way.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

from attrs import define

from webfetch_core.api import client_of

from .access import Asgi, Receive, Scope, Send, answer, before

ID_HEADER = b"mcp-session-id"
OPENS, LISTENS = "initialize", "subscriptions/listen"
RETRY_S = 5
PATIENCE_S = 1.0
"""How long a new session waits for one to come to rest, where all are at work."""


@define
class _Session:
    client: str
    used: float
    open_requests: int = 0


class SessionBook:
    """The sessions that are open. Pure but for what it remembers.

    Args:
        most: sessions at the same time.
        idle_s: seconds without a request after which the SDK has ended a session.
    """

    def __init__(self, most: int, idle_s: float) -> None:
        self._most = most
        self._idle_s = idle_s
        self._sessions: dict[str, _Session] = {}
        self.opening = 0

    def opened(self, session: str, client: str, now: float) -> None:
        """``client`` has a new session."""
        self._sessions[session] = _Session(client, now)

    def begins(self, session: str, now: float) -> None:
        """A request of ``session`` begins; sessions that there are not are let pass."""
        if known := self._sessions.get(session):
            known.open_requests += 1
            known.used = now

    def ends(self, session: str, now: float) -> None:
        """A request of ``session`` has ended."""
        if known := self._sessions.get(session):
            known.open_requests -= 1
            known.used = now

    def forget(self, session: str) -> None:
        """``session`` is over."""
        self._sessions.pop(session, None)

    def full(self) -> bool:
        """Whether a new session needs the place of another."""
        return len(self._sessions) + self.opening >= self._most

    def leaves(self, client: str, now: float) -> str | None:
        """The session that ends to make room for one of ``client``: of whoever has most sessions, ``client``
        with the new one among them, the one that was quiet for longest. None where all are at work."""
        for session, known in list(self._sessions.items()):
            if not known.open_requests and now - known.used > self._idle_s:
                return session
        held: dict[str, int] = {client: 1}
        quiet: dict[str, str] = {}
        for session, known in self._sessions.items():
            held[known.client] = held.get(known.client, 0) + 1
            first = quiet.get(known.client)
            if not known.open_requests and (first is None or known.used < self._sessions[first].used):
                quiet[known.client] = session
        if not quiet:
            return None
        most = max(quiet, key=lambda one: (held[one], -self._sessions[quiet[one]].used))
        return quiet[most]


class SessionGate:
    """The SDK's application, with room for a new session where there can be.

    Args:
        clock: seconds, monotonic.
    """

    def __init__(self, app: Asgi, most: int, idle_s: float, clock: Callable[[], float]) -> None:
        self._app = app
        self._clock = clock
        self._book = SessionBook(most, idle_s)
        self._lock = asyncio.Lock()
        self._changed = asyncio.Event()
        self._draining = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand a request on; where it opens a session and there is no room, answer 503."""
        session = next((v.decode("latin-1") for k, v in scope["headers"] if k.lower() == ID_HEADER), "")
        if session:
            await self._used(session, scope, receive, send)
            return
        if scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        first = await receive()
        again = before(first, receive)
        asked = _method(first.get("body", b""))
        if asked == OPENS:
            await self._opening(scope, again, send)
        elif asked == LISTENS:
            await self._listening(scope, again, send)
        else:  # a call of the newer era, which has no sessions
            await self._app(scope, again, send)

    def drain(self) -> None:
        """End the streams on which nothing but news is waited for: whoever stops the server waits for calls
        alone."""
        self._draining.set()

    async def _used(self, session: str, scope: Scope, receive: Receive, send: Send) -> None:
        self._book.begins(session, self._clock())
        watched = _watching(send, self._ended(scope, session))
        try:
            if scope["method"] == "GET":
                await self._listening(scope, receive, watched)
            else:
                await self._app(scope, receive, watched)
        finally:
            self._rests(session)

    async def _listening(self, scope: Scope, receive: Receive, send: Send) -> None:
        """A stream of news, which ends when the server does, as if its client had hung up."""
        begun, finished = False, False

        async def sending(message: Any) -> None:
            nonlocal begun, finished
            begun = True
            finished = message["type"] == "http.response.body" and not message.get("more_body")
            await send(message)

        async def receiving() -> Any:
            got = asyncio.ensure_future(receive())
            drained = asyncio.ensure_future(self._draining.wait())
            try:
                await asyncio.wait({got, drained}, return_when=asyncio.FIRST_COMPLETED)
                return got.result() if got.done() else {"type": "http.disconnect"}
            finally:
                got.cancel()
                drained.cancel()

        await self._app(scope, receiving, sending)
        if begun and not finished:
            await send({"type": "http.response.body", "body": b""})

    async def _opening(self, scope: Scope, receive: Receive, send: Send) -> None:
        client = client_of(str((scope.get("client") or ("unknown",))[0]))
        if not await self._has_room(scope, client):
            told = "all MCP sessions are at work"
            await answer(send, 503, told, [(b"retry-after", b"%d" % RETRY_S)])
            return
        book, opened = self._book, ""

        def note(status: int, headers: dict[bytes, bytes]) -> None:
            nonlocal opened
            opened = headers.get(ID_HEADER, b"").decode("latin-1") if status < 400 else ""
            if opened:
                book.opening -= 1
                book.opened(opened, client, self._clock())
                book.begins(opened, self._clock())

        try:
            await self._app(scope, receive, _watching(send, note))
        finally:
            if opened:
                self._rests(opened)
            else:
                book.opening -= 1
                self._changed.set()

    async def _has_room(self, scope: Scope, client: str) -> bool:
        """Take the place of a new session, for which another one ends where it has to. One that has been
        answered is at work for a moment more: that is waited for."""
        book = self._book
        async with self._lock:
            ends = self._clock() + PATIENCE_S
            while book.full():
                leaving = book.leaves(client, self._clock())
                if leaving is not None:
                    book.forget(leaving)
                    await self._end(scope, leaving)
                    continue
                self._changed.clear()
                try:
                    async with asyncio.timeout(ends - self._clock()):
                        await self._changed.wait()
                except TimeoutError:
                    return False
            book.opening += 1
            return True

    def _rests(self, session: str) -> None:
        self._book.ends(session, self._clock())
        self._changed.set()

    def _ended(self, scope: Scope, session: str) -> Callable[[int, dict[bytes, bytes]], None]:
        def note(status: int, headers: dict[bytes, bytes]) -> None:
            if status == 404 or (scope["method"] == "DELETE" and status < 300):
                self._book.forget(session)

        return note

    async def _end(self, scope: Scope, session: str) -> None:
        """End a session as its client would."""
        kept = [(k, v) for k, v in scope["headers"] if k.lower() in (b"host", b"authorization")]
        ending = {**scope, "method": "DELETE", "headers": [*kept, (ID_HEADER, session.encode("latin-1"))]}

        async def nothing() -> Any:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def unread(message: Any) -> None:
            return

        await self._app(ending, nothing, unread)


def _method(body: bytes) -> str:
    """The method of a message; empty where it is none."""
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    return str(message.get("method", "")) if isinstance(message, dict) else ""


def _watching(send: Send, note: Callable[[int, dict[bytes, bytes]], None]) -> Send:
    async def sending(message: Any) -> None:
        if message["type"] == "http.response.start":
            note(message["status"], {k.lower(): v for k, v in message.get("headers", ())})
        await send(message)

    return sending
