"""The engine over a real loopback server: the transport is compiled, no mock can see into it."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs

import pytest
from webfetch_search_ddg.engine import DdgEngine
from webfetch_search_ddg.plugin import webfetch_search_engines
from webfetch_search_ddg.settings import DdgSettings

from webfetch_core.api import (
    BadQuery,
    BadResponse,
    Blocked,
    Freshness,
    RateLimited,
    SearchRequest,
    TimedOut,
    Unavailable,
)

CASES = Path(__file__).parents[3].parent / "shared" / "cases" / "inputs"
CLOCK = SimpleNamespace(monotonic=time.monotonic, time=time.time)


def page(*urls: str) -> bytes:
    rows = (f'<div class="result"><a class="result__a" href="{u}">{u}</a></div>' for u in urls)
    return ("<html><body>" + "".join(rows) + "</body></html>").encode()


class Site:
    """Answers every request with ``status``, ``headers`` and ``body``; remembers what it was asked."""

    def __init__(self) -> None:
        self.status, self.headers, self.body = 200, {"Content-Type": "text/html"}, page("https://a.example/")
        self.drip_s, self.declared = 0.0, None
        self.asked: list[tuple[str, str, dict[str, str], dict[str, list[str]]]] = []
        site = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                raw = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
                sent = {k.lower(): v for k, v in self.headers.items()}
                site.asked.append((self.command, self.path, sent, parse_qs(raw, keep_blank_values=True)))
                self.send_response(site.status)
                for name, value in site.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(site.declared or len(site.body)))
                self.end_headers()
                try:
                    if site.drip_s:
                        for i in range(len(site.body)):
                            self.wfile.write(site.body[i : i + 1])
                            time.sleep(site.drip_s)
                    else:
                        self.wfile.write(site.body)
                except OSError:
                    pass
                self.close_connection = site.declared is not None

            do_GET = do_POST

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}/html/"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    made = Site()
    yield made
    made.close()


@pytest.fixture
def engine(site: Site) -> DdgEngine:
    return DdgEngine(DdgSettings(base_url=site.url), CLOCK)


def ask(engine: DdgEngine, query: str = "tide gauge", **more: Any) -> list[str]:
    return [hit.url for hit in engine.search(SearchRequest(query=query, **more))]


def test_one_form_post_with_browser_headers(site: Site, engine: DdgEngine) -> None:
    assert ask(engine, freshness=Freshness.RECENT, language="de") == ["https://a.example/"]
    [(method, path, headers, fields)] = site.asked
    assert (method, path) == ("POST", "/html/")
    assert fields == {"q": ["tide gauge"], "b": [""], "kl": ["de-de"], "df": ["m"]}
    assert headers["referer"] == site.url.removesuffix("html/")
    assert headers["accept-language"].startswith("de-DE")
    assert "Mozilla" in headers["user-agent"]


def test_the_user_agent_stays_the_same(site: Site, engine: DdgEngine) -> None:
    ask(engine), ask(engine)
    assert len({headers["user-agent"] for _, _, headers, _ in site.asked}) == 1


def test_limit_and_domains_are_applied_to_the_hits(site: Site, engine: DdgEngine) -> None:
    site.body = page(
        "https://a.example/1", "https://b.example/", "https://x.a.example/2", "https://c.example/"
    )
    assert ask(engine, limit=2) == ["https://a.example/1", "https://b.example/"]
    assert ask(engine, include_domains=("a.example",)) == ["https://a.example/1", "https://x.a.example/2"]
    assert ask(engine, exclude_domains=("a.example",), limit=1) == ["https://b.example/"]


def test_packed_replies_are_inflated(site: Site, engine: DdgEngine) -> None:
    site.headers["Content-Encoding"], site.body = "gzip", gzip.compress(site.body)
    assert ask(engine) == ["https://a.example/"]


def test_redirects_are_not_followed(site: Site, engine: DdgEngine) -> None:
    other = Site()
    try:
        site.status, site.headers["Location"], site.body = 302, other.url, b""
        with pytest.raises(Unavailable, match=r"redirected to 127\.0\.0\.1"):
            ask(engine)
        assert other.asked == []
    finally:
        other.close()


@pytest.mark.parametrize(
    ("status", "kind"),
    [(202, Blocked), (403, Blocked), (429, RateLimited), (503, Unavailable), (404, BadResponse)],
)
def test_statuses_are_seen(site: Site, engine: DdgEngine, status: int, kind: type[Exception]) -> None:
    site.status, site.body = status, b""
    with pytest.raises(kind):
        ask(engine)


def test_retry_after_is_passed_on(site: Site, engine: DdgEngine) -> None:
    site.status, site.headers["Retry-After"] = 429, "17"
    with pytest.raises(RateLimited) as caught:
        ask(engine)
    assert caught.value.retry_after_s == 17.0


def test_the_deadline_bounds_the_whole_exchange(site: Site, engine: DdgEngine) -> None:
    site.drip_s = 0.25  # a byte at a time: the whole answer would take minutes
    began = time.monotonic()
    with pytest.raises(TimedOut):
        ask(engine, deadline=began + 1.0)
    assert time.monotonic() - began < 20


def test_no_request_when_no_time_is_left(site: Site, engine: DdgEngine) -> None:
    with pytest.raises(TimedOut):
        ask(engine, deadline=time.monotonic() - 1)
    assert site.asked == []


def test_a_reply_that_breaks_off_is_unavailable(site: Site, engine: DdgEngine) -> None:
    site.declared = 10_000
    with pytest.raises(Unavailable, match="cannot be reached"):
        ask(engine)


def test_a_flood_is_cut_off(site: Site, engine: DdgEngine) -> None:
    site.body = b"x" * 4_200_000
    with pytest.raises(BadResponse, match="larger than"):
        ask(engine)


def test_no_server_is_unavailable(site: Site) -> None:
    site.close()
    with pytest.raises(Unavailable, match=r"refused|cannot be reached"):
        ask(DdgEngine(DdgSettings(base_url=site.url), CLOCK))


@pytest.mark.parametrize("query", ["", "  \n"])
def test_an_empty_query_is_refused_before_any_request(site: Site, engine: DdgEngine, query: str) -> None:
    with pytest.raises(BadQuery):
        ask(engine, query)
    assert site.asked == []


@pytest.mark.parametrize("base_url", ["", "ftp://x.example/", "html.duckduckgo.com/html", "http://[x"])
def test_a_bad_base_url_is_named(base_url: str) -> None:
    with pytest.raises(ValueError, match="'base_url' must be"):
        DdgSettings(base_url=base_url)


def test_the_declaration() -> None:
    [provider] = webfetch_search_engines()
    assert (provider.name, provider.timeout_s, provider.max_concurrency) == ("ddg", 5.0, 2)
    assert provider.traits.usd_per_1k == 0.0
    engine = provider.build(None, SimpleNamespace(clock=CLOCK))
    assert hasattr(engine, "search")


def test_declaring_imports_no_library() -> None:
    code = (
        "import sys, webfetch_search_ddg.plugin as p; p.webfetch_search_engines();"
        "print([m for m in ('ddgs', 'primp', 'lxml') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("case", ["C001", "C003", "C005", "C300"])
def test_replies_that_broke_others(site: Site, engine: DdgEngine, case: str) -> None:
    folder = CASES / case
    if not folder.is_dir():
        pytest.skip("no shared cases beside the repository")
    exchange = json.loads((folder / "http.json").read_text())["exchanges"][0]
    expected = json.loads((folder / "expected.json").read_text())["error_kind"]
    site.status, site.headers, site.body = exchange["status"], exchange["headers"], exchange["body"].encode()
    with pytest.raises((Blocked, BadResponse)) as caught:
        ask(engine, "lake orvane depth")
    assert caught.value.kind in expected
