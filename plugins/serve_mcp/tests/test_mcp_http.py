"""The server over HTTP on loopback, with the official client as it is, and with requests that are not."""

from __future__ import annotations

import json
import re
import signal
import socket
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import ExitStack, asynccontextmanager
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ToolListChangedNotification

LIMIT_S = 150.0
TOKEN = "a-token-of-the-tests-0123456789"
Run = Callable[[Callable[[], Awaitable[None]]], None]
eras = pytest.mark.parametrize("mode", ["legacy", "auto"])
HEADERS = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "0"},
    },
}


def address(server: Any) -> str:
    """Where the server says that it listens."""
    while not (found := re.search(r"MCP on (http://\S+)", server.errors)):
        assert server.process.poll() is None, server.errors
        time.sleep(0.01)
    return found[1]


@pytest.fixture
def served(raw: Any) -> Callable[..., tuple[Any, str]]:
    def start(*words: str, files: int = 0, **more: str) -> tuple[Any, str]:
        server = raw("--http", "--port", "0", *words, files=files, **more)
        return server, address(server)

    return start


@asynccontextmanager
async def connected(url: str, mode: str, token: str = "", **more: Any) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=LIMIT_S) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode, **more) as client,
    ):
        yield client


@eras
def test_the_official_client_works_as_it_is(served: Any, run: Run, mode: str) -> None:
    server, url = served(WEBFETCH_MCP_TOKEN=TOKEN, STAGE_CACHE="1")
    told: list[str] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        told.append(message or "")

    async def work() -> None:
        async with connected(url, mode, TOKEN) as client:
            assert client.protocol_version == ("2025-11-25" if mode == "legacy" else "2026-07-28")
            assert len((await client.list_tools()).tools) == 5
            found = await client.call_tool("web_search", {"query": "ferry"}, progress_callback=note)
            assert "leaves at 7:40" in found.content[0].text
            assert found.structured_content["query"] == "ferry"
            failed = await client.call_tool("web_search", {"query": "broken"})
            assert failed.is_error

    run(work)
    assert any("1 hits" in line for line in told)
    assert TOKEN not in server.errors


@eras
def test_a_cancelled_call_frees_its_place(served: Any, stage: Any, run: Run, mode: str) -> None:
    _, url = served("--set", "plugins.serve_mcp.parallel=1")

    async def work() -> None:
        async with connected(url, mode) as client:
            async with anyio.create_task_group() as group:
                group.start_soon(client.call_tool, "web_search", {"query": "slow-h"})
                await stage.reached("slow-h")
                group.cancel_scope.cancel()
            found = await client.call_tool("web_search", {"query": "ferry"})
            assert "leaves at 7:40" in found.content[0].text
            stage.release("slow-h")

    run(work)


def test_clients_at_the_same_time_do_not_see_each_others_answers(served: Any, run: Run) -> None:
    _, url = served("--deadline", "60")

    async def work() -> None:
        async def one(number: int) -> None:
            async with connected(url, "legacy" if number % 2 else "auto") as client:
                found = await client.call_tool("web_search", {"query": f"ferry number {number}"})
                assert found.structured_content["query"] == f"ferry number {number}"

        async with anyio.create_task_group() as group:
            for number in range(8):
                group.start_soon(one, number)

    run(work)


def test_sessions_of_the_older_era_are_told_of_changes(served: Any, stage: Any, run: Run) -> None:
    _, url = served("--deadline", "60", STAGE_HANG="1")

    async def work() -> None:
        told = anyio.Event()

        async def note(message: Any) -> None:
            if isinstance(message, ToolListChangedNotification):
                told.set()

        async with connected(url, "legacy", message_handler=note) as client:
            assert len((await client.list_tools()).tools) == 5
            stage.release("go")
            # It is told on a stream that the client opens behind the handshake; until then it is told again.
            while not told.is_set():
                await client.call_tool("status")
            assert len((await client.list_tools()).tools) == 4

    run(work)


def test_who_listens_is_told_of_changes(served: Any, stage: Any, run: Run) -> None:
    _, url = served(STAGE_HANG="1")

    async def work() -> None:
        async with connected(url, "auto") as client:
            assert len((await client.list_tools()).tools) == 5
            async with client.listen(tools_list_changed=True) as events:
                stage.release("go")
                async for _ in events:
                    break
            assert len((await client.list_tools()).tools) == 4

    run(work)


