"""What is served, and how old it may be: properties that hold for every age, class, hint and setting."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webfetch_core.api import Unavailable
from webfetch_core.models import Chunk, Document, Freshness, Provenance, ProvenanceKind, SearchResult
from webfetch_core.pipeline.caching import QueryCache
from webfetch_core.pipeline.lifetimes import CLOCK_SLACK_S, judge, lifetime
from webfetch_core.pipeline.negative_cache import NegativeCache
from webfetch_core.pipeline.page_cache import PageCache
from webfetch_core.settings import TtlSettings
from webfetch_core.testing import FakeClock, MemoryCache, ScriptedClassifier, fake_plugin

DAY = 86_400.0
CLASS = st.sampled_from(Freshness)
HINT = st.none() | CLASS
AGE = st.floats(0, 400 * DAY) | st.sampled_from([0.0, 899.0, 900.0, 1_800.0, 7 * DAY, 90 * DAY, 180 * DAY])
SECONDS = st.floats(0, 200 * DAY)
TTL = st.builds(
    TtlSettings,
    realtime_s=SECONDS,
    recent_s=SECONDS,
    stable_s=SECONDS,
    ceiling_s=SECONDS,
    stale_factor=st.floats(1, 4),
)
RANK = {None: 0, ProvenanceKind.STALE: 1, ProvenanceKind.EXACT: 2}
"""How willingly an answer is served."""

URL = "https://a.example/"
PAGES = {URL: "A page\n\nThe lighthouse keeper of this place says a word or two."}


@given(AGE, CLASS, HINT, TTL)
def test_what_is_served_as_good_is_younger_than_every_bound(
    age: float, own: Freshness, hint: Freshness | None, ttl: TtlSettings
) -> None:
    kind = judge(age, own, hint, ttl)
    if kind is ProvenanceKind.EXACT:
        assert age < min(lifetime(own, ttl), lifetime(hint or own, ttl), ttl.ceiling_s)
    elif kind is ProvenanceKind.STALE:
        assert lifetime(own, ttl) <= age < ttl.stale_factor * lifetime(own, ttl)
        assert hint is None or age < lifetime(hint, ttl)
    else:
        assert age >= min(ttl.stale_factor * lifetime(own, ttl), lifetime(hint, ttl) if hint else 1e12)


@given(AGE, AGE, CLASS, HINT, TTL)
def test_older_is_never_served_more_willingly(
    one: float, other: float, own: Freshness, hint: Freshness | None, ttl: TtlSettings
) -> None:
    young, old = sorted((one, other))
    assert RANK[judge(young, own, hint, ttl)] >= RANK[judge(old, own, hint, ttl)]


@given(AGE, CLASS, HINT, TTL)
def test_a_hint_only_ever_takes_away(
    age: float, own: Freshness, hint: Freshness | None, ttl: TtlSettings
) -> None:
    assert judge(age, own, hint, ttl) in (None, judge(age, own, None, ttl))


@given(AGE, HINT)
def test_a_realtime_row_stays_one_whatever_the_hint(age: float, hint: Freshness | None) -> None:
    ttl = TtlSettings()
    assert judge(age, Freshness.REALTIME, hint, ttl) is not ProvenanceKind.EXACT or age < ttl.realtime_s


@given(CLASS, HINT, TTL)
def test_a_lifetime_of_nothing_serves_nothing(
    own: Freshness, hint: Freshness | None, ttl: TtlSettings
) -> None:
    if lifetime(own, ttl) == 0:
        assert judge(0.0, own, hint, ttl) is None


# ---- through the store ----


def result(freshness: Freshness, page_age_s: float = 0.0) -> SearchResult:
    chunk = Chunk(text="It is 4 euro.", url=URL)
    return SearchResult(
        query="q", chunks=(chunk,), freshness=freshness, provenance=Provenance(age_s=page_age_s)
    )


@given(CLASS, HINT, HINT, st.floats(0, 100 * DAY), AGE)
def test_a_row_is_judged_by_all_that_it_quotes_and_all_that_is_known(
    own: Freshness, hint: Freshness | None, now_class: Freshness | None, page_age: float, passed: float
) -> None:
    ttl, cache, clock = TtlSettings(), MemoryCache(), FakeClock()
    queries = QueryCache(cache, clock, ttl)
    assert queries.store(b"k", "q", result(own, page_age))
    clock.advance(passed)
    found = queries.lookup(b"k", hint=hint, freshness=now_class)
    least = min(lifetime(kind, ttl) for kind in (own, now_class or own))
    if found is None:
        assert (
            passed + page_age >= min(least * ttl.stale_factor, lifetime(hint, ttl) if hint else 1e12) - 1e-3
        )
        kept = bool(list(cache.scan("queries")))
        assert kept or passed + page_age >= ttl.stale_factor * lifetime(own, ttl) - 1e-3
        return
    assert found.age_s == pytest.approx(passed + page_age, abs=1e-3)
    assert lifetime(found.freshness, ttl) == least
    assert found.result.freshness is found.freshness
    assert (found.kind is ProvenanceKind.EXACT) is (found.age_s < least)


@given(st.lists(st.floats(-2 * DAY, 2 * DAY), min_size=1, max_size=6))
def test_a_clock_that_jumps_never_makes_an_old_answer_good(jumps: list[float]) -> None:
    ttl, cache = TtlSettings(), MemoryCache()
    start = 1_700_000_000.0
    wall = [start]

    class Wall(FakeClock):
        def time(self) -> float:
            return wall[0]

    queries = QueryCache(cache, Wall(), ttl)
    queries.store(b"k", "q", result(Freshness.REALTIME))
    for jump in jumps:
        wall[0] += jump
        found = queries.lookup(b"k")
        told = wall[0] - start
        if found is not None and found.kind is ProvenanceKind.EXACT:
            assert -CLOCK_SLACK_S <= told < ttl.realtime_s
        assert found is None or found.age_s >= 0


@given(st.lists(st.tuples(st.floats(0, 60 * DAY), st.booleans()), min_size=1, max_size=6))
def test_a_page_is_as_old_as_its_last_fetch_or_confirmation(steps: list[tuple[float, bool]]) -> None:
    ttl, clock = TtlSettings(), FakeClock()
    pages = PageCache(MemoryCache(), clock, ttl)
    pages.put(URL, Document(url=URL, text="t"), validators={"etag": '"1"'})
    since, there = clock.time(), True
    for passed, confirmed in steps:
        clock.advance(passed)
        age = clock.time() - since
        there = there and age < ttl.ceiling_s
        found = pages.get(URL)
        assert (found is not None) is there
        if found is None:
            return
        assert (found.age_s, found.etag) == (age, '"1"')
        if confirmed:
            pages.renew(URL, found, validators={})
            since = clock.time()


@given(
    st.sampled_from(["not_found", "blocked", "timeout", "refused", "cancelled", "plugin_error"]),
    st.none() | st.floats(0, 600),
    st.floats(0, 600),
    st.floats(0, 600),
)
def test_a_failure_is_forgotten_in_time(kind: str, told: float | None, memory: float, passed: float) -> None:
    clock, cache = FakeClock(), MemoryCache()
    failures = NegativeCache(cache, clock, TtlSettings(negative_s=memory))
    kept = failures.remember(URL, kind, "why", at_most_s=told)
    assert kept is (kind in ("not_found", "blocked", "timeout") and memory > 0)
    start = clock.time()
    clock.advance(passed)
    age = clock.time() - start
    share = {"not_found": 1.0, "blocked": 0.6, "timeout": 0.2}.get(kind, 0.0)
    least = min(share * memory, told if told is not None else memory)
    found = failures.recall(URL)
    assert (found is not None) is (kept and age < least)
    assert failures.recall(URL, force_fresh=True) is None
    assert found is None or found.kind == kind
    assert bool(list(cache.scan("negative"))) is (found is not None)


# ---- through a whole Webfetch ----


def test_two_lifetimes_do_not_add_up(world: Any, until: Any) -> None:
    clock = FakeClock()
    one = world(pages=PAGES, clock=clock)
    one.search("keeper of the lighthouse", limit=1)
    clock.advance(6 * DAY)
    quoting = one.search("lighthouse keeper", limit=1)
    assert (quoting.provenance.kind, quoting.provenance.age_s) == ("fresh", 6 * DAY)
    assert len(one.fetched) == 1
    first = one.wf.render(quoting).split("\n")[0]
    assert first == "[fresh search; it quotes pages from the cache, up to 6d old]"
    clock.advance(DAY / 2)
    assert one.search("lighthouse keeper", limit=1).provenance.age_s == 6.5 * DAY
    clock.advance(DAY)
    assert one.search("lighthouse keeper", limit=1).provenance.kind == "stale"  # the page is 7.5 days old
    until(lambda: one.wf.host.tasks.running == 0)
    again = one.search("lighthouse keeper", limit=1)
    assert (again.provenance.kind, again.provenance.age_s) == ("exact", 0.0)
    assert len(one.fetched) == 2


def test_a_page_that_stands_in_for_its_site_does_not_become_young(world: Any) -> None:
    clock = FakeClock()
    answers = iter([PAGES[URL]])

    def page(request: Any) -> str:
        try:
            return next(answers)
        except StopIteration:
            raise Unavailable("the site is down") from None

    one = world(pages={URL: page}, clock=clock)
    one.search("keeper of the lighthouse", limit=1)
    clock.advance(10 * DAY)
    quoting = one.search("lighthouse keeper", limit=1)
    assert quoting.provenance.age_s == 10 * DAY
    assert any("older copies" in note for note in quoting.notes)
    assert one.search("lighthouse keeper", limit=1, cache_only=True).provenance.kind == "stale"


def test_what_a_stricter_class_makes_stale_is_refreshed(world: Any, until: Any) -> None:
    clock, cache = FakeClock(), MemoryCache()
    world(pages=PAGES, clock=clock, cache=cache).search(limit=1)
    clock.advance(1_000)
    sure = fake_plugin("freshness", ScriptedClassifier(Freshness.REALTIME), name="sure")
    strict = world(pages=PAGES, clock=clock, cache=cache, plugins=[sure])
    assert strict.search(limit=1).provenance.kind == "stale"
    until(lambda: strict.wf.host.tasks.running == 0)
    again = strict.search(limit=1)
    assert (again.provenance.kind, again.provenance.age_s) == ("exact", 0.0)


def test_a_classifier_that_comes_later_shortens_the_life_of_what_is_there(world: Any) -> None:
    clock, cache = FakeClock(), MemoryCache()
    world(pages=PAGES, clock=clock, cache=cache).search(limit=1)
    clock.advance(3_600)
    assert (
        world(pages=PAGES, clock=clock, cache=cache).search(limit=1, cache_only=True).provenance.kind
        == "exact"
    )
    sure = fake_plugin("freshness", ScriptedClassifier(Freshness.REALTIME), name="sure")
    strict = world(pages=PAGES, clock=clock, cache=cache, plugins=[sure])
    assert strict.search(limit=1, cache_only=True).provenance.kind == "none"
    assert (
        world(pages=PAGES, clock=clock, cache=cache).search(limit=1, cache_only=True).provenance.kind
        == "exact"
    )
