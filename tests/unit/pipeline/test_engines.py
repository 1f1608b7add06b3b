"""Which engines are asked, in which order, for what; and what their answers say of them."""

from __future__ import annotations

from typing import Any

import pytest

from webfetch_core import AllEnginesFailed, ConfigError
from webfetch_core.api import (
    BadResponse,
    Blocked,
    FetchTraits,
    NotConfigured,
    Provider,
    RateLimited,
    SearchTraits,
    Unavailable,
)
from webfetch_core.models import SearchHit
from webfetch_core.pipeline.engines import cut_at_word
from webfetch_core.runtime.breaker import BreakerState
from webfetch_core.testing import FakePlugin, ScriptedEngine, ScriptedFetcher, fake_plugin, hits

URLS = [f"https://p{n}.example/" for n in range(1, 13)]
PAGES = {url: f"Page {n}\n\nThe lighthouse keeper number{n} of place{n}." for n, url in enumerate(URLS)}


def breaker(one: Any, name: str) -> Any:
    return one.wf.host.handle_of(one.wf.host.catalog.named("search", name)).breaker


def asked(one: Any, name: str) -> list[Any]:
    return [call[0] for call in one.engines[name].calls]


# ---- fuse ----


def test_fuse_asks_everyone_and_merges(world: Any) -> None:
    one = world(engines={"alpha": [URLS[:2]], "beta": [[URLS[1], URLS[2]]]}, pages=PAGES)
    result = one.search(limit=3)
    assert result.hits[0].url == URLS[1]
    assert dict(result.hits[0].engines) == {"alpha": 2, "beta": 1}
    assert {h.url for h in result.hits} == set(URLS[:3])


def test_an_empty_answer_counts_only_beside_a_full_one(world: Any) -> None:
    one = world(engines={"alpha": [URLS[:3]], "beta": [[]]}, pages=PAGES)
    for _ in range(3):
        one.search(limit=2, force_fresh=True)
    assert breaker(one, "beta").state is BreakerState.OPEN
    assert "answered nothing while another" in breaker(one, "beta").reason
    assert breaker(one, "alpha").state is BreakerState.CLOSED


def test_two_empty_answers_are_a_hard_query(world: Any) -> None:
    one = world(engines={"alpha": [[]], "beta": [[]]})
    for _ in range(4):
        assert one.search(force_fresh=True).hits == ()
    assert {breaker(one, n).state for n in ("alpha", "beta")} == {BreakerState.CLOSED}


def test_an_engine_is_not_to_blame_for_what_the_filters_take(world: Any) -> None:
    one = world(engines={"alpha": [URLS[:4]], "beta": [["https://elsewhere.example/"]]}, pages=PAGES)
    for _ in range(4):
        result = one.search(exclude_domains=["elsewhere.example"], limit=2, force_fresh=True)
    assert breaker(one, "beta").state is BreakerState.CLOSED
    assert "https://elsewhere.example/" not in {h.url for h in result.hits}


def test_a_local_index_may_find_nothing(world: Any) -> None:
    local = fake_plugin("search", ScriptedEngine([]), "notes", traits=SearchTraits(network=False))
    one = world(engines={"alpha": [URLS[:3]]}, pages=PAGES, plugins=[local])
    for _ in range(4):
        one.search(limit=2, force_fresh=True)
    assert breaker(one, "notes").state is BreakerState.CLOSED


# ---- fallback ----


def test_fallback_asks_the_next_on_errors_and_on_nothing(world: Any) -> None:
    one = world(
        engines={"alpha": [Unavailable("HTTP 502")], "beta": [[]], "gamma": [URLS[:1]], "delta": [URLS[:1]]},
        pages=PAGES,
        search_mode="fallback",
    )
    result = one.search(limit=1)
    assert [(a.provider, a.outcome) for a in result.attempts if a.stage == "search"] == [
        ("alpha", "unavailable"),
        ("beta", "empty"),
        ("gamma", "ok"),
    ]
    assert one.engines["delta"].calls == []
    assert result.partial is False


def test_in_fallback_nothing_is_a_failure_at_once(world: Any) -> None:
    one = world(engines={"alpha": [[]], "beta": [URLS[:1]]}, pages=PAGES, search_mode="fallback")
    for _ in range(3):
        one.search(limit=1, force_fresh=True)
    assert breaker(one, "alpha").state is BreakerState.OPEN


def test_in_fallback_the_filters_advance_without_blame(world: Any) -> None:
    one = world(
        engines={"alpha": [["https://elsewhere.example/"]], "beta": [URLS[:1]]},
        pages=PAGES,
        search_mode="fallback",
    )
    for _ in range(4):
        result = one.search(exclude_domains=["elsewhere.example"], limit=1, force_fresh=True)
    assert [h.url for h in result.hits] == URLS[:1]
    assert breaker(one, "alpha").state is BreakerState.CLOSED


