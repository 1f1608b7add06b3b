"""A caller who cancels: what waits ends, nothing more is begun, and nothing half-done is left."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any

import pytest
from attrs import define, field

from webfetch_core import Cancelled, CancelToken, Webfetch
from webfetch_core.api import Blocked, FetchTraits, Page, Provider, SearchHit, SearchTraits
from webfetch_core.models import Document
from webfetch_core.pipeline.cache_rows import NEGATIVE, PAGES, QUERIES
from webfetch_core.runtime.breaker import BreakerState
from webfetch_core.runtime.placement import ALONE_BYTES
from webfetch_core.settings import NetSettings, Settings
from webfetch_core.testing import (
    FakeClock,
    FakePlugin,
    Hang,
    MemoryCache,
    ScriptedExtractor,
    ScriptedFetcher,
    ScriptedMatcher,
    ScriptedRanker,
    fake_plugin,
)
from webfetch_core.testing.fakes import Scripted
from webfetch_core.testing.site import LoopbackSite, Received, Reply

FAR_S = 60.0
"""The deadline of every call here: nothing that ends soon ends by that."""
SOON_S = 15.0
"""Within this, on a busy machine too, what is cancelled has ended."""
THIN = '<div id="root"></div><script src="/app.js"></script>'
PAGE = "The lamp\n\nThe keeper of the lighthouse trims the lamp at dusk, place {0} says {0} times."


class Engine:
    """Asks the site, through the client that every plugin gets."""

    def __init__(self, context: Any, url: str) -> None:
        self._context, self._url = context, url

    def search(self, request: Any) -> list[SearchHit]:
        found = self._context.http.get(self._url, deadline=request.deadline).json()
        return [SearchHit(url=url, title=url, snippet=url) for url in found]


class Fetcher:
    """Fetches a page; of a page that is ``behind`` something, that first."""

    def __init__(self, context: Any) -> None:
        self._http = context.http

    def fetch(self, request: Any) -> Page:
        if request.url.endswith("/behind"):
            self._http.fetch_page(request.url.replace("/behind", "/first"), deadline=request.deadline)
        return self._http.fetch_page(request.url, deadline=request.deadline)


class Rescue(Scripted):
    """A fetcher that plays steps."""

    def fetch(self, request: Any) -> Any:
        return self.play(request)


class HeldSite(LoopbackSite):
    """Holds its answers to some paths until they are released."""

    def __init__(self) -> None:
        super().__init__()
        self._gates: dict[str, threading.Event] = {}
        self._arrived = threading.Condition()

    def page(self, path: str, *, held: bool = False, body: str = "", status: int = 200) -> str:
        number = path.strip("/").replace("/", "-")
        return self.put(path, body or PAGE.format(number), held=held, status=status)

    def hits(self, path: str, *urls: str, held: bool = False) -> str:
        listed = ", ".join(f'"{url}"' for url in urls)
        return self.put(path, f"[{listed}]", held=held, kind="application/json")

    def put(
        self, path: str, body: str, *, held: bool, kind: str = "text/html; charset=utf-8", status: int = 200
    ) -> str:
        gate = self._gates[path] = threading.Event()
        if not held:
            gate.set()

        def answer(_: Received) -> Reply:
            with self._arrived:
                self._arrived.notify_all()
            gate.wait(FAR_S)
            return Reply(body=body.encode(), status=status, headers={"Content-Type": kind})

        self.add(path, answer)
        return self.url(path)

    def reached(self, *paths: str) -> None:
        """Wait until all of these have been asked for."""
        with self._arrived:
            assert self._arrived.wait_for(lambda: set(paths) <= set(self.paths), SOON_S), self.paths

    def release(self) -> None:
        for gate in self._gates.values():
            gate.set()

    def close(self) -> None:
        self.release()
        super().close()


@define
class Call:
    """A call of a ``Webfetch`` in a thread of its own."""

    thread: threading.Thread
    outcome: Future[Any]
    token: CancelToken

    def cancel(self) -> None:
        """Cancel it from here, and see that it ends of that."""
        self.token.cancel()
        with pytest.raises(Cancelled):
            self.outcome.result(SOON_S)
        self.thread.join(SOON_S)
        assert not self.thread.is_alive()


def began(work: Callable[..., Any], *given: Any, **options: Any) -> Call:
    token, outcome = CancelToken(), Future[Any]()

    def run() -> None:
        try:
            outcome.set_result(work(*given, deadline_s=FAR_S, cancel=token, **options))
        except BaseException as exc:
            outcome.set_exception(exc)

    thread = threading.Thread(target=run, name="caller")
    thread.start()
    return Call(thread, outcome, token)


def working() -> set[threading.Thread]:
    """The threads of work under way. Those of the cache stay for a while to be used again."""
    names = ("webfetch-cache", "webfetch-observers")
    return {t for t in threading.enumerate() if t.name.startswith("webfetch") and t.name not in names}


@define
class Bench:
    """A Webfetch over the site, with what it stored and told."""

    site: HeldSite
    wf: Webfetch
    cache: MemoryCache
    events: list[Any] = field(factory=list)

    def rows(self, space: str) -> int:
        return len(list(self.cache.scan(space)))

    def outcomes(self, stage: str) -> list[str]:
        return [e.outcome for e in self.events if e.name == "call.finished" and e.stage == stage]

    def named(self, name: str) -> list[Any]:
        return [e for e in self.events if e.name == name]

    @property
    def under_way(self) -> int:
        """Threads of the pipeline, and calls that were left behind in theirs."""
        return self.wf.host.tasks.running + self.wf.host.caller.abandoned

    @property
    def counts(self) -> dict[str, int]:
        return {key: n for key, n in self.wf.savings_report().session.counts.items() if n}

    def unharmed(self) -> None:
        """No provider is blamed for what a caller did."""
        for stage in ("search", "fetch", "extract", "rank"):
            for handle in self.wf.host.handles(stage):
                assert handle.breaker.state is BreakerState.CLOSED, handle.name
                assert handle.breaker._failures == 0, handle.name


@pytest.fixture
def bench(until: Any) -> Iterator[Callable[..., Bench]]:
    """``bench(engines=2)``: engines ``e0``, ``e1`` that ask ``/e0``, ``/e1``. No thread is left behind."""
    made: list[Bench] = []
    before = working()

    def make(
        engines: int = 1,
        *,
        rank: Any = None,
        fetchers: tuple[Any, ...] = (),
        plugins: tuple[Any, ...] = (),
        clock: Any = None,
        slots: int = 4,
        **settings: Any,
    ) -> Bench:
        site, cache = HeldSite(), MemoryCache()
        site.start()

        def provider(name: str, build: Any, traits: Any, **more: Any) -> Provider[Any]:
            return Provider(name=name, build=build, summary="x", timeout_s=FAR_S, traits=traits, **more)

        def engine(name: str) -> Provider[Any]:
            url = site.url(f"/{name}")
            return provider(
                name, lambda s, c: Engine(c, url), SearchTraits(network=True), max_concurrency=slots
            )

        mine = [FakePlugin("engines", {"search": [engine(f"e{n}") for n in range(engines)]})]
        mine += [*fetchers] or [
            FakePlugin("pages", {"fetch": [provider("pages", lambda s, c: Fetcher(c), FetchTraits())]})
        ]
        mine += [
            fake_plugin("extract", ScriptedExtractor()),
            fake_plugin("rank", rank or ScriptedRanker(), timeout_s=FAR_S),
            fake_plugin("cache", cache),
            *plugins,
        ]
        given = {"fetch_timeout_s": FAR_S, "engine_timeout_s": FAR_S, "extract_workers": 0, **settings}
        wf = Webfetch(
            Settings(net=NetSettings(allow_hosts=("127.0.0.1",)), **given),
            plugins=[(p.name, p) for p in mine],
            autoload=False,
            environ={},
            clock=clock,
        )
        one = Bench(site, wf, cache)
        wf.subscribe(one.events.append)
        made.append(one)
        return one

    yield make
    for one in made:
        one.site.release()
    until(lambda: working() <= before, SOON_S)
    for one in made:
        one.wf.close()
        one.site.close()


# ---- a search ------------------------------------------------------------------------------------


def test_a_search_whose_engine_does_not_answer_is_given_up(bench: Any, until: Any) -> None:
    one = bench()
    one.site.hits("/e0", one.site.page("/a"), held=True)
    call = began(one.wf.search, "lighthouse lamp")
    one.site.reached("/e0")
    call.cancel()
    until(lambda: one.outcomes("search") == ["cancelled"], SOON_S)
    one.site.release()
    until(lambda: not one.under_way, SOON_S)
    assert one.site.paths == ["/e0"]
    assert (one.rows(QUERIES), one.rows(PAGES), one.rows(NEGATIVE)) == (0, 0, 0)
    one.unharmed()
    assert [e.reason for e in one.named("search.cancelled")] == ["the caller cancelled it"]
    assert not one.named("search.finished") and not one.named("call.left_behind")
    assert one.counts == {"searches_cancelled": 1}


def test_pages_that_were_not_begun_are_not_begun_any_more(bench: Any, until: Any) -> None:
    one = bench(fetch_workers=2)
    urls = [one.site.page(f"/p{n}", held=True) for n in range(6)]
    one.site.hits("/e0", *urls)
    call = began(one.wf.search, "lighthouse lamp", 6)
    one.site.reached("/p0", "/p1")
    call.cancel()
    until(lambda: one.outcomes("fetch") == ["cancelled", "cancelled"], SOON_S)
    one.site.release()
    until(lambda: not one.under_way, SOON_S)
    assert sorted(one.site.paths) == ["/e0", "/p0", "/p1"]
    assert (one.rows(QUERIES), one.rows(PAGES), one.rows(NEGATIVE)) == (0, 0, 0)
    one.unharmed()
    assert one.counts == {"searches_cancelled": 1}, "neither failed nor fetched"


def test_a_page_that_was_read_whole_is_kept_for_the_next(bench: Any, until: Any) -> None:
    one = bench()
    one.site.hits("/e0", one.site.page("/a"), one.site.page("/b", held=True))
    call = began(one.wf.search, "lighthouse lamp")
    one.site.reached("/b")
    until(lambda: one.rows(PAGES) == 1, SOON_S)
    call.cancel()
    assert (one.rows(QUERIES), one.rows(PAGES), one.rows(NEGATIVE)) == (0, 1, 0)
    one.site.release()
    result = one.wf.search("lighthouse lamp", deadline_s=FAR_S)
    assert {chunk.url for chunk in result.chunks} == {one.site.url("/a"), one.site.url("/b")}
    assert one.site.paths.count("/a") == 1, "it came from the page cache"
    assert not result.partial


def test_in_fallback_mode_the_next_engine_is_not_asked(bench: Any, until: Any) -> None:
    one = bench(engines=2, search_mode="fallback")
    one.site.hits("/e0", held=True)
    one.site.hits("/e1", one.site.page("/a"))
    call = began(one.wf.search, "lighthouse lamp")
    one.site.reached("/e0")
    call.cancel()
    until(lambda: one.outcomes("search") == ["cancelled"], SOON_S)
    one.site.release()
    until(lambda: not one.under_way, SOON_S)
    assert one.site.paths == ["/e0"]
    one.unharmed()


def test_an_empty_engine_is_not_judged_by_a_search_that_was_cancelled(bench: Any, until: Any) -> None:
    one = bench(engines=2)
    one.site.hits("/e0")
    one.site.hits("/e1", *(one.site.page(f"/p{n}", held=True) for n in range(4)))
    call = began(one.wf.search, "lighthouse lamp")
    one.site.reached("/p0")
    until(lambda: sorted(one.outcomes("search")) == ["empty", "ok"], SOON_S)
    call.cancel()
    one.unharmed()


def test_a_ranker_that_was_left_makes_no_result(bench: Any, until: Any) -> None:
    hang = Hang()
    ranker = ScriptedRanker(hang)
    one = bench(rank=ranker)
    one.site.hits("/e0", one.site.page("/a"))
    call = began(one.wf.search, "lighthouse lamp")
    until(lambda: ranker.calls, SOON_S)
    call.cancel()
    hang.released.set()
    assert one.rows(QUERIES) == 0
    assert one.outcomes("rank") == ["cancelled"]
    one.unharmed()
    assert one.counts["searches_cancelled"] == 1


@pytest.mark.parametrize("cache_only", [False, True])
def test_who_cancels_while_the_words_are_matched_is_not_searched_for(
    bench: Any, until: Any, cache_only: bool
) -> None:
    hang = Hang()
    matcher = ScriptedMatcher(hang)
    one = bench(plugins=(fake_plugin("match", matcher, timeout_s=FAR_S),))
    one.site.hits("/e0", one.site.page("/a"))
    one.wf.search("lighthouse lamp", deadline_s=FAR_S)
    call = began(one.wf.search, "lamp of the lighthouse", cache_only=cache_only)
    until(lambda: matcher.calls, SOON_S)
    call.token.cancel()
    with pytest.raises(Cancelled):
        call.outcome.result(SOON_S)
    hang.released.set()
    assert one.site.paths.count("/e0") == 1


def test_nothing_is_begun_for_a_token_that_is_cancelled_already(bench: Any) -> None:
    one = bench()
    one.site.hits("/e0", one.site.page("/a"))
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        one.wf.search("lighthouse lamp", cancel=token)
    with pytest.raises(Cancelled):
        one.wf.fetch(one.site.url("/a"), cancel=token)
    assert not one.site.requests
    assert [e.name for e in one.events if not e.name.startswith("host.")] == []
    assert one.wf.search("lighthouse lamp").chunks, "others are not told"


def test_a_search_that_has_ended_cannot_be_cancelled(bench: Any) -> None:
    one = bench()
    one.site.hits("/e0", one.site.page("/a"))
    token = CancelToken()
    assert one.wf.search("lighthouse lamp", cancel=token, deadline_s=FAR_S).chunks
    token.cancel()
    assert one.rows(QUERIES) == 1
    assert one.wf.search("lighthouse lamp").provenance.kind == "exact"


def test_a_refresh_behind_goes_on_for_the_others(bench: Any, until: Any) -> None:
    clock = FakeClock()
    one = bench(clock=clock)
    one.site.hits("/e0", one.site.page("/a"))
    one.wf.search("lighthouse lamp", deadline_s=FAR_S)
    one.site.hits("/e0", one.site.page("/b"), held=True)
    clock.advance(one.wf.settings.ttl.recent_s * 1.5)
    token = CancelToken()
    stale = one.wf.search("lighthouse lamp", cancel=token)
    assert stale.provenance.kind == "stale"
    token.cancel()
    one.site.release()
    until(lambda: one.rows(PAGES) == 2, SOON_S)


# ---- others who wait -----------------------------------------------------------------------------


def test_one_who_waits_for_the_same_search_takes_over(bench: Any, until: Any) -> None:
    one = bench()
    one.site.hits("/e0", one.site.page("/a"), held=True)
    first = began(one.wf.search, "lighthouse lamp")
    one.site.reached("/e0")
    second = began(one.wf.search, "lighthouse lamp")
    until(lambda: len(one.named("cache.missed")) == 2, SOON_S)
    first.cancel()
    until(lambda: one.site.paths.count("/e0") == 2, SOON_S)
    one.site.release()
    assert [c.url for c in second.outcome.result(SOON_S).chunks] == [one.site.url("/a")]
    assert one.rows(QUERIES) == 1


def test_one_who_waits_leaves_alone(bench: Any, until: Any) -> None:
    one = bench()
    one.site.hits("/e0", one.site.page("/a"), held=True)
    first = began(one.wf.search, "lighthouse lamp")
    one.site.reached("/e0")
    second = began(one.wf.search, "lighthouse lamp")
    until(lambda: len(one.named("cache.missed")) == 2, SOON_S)
    second.cancel()
    one.site.release()
    assert first.outcome.result(SOON_S).chunks
    assert one.site.paths == ["/e0", "/a"]


def test_one_who_waits_for_a_slot_leaves_it_to_others(bench: Any, until: Any) -> None:
    one = bench(slots=1)
    one.site.hits("/e0", one.site.page("/a"), held=True)
    first = began(one.wf.search, "lighthouse lamp")
    one.site.reached("/e0")
    second = began(one.wf.search, "lighthouse keeper")
    until(lambda: len(one.named("call.started")) == 2, SOON_S)
    second.cancel()
    one.unharmed()
    one.site.release()
    assert first.outcome.result(SOON_S).chunks
    assert one.wf.search("lighthouse keeper", deadline_s=FAR_S).chunks


# ---- a page --------------------------------------------------------------------------------------


def test_a_page_that_does_not_come_is_given_up(bench: Any) -> None:
    one = bench()
    url = one.site.page("/a", held=True)
    call = began(one.wf.fetch, url)
    one.site.reached("/a")
    call.cancel()
    assert (one.rows(PAGES), one.rows(NEGATIVE)) == (0, 0)
    assert one.counts == {}, "it did not fail"
    one.unharmed()
    one.site.release()
    assert "trims the lamp" in one.wf.fetch(url, deadline_s=FAR_S).text


def test_what_one_call_has_still_to_send_is_not_sent(bench: Any, until: Any) -> None:
    one = bench()
    one.site.page("/first", held=True)
    call = began(one.wf.fetch, one.site.page("/behind"))
    one.site.reached("/first")
    call.cancel()
    one.site.release()
    until(lambda: not one.under_way, SOON_S)
    assert one.site.paths == ["/first"]


def test_a_redirect_is_not_followed_any_more(bench: Any, until: Any) -> None:
    one = bench()
    gate = threading.Event()

    def moved(_: Received) -> Reply:
        gate.wait(FAR_S)
        return Reply(status=302, headers={"Location": "/b"})

    one.site.add("/a", moved)
    one.site.page("/b")
    call = began(one.wf.fetch, one.site.url("/a"))
    until(lambda: one.site.paths, SOON_S)
    call.cancel()
    gate.set()
    until(lambda: not one.under_way, SOON_S)
    assert one.site.paths == ["/a"]


@pytest.mark.parametrize("wall", [True, False], ids=["wall", "thin"])
def test_a_page_that_was_being_rescued_is_not_remembered_as_failed(
    bench: Any, wall: bool, until: Any
) -> None:
    """Neither as what the fetcher before made of it, nor as what the rescue did not come to."""
    hang = Hang()
    rescue = Rescue(hang)
    url = "https://walled.example/page"
    first = ScriptedFetcher({url: Blocked("a wall") if wall else THIN})
    one = bench(
        fetchers=(
            fake_plugin("fetch", first, "plain", priority=1, timeout_s=FAR_S),
            fake_plugin("fetch", rescue, "browser", timeout_s=FAR_S, traits=FetchTraits(renders_js=True)),
        )
    )
    call = began(one.wf.fetch, url)
    until(lambda: rescue.calls, SOON_S)
    call.cancel()
    hang.released.set()
    assert (one.rows(PAGES), one.rows(NEGATIVE)) == (0, 0)
    assert one.counts == {}
    one.unharmed()


def test_a_page_is_not_empty_since_the_extractor_that_reads_it_was_given_up(bench: Any, until: Any) -> None:
    hang = Hang()
    reader = ScriptedExtractor(hang)
    none = fake_plugin("extract", ScriptedExtractor(lambda page: None), "first", priority=2)
    one = bench(plugins=(none, fake_plugin("extract", reader, "second", priority=1, timeout_s=FAR_S)))
    call = began(one.wf.fetch, one.site.page("/a"))
    until(lambda: reader.calls, SOON_S)
    call.cancel()
    hang.released.set()
    assert (one.rows(PAGES), one.rows(NEGATIVE)) == (0, 0)
    assert one.counts == {}
    one.unharmed()


def test_a_page_that_waits_for_a_worker_is_taken_back(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    one = bench()
    queued: Future[Document | None] = Future()
    asked = threading.Event()

    class Workers:
        def submit(self, page: Page, timeout_s: float, *, until: float) -> Future[Document | None]:
            asked.set()
            return queued

    monkeypatch.setattr(one.wf.host, "workers", Workers)
    call = began(one.wf.fetch, one.site.page("/a", body="x" * (ALONE_BYTES + 1)))
    assert asked.wait(SOON_S)
    call.cancel()
    assert queued.cancelled()
    assert one.outcomes("extract") == ["cancelled"]
    assert one.rows(NEGATIVE) == 0


# ---- what takes no token of its own ----------------------------------------------------------------


def test_all_that_a_thread_asks_for_ends_with_the_token_that_applies(bench: Any, until: Any) -> None:
    hang = Hang()
    ranker = ScriptedRanker(hang)
    one = bench(rank=ranker)
    token, outcome = CancelToken(), Future[Any]()

    def run() -> None:
        with token.applied():
            try:
                outcome.set_result(one.wf.rank("lamp", ["a lamp", "a quay"]))
            except BaseException as exc:
                outcome.set_exception(exc)

    thread = threading.Thread(target=run)
    thread.start()
    until(lambda: ranker.calls, SOON_S)
    token.cancel()
    with pytest.raises(Cancelled):
        outcome.result(SOON_S)
    hang.released.set()
    thread.join(SOON_S)
    with token.applied(), pytest.raises(Cancelled):
        one.wf.classify_freshness("lamp")
    assert one.wf.classify_freshness("lamp"), "outside of it nothing applies"
