"""``webfetch serve http`` with every installed plugin over a folder: one server, several kinds of clients."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from webfetch_core.testing import fake_dist

pytest.importorskip("webfetch_serve_http")
pytest.importorskip("webfetch_search_local")

TOKEN = "a-token-of-these-tests-0123456789"
QUERY = "when does the ferry to the island leave"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server over two files, ended as a service manager ends it."""
    home, notes = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("notes")
    (notes / "ferry.md").write_text(
        "# The ferry\n\nThe ferry to the island leaves every hour from the northern quay.\n\n"
        "## The crew\n\nA crew of four looks after it, one of them for thirty years now.\n",
        encoding="utf-8",
    )
    (notes / "lamp.md").write_text("# The lamp\n\nThe lamp burns colza oil.\n", encoding="utf-8")
    kept = {k: v for k, v in os.environ.items() if not k.startswith("WEBFETCH_")}
    sets = [f"plugins.search_local.here={json.dumps([str(notes)])}", 'search=["local"]', "update_check=false"]
    words = [word for one in sets for word in ("--set", one)]
    process = subprocess.Popen(
        [sys.executable, "-m", "webfetch_core", *words, "serve", "http", "--port", "0"],
        env={**kept, "WEBFETCH_HOME": str(home), "WEBFETCH_HTTP_TOKEN": TOKEN},
        cwd=home,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    try:
        line = process.stdout.readline().strip()
        assert line.startswith("http://"), process.communicate(timeout=60)
        yield line
        if sys.platform != "win32":
            process.send_signal(signal.SIGTERM)
            out, err = process.communicate(timeout=120)
            assert (process.returncode, out) == (0, ""), err
            assert "Traceback" not in err and TOKEN not in err
    finally:
        process.kill()
        process.communicate()


def ask(url: str, given: Any = None) -> Any:
    body = None if given is None else json.dumps(given).encode()
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=60) as reply:
        return reply.read().decode()


@pytest.mark.slow
def test_every_api_finds_the_same(url: str) -> None:
    native = json.loads(ask(f"{url}/api/v1/search", {"query": QUERY}))
    assert "every hour" in native["excerpts"][0]["text"] and "every hour" in native["text"]
    tavily = json.loads(ask(f"{url}/search", {"query": QUERY}))
    searxng = json.loads(ask(f"{url}/search?format=json&q={QUERY.replace(' ', '+')}"))
    firecrawl = json.loads(ask(f"{url}/v2/search", {"query": QUERY}))
    first = native["excerpts"][0]["url"]
    assert first == tavily["results"][0]["url"] == searxng["results"][0]["url"]
    assert first == firecrawl["data"]["web"][0]["url"]
    assert "every hour" in ask(f"{url}/?q={QUERY.replace(' ', '+')}")


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_mcp_is_served_beside_it(url: str, mode: Any) -> None:
    anyio, httpx2 = pytest.importorskip("anyio"), pytest.importorskip("httpx2")
    mcp, http = pytest.importorskip("mcp"), pytest.importorskip("mcp.client.streamable_http")
    pytest.importorskip("webfetch_serve_mcp")

    async def work() -> None:
        with anyio.fail_after(120):
            headers = {"Authorization": f"Bearer {TOKEN}"}
            async with (
                httpx2.AsyncClient(headers=headers, timeout=120) as session,
                mcp.Client(
                    http.streamable_http_client(f"{url}/mcp", http_client=session), mode=mode
                ) as client,
            ):
                names = {tool.name for tool in (await client.list_tools()).tools}
                assert {"web_search", "fetch_url", "status"} <= names
                found = await client.call_tool("web_search", {"query": QUERY})
                assert "every hour" in found.content[0].text and not found.is_error

    anyio.run(work)


@pytest.mark.slow
def test_mcp_asks_for_the_token_too(url: str) -> None:
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(urllib.request.Request(f"{url}/mcp", b"{}"), timeout=60)
    assert caught.value.code == 401
    caught.value.close()


# ---- how it stops --------------------------------------------------------------------------------

STAGE = """
import os, time
from pathlib import Path
from webfetch_core.api import Provider, SearchHit, SearchTraits, hookimpl

HERE = Path(os.environ["STAGE"])

class Engine:
    def search(self, request):
        (HERE / "reached").touch()
        ends = time.monotonic() + 90
        while not (HERE / "go").exists() and time.monotonic() < ends:
            time.sleep(0.01)
        return [SearchHit(url="https://loom.example/warp", title="warp", snippet="the warp")]

@hookimpl
def webfetch_search_engines():
    return [Provider(name="stage", build=lambda s, c: Engine(), summary="x", timeout_s=100.0,
                     traits=SearchTraits(network=False))]
"""


def rpc(
    stack: ExitStack, place: str, method: str, asked: str, params: Any, session: str = ""
) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection(place, timeout=100)
    headers = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
    if session:
        headers["Mcp-Session-Id"] = session
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": asked, "params": params}) if asked else None
    connection.request(method, "/mcp", body, headers)
    reply = connection.getresponse()
    stack.callback(connection.close)
    stack.callback(reply.close)
    return reply


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_stop_waits_for_mcp_calls_and_not_for_streams_of_news(tmp_path: Path) -> None:
    pytest.importorskip("webfetch_serve_mcp")
    site = tmp_path / "site"
    site.mkdir()
    fake_dist(
        site, "webfetch-stage", entry_points={"stage": "webfetch_stage"}, modules={"webfetch_stage": STAGE}
    )
    kept = {k: v for k, v in os.environ.items() if not k.startswith("WEBFETCH_")}
    environ = {
        "PYTHONPATH": str(site),
        "WEBFETCH_HOME": str(tmp_path),
        "WEBFETCH_PLUGINS": "serve_http,serve_mcp,stage",
        "STAGE": str(tmp_path),
    }
    sets = ("plugins.serve_http.drain_s=100", "plugins.serve_mcp.deadline_s=100")
    words = [word for one in sets for word in ("--set", one)]
    process = subprocess.Popen(
        [sys.executable, "-m", "webfetch_core", *words, "serve", "http", "--port", "0"],
        env={**kept, **environ},
        cwd=tmp_path,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    stack, pool = ExitStack(), ThreadPoolExecutor(1)
    try:
        place = process.stdout.readline().strip().removeprefix("http://")
        about = {"name": "t", "version": "0"}
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": about}
        session = rpc(stack, place, "POST", "initialize", hello).getheader("mcp-session-id") or ""
        listening = rpc(stack, place, "GET", "", None, session)
        assert listening.status == 200
        with pool:
            call = {"name": "web_search", "arguments": {"query": "warp"}}
            asked = pool.submit(lambda: rpc(stack, place, "POST", "tools/call", call, session).read())
            ends = time.monotonic() + 60
            while not (tmp_path / "reached").exists():
                assert time.monotonic() < ends
                time.sleep(0.01)
            process.send_signal(signal.SIGTERM)
            listening.read()  # to its end, while the call goes on
            assert not asked.done()
            (tmp_path / "go").touch()
            assert b"loom.example" in asked.result(100)
        _, err = process.communicate(timeout=100)
    finally:
        process.kill()
        process.communicate()
        stack.close()
    assert process.returncode == 0, err
    assert "Traceback" not in err