def test_what_is_not_allowed_is_refused_and_the_server_goes_on(served: Any) -> None:
    server, url = served("--set", "plugins.serve_mcp.max_message_bytes=4096", WEBFETCH_MCP_TOKEN=TOKEN)
    good = {**HEADERS, "authorization": f"Bearer {TOKEN}"}
    port = httpx2.URL(url).port
    with httpx2.Client(timeout=60) as http:

        def status(headers: dict[str, str], body: Any = HELLO, to: str = url) -> int:
            content = body if isinstance(body, bytes) else json.dumps(body).encode()
            return http.post(to, headers=headers, content=content).status_code

        assert status(HEADERS) == 401
        assert http.post(url, headers=HEADERS).headers["www-authenticate"] == "Bearer"
        for wrong in ("Bearer wrong", "Basic x", TOKEN, "Bearer", "Bearer " + TOKEN + "x"):
            assert status({**HEADERS, "authorization": wrong}) == 401
        assert status({**good, "host": "rebound.example"}) == 421
        assert status({**good, "host": f"rebound.example:{port}"}) == 421
        assert status({**good, "origin": "https://evil.example"}) == 403
        assert status({**good, "origin": "null"}) == 403
        assert status({**good, "origin": f"http://127.0.0.1:{port}"}) == 200
        assert status({**good, "host": f"localhost:{port}"}) == 200
        assert status(good, b"x" * 5_000) == 413
        assert status(good, b"this is not json") == 400
        assert status(good, b"[]") in (400, 200)
        assert status(good, {"jsonrpc": "2.0", "id": 1, "method": 7}) == 400
        assert status({**good, "mcp-session-id": "nobody"}) == 404
        assert status({**good, "mcp-protocol-version": "1999-01-01"}) == 400
        assert status(good, to=url + "x") == 404
        for path in ("/", "/.well-known/oauth-protected-resource", "/.well-known/oauth-authorization-server"):
            assert http.get(str(httpx2.URL(url).join(path))).status_code == 404
        doubled = [*good.items(), ("authorization", "Bearer wrong")]
        assert http.post(url, headers=doubled, json=HELLO).status_code == 401
        assert http.request("PATCH", url, headers=good).status_code == 405
        health = http.get(url.removesuffix("/mcp") + "/healthz")
        assert (health.status_code, health.text) == (200, "ok")
        assert status(good) == 200
    assert TOKEN not in server.errors
    assert "Traceback" not in server.errors


def test_pages_of_a_listed_origin_may_call_and_read(served: Any) -> None:
    page = "https://chat.example"
    _, url = served("--set", f"plugins.serve_mcp.allow_origins=['{page}']", WEBFETCH_MCP_TOKEN=TOKEN)
    good = {**HEADERS, "authorization": f"Bearer {TOKEN}", "origin": page}
    with httpx2.Client(timeout=60) as http:
        wanted = {
            "access-control-request-method": "POST",
            "access-control-request-headers": "mcp-session-id",
        }
        asked = http.options(url, headers={"origin": page, **wanted})
        assert asked.status_code == 204
        assert "mcp-session-id" in asked.headers["access-control-allow-headers"]
        answer = http.post(url, headers=good, json=HELLO)
        assert answer.status_code == 200
        assert answer.headers["access-control-allow-origin"] == page
        assert "mcp-session-id" in answer.headers["access-control-expose-headers"]
        assert http.options(url, headers={"origin": "https://evil.example"}).status_code == 403
        own = http.post(url, headers={**good, "origin": str(httpx2.URL(url).join("/"))[:-1]}, json=HELLO)
        assert own.status_code == 200
        assert "access-control-allow-origin" not in own.headers


def test_the_quietest_session_makes_room(served: Any) -> None:
    _, url = served("--set", "plugins.serve_mcp.max_sessions=2")
    with httpx2.Client(timeout=60) as http:

        def use(session: str) -> int:
            ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
            return http.post(url, headers={**HEADERS, "mcp-session-id": session}, json=ping).status_code

        first, second = (http.post(url, headers=HEADERS, json=HELLO).headers["mcp-session-id"] for _ in "ab")
        assert use(first) == 200
        third = http.post(url, headers=HEADERS, json=HELLO).headers["mcp-session-id"]
        assert [use(one) for one in (first, second, third)] == [200, 404, 200]
        assert http.delete(url, headers={**HEADERS, "mcp-session-id": first}).status_code == 200
        assert http.post(url, headers=HEADERS, json=HELLO).status_code == 200
        assert use(third) == 200, "the one that was ended has left its place"


