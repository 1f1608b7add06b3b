"""Pages that hang, given up by whoever asked: the whole way, over real sockets."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any

import pytest
from webfetch_fetch_http import plugin

from webfetch_core import Cancelled, CancelToken, Settings, Webfetch
from webfetch_core.api import SearchHit
from webfetch_core.testing import LoopbackSite, MemoryCache, ScriptedEngine, ScriptedExtractor, fake_plugin
from webfetch_core.testing.site import Reply

FAR_S = 60.0
SOON_S = 15.0
"""Within this, on a busy machine too, what is cancelled has ended."""

TEXT = {"Content-Type": "text/plain; charset=utf-8"}
SPAN = "The span of the bridge is 214 m."


class World:
    """A ``Webfetch`` over a site whose first answer to ``hangs`` does not come, or not whole."""

    def __init__(self, hangs: str, where: str) -> None:
        self.site = LoopbackSite().start()
        self.url = self.site.url("/p")
        self.reached, self.released = threading.Event(), threading.Event()
        self.site.add("/p", SPAN, headers=TEXT).add("/robots.txt", "User-agent: *\nAllow: /", headers=TEXT)

        def held() -> Iterator[bytes]:
            yield b"User-agent: *\nDisallow: /"
            self.reached.set()
            self.released.wait(FAR_S)

        def first(request: Any) -> Reply:
            if where == "in its body":
                return Reply(stream=held, headers=TEXT)
            self.reached.set()
            return Reply(hang=True)

        self.site.queue(hangs, first)
        settings = Settings.load(
            {},
            overrides={
                "net.allow_hosts": ("127.0.0.1",),
                "net.per_host": 1,
                "extract_workers": 0,
                "fetch_timeout_s": FAR_S,
                "deadline_s": FAR_S,
            },
        )
        engine = ScriptedEngine([SearchHit(url=self.url, title="Bridge", snippet="span")])
        plugins = [
            fake_plugin("cache", MemoryCache()),
            fake_plugin("extract", ScriptedExtractor()),
            fake_plugin("search", engine),
        ]
        named = [("fetch_http", plugin), *((p.name, p) for p in plugins)]
        self.wf = Webfetch(settings, plugins=named, autoload=False, environ={})

    def begun(self, what: str, token: CancelToken) -> Future[Any]:
        work: Callable[..., Any] = self.wf.fetch if what == "fetch" else self.wf.search
        asked = self.url if what == "fetch" else "span of the bridge"
        outcome: Future[Any] = Future()

        def run() -> None:
            try:
                outcome.set_result(work(asked, deadline_s=FAR_S, cancel=token))
            except BaseException as exc:
                outcome.set_exception(exc)

        threading.Thread(target=run, daemon=True).start()
        return outcome

    def settle(self) -> None:
        """Wait until no call is under way: threads that were left behind have ended, too."""
        ends = time.monotonic() + SOON_S
        while self.wf.host.tasks.running + self.wf.host.caller.abandoned:
            assert time.monotonic() < ends, "a thread stays behind"
            time.sleep(0.005)

    def close(self) -> None:
        self.released.set()
        self.wf.close()
        self.site.close()


@pytest.fixture
def world() -> Iterator[Callable[[str, str], World]]:
    made: list[World] = []

    def make(hangs: str, where: str) -> World:
        made.append(World(hangs, where))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.mark.parametrize("where", ["before its reply", "in its body"])
@pytest.mark.parametrize(("what", "hangs"), [("fetch", "/p"), ("search", "/p"), ("search", "/robots.txt")])
def test_what_was_given_up_is_forgotten_and_asked_again(
    world: Any, what: str, hangs: str, where: str
) -> None:
    """Neither the page, nor its host, nor its rules, nor the fetcher has failed."""
    one, token = world(hangs, where), CancelToken()
    outcome = one.begun(what, token)
    assert one.reached.wait(SOON_S)
    token.cancel()
    assert isinstance(outcome.exception(SOON_S), Cancelled)
    one.settle()
    for handle in one.wf.host.handles("fetch"):
        assert handle.breaker.state == "closed" and handle.breaker._failures == 0
    again = one.begun(what, CancelToken()).result(SOON_S)
    told = again.text if what == "fetch" else "".join(chunk.text for chunk in again.chunks)
    assert "214 m" in told


@pytest.mark.parametrize("hangs", ["/p", "/robots.txt"])
def test_whoever_waits_for_the_same_search_gets_it(world: Any, hangs: str) -> None:
    one, token = world(hangs, "in its body"), CancelToken()
    leads = one.begun("search", token)
    assert one.reached.wait(SOON_S)
    waits = one.begun("search", CancelToken())
    token.cancel()
    assert isinstance(leads.exception(SOON_S), Cancelled)
    assert "214 m" in "".join(chunk.text for chunk in waits.result(SOON_S).chunks)
