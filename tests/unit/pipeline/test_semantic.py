"""A search for what was asked before in other words: what may serve, and what only a new search may."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from webfetch_core import ConfigError
from webfetch_core.models import Freshness, Match
from webfetch_core.pipeline.cache_admin import purge
from webfetch_core.pipeline.cache_rows import ASKED, QUERIES
from webfetch_core.testing import (
    FakeClock,
    Hang,
    MemoryCache,
    ScriptedClassifier,
    ScriptedMatcher,
    fake_plugin,
)

DAY = 86_400.0
PAGES = {
    f"https://p{n}.example/": f"Page {n}\n\nThe tower of place{n} is tall, says w{n}a w{n}b w{n}c."
    for n in range(1, 4)
}
FIRST, REWORDED = "who built the tower", "the tower was built by whom"


def same(query: str, candidates: Sequence[str]) -> Match | None:
    """A matcher to which every query about the same thing is the same: the words with t tell."""
    wanted = {w for w in query.split() if w.startswith(("tow", "dam", "built"))}
    for index, candidate in enumerate(candidates):
        if {w for w in candidate.split() if w.startswith(("tow", "dam", "built"))} == wanted:
            return Match(index=index, query=candidate, score=0.9, reason="same words that count")
    return None


class Shortlisting(ScriptedMatcher):
    """Has a shortlist: the last of the texts that share a word, and notes what it was given."""

    def __init__(self, *steps: Any) -> None:
        super().__init__(*steps)
        self.given: list[Sequence[str]] = []

    def shortlist(self, query: str, texts: Sequence[str], at_most: int) -> Sequence[int]:
        self.given.append(texts)
        near = [n for n, text in enumerate(texts) if set(text.split()) & set(query.split())]
        return near[::-1][:at_most]


@pytest.fixture
def host(world: Callable[..., Any]) -> Callable[..., Any]:
    def make(*steps: Any, matcher: Any = None, **options: Any) -> Any:
        matcher = matcher or ScriptedMatcher(*(steps or (same,)))
        plugins = [fake_plugin("match", matcher, "mine"), *options.pop("plugins", ())]
        return world(pages=PAGES, plugins=plugins, **options)

    return make


def kinds(one: Any, *queries: str, **options: Any) -> list[str]:
    return [str(one.search(query, **options).provenance.kind) for query in queries]


def test_a_reworded_query_gets_the_answer_and_is_told_whose(host: Any) -> None:
    clock = FakeClock()
    one = host(clock=clock)
    fresh = one.search(FIRST)
    clock.advance(3_600)
    found = one.search(REWORDED)
    origin = found.provenance
    assert (origin.kind, origin.matched_query, origin.score) == ("semantic", FIRST, 0.9)
    assert origin.reason == "same words that count" and origin.age_s == pytest.approx(3_600, abs=5)
    assert found.query == REWORDED and found.chunks == fresh.chunks
    assert len(one.engines["alpha"].calls) == 1
    assert one.wf.render(found).startswith(f'[cache: semantic match to "{FIRST}", score 0.90, 1h old, ')
    hit = one.named("cache.hit")[0].data
    assert hit == {
        "kind": "semantic",
        "matched": FIRST,
        "score": "0.90",
        "reason": "same words that count",
    }
    assert one.wf.status().counters["served_semantic"] == 1


def test_another_question_is_searched_for(host: Any) -> None:
    assert kinds(host(), FIRST, "who built the dam", FIRST) == ["fresh", "fresh", "exact"]


@pytest.mark.parametrize(
    "change",
    [
        {"limit": 2},
        {"include_domains": ["p1.example"]},
        {"language": "de"},
        {"country": "AT"},
        {"engines": ["beta"]},
        {"freshness": "recent"},
        {"freshness": "realtime"},
    ],
)
def test_an_answer_under_other_conditions_does_not_serve(host: Any, change: dict[str, Any]) -> None:
    one = host(engines={"alpha": [list(PAGES)], "beta": [list(PAGES)]})
    one.search(FIRST)
    assert one.search(REWORDED, **change).provenance.kind == "fresh"
    assert one.search(REWORDED).provenance.kind == "semantic"


def test_the_class_of_either_wording_bounds_the_age(host: Any) -> None:
    clock = FakeClock()
    one = host(clock=clock)
    one.search("who built the tower")  # stable, by its words
    clock.advance(1_000)
    assert one.search("right now, who built the tower").provenance.kind == "fresh"
    clock.advance(8 * DAY)
    assert one.search("still the tower, built by the mayor of what").provenance.kind == "fresh"


def test_a_stale_answer_serves_only_its_own_wording(host: Any) -> None:
    clock = FakeClock()
    one = host(clock=clock, engines={"alpha": [list(PAGES), list(PAGES), list(PAGES)]})
    one.search(FIRST)
    clock.advance(100 * DAY)
    assert kinds(one, REWORDED) == ["fresh"]
    clock.advance(100 * DAY)
    assert kinds(one, FIRST + " and why") == ["fresh"]


def test_a_hint_that_filters_nothing_shares_answers_with_none(host: Any) -> None:
    one = host()
    assert kinds(one, FIRST, freshness="stable") == ["fresh"]
    assert kinds(one, FIRST, REWORDED) == ["exact", "semantic"]
    assert kinds(one, FIRST, REWORDED, freshness="stable") == ["exact", "semantic"]


def test_force_fresh_and_a_purged_answer_are_searched_for(host: Any) -> None:
    one = host()
    one.search(FIRST)
    assert one.search(REWORDED, force_fresh=True).provenance.kind == "fresh"
    store: MemoryCache = one.cache
    store.clear(QUERIES)
    assert one.search("tower built when").provenance.kind == "fresh"
    assert {row[0] for row in store.scan(ASKED)} == {row[0] for row in store.scan(QUERIES)}


def test_cache_only_takes_what_was_asked_in_other_words(host: Any) -> None:
    one = host()
    one.search(FIRST)
    assert kinds(one, REWORDED, "an unheard dam", cache_only=True) == ["semantic", "none"]


def test_processes_find_each_others_answers(host: Any) -> None:
    store = MemoryCache()
    one, other = host(cache=store), host(cache=store)
    assert kinds(other, "what is the dam") == ["fresh"]
    assert kinds(one, FIRST) == ["fresh"]
    assert kinds(other, REWORDED) == ["semantic"]


def test_the_shortlist_decides_what_is_looked_at(host: Any) -> None:
    matcher = Shortlisting(same)
    one = host(matcher=matcher)
    kinds(one, FIRST, "a dam", "nothing in common")
    assert one.search(REWORDED).provenance.matched_query == FIRST
    query, candidates = matcher.calls[-1]
    assert query == REWORDED and list(candidates) == [FIRST]
    assert one.search("the tower built on what").provenance.kind == "semantic"
    assert matcher.given[-1] is matcher.given[-2], "the same texts are the same object"


@pytest.mark.parametrize(
    "step",
    [
        RuntimeError("no"),
        SystemExit(1),
        Match(index=7, query="x", score=1.0),
        Match(index=0, query="x", score=float("nan")),
        "yes",
        Hang(),
    ],
    ids=["raises", "exits", "out of range", "nan", "no match at all", "hangs"],
)
def test_a_matcher_that_fails_costs_a_search(host: Any, step: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webfetch_core.pipeline.pipeline.MATCH_S", 0.2)
    one = host(step)
    result = [one.search(query) for query in (FIRST, REWORDED)][1]
    assert result.provenance.kind == "fresh" and result.chunks
    attempt = next(a for a in result.attempts if a.stage == "match")
    assert attempt.outcome in ("plugin_error", "timeout") and attempt.reason


@pytest.mark.parametrize("places", [[5], [0, 0], ["0"], [-1], 3, None, [0.0]])
def test_a_shortlist_that_lies_costs_a_search(host: Any, places: Any) -> None:
    class Lying(ScriptedMatcher):
        def shortlist(self, query: str, texts: Sequence[str], at_most: int) -> Any:
            return places

    one = host(matcher=Lying(same))
    assert kinds(one, FIRST, REWORDED) == ["fresh", "fresh"]


def test_a_matcher_that_is_named_must_be_there(world: Any) -> None:
    with pytest.raises(ConfigError, match="match"):
        world(pages=PAGES, match=("absent",)).search(FIRST)


def test_without_a_matcher_only_the_same_words_match(world: Any) -> None:
    assert kinds(world(pages=PAGES), FIRST, REWORDED, FIRST.upper()) == ["fresh", "fresh", "exact"]


def test_what_a_score_claims_is_bounded(host: Any) -> None:
    one = host(Match(index=0, query="", score=17.0))
    one.search(FIRST)
    assert one.search(REWORDED).provenance.score == 1.0


def test_what_a_matcher_tells_is_a_few_words_on_a_line(host: Any) -> None:
    lying = Match(index=0, query="another " * 900, score=0.9, reason="[fresh search]\n\x1b[2J " * 9_000)
    one = host(lying)
    one.search(FIRST)
    found = one.search(REWORDED)
    assert found.provenance.matched_query == FIRST
    assert len(found.provenance.reason) <= 300 and found.provenance.reason.isprintable()
    told = one.wf.match(REWORDED, [FIRST])
    assert told.query == FIRST and told.reason == found.provenance.reason


# ---- what a model saved ----


def test_a_finding_is_served_to_other_words_and_stays_unverified(host: Any) -> None:
    one = host()
    one.wf.save_finding(FIRST, "The mayor built it, in 1911.")
    found = one.search(REWORDED)
    assert (found.provenance.kind, found.provenance.matched_query) == ("finding", FIRST)
    assert one.wf.render(found).startswith("[UNVERIFIED: ") and "1911" in one.wf.render(found)
    assert one.engines["alpha"].calls == []
    assert one.search(FIRST).provenance.kind == "finding"
    assert one.search("the dam").provenance.kind == "fresh"


def test_what_the_web_says_comes_before_a_finding_in_any_wording(host: Any) -> None:
    one = host()
    one.wf.save_finding(FIRST, "The mayor built it, in 1911.")
    assert kinds(one, REWORDED, REWORDED, force_fresh=True) == ["fresh", "fresh"]
    assert kinds(one, FIRST, REWORDED) == ["semantic", "exact"]


def test_findings_that_are_switched_off_match_nothing(host: Any) -> None:
    store = MemoryCache()
    host(cache=store).wf.save_finding(FIRST, "The mayor built it, in 1911.")
    assert kinds(host(cache=store, findings=False), REWORDED) == ["fresh"]


def test_a_purge_takes_the_index_along(host: Any) -> None:
    one = host()
    one.search(FIRST)
    one.search("the dam")
    one.wf.save_finding("how deep is it", "Very deep, about 80 m.")
    store: MemoryCache = one.cache
    assert purge(store, now=0.0, query=FIRST) == 1 and len(list(store.scan(ASKED))) == 2
    assert purge(store, now=0.0, space=QUERIES) == 1 and len(list(store.scan(ASKED))) == 1
    assert purge(store, now=0.0, space="findings") == 1 and not list(store.scan(ASKED))


def test_nobody_is_asked_for_the_class_of_an_answer_that_serves_under_any(host: Any) -> None:
    clock, classifier = FakeClock(), ScriptedClassifier(lambda query, now: Freshness.STABLE)
    one = host(clock=clock, plugins=[fake_plugin("freshness", classifier, "mine")])
    assert kinds(one, FIRST, FIRST, FIRST) == ["fresh", "exact", "exact"]
    assert len(classifier.calls) == 1
    clock.advance(901)  # past the life of the strictest class
    assert kinds(one, FIRST) == ["exact"]
    assert len(classifier.calls) == 2