def test_when_all_fail_each_is_listed_with_its_own_reason_first_choice_first(world: Any) -> None:
    one = world(
        engines={"tavily": [BadResponse("HTTP 502")], "ddg": [Blocked("HTTP 202, empty")]},
        search_mode="fallback",
    )
    with pytest.raises(AllEnginesFailed) as caught:
        one.search()
    text = str(caught.value)
    assert text.index("tavily") < text.index("502") < text.index("ddg") < text.index("202")
    assert [(a.provider, a.outcome) for a in caught.value.attempts] == [
        ("tavily", "bad_response"),
        ("ddg", "blocked"),
    ]


def test_an_engine_whose_turn_never_came_is_not_called_slow(world: Any) -> None:
    from webfetch_core.testing import Hang

    one = world(engines={"alpha": [Hang(5)], "beta": [URLS[:1]]}, pages=PAGES, search_mode="fallback")
    with pytest.raises(AllEnginesFailed) as caught:
        one.search(deadline_s=0.3)
    assert [a.provider for a in caught.value.attempts] == ["alpha"]
    assert "beta" not in str(caught.value)


# ---- single, named, none ----


def test_single_asks_one(world: Any) -> None:
    one = world(engines={"alpha": [URLS[:1]], "beta": [URLS[:2]]}, pages=PAGES, search_mode="single")
    one.search(limit=1)
    assert (len(asked(one, "alpha")), len(asked(one, "beta"))) == (1, 0)


def test_engines_can_be_named_for_one_search(world: Any) -> None:
    one = world(engines={"alpha": [URLS[:1]], "beta": [URLS[:2]]}, pages=PAGES)
    one.search(limit=1, engines=["beta", "beta"])
    one.search(limit=1, engines="beta", force_fresh=True)
    assert (len(asked(one, "alpha")), len(asked(one, "beta"))) == (0, 2)


def test_a_named_engine_that_is_unknown_is_an_error_that_says_what_to_do(world: Any) -> None:
    with pytest.raises(ConfigError, match=r"'alhpa'.*did you mean alpha\?\Z"):
        world(engines={"alpha": [URLS[:1]]}).search(engines=["alhpa"])
    with pytest.raises(ConfigError, match="'bravo'"):
        world(search=("bravo",)).search()


def test_a_named_engine_that_is_off_is_an_error_that_carries_the_fix(world: Any) -> None:
    from webfetch_core.api import EnvKey

    off = fake_plugin("search", ScriptedEngine(), "brave", requires=(EnvKey("BRAVE_API_KEY"),))
    with pytest.raises(ConfigError, match=r"brave.*is off: BRAVE_API_KEY is not set: set it"):
        world(plugins=[off], search=("brave",)).search()


def test_no_engine_at_all_says_what_to_install() -> None:
    from webfetch_core.app import Webfetch
    from webfetch_core.settings import Settings

    with Webfetch(Settings(), autoload=False, environ={}) as wf:
        with pytest.raises(AllEnginesFailed, match="pip install webfetch-search-ddg") as caught:
            wf.search("lighthouse")
        assert caught.value.attempts == ()


def test_an_empty_choice_of_engines_is_told_as_such(world: Any) -> None:
    with pytest.raises(AllEnginesFailed, match="search is an empty list"):
        world(search=()).search()


def test_engines_that_are_off_are_listed_when_none_is_ready(world: Any) -> None:
    from webfetch_core.api import EnvKey
    from webfetch_core.app import Webfetch
    from webfetch_core.settings import Settings

    off = fake_plugin("search", ScriptedEngine(), "brave", requires=(EnvKey("BRAVE_API_KEY"),))
    with Webfetch(Settings(), plugins=[(off.name, off)], autoload=False, environ={}) as wf:
        with pytest.raises(AllEnginesFailed, match="brave: BRAVE_API_KEY is not set") as caught:
            wf.search("q")
        assert [(a.provider, a.outcome) for a in caught.value.attempts] == [("brave", "not_configured")]


def test_an_engine_that_declines_when_built_leaves_the_others_working(world: Any) -> None:
    def build(settings: Any, context: Any) -> Any:
        raise NotConfigured("no index yet", fix="webfetch index add PATH")

    shy = FakePlugin("search_shy", {"search": [Provider(name="shy", build=build)]})
    one = world(engines={"alpha": [URLS[:1]]}, pages=PAGES, plugins=[shy])
    result = one.search(limit=1)
    assert [h.url for h in result.hits] == URLS[:1]
    assert {a.provider: a.outcome for a in result.attempts if a.stage == "search"}["shy"] == "not_configured"


# ---- what they are asked ----


def test_the_request_is_cut_to_what_the_engine_takes(world: Any) -> None:
    traits = SearchTraits(max_limit=4, max_query_chars=20)
    one = world(engines={"alpha": [URLS[:1]]}, pages=PAGES, plugins=[])
    narrow = ScriptedEngine(URLS[:1])
    one = world(
        engines={"alpha": [URLS[:1]]},
        pages=PAGES,
        plugins=[fake_plugin("search", narrow, "narrow", traits=traits)],
    )
    one.search(
        "what did the lighthouse keeper see", limit=9, language="de", country="AT", include_domains="example"
    )
    (request,) = [call[0] for call in narrow.calls]
    assert (request.limit, request.query) == (4, "what did the")
    assert (request.language, request.country, request.include_domains) == ("de", "AT", ("example",))
    assert asked(one, "alpha")[0].query == "what did the lighthouse keeper see"


