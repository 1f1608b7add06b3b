"""A call that its client gives up is worked on no longer: real servers, an engine that holds its answer."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from webfetch_serve_mcp.desk import LEFT_BEHIND, Desk
from webfetch_serve_mcp.settings import McpSettings

from webfetch_core import Settings, Webfetch
from webfetch_core.api import FetchTraits, Page, Provider
from webfetch_core.testing import (
    FakePlugin,
    Hang,
    LoopbackSite,
    ScriptedEngine,
    ScriptedExtractor,
    fake_plugin,
)

LIMIT_S = 150.0
Run = Callable[[Callable[[], Awaitable[None]]], None]
FAR = ("--deadline", "60", "--set", "deadline_s=60", "--set", "engine_timeout_s=60")
"""Nothing ends by its deadline before the tests have ended."""
ONE = ("--set", "plugins.serve_mcp.parallel=1")
MORE = LEFT_BEHIND + 2
"""So many calls that were given up and went on would keep every other call out."""


@asynccontextmanager
async def over_stdio(stage: Any, raw: Any, mode: str) -> AsyncIterator[Client]:
    async with Client(stage.parameters(*FAR, *ONE), mode=mode) as client:
        yield client


@asynccontextmanager
async def over_http(stage: Any, raw: Any, mode: str) -> AsyncIterator[Client]:
    server = raw("--http", "--port", "0", *FAR, *ONE)
    while not (found := re.search(r"MCP on (http://\S+)", server.errors)):
        assert server.process.poll() is None, server.errors
        await anyio.sleep(0.01)
    async with (
        httpx2.AsyncClient(timeout=LIMIT_S) as http,
        Client(streamable_http_client(found[1], http_client=http), mode=mode) as client,
    ):
        yield client


@pytest.mark.parametrize("mode", ["legacy", "auto"])
@pytest.mark.parametrize("way", [over_stdio, over_http], ids=["stdio", "http"])
def test_calls_that_were_given_up_keep_nobody_out(
    stage: Any, raw: Any, run: Run, way: Any, mode: str
) -> None:
    async def work() -> None:
        async with way(stage, raw, mode) as client:
            for number in range(MORE):
                with anyio.fail_after(30):
                    async with anyio.create_task_group() as group:
                        group.start_soon(client.call_tool, "web_search", {"query": f"slow-{number}"})
                        await stage.reached(f"slow-{number}")
                        group.cancel_scope.cancel()
            found = await client.call_tool("web_search", {"query": "ferry"})
            assert "leaves at 7:40" in found.content[0].text

    run(work)


@pytest.mark.parametrize("how", ["given up", "out of time"])
def test_the_thread_of_a_call_that_ended_before_its_work_ends_soon(
    monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    hang = Hang(at_most_s=60.0)
    engine = ScriptedEngine(hang, ["https://a.example/"])
    if how == "out of time":
        monkeypatch.setattr(McpSettings, "answer_s", 1.0)
    before = set(threading.enumerate())

    async def work(wf: Webfetch) -> None:
        desk = Desk(lambda: wf, McpSettings(deadline_s=60.0, parallel=1), owned=False)
        with anyio.fail_after(30):
            async with anyio.create_task_group() as group:
                told: list[Any] = []

                async def call() -> None:
                    told.append(await desk.call("web_search", {"query": "x"}))

                group.start_soon(call)
                while not engine.calls:
                    await anyio.sleep(0.005)
                if how == "given up":
                    group.cancel_scope.cancel()
            assert [outcome.structured["error"]["kind"] for outcome in told] == (
                [] if how == "given up" else ["timeout"]
            )
            while desk._running:
                await anyio.sleep(0.005)
            assert not hang.released.is_set()
            monkeypatch.setattr(McpSettings, "answer_s", 60.0)
            assert not (await desk.call("web_search", {"query": "x"})).is_error
        desk.close()

    patient = Settings(extract_workers=0, engine_timeout_s=60.0, deadline_s=60.0)
    slow = fake_plugin("search", engine, timeout_s=60.0)
    with Webfetch(patient, plugins=[slow], autoload=False, environ={}) as wf:
        try:
            anyio.run(work, wf)
        finally:
            hang.released.set()
    ends = time.monotonic() + 30
    while {t for t in threading.enumerate() if t.name.startswith("webfetch-mcp")} - before:
        assert time.monotonic() < ends
        time.sleep(0.01)


class Fetcher:
    """Fetches a page by the client that every plugin gets."""

    def __init__(self, context: Any) -> None:
        self._http = context.http

    def fetch(self, request: Any) -> Page:
        page: Page = self._http.fetch_page(request.url, deadline=request.deadline)
        return page


def test_pages_that_hang_keep_nobody_from_their_host_once_they_are_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """More of them than the host takes at a time: those that are read, and those that wait for a place."""
    places, calls = 2, 6
    monkeypatch.setattr(McpSettings, "answer_s", 60.0)
    fetchers = FakePlugin(
        "pages",
        {
            "fetch": [
                Provider(
                    name="pages",
                    build=lambda s, c: Fetcher(c),
                    summary="x",
                    traits=FetchTraits(),
                    timeout_s=60.0,
                    max_concurrency=40,
                )
            ]
        },
    )
    net = {"net.allow_hosts": ("127.0.0.1",), "net.per_host": places}
    patient = {"extract_workers": 0, "fetch_timeout_s": 60.0, "deadline_s": 60.0}
    settings = Settings.load({}, overrides={**net, **patient})

    async def work(wf: Webfetch, site: LoopbackSite) -> None:
        desk = Desk(lambda: wf, McpSettings(deadline_s=60.0, parallel=calls), owned=False)
        with anyio.fail_after(30):
            async with anyio.create_task_group() as group:
                for number in range(calls):
                    group.start_soon(desk.call, "fetch_url", {"url": site.url(f"/hang/{number}")})
                while len(site.paths) < places or desk._running < calls:
                    await anyio.sleep(0.005)
                group.cancel_scope.cancel()
            told = await desk.call("fetch_url", {"url": site.url("/ferry")})
            assert "leaves at 7:40" in told.text
            while desk._running or wf.host.caller.abandoned:
                await anyio.sleep(0.005)
        desk.close()

    with LoopbackSite() as site:
        for number in range(calls):
            site.add(f"/hang/{number}", hang=True)
        site.add("/ferry", "The ferry leaves at 7:40.", headers={"Content-Type": "text/plain; charset=utf-8"})
        plugins = [fetchers, fake_plugin("extract", ScriptedExtractor())]
        with Webfetch(settings, plugins=plugins, autoload=False, environ={}) as wf:
            anyio.run(work, wf, site)
