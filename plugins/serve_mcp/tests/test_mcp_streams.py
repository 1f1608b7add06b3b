"""Over HTTP: what takes the place of a session, and what ends with the server or is waited for."""

from __future__ import annotations

import json
import re
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import httpx2
import pytest

TOKEN = "a-token-of-the-tests-0123456789"
HEADERS = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "0"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
Served = Callable[..., tuple[Any, str]]


def message(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


HELLO = message(
    "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "t", "version": "0"}
)
LISTEN = message("subscriptions/listen", notifications={"toolsListChanged": True}, _meta=META)


def newer(method: str, **more: str) -> dict[str, str]:
    return {**HEADERS, "mcp-protocol-version": "2026-07-28", "mcp-method": method, **more}


@pytest.fixture
def served(raw: Any) -> Served:
    def start(*words: str, **more: str) -> tuple[Any, str]:
        server = raw("--http", "--port", "0", *words, **more)
        while not (found := re.search(r"MCP on (http://\S+)", server.errors)):
            assert server.process.poll() is None, server.errors
            time.sleep(0.01)
        return server, found[1]

    return start


def session_of(http: httpx2.Client, url: str) -> str:
    return str(http.post(url, headers=HEADERS, json=HELLO).headers["mcp-session-id"])


def ping(http: httpx2.Client, url: str, session: str) -> int:
    asked = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
    return int(http.post(url, headers={**HEADERS, "mcp-session-id": session}, json=asked).status_code)


def test_what_needs_no_session_takes_the_place_of_none(served: Served) -> None:
    """Streams and calls of the newer era, what is no message, and other methods."""
    _, url = served("--set", "plugins.serve_mcp.max_sessions=2", "--deadline", "60")
    with httpx2.Client(timeout=60) as http, ExitStack() as stack:
        sessions = [session_of(http, url) for _ in range(2)]
        for _ in range(3):
            listening = http.stream("POST", url, headers=newer("subscriptions/listen"), json=LISTEN)
            assert stack.enter_context(listening).status_code == 200
        asked = message("tools/list", _meta=META)
        for _ in range(3):
            assert http.post(url, headers=newer("tools/list"), json=asked).status_code == 200
        for content in (b"[]", b"{", b'{"method": 1}', json.dumps(message("ping")).encode(), b"\xff"):
            assert http.post(url, headers=HEADERS, content=content).status_code >= 400
        for method in ("GET", "DELETE", "PUT"):
            assert http.request(method, url, headers=HEADERS).status_code >= 400
        assert [ping(http, url, session) for session in sessions] == [200, 200]
        third = session_of(http, url)
        assert [ping(http, url, one) for one in (*sessions, third)] == [404, 200, 200]


def test_without_the_token_no_session_is_touched(served: Served) -> None:
    _, url = served("--set", "plugins.serve_mcp.max_sessions=1", WEBFETCH_MCP_TOKEN=TOKEN)
    with httpx2.Client(timeout=60) as http:
        shown = {**HEADERS, "authorization": f"Bearer {TOKEN}"}
        session = http.post(url, headers=shown, json=HELLO).headers["mcp-session-id"]
        for method in ("OPTIONS", "GET", "POST", "DELETE", "PUT", "TRACE"):
            refused = http.request(method, url, headers={**HEADERS, "mcp-session-id": session})
            assert refused.status_code in (401, 405), method
            assert "mcp-session-id" not in refused.headers
            assert http.request(method, url, headers=HEADERS).status_code in (401, 405), method
        asked = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
        assert http.post(url, headers={**shown, "mcp-session-id": session}, json=asked).status_code == 200


def test_a_listed_page_may_read_why_it_was_refused(served: Served) -> None:
    page = "https://chat.example"
    _, url = served("--set", f"plugins.serve_mcp.allow_origins=['{page}']", WEBFETCH_MCP_TOKEN=TOKEN)
    with httpx2.Client(timeout=60) as http:
        for to, status in ((url, 401), (url + "x", 404)):
            refused = http.post(to, headers={**HEADERS, "origin": page}, json=HELLO)
            assert refused.status_code == status
            assert refused.headers["access-control-allow-origin"] == page
            assert refused.json()["error"]["message"]


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("era", ["older", "newer"])
def test_a_stop_waits_for_calls_and_not_for_streams_of_news(served: Served, stage: Any, era: str) -> None:
    """The stage's engine waits for ``slow-s``; the streams would last for ever."""
    server, url = served("--deadline", "100", "--set", "plugins.serve_mcp.drain_s=100")
    with httpx2.Client(timeout=100) as http, ExitStack() as stack:
        session = session_of(http, url)
        used = {**HEADERS, "mcp-session-id": session}
        assert stack.enter_context(http.stream("GET", url, headers=used)).status_code == 200
        listening = http.stream("POST", url, headers=newer("subscriptions/listen"), json=LISTEN)
        assert stack.enter_context(listening).status_code == 200
        if era == "older":
            headers, more = used, {}
        else:
            headers, more = newer("tools/call", **{"mcp-name": "web_search"}), {"_meta": META}
        asked = message("tools/call", name="web_search", arguments={"query": "slow-s"}, **more)
        answers: list[Any] = []
        calling = threading.Thread(
            target=lambda: answers.append(httpx2.post(url, headers=headers, json=asked, timeout=100))
        )
        calling.start()
        while not (stage.folder / "reached-slow-s").exists():
            time.sleep(0.01)
        server.process.send_signal(signal.SIGTERM)
        while True:  # until it takes no connection any more, so is draining
            try:
                httpx2.get(url.removesuffix("/mcp") + "/healthz", timeout=60)
            except httpx2.TransportError:
                break
            time.sleep(0.01)
        stage.release("slow-s")
        calling.join(100)
        assert answers and answers[0].status_code == 200
        assert "slow-s" in answers[0].text and "isError" not in answers[0].text.replace('"isError":false', "")
    assert server.wait() == 0
    assert "Traceback" not in server.errors


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_call_that_is_too_long_for_the_stop_is_told_so(served: Served, stage: Any) -> None:
    server, url = served("--deadline", "100", "--set", "plugins.serve_mcp.drain_s=1")
    asked = message("tools/call", name="web_search", arguments={"query": "slow-t"}, _meta=META)
    answers: list[Any] = []
    headers = newer("tools/call", **{"mcp-name": "web_search"})
    calling = threading.Thread(
        target=lambda: answers.append(httpx2.post(url, headers=headers, json=asked, timeout=100))
    )
    calling.start()
    while not (stage.folder / "reached-slow-t").exists():
        time.sleep(0.01)
    server.process.send_signal(signal.SIGTERM)
    calling.join(100)
    assert answers[0].status_code == 503 and answers[0].headers["retry-after"] == "5"
    assert answers[0].json()["error"]["message"] == "the server is being stopped"
    assert server.wait() == 0
    assert "Traceback" not in server.errors