@pytest.mark.parametrize(
    ("pages", "network", "hits_asked"), [(3, True, 6), (10, True, 10), (7, True, 10), (10, False, 20)]
)
def test_engines_are_asked_for_spare_hits_where_those_cost_nothing(
    world: Any, pages: int, network: bool, hits_asked: int
) -> None:
    one = world(engines={"alpha": [URLS[:1]]}, pages=PAGES, network=network)
    one.search(limit=pages)
    assert asked(one, "alpha")[0].limit == hits_asked


def test_only_a_hint_of_the_caller_becomes_a_time_filter(world: Any) -> None:
    one = world(engines={"alpha": [URLS[:1]]}, pages=PAGES)
    one.search("bitcoin price today", limit=1)
    one.search("bitcoin price today", limit=1, freshness="recent")
    assert [r.freshness for r in asked(one, "alpha")] == [None, "recent"]


def test_the_deadline_reaches_the_engine(world: Any) -> None:
    one = world(engines={"alpha": [URLS[:1]]}, pages=PAGES, engine_timeout_s=2.0)
    now = one.wf.host.clock.monotonic()
    one.search(limit=1)
    assert now < asked(one, "alpha")[0].deadline <= now + 2.1


def test_a_flood_of_hits_is_cut_to_what_was_asked_for(world: Any) -> None:
    flood = hits(*(f"https://f{n}.example/" for n in range(5_000)))
    one = world(engines={"alpha": [flood]}, pages={})
    assert len(one.search(limit=5).hits) == 10


# ---- what they may return ----


def test_addresses_that_only_another_plugin_serves_are_dropped(world: Any) -> None:
    notes = ScriptedFetcher({"local:notes/a.md": "The lighthouse keeper wrote a diary."}, "text/markdown")
    both = FakePlugin(
        "search_notes",
        {
            "search": [
                Provider(
                    name="notes",
                    build=lambda s, c: ScriptedEngine(["local:notes/a.md"]),
                    traits=SearchTraits(network=False),
                )
            ],
            "fetch": [
                Provider(name="notes", build=lambda s, c: notes, traits=FetchTraits(schemes=("local",)))
            ],
        },
    )
    web = [
        "local:notes/a.md",
        "https://duckduckgo.com/l/?uddg=local%3Anotes%2Fa.md",
        "file:///etc/passwd",
        "javascript:alert(1)",
        *URLS[:1],
    ]
    one = world(engines={"alpha": [web]}, pages=PAGES, plugins=[both])
    result = one.search(limit=5)
    engines_of = {h.url: set(h.engines) for h in result.hits}
    assert engines_of.pop("local:notes/a.md") == {"notes"}
    assert set(engines_of) == {URLS[0], web[1]}
    assert len(notes.calls) == 1


def test_domain_filters_are_kept_whatever_the_engine_does(world: Any) -> None:
    found = ["https://a.site.example/", "https://site.example.evil.example/", "https://other.example/"]
    one = world(engines={"alpha": [found]}, pages={})
    assert [h.url for h in one.search(include_domains=["site.example"]).hits] == [found[0]]
    assert [h.url for h in one.search(exclude_domains=["site.example"]).hits] == found[1:]


def test_hits_that_cannot_be_kept_as_they_are_stop_nothing(world: Any) -> None:
    odd = SearchHit(
        url=URLS[0],
        title="T\ud800",
        snippet="S\udfff",
        published=5,
        extra={"when": object(), "n": 1, "x": float("nan")},
    )  # type: ignore[arg-type]
    one = world(engines={"alpha": [[odd]]}, pages=PAGES)
    first = one.search(limit=1)
    assert (first.hits[0].title, first.hits[0].published, dict(first.hits[0].extra)) == (
        "T\ufffd",
        None,
        {"n": 1},
    )
    assert one.search(limit=1).provenance.kind == "exact"


def test_a_rate_limit_is_waited_out_as_told(world: Any) -> None:
    one = world(
        engines={"alpha": [RateLimited("slow down", retry_after_s=60.0)], "beta": [URLS[:1]]}, pages=PAGES
    )
    one.search(limit=1)
    second = one.search(limit=1, force_fresh=True)
    assert len(asked(one, "alpha")) == 1
    assert {a.provider: a.outcome for a in second.attempts if a.stage == "search"}["alpha"] == "benched"


@pytest.mark.parametrize(
    ("text", "limit", "cut"),
    [("a bc def", 99, "a bc def"), ("a bc def", 4, "a bc"), ("a bc def", 5, "a bc"), ("abcdef", 3, "abc")],
)
def test_cutting_at_words(text: str, limit: int, cut: str) -> None:
    assert cut_at_word(text, limit) == cut
