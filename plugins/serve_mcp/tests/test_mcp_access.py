"""The gate and the book of sessions, without a server: what comes through, who makes room."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from webfetch_serve_mcp import access
from webfetch_serve_mcp.access import Gate
from webfetch_serve_mcp.sessions import SessionBook
from webfetch_serve_mcp.settings import McpSettings

Sent = list[dict[str, Any]]


def ask(
    *messages: dict[str, Any], settings: McpSettings | None = None, method: str = "POST", **headers: str
) -> tuple[Sent, list[bytes]]:
    """What a request is answered with, and the bodies that came through."""
    waiting, sent, through = list(messages), Sent(), list[bytes]()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        through.append((await receive())["body"])
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def receive() -> Any:
        if not waiting:
            await asyncio.Event().wait()
        return waiting.pop(0)

    async def send(message: Any) -> None:
        sent.append(message)

    named = {"host": "localhost", **{k.replace("_", "-"): v for k, v in headers.items()}}
    scope = {
        "type": "http",
        "path": "/mcp",
        "method": method,
        "headers": [(k.encode(), v.encode("latin-1")) for k, v in named.items()],
    }
    asyncio.run(Gate(app, settings or McpSettings(), "")(scope, receive, send))
    return sent, through


def body(data: bytes, more: bool = False) -> dict[str, Any]:
    return {"type": "http.request", "body": data, "more_body": more}


def test_a_message_comes_whole() -> None:
    sent, through = ask(body(b"{", True), body(b"}"))
    assert through == [b"{}"] and sent[0]["status"] == 200


def test_a_message_that_trickles_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access, "BODY_S", 0.05)
    sent, through = ask(body(b"{", True))
    assert not through and sent[0]["status"] == 408
    assert (b"connection", b"close") in sent[0]["headers"]


def test_one_that_is_too_large_is_refused_before_it_is_read() -> None:
    small = McpSettings(max_message_bytes=1_024)
    for sent, through in (
        ask(settings=small, content_length="1025"),
        ask(body(b"x" * 1_000, True), body(b"x" * 25), settings=small),
    ):
        assert not through and sent[0]["status"] == 413


def test_a_client_that_hung_up_is_not_answered() -> None:
    assert ask(body(b"{", True), {"type": "http.disconnect"}) == ([], [])


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_pages_of_other_sites_are_refused_without_an_origin_too(method: str) -> None:
    sent, through = ask(body(b""), method=method, sec_fetch_site="cross-site")
    assert not through and sent[0]["status"] == 403
    told = json.loads(sent[1]["body"])
    assert told["jsonrpc"] == "2.0" and told["id"] is None and "origin" in told["error"]["message"]


def test_a_listed_page_may_send_what_its_client_asks_to() -> None:
    listed = McpSettings(allow_origins=("https://chat.example",))
    asked = {"access-control-request-method": "DELETE", "access-control-request-headers": "mcp-method, x-own"}
    sent, _ = ask(settings=listed, method="OPTIONS", origin="https://chat.example", **asked)
    told = dict(sent[0]["headers"])
    assert sent[0]["status"] == 204
    assert told[b"access-control-allow-headers"] == b"mcp-method, x-own"
    assert b"DELETE" in told[b"access-control-allow-methods"]


def test_two_lengths_of_one_body_are_refused() -> None:
    sent, through = ask(body(b"{}"), content_length="2", transfer_encoding="chunked")
    assert not through and sent[0]["status"] == 400 and (b"connection", b"close") in sent[0]["headers"]


def test_behind_a_proxy_there_must_be_a_token() -> None:
    sent, through = ask(body(b"{}"), x_forwarded_for="203.0.113.9")
    assert not through and sent[0]["status"] == 403 and b"token is needed" in sent[1]["body"]
    assert ask(body(b"{}"), x_forwarded_for="127.0.0.1")[1] == [b"{}"]


# ---- sessions ------------------------------------------------------------------------------------


def test_whoever_has_most_sessions_gives_one_up() -> None:
    book = SessionBook(most=4, idle_s=100)
    for at, (session, client) in enumerate([("a1", "a"), ("b1", "b"), ("b2", "b"), ("b3", "b")]):
        book.opened(session, client, float(at))
    assert book.full() and book.leaves("c", 5.0) == "b1", "not the oldest of all"
    book.begins("b1", 5.0)
    assert book.leaves("c", 5.0) == "b2"
    book.ends("b1", 6.0)
    assert book.leaves("c", 6.0) == "b2", "it was quiet for longer"
    for at_work in ("b1", "b2", "b3"):
        book.begins(at_work, 7.0)
    assert book.leaves("b", 7.0) == "a1", "nobody else can"
    book.begins("a1", 7.0)
    assert book.leaves("c", 7.0) is None


def test_one_that_the_sdk_has_ended_goes_first() -> None:
    book = SessionBook(most=2, idle_s=100)
    book.opened("old", "a", 0.0)
    book.opened("young", "b", 90.0)
    book.opened("younger", "b", 95.0)
    assert book.leaves("c", 100.5) == "old"


@given(st.lists(st.tuples(st.sampled_from("ob-x"), st.integers(0, 5), st.sampled_from("ab")), max_size=60))
def test_nobody_at_work_is_ended(steps: list[tuple[str, int, str]]) -> None:
    book, work = SessionBook(most=3, idle_s=1_000), dict[str, int]()
    for now, (what, number, client) in enumerate(steps):
        session = str(number)
        if what == "o" and session not in work:
            while book.full() and (leaving := book.leaves(client, now)):
                assert work.pop(leaving) == 0
                book.forget(leaving)
            if not book.full():
                book.opened(session, client, now)
                work[session] = 0
        elif what == "b" and session in work:
            book.begins(session, now)
            work[session] += 1
        elif what == "-" and work.get(session):
            book.ends(session, now)
            work[session] -= 1
        elif what == "x":
            book.forget(session)
            work.pop(session, None)
        assert len(work) <= 3
