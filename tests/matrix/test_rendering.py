"""Plain HTTP first, a real Chromium where that gave too little: through every real plugin, over loopback."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from webfetch_core import Settings, Webfetch
from webfetch_core.errors import WebfetchError
from webfetch_core.settings import NetSettings
from webfetch_core.testing import LoopbackSite, ScriptedEngine, fake_plugin
from webfetch_core.testing.site import Received, Reply

pytest.importorskip("webfetch_fetch_browser")

STAGES = ("fetch_http", "fetch_browser", "extract_html", "rank_bm25", "compress_sentences", "cache_lmdb")
FACT = "The lamp of Orvane burns colza oil, and Ada Quill lights it at dusk."
STORY = (
    f"<article><h1>The lamp</h1>{f'<p>{FACT} Nobody else may touch it before the morning.</p>' * 4}</article>"
)
SHELL = (
    "<!doctype html><html lang=en><title>The lamp</title><noscript>Enable JavaScript.</noscript>"
    "<div id=root></div>"
    "<script>fetch('/data').then(r => r.text()).then(t => root.innerHTML = t)</script>"
)
SHORT = "<!doctype html><title>Hours</title><h1>Opening hours</h1><p>Daily from nine to five, in summer.</p>"


def from_a_browser(request: Received) -> bool:
    return "Chrome/" in request.headers.get("user-agent", "")


def walled(request: Received) -> Reply:
    if from_a_browser(request):
        return Reply(body=f"<!doctype html><title>The lamp</title>{STORY}".encode())
    return Reply(status=403, body=b"<title>Access denied</title>")


@pytest.fixture(scope="module")
def site() -> Iterator[LoopbackSite]:
    with LoopbackSite() as running:
        running.add("/shell", SHELL).add("/data", STORY).add("/short", SHORT).add("/walled", walled)
        yield running


@pytest.fixture(scope="module")
def host(site: LoopbackSite, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Webfetch]:
    home: Path = tmp_path_factory.mktemp("home")
    urls = [site.url(path) for path in ("/shell", "/short", "/walled")]
    settings = Settings(
        home=str(home),
        allow_plugins=STAGES,
        net=NetSettings(allow_hosts=("127.0.0.1",)),
        extract_workers=0,
        fetch_timeout_s=25.0,
    )
    engine = fake_plugin("search", ScriptedEngine(urls), "stub")
    with Webfetch(settings, plugins=[engine], environ=os.environ) as opened:
        (row,) = [p for p in opened.status().providers if p.name == "browser"]
        if row.state == "off":
            pytest.skip(row.reason)
        opened.warm_up("fetch", "extract", "rank")
        yield opened


@pytest.fixture
def asked(site: LoopbackSite) -> Callable[[str], list[bool]]:
    """For each request to a path from now on: whether a browser made it."""
    seen = len(site.requests)
    return lambda path: [from_a_browser(r) for r in site.requests[seen:] if r.path == path]


def test_a_page_that_scripts_build_is_rendered(host: Webfetch, site: LoopbackSite, asked: Any) -> None:
    document = host.fetch(site.url("/shell"), deadline_s=25, force_fresh=True)
    assert FACT in document.text and "thin" not in document.flags
    assert [(s.name, s.won) for s in document.steps][-1] == ("browser", True)
    assert asked("/shell") == [False, True]
    assert host.fetch(site.url("/shell")).text == document.text and asked("/shell") == [False, True]


def test_a_short_page_is_not(host: Webfetch, site: LoopbackSite, asked: Any) -> None:
    assert "Daily from nine to five" in host.fetch(site.url("/short"), force_fresh=True).text
    assert asked("/short") == [False]


def test_a_wall_is_tried_with_the_browser(host: Webfetch, site: LoopbackSite, asked: Any) -> None:
    assert FACT in host.fetch(site.url("/walled"), deadline_s=25, force_fresh=True).text
    assert asked("/walled") == [False, True]


def test_who_says_when_to_come_back_is_left_alone(host: Webfetch) -> None:
    with LoopbackSite() as busy:
        busy.add("/", "slow down", status=429, headers={"Retry-After": "30"})
        with pytest.raises(WebfetchError) as caught:
            # By another name: it is the whole host that asks, and is spared.
            host.fetch(f"http://localhost:{busy.port}/", force_fresh=True)
        assert caught.value.kind == "rate_limited" and len(busy.requests) == 1


def test_a_search_does_not_wait_for_rendering_and_has_it_the_next_time(
    host: Webfetch, site: LoopbackSite
) -> None:
    host.cache().clear("pages")
    stored: set[str] = set()
    done = threading.Event()

    def notice(event: Any) -> None:
        if event.name == "page.cached" and event.outcome == "stored":
            stored.add(event.target)
            if len(stored) == 3:
                done.set()

    host.subscribe(notice)
    first = host.search("who lights the lamp of Orvane")
    tried = {(a.provider, a.outcome) for a in first.attempts if a.stage == "fetch"}
    assert ("http", "ok") in tried and ("http", "blocked") in tried
    assert done.wait(25), stored
    again = host.search("the lamp of Orvane, who lights it")
    assert any(FACT in chunk.text for chunk in again.chunks) and not again.partial