def test_a_session_at_work_is_not_ended(served: Any) -> None:
    _, url = served("--set", "plugins.serve_mcp.max_sessions=1")
    with httpx2.Client(timeout=60) as http:
        session = http.post(url, headers=HEADERS, json=HELLO).headers["mcp-session-id"]
        with http.stream("GET", url, headers={**HEADERS, "mcp-session-id": session}) as listening:
            assert listening.status_code == 200
            refused = http.post(url, headers=HEADERS, json=HELLO)
            assert (refused.status_code, refused.headers["retry-after"]) == (503, "5")
        answer = refused
        while answer.status_code == 503:  # until the server sees that it is hung up
            answer = http.post(url, headers=HEADERS, json=HELLO)
        assert answer.status_code == 200


def test_what_opens_no_session_takes_no_place(served: Any) -> None:
    _, url = served("--set", "plugins.serve_mcp.max_sessions=1")
    with httpx2.Client(timeout=60) as http:
        for _ in range(3):
            assert http.post(url, headers=HEADERS, content=b"no json").status_code == 400
        session = http.post(url, headers=HEADERS, json=HELLO).headers["mcp-session-id"]
        headers = {**HEADERS, "mcp-session-id": session, "mcp-protocol-version": "2025-06-18"}
        listed = http.post(url, headers=headers, json={"jsonrpc": "2.0", "id": 3, "method": "tools/list"})
        assert listed.status_code == 200


@pytest.mark.skipif(sys.platform == "win32", reason="limits of POSIX")
def test_connections_that_ask_nothing_keep_nobody_out(served: Any) -> None:
    server, url = served(files=160)
    place = httpx2.URL(url)
    with ExitStack() as stack:
        for number in range(300):
            silent = stack.enter_context(socket.create_connection((place.host, place.port), timeout=60))
            if number % 2:
                silent.sendall(b"POST /mcp HTTP/1.1\r\nHost: ")
        with httpx2.Client(timeout=60) as http:
            assert http.post(url, headers=HEADERS, json=HELLO).status_code == 200
    server.process.terminate()
    assert server.wait() == 0
    assert "Traceback" not in server.errors and len(server.errors.splitlines()) < 10


def test_whoever_hangs_up_while_sending_is_no_fault(served: Any) -> None:
    server, url = served()
    place = httpx2.URL(url)
    for _ in range(3):
        with socket.create_connection((place.host, place.port), timeout=60) as cut:
            cut.sendall(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")
    with httpx2.Client(timeout=60) as http:
        assert http.post(url, headers=HEADERS, json=HELLO).status_code == 200
    server.process.terminate()
    assert server.wait() == 0
    assert "Traceback" not in server.errors


@pytest.mark.parametrize(
    ("words", "environ", "told"),
    [
        (["--host", "0.0.0.0"], {}, "a bearer token is needed"),
        (["--host", "::"], {}, "fix: set WEBFETCH_MCP_TOKEN"),
        ([], {"WEBFETCH_MCP_TOKEN": "short"}, "at least 16"),
        (["--port", "70000"], {}, "port"),
        (["--host", "192.0.2.1"], {"WEBFETCH_MCP_TOKEN": TOKEN}, "cannot listen on 192.0.2.1"),
    ],
)
def test_what_cannot_be_served_is_told_before_anything_is(
    raw: Any, words: list[str], environ: dict[str, str], told: str
) -> None:
    server = raw("--http", *words, **environ)
    assert server.wait() == 3
    assert told in server.errors
    assert "Traceback" not in server.errors


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_signal_ends_it_with_clients_connected(served: Any, run: Run) -> None:
    server, url = served()

    async def work() -> None:
        with pytest.raises(BaseException):  # noqa: B017 - the client is cut off, however it says so
            async with connected(url, "legacy") as client:
                await client.list_tools()
                server.process.send_signal(signal.SIGTERM)
                while True:
                    await client.list_tools()

    run(work)
    assert server.wait() == 0
    assert "Traceback" not in server.errors
