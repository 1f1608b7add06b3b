"""Whoever hangs up is worked for no longer: real connections, and parts that hold their answers."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable
from typing import Any

import pytest

from webfetch_core import Settings
from webfetch_core.testing import Hang, LoopbackSite, ScriptedEngine, ScriptedFetcher, loopback_http

WARP = "https://loom.example/warp"
FAR = Settings(extract_workers=0, deadline_s=60.0, engine_timeout_s=60.0, fetch_timeout_s=60.0)
FAR_S = {"search_deadline_s": 60.0, "scrape_deadline_s": 60.0}
SOON_S = 20.0

SEARCHES = [
    ("POST", "/api/v1/search", {"query": "warp"}),
    ("POST", "/search", {"query": "warp"}),
    ("POST", "/v2/search", {"query": "warp"}),
    ("POST", "/openwebui/search", {"query": "warp"}),
    ("GET", "/?q=warp&format=json", None),
    ("GET", "/?q=warp", None),
]
FETCHES = [
    ("POST", "/api/v1/fetch", {"url": WARP}),
    ("POST", "/extract", {"urls": WARP}),
    ("POST", "/v2/scrape", {"url": WARP}),
    ("POST", "/openwebui/load", {"urls": [WARP]}),
    ("GET", f"/r/{WARP}", None),
]


def wait_for(condition: Callable[[], Any]) -> None:
    ends = time.monotonic() + SOON_S
    while not condition():
        assert time.monotonic() < ends, "it does not come to that"
        time.sleep(0.01)


def connected(server: Any, method: str, path: str, given: Any) -> socket.socket:
    """A connection on which that was asked."""
    body = b"" if given is None else json.dumps(given).encode()
    kind = "Content-Type: application/json\r\n" if body else "Accept: text/html\r\n"
    head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{kind}Content-Length: {len(body)}\r\n\r\n"
    connection = socket.create_connection(("127.0.0.1", server.port), timeout=30)
    connection.sendall(head.encode() + body)
    return connection


@pytest.mark.parametrize(("method", "path", "given"), SEARCHES, ids=[path for _, path, _ in SEARCHES])
def test_who_hangs_up_on_a_search_frees_its_worker(serve: Any, method: str, path: str, given: Any) -> None:
    hang = Hang(at_most_s=60.0)
    engine = ScriptedEngine(hang, [WARP])
    server = serve(engine=engine, core=FAR, workers=1, queue=1, **FAR_S)
    try:
        connection = connected(server, method, path, given)
        wait_for(lambda: engine.calls)
        assert server.desk.running == 1
        connection.close()
        wait_for(lambda: server.desk.running == 0)
        assert not hang.released.is_set()
        reply = server.post("/api/v1/search", {"query": "edge"})
        assert reply.status == 200
        assert [hit["url"] for hit in reply.json["hits"]] == [WARP]
        assert len(engine.calls) == 2
    finally:
        hang.released.set()


@pytest.mark.parametrize(("method", "path", "given"), FETCHES, ids=[path for _, path, _ in FETCHES])
def test_who_hangs_up_on_a_page_frees_its_worker(serve: Any, method: str, path: str, given: Any) -> None:
    hang, asked = Hang(), []

    def page(request: Any) -> str:
        asked.append(request.url)
        if len(asked) == 1:
            hang.released.wait(60.0)
        return "The warp is long."

    server = serve(fetcher=ScriptedFetcher({WARP: page}), core=FAR, workers=1, queue=1, **FAR_S)
    try:
        connection = connected(server, method, path, given)
        wait_for(lambda: asked)
        connection.close()
        wait_for(lambda: server.desk.running == 0)
        assert not hang.released.is_set()
        reply = server.post("/api/v1/fetch", {"url": WARP})
        assert (reply.status, reply.json["text"]) == (200, "The warp is long."), (
            "it is not said to have failed"
        )
    finally:
        hang.released.set()


def test_one_request_for_many_pages_frees_all_of_their_workers(serve: Any) -> None:
    hang, asked = Hang(), []

    def page(request: Any) -> str:
        asked.append(request.url)
        hang.released.wait(60.0)
        return "The warp is long."

    urls = [f"https://loom.example/{n}" for n in range(6)]
    fetcher = ScriptedFetcher(dict.fromkeys(urls, page))
    server = serve(fetcher=fetcher, core=FAR, workers=3, queue=10, **FAR_S)
    try:
        connection = connected(server, "POST", "/extract", {"urls": urls})
        wait_for(lambda: len(asked) == 3)
        connection.close()
        wait_for(lambda: server.desk.running == server.desk.admitted == 0)
        assert len(asked) == 3, "the others were not begun"
    finally:
        hang.released.set()


class Fetcher:
    """Fetches a page over the network."""

    def __init__(self, http: Any) -> None:
        self._http = http

    def fetch(self, request: Any) -> Any:
        return self._http.fetch_page(request.url, deadline=request.deadline)


class RealClock:
    monotonic = staticmethod(time.monotonic)
    time = staticmethod(time.time)


def test_pages_that_hang_keep_nobody_from_their_host_once_their_client_hangs_up(serve: Any) -> None:
    """More of them than the host takes at a time."""

    def to_loopback(host: str, port: int, family: int, kind: int) -> list[tuple[Any, ...]]:
        return [(socket.AF_INET, kind, 6, "", ("127.0.0.1", port))]

    with (
        LoopbackSite() as site,
        loopback_http(RealClock(), allow=["127.0.0.1"], resolve=to_loopback) as http,
    ):
        base = f"http://loom.example:{site.port}"
        urls = [f"{base}/hang/{n}" for n in range(6)]
        for n in range(6):
            site.add(f"/hang/{n}", hang=True)
        site.add("/warp", "The warp is long.", headers={"Content-Type": "text/plain; charset=utf-8"})
        server = serve(fetcher=Fetcher(http), core=FAR, workers=6, queue=10, **FAR_S)
        connection = connected(server, "POST", "/extract", {"urls": urls})
        wait_for(lambda: len(site.paths) == 4)
        connection.close()
        wait_for(lambda: server.desk.running == server.desk.admitted == server.wf.host.caller.abandoned == 0)
        reply = server.post("/api/v1/fetch", {"url": f"{base}/warp"})
        assert (reply.status, reply.json["text"]) == (200, "The warp is long.")
