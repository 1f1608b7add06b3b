"""The running side: one handle for each provider, one store, and an end that always comes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from time import monotonic
from typing import Any

import pytest
from attrs import frozen

from webfetch_core.api import (
    CacheError,
    Embeddings,
    FetchTraits,
    NotConfigured,
    Provider,
    RankTraits,
    SearchTraits,
)
from webfetch_core.app import Webfetch
from webfetch_core.errors import ConfigError, ContractViolation
from webfetch_core.runtime import host as hosting
from webfetch_core.runtime.host import Host
from webfetch_core.settings import NetSettings, Settings
from webfetch_core.testing import (
    FakePlugin,
    MemoryCache,
    ScriptedEngine,
    ScriptedFetcher,
    ScriptedRanker,
    fake_plugin,
)


@pytest.fixture
def host() -> Iterator[Callable[..., Host]]:
    made: list[Webfetch] = []

    def make(*plugins: Any, **settings: Any) -> Host:
        made.append(
            Webfetch(Settings(**settings), plugins=[(p.name, p) for p in plugins], autoload=False, environ={})
        )
        return made[-1].host

    yield make
    for wf in made:
        wf.close()


def cache_plugin(build: Callable[..., Any], name: str = "mine", **fields: Any) -> FakePlugin:
    return FakePlugin(f"cache_{name}", {"cache": [Provider(name=name, build=build, **fields)]})


# ---- handles ----


def test_a_provider_has_one_handle(host: Any) -> None:
    one = host(fake_plugin("search", ScriptedEngine(), "alpha"))
    assert one.handles("search")[0] is one.handle_of(one.catalog.named("search", "alpha"))
    with ThreadPoolExecutor(8) as pool:
        assert len({id(h) for h in pool.map(lambda _: one.handles("search")[0], range(32))}) == 1


def test_a_named_provider_that_is_not_there_is_an_error_each_time(host: Any) -> None:
    one = host(search=("nobody",))
    for _ in range(2):
        with pytest.raises(ConfigError, match="nobody"):
            one.handles("search")


def test_rankers_are_found_by_kind_and_skipped_when_they_declined(host: Any) -> None:
    def decline(settings: Any, context: Any) -> Any:
        raise NotConfigured("no model")

    shy = FakePlugin(
        "rank_shy",
        {"rank": [Provider(name="shy", build=decline, priority=9, traits=RankTraits(kind="lexical"))]},
    )
    one = host(shy, fake_plugin("rank", ScriptedRanker([1.0]), "able"))
    assert one.ranker("biencoder") is None
    assert one.ranker("lexical").name == "shy"
    with pytest.raises(NotConfigured):
        one.score_pairs("q", ["p"])
    assert one.ranker("lexical").name == "able"
    assert list(one.score_pairs("q", ["p"])) == [1.0]


def test_fetchers_are_found_by_scheme(host: Any) -> None:
    local = fake_plugin("fetch", ScriptedFetcher({}), "local", traits=FetchTraits(schemes=("local",)))
    one = host(fake_plugin("fetch", ScriptedFetcher({}), "web"), local)
    assert [h.name for h in one.fetchers("https")] == ["web"]
    assert [h.name for h in one.fetchers("local")] == ["local"]
    assert one.fetchers("file") == ()
    assert one.own_schemes("fetch_local") == ("local",)
    assert one.own_schemes("fetch_web") == one.own_schemes("unknown") == ()


# ---- what is shared ----


def test_a_service_that_nothing_serves_says_so(host: Any) -> None:
    one = host()
    with pytest.raises(NotConfigured, match="pip install webfetch-rank-onnx"):
        one.embed(["text"])
    with pytest.raises(NotConfigured, match="pip install webfetch-extract-html"):
        from webfetch_core.api import Page

        one.extract(Page(url="u", body=b"x"))


def test_embeddings_are_checked(host: Any) -> None:
    class Encoder(ScriptedRanker):
        model_id = "m"

        def embed(self, texts: Any) -> Any:
            return self.play(texts)

    good = Embeddings(data=b"\0" * 16, rows=2, dim=2)
    encoder = Encoder(good, Embeddings(data=b"\0", rows=2, dim=2))
    one = host(fake_plugin("rank", encoder, "enc", traits=RankTraits(kind="biencoder")))
    assert one.embed(["a", "b"]) == good
    with pytest.raises(ContractViolation):
        one.embed(["a", "b"])


def test_a_bad_entry_among_the_allowed_hosts_is_a_settings_error(host: Any) -> None:
    with pytest.raises(ConfigError, match=r"net\.allow_hosts"):
        host(net=NetSettings(allow_hosts=("not a host",))).http_client()


# ---- the store ----


def test_the_store_is_opened_once_however_many_ask(host: Any) -> None:
    opened = []

    def build(settings: Any, context: Any) -> Any:
        threading.Event().wait(0.1)
        opened.append(1)
        return MemoryCache()

    one = host(cache_plugin(build))
    with ThreadPoolExecutor(8) as pool:
        stores = list(pool.map(lambda _: one.store(), range(8)))
    assert len({id(s) for s in stores}) == len(opened) == 1
    assert stores[0] is not None


def test_a_store_that_cannot_be_opened_is_told_and_done_without(host: Any) -> None:
    def build(settings: Any, context: Any) -> Any:
        raise CacheError("the file is damaged", fix="webfetch cache clear")

    one = host(cache_plugin(build))
    assert one.store() is None
    assert one.store() is None
    assert one.store_problem == "the file is damaged (webfetch cache clear)"
    with pytest.raises(CacheError, match="the file is damaged"):
        one.open_store()


def test_a_store_that_opens_late_is_there_later(host: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    going_on = threading.Event()

    def build(settings: Any, context: Any) -> Any:
        going_on.wait(5)
        return MemoryCache()

    one = host(cache_plugin(build))
    started = monotonic()
    assert one.store(0.05) is None
    assert monotonic() - started < 0.5
    going_on.set()
    assert one.store(2.0) is not None


@frozen(kw_only=True)
class PathSettings:
    path: str = ""


@pytest.mark.parametrize("cls", [PathSettings, None])
def test_the_path_of_the_cache_can_be_set_for_whatever_cache_is_used(host: Any, cls: Any) -> None:
    seen: list[Any] = []

    def build(settings: Any, context: Any) -> Any:
        seen.append(settings)
        return MemoryCache()

    host(cache_plugin(build, settings=cls), cache_db="/data/mine.db").store()
    assert [getattr(s, "path", None) for s in seen] == ["/data/mine.db" if cls else None]


# ---- the end ----


def test_what_was_built_is_closed_last_first_and_the_cache_at_the_end(host: Any) -> None:
    order: list[str] = []

    def closing(name: str, made: Any) -> Any:
        made.close = lambda: order.append(name)
        return made

    one = host(
        cache_plugin(lambda s, c: closing("cache", MemoryCache())),
        fake_plugin("search", closing("alpha", ScriptedEngine([])), "alpha", traits=SearchTraits()),
        fake_plugin("search", closing("never", ScriptedEngine([])), "never"),
        fake_plugin("rank", closing("rank", ScriptedRanker([1.0])), "mine"),
    )
    one.store()
    alpha = one.handle_of(one.catalog.named("search", "alpha"))
    one.caller.call(alpha, lambda e: e, scope=one.scope(), deadline=one.deadline(1))
    one.score_pairs("q", ["p"])
    one.close()
    one.close()
    assert order == ["rank", "alpha", "cache"]


@pytest.mark.parametrize("error", [RuntimeError("no"), SystemExit(2), GeneratorExit()])
def test_one_that_raises_in_close_stops_nobody(host: Any, error: BaseException) -> None:
    closed: list[str] = []

    class Bad(ScriptedRanker):
        def close(self) -> None:
            raise error

    class Good(MemoryCache):
        def close(self) -> None:
            closed.append("cache")

    one = host(fake_plugin("rank", Bad([1.0]), "bad"), cache_plugin(lambda s, c: Good()))
    one.store()
    one.score_pairs("q", ["p"])
    events: list[Any] = []
    one.emitter.subscribe(events.append)
    one.close()
    assert closed == ["cache"]
    (failed,) = [e for e in events if e.name == "plugin.failed"]
    assert "rank bad" in failed.target
    assert type(error).__name__ in failed.reason


def test_closing_has_a_limit_for_each_and_one_for_all(host: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosting, "CLOSE_LIMIT_S", 0.15)
    monkeypatch.setattr(hosting, "CLOSE_ALL_LIMIT_S", 0.3)
    hang = threading.Event()

    class Stuck(ScriptedEngine):
        def close(self) -> None:
            hang.wait(5)

    one = host(*(fake_plugin("search", Stuck([]), f"stuck{n}") for n in range(8)))
    for handle in one.handles("search"):
        one.caller.call(handle, lambda e: e, scope=one.scope(), deadline=one.deadline(1))
    started = monotonic()
    one.close()
    assert monotonic() - started < 1.5
    hang.set()


def test_nothing_is_opened_after_the_end(host: Any) -> None:
    one = host(fake_plugin("search", ScriptedEngine([]), "alpha"))
    one.close()
    with pytest.raises(NotConfigured, match="closed"):
        one.http_client()
    assert one.workers() is None
    assert one.handles("search")[0].closed
