"""From a URL to a document: caches, vetoes, fetchers in turn, extractors, and what is remembered."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any

import pytest

from webfetch_core.api import (
    Blocked,
    Document,
    FetchTraits,
    NotConfigured,
    Page,
    PageError,
    Provider,
    Refused,
    TimedOut,
    Unavailable,
    WebfetchError,
    hookimpl,
)
from webfetch_core.pipeline.page_extraction import ALONE_BYTES
from webfetch_core.settings import TtlSettings
from webfetch_core.testing import (
    FakeClock,
    FakePlugin,
    Hang,
    MemoryCache,
    ScriptedExtractor,
    ScriptedFetcher,
    fake_plugin,
)

URL = "https://a.example/page"
TEXT = "Lamp\n\nThe keeper lights the lamp."


def kind_of(work: Any, *args: Any, **options: Any) -> str:
    with pytest.raises(WebfetchError) as caught:
        work(*args, **options)
    return caught.value.kind


def second(answer: Any) -> tuple[ScriptedFetcher, FakePlugin]:
    fetcher = ScriptedFetcher({URL: answer})
    return fetcher, fake_plugin("fetch", fetcher, "second", priority=-10)


# ---- what is fetched ----


def test_a_page_is_fetched_once_and_then_remembered(world: Any) -> None:
    one = world(pages={URL: TEXT})
    first = one.wf.fetch(URL)
    assert (first.title, first.url) == ("Lamp", URL)
    assert one.wf.fetch("http://www.a.example/page/?utm_source=x").text == first.text
    assert one.fetched == [URL]
    assert [e.outcome for e in one.named("page.cached")] == ["stored", "hit"]
    assert one.wf.fetch(URL, force_fresh=True) == first
    assert one.fetched == [URL, URL]


def test_a_user_names_the_page(world: Any) -> None:
    one = world(pages={URL: TEXT})
    one.wf.fetch(f"  {URL}\n")
    (request,) = one.fetcher.calls[0]
    assert (request.url, request.purpose) == (URL, "user")


@pytest.mark.parametrize("url", ["", "a.example", "//a.example/", "/page", None, 5])
def test_what_is_no_absolute_url_is_a_bad_query(world: Any, url: Any) -> None:
    assert kind_of(world(pages={URL: TEXT}).wf.fetch, url) == "bad_query"


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "ftp://a.example/x", "local:notes/a.md", "chrome://settings"]
)
def test_schemes_that_nobody_serves_are_refused(world: Any, url: str) -> None:
    one = world(pages={URL: TEXT})
    assert kind_of(one.wf.fetch, url) == "refused"
    assert one.fetched == []


@pytest.mark.parametrize("url", ["http://[::1", "http://[x]/", "https://a.example:port/", "http://[v1.x]/"])
def test_a_url_that_cannot_be_parsed_is_refused(world: Any, url: str) -> None:
    one = world(pages={URL: TEXT})
    assert kind_of(one.wf.fetch, url) in ("refused", "not_found")  # the last two by the fetcher
    assert one.cache is None or list(one.cache.scan("pages")) == []


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf"), 1e12, True, "5"])
def test_an_impossible_time_limit_is_a_bad_query(world: Any, seconds: Any) -> None:
    one = world(pages={URL: TEXT})
    assert kind_of(one.wf.fetch, URL, deadline_s=seconds) == "bad_query"
    assert kind_of(one.wf.search, "q", deadline_s=seconds) == "bad_query"


def test_without_a_fetcher_or_an_extractor_it_says_what_to_install(world: Any) -> None:
    with pytest.raises(NotConfigured, match="pip install webfetch-fetch-http"):
        world(pages={URL: TEXT}, fetch=None).wf.fetch(URL)
    one = world(pages={URL: TEXT}, extract=None)
    for _ in range(2):  # it is no fault of the page, so it is not remembered as one
        with pytest.raises(NotConfigured, match="pip install webfetch-extract-html"):
            one.wf.fetch(URL)
    assert len(one.fetched) == 2


def test_the_failures_of_who_has_less_are_not_those_of_who_has_more(world: Any) -> None:
    """As after the plugin that was missing has been installed."""
    cache = MemoryCache()
    bare = world(pages={URL: PageError("a shell without text", kind="empty")}, cache=cache)
    for told in ("a shell without text", "failed a moment ago"):
        with pytest.raises(PageError, match=told):
            bare.wf.fetch(URL)
    assert len(bare.fetched) == 1
    _, plugin = second(TEXT)
    assert world(pages={URL: PageError("x", kind="empty")}, cache=cache, plugins=[plugin]).wf.fetch(URL)
    assert bare.wf.fetch(URL).title == "Lamp"  # the page cache is for all


# ---- one fetcher after the other ----


@pytest.mark.parametrize(
    "error",
    [
        Blocked("403"),
        PageError("a shell without text", kind="empty"),
        PageError("log in", kind="login"),
        NotConfigured("no browser"),
        TypeError("a fault of its own"),
        lambda request: 42,
    ],
)
def test_another_fetcher_rescues_what_the_first_cannot_get(world: Any, error: Any) -> None:
    rescue, plugin = second(TEXT)
    one = world(pages={URL: error}, plugins=[plugin])
    assert one.wf.fetch(URL).title == "Lamp"
    assert len(rescue.calls) == 1


@pytest.mark.parametrize(
    "error",
    [
        PageError("gone", kind="not_found"),
        PageError("too large", kind="too_large"),
        Unavailable("no such host"),
        TimedOut("too slow"),
        Refused("a private address"),
    ],
)
def test_another_fetcher_is_not_asked_what_it_would_only_repeat(world: Any, error: WebfetchError) -> None:
    rescue, plugin = second(TEXT)
    assert kind_of(world(pages={URL: error}, plugins=[plugin]).wf.fetch, URL) == error.kind
    assert rescue.calls == []


def test_a_page_without_text_is_tried_with_the_next_fetcher(world: Any) -> None:
    rescue, plugin = second(TEXT)
    one = world(pages={URL: "   "}, plugins=[plugin])
    assert one.wf.fetch(URL).title == "Lamp"
    assert len(rescue.calls) == 1


def test_the_reason_told_is_that_of_a_fetcher_that_tried(world: Any) -> None:
    _, plugin = second(NotConfigured("no browser is installed"))
    with pytest.raises(Blocked, match="403"):
        world(pages={URL: Blocked("403")}, plugins=[plugin]).wf.fetch(URL)


def test_a_fetcher_that_is_benched_leaves_the_page_to_the_next(world: Any) -> None:
    urls = [f"https://a.example/{n}" for n in range(4)]
    rescue = ScriptedFetcher(dict.fromkeys(urls, TEXT))
    one = world(
        pages=dict.fromkeys(urls, RuntimeError("broken")),
        plugins=[fake_plugin("fetch", rescue, "second", priority=-10)],
    )
    for url in urls:
        assert one.wf.fetch(url).title == "Lamp"
    assert len(one.fetcher.calls) == 3


# ---- asked again on condition ----


def old_enough(world: Any, answer: Any, **provider: Any) -> Any:
    """A world whose page has been cached with an entity tag and is too old by now."""
    clock = FakeClock()
    fetcher = ScriptedFetcher({URL: answer})
    plugin = fake_plugin("fetch", fetcher, "own", **provider)
    one = world(fetch=None, plugins=[plugin], clock=clock, ttl=TtlSettings(stable_s=100.0))
    one.wf.fetch(URL)
    clock.advance(150)
    return one, fetcher


def tagged(request: Any) -> Page:
    if request.etag:
        return Page(url=URL, final_url=URL, body=b"", status=304)
    return Page(
        url=URL,
        final_url=f"{URL}/end",
        body=TEXT.encode(),
        content_type="text/html",
        headers={"etag": '"1"', "last-modified": "yesterday"},
        fetched_by="own",
    )


def test_a_fetcher_is_told_what_is_known_of_the_page(world: Any) -> None:
    one, fetcher = old_enough(world, tagged)
    assert one.wf.fetch(URL).title == "Lamp"
    (request,) = fetcher.calls[-1]
    assert (request.etag, request.last_modified, request.validated_url) == ('"1"', "yesterday", f"{URL}/end")
    assert [e.outcome for e in one.named("page.cached")] == ["stored", "renewed"]
    assert [e.outcome for e in one.named("call.finished") if e.stage == "fetch"] == ["ok", "ok"]


def test_the_validators_of_a_rendered_page_are_those_of_its_shell(world: Any) -> None:
    one, fetcher = old_enough(world, tagged, traits=FetchTraits(renders_js=True))
    one.wf.fetch(URL)
    assert [(call[0].etag, call[0].last_modified) for call in fetcher.calls] == [("", ""), ("", "")]


def test_a_304_that_nobody_asked_for_is_no_page(world: Any) -> None:
    one = world(pages={URL: Page(url=URL, final_url=URL, body=b"", status=304)})
    assert kind_of(one.wf.fetch, URL) == "bad_response"


# ---- what is remembered of failures ----


def test_a_failure_is_remembered_for_a_while_and_force_fresh_tries_again(world: Any) -> None:
    clock = FakeClock()
    one = world(pages={URL: PageError("gone", kind="not_found")}, clock=clock)
    assert kind_of(one.wf.fetch, URL) == "not_found"
    with pytest.raises(PageError, match="failed a moment ago: gone") as caught:
        one.wf.fetch(URL)
    assert (caught.value.kind, len(one.fetched)) == ("not_found", 1)
    assert kind_of(one.wf.fetch, URL, force_fresh=True) == "not_found"
    assert len(one.fetched) == 2
    clock.advance(301)
    assert kind_of(one.wf.fetch, URL) == "not_found"
    assert len(one.fetched) == 3


def test_success_clears_the_memory_of_failure(world: Any) -> None:
    answers = iter([Unavailable("down"), None])

    def flaky(request: Any) -> Page:
        error = next(answers, None)
        if error:
            raise error
        return Page(url=URL, final_url=URL, body=TEXT.encode(), content_type="text/html")

    one = world(pages={URL: flaky})
    assert kind_of(one.wf.fetch, URL) == "unavailable"
    one.wf.fetch(URL, force_fresh=True)
    one.cache.clear("pages")
    assert one.wf.fetch(URL).title == "Lamp"


@pytest.mark.parametrize("error", [Refused("vetoed"), NotConfigured("no key"), TypeError("a fault")])
def test_what_is_no_fault_of_the_page_is_not_remembered(world: Any, error: Exception) -> None:
    one = world(pages={URL: error})
    for _ in range(2):
        with pytest.raises(WebfetchError):
            one.wf.fetch(URL)
    assert len(one.fetched) == 2


def test_a_page_that_was_hurried_is_not_to_blame(world: Any) -> None:
    hang = Hang(60)
    one = world(pages={URL: lambda request: hang.released.wait(60)})
    assert kind_of(one.wf.fetch, URL, deadline_s=1.0) == "timeout"
    assert kind_of(one.wf.fetch, URL, deadline_s=1.0) == "timeout"
    hang.released.set()
    assert len(one.fetched) == 2
    slow = world(pages={URL: TimedOut("the site is slow")})
    assert kind_of(slow.wf.fetch, URL) == kind_of(slow.wf.fetch, URL) == "timeout"
    assert len(slow.fetched) == 1


def test_failures_never_enter_the_page_cache(world: Any) -> None:
    one = world(pages={URL: Blocked("403")})
    kind_of(one.wf.fetch, URL)
    assert list(one.cache.scan("pages")) == []


def test_what_the_fetcher_knows_of_a_page_is_told_with_its_document(world: Any) -> None:
    page = Page(url=URL, final_url=URL, body=TEXT.encode(), content_type="text/html", flags=("paywalled",))
    one = world(pages={URL: page})
    assert one.wf.fetch(URL).flags == ("paywalled",) == one.wf.fetch(URL).flags
    assert one.fetched == [URL]


def test_half_a_page_is_handed_on_but_not_kept(world: Any) -> None:
    page = Page(url=URL, final_url=URL, body=TEXT.encode(), content_type="text/html", flags=("truncated",))
    one = world(pages={URL: page})
    assert one.wf.fetch(URL).flags == ("truncated",) == one.wf.fetch(URL).flags
    assert one.fetched == [URL, URL]


# ---- vetoes ----


class Policy:
    def __init__(self, verdict: Any) -> None:
        self.name, self.verdict, self.asked = "policy", verdict, []

    @hookimpl
    def webfetch_veto_url(self, url: str) -> Any:
        self.asked.append(url)
        if isinstance(self.verdict, Exception):
            raise self.verdict
        return self.verdict


@pytest.mark.parametrize("verdict", ["not here", RuntimeError("cannot tell"), "x" * 5_000])
def test_any_reason_blocks_and_so_does_a_veto_that_fails(world: Any, verdict: Any) -> None:
    one = world(pages={URL: TEXT}, plugins=[Policy(verdict)])
    with pytest.raises(Refused, match="policy"):
        one.wf.fetch(URL)
    assert one.fetched == []


def test_a_veto_counts_against_nobody(world: Any) -> None:
    policy = Policy("no")
    one = world(pages={URL: TEXT}, plugins=[policy])
    for _ in range(5):
        assert kind_of(one.wf.fetch, URL) == "refused"
    policy.verdict = None
    assert one.wf.fetch(URL).title == "Lamp"


# ---- extractors ----


def test_extraction_without_a_page_of_its_own_kind_is_told(world: Any) -> None:
    one = world(
        pages={URL: TEXT},
        extract=None,
        plugins=[fake_plugin("extract", ScriptedExtractor(), "pdf", traits=None)],
    )
    page = Page(url=URL, final_url=URL, body=b"GIF89a", content_type="image/gif")
    with pytest.raises(PageError, match="no extractor takes image/gif") as caught:
        one.wf.extract(page)
    assert caught.value.kind == "unsupported_type"


def test_bytes_can_be_extracted_without_the_network(world: Any) -> None:
    one = world(pages={})
    assert one.wf.extract(TEXT.encode(), url=URL).url == URL
    assert one.wf.extract(b"  ") is None
    assert one.fetched == []


def test_odd_fields_of_a_document_are_mended(world: Any) -> None:
    odd = Document(url=URL, text=TEXT, title="T\ud800", metadata={1: 2}, published=3, flags=("a", 4))  # type: ignore[arg-type, dict-item]
    one = world(pages={URL: TEXT}, extract=ScriptedExtractor(odd))
    first = one.wf.fetch(URL)
    assert (first.title, dict(first.metadata), first.published, first.flags) == (
        "T\ufffd",
        {"1": "2"},
        None,
        ("a", "4"),
    )
    assert one.wf.fetch(URL) == first
    assert len(one.fetched) == 1


def test_a_page_of_another_scheme_is_not_cached(world: Any) -> None:
    notes = ScriptedFetcher({"local:notes/a.md": TEXT})
    provider = Provider(name="notes", build=lambda s, c: notes, traits=FetchTraits(schemes=("local",)))
    one = world(pages={}, plugins=[FakePlugin("search_notes", {"fetch": [provider]})])
    one.wf.fetch("local:notes/a.md")
    one.wf.fetch("local:notes/a.md")
    assert len(notes.calls) == 2
    assert list(one.cache.scan("pages")) == []


# ---- a store that fails ----


class Broken(MemoryCache):
    def get(self, space: str, key: bytes) -> Any:
        raise OSError("read error")

    def put(self, space: str, key: bytes, value: bytes) -> None:
        raise OSError("disk full")

    def delete(self, space: str, key: bytes) -> bool:
        raise OSError("read-only")


def test_a_store_that_fails_is_a_store_without_rows(world: Any) -> None:
    one = world(pages={URL: TEXT}, cache=Broken())
    assert one.wf.fetch(URL).title == "Lamp"
    assert one.search("keeper lamp", limit=1).chunks
    assert len(one.fetched) == 2


# ---- extraction workers that cannot keep up ----


class StubWorkers:
    """Workers whose answer is scripted."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.futures: list[Future[Any]] = []

    def submit(self, page: Page, timeout_s: float, *, until: float) -> Future[Any]:
        assert timeout_s > 0 and until > 0
        future: Future[Any] = Future()
        self.futures.append(future)
        answer = self.answers.pop(0)
        if isinstance(answer, BaseException):
            future.set_exception(answer)
        elif answer is not None:
            future.set_result(answer)
        return future


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (None, "timeout"),
        (TimeoutError("?"), "timeout"),
        (TimedOut("slow page"), "timeout"),
        (ValueError("?"), ""),
    ],
    ids=["queued", "bare", "own", "other"],
)
def test_what_the_workers_do_is_told_as_it_was(
    world: Any, monkeypatch: pytest.MonkeyPatch, answer: Any, kind: str
) -> None:
    one = world(pages={URL: "x" * (ALONE_BYTES + 1)})
    workers = StubWorkers(answer)
    monkeypatch.setattr(one.wf.host, "workers", lambda: workers)
    with pytest.raises(WebfetchError if kind else ValueError):
        one.wf.fetch(URL, deadline_s=2.0)
    (event,) = [e for e in one.named("call.finished") if e.stage == "extract"]
    assert event.outcome == (kind or "plugin_error")
    if answer is None:
        assert workers.futures[0].cancelled()


def test_a_large_page_asked_for_alone_goes_to_a_worker(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    small = "https://a.example/small"
    one = world(pages={URL: "x" * (ALONE_BYTES + 1), small: TEXT})
    workers = StubWorkers(Document(url=URL, text="from a worker"))
    monkeypatch.setattr(one.wf.host, "workers", lambda: workers)
    assert one.wf.fetch(small).title == "Lamp" and not workers.futures
    assert one.wf.fetch(URL).text == "from a worker"
