from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from webfetch_core import CancelToken
from webfetch_core.errors import CacheError, Cancelled, TimedOut
from webfetch_core.models import (
    CacheChange,
    Chunk,
    Document,
    Freshness,
    Provenance,
    ProvenanceKind,
    SearchHit,
    SearchResult,
)
from webfetch_core.pipeline.cache_admin import list_queries, purge, show
from webfetch_core.pipeline.cache_rows import decode_row, normalise_query, query_key, url_key
from webfetch_core.pipeline.caching import QueryCache
from webfetch_core.pipeline.counters import Counters
from webfetch_core.pipeline.lifetimes import judge
from webfetch_core.pipeline.negative_cache import NegativeCache
from webfetch_core.pipeline.page_cache import PageCache
from webfetch_core.pipeline.single_flight import SingleFlight
from webfetch_core.pipeline.tolerant_store import TolerantStore
from webfetch_core.settings import TtlSettings

TTL = TtlSettings()
DAY = 86_400.0


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def time(self) -> float:
        return self.now

    def monotonic(self) -> float:
        return self.now


class DictCache:
    """The protocol over a dict."""

    def __init__(self) -> None:
        self.rows: dict[tuple[str, bytes], bytes] = {}

    def get(self, space: str, key: bytes) -> bytes | None:
        return self.rows.get((space, key))

    def put(self, space: str, key: bytes, value: bytes) -> None:
        self.rows[space, key] = value

    def delete(self, space: str, key: bytes) -> bool:
        return self.rows.pop((space, key), None) is not None

    def scan(self, space: str) -> Iterator[tuple[bytes, bytes]]:
        yield from [(k, v) for (s, k), v in self.rows.items() if s == space]

    def changes(self, space: str, since: int) -> Iterator[CacheChange]:
        yield from ()

    def clear(self, space: str) -> int:
        doomed = [row for row in self.rows if row[0] == space]
        for row in doomed:
            del self.rows[row]
        return len(doomed)

    def stats(self) -> Mapping[str, Any]:
        return {"path": "", "bytes": 0, "entries": {}}


class BrokenCache(DictCache):
    def get(self, space: str, key: bytes) -> bytes | None:
        raise CacheError("the disk is on fire", fix="call somebody")

    def put(self, space: str, key: bytes, value: bytes) -> None:
        raise ValueError("a plugin's own fault")

    def scan(self, space: str) -> Iterator[tuple[bytes, bytes]]:
        raise CacheError("the disk is on fire")


def result(
    query: str = "tarn ferry price", freshness: Freshness = Freshness.REALTIME, **more: Any
) -> SearchResult:
    chunk = Chunk(
        text="Le bac coûte 4 € \ud83d", url="https://a.example/", heading_path=("Prices",), score=0.5
    )
    hit = SearchHit(url="https://a.example/", title="A", engines={"ddg": 1}, extra={"k": [1]})
    return SearchResult(query=query, chunks=(chunk,), hits=(hit,), freshness=freshness, **more)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store() -> DictCache:
    return DictCache()


@pytest.fixture
def queries(store: DictCache, clock: Clock) -> QueryCache:
    return QueryCache(store, clock, TTL)


KEY = query_key("tarn ferry price", engines=["ddg"], limit=10)


# ---- keys ----


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("  Height of ORVANE dam?? ", "height of orvane dam"),
        ("Straße", "STRAẞE"),
        ("Où est Tarn ?", "où est tarn"),
        ("ｃａｆｅ\u0301", "café"),
        ("a\u200bb\ufeff", "ab"),
        ("what is this ?!", "What is this"),
        ("何ですか？", "何ですか"),
        ("a\t\n b", "a b"),
    ],
)
def test_spellings_of_one_question_are_one(one: str, other: str) -> None:
    assert normalise_query(one) == normalise_query(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("10⁶ in words", "106 in words"),
        ("what is 5!", "what is 5"),
        ("CO₂", "CO2"),
        ("c++", "c"),
        ("1½", "11/2"),
        ("swift ??", "swift ?"),
        ("kotlin !!", "kotlin"),
        ("ruby !", "ruby ?"),
        ("python ...", "python"),
        ("bash .", "bash"),
        ("Alkohol in Maßen", "Alkohol in Massen"),
    ],
)
def test_different_questions_stay_different(one: str, other: str) -> None:
    assert normalise_query(one) != normalise_query(other)


@given(st.text(max_size=60))
@settings(deadline=None)
def test_normalising_twice_changes_nothing(query: str) -> None:
    once = normalise_query(query)
    assert normalise_query(once) == once


def test_the_key_holds_all_that_changes_the_answer() -> None:
    base: dict[str, Any] = {"engines": ["a", "b"], "limit": 10}
    key = query_key("q", **base)
    assert len(key) == 32
    assert query_key("Q?", engines=["b", "a"], limit=10, include_domains=()) == key
    changed = [
        {"limit": 5},
        {"engines": ["a"]},
        {"mode": "fallback"},
        {"time_filter": Freshness.REALTIME},
        {"include_domains": ["x.example"]},
        {"exclude_domains": ["x.example"]},
        {"language": "de"},
        {"country": "de"},
    ]
    keys = {query_key("q", **{**base, **change}) for change in changed}
    assert len(keys | {key}) == len(changed) + 1
    first, second = (query_key("q", engines=e, limit=1, mode="fallback") for e in (["a", "b"], ["b", "a"]))
    assert first != second


# ---- searches ----


def test_a_result_comes_back_whole(queries: QueryCache, clock: Clock) -> None:
    fresh = result(notes=("n",), ranked_by=("bm25",))
    assert queries.store(KEY, "Tarn ferry price?", fresh)
    clock.now += 60
    found = queries.lookup(KEY)
    assert found is not None
    assert (found.kind, found.age_s, found.freshness) == (ProvenanceKind.EXACT, 60, Freshness.REALTIME)
    assert found.result == evolve(
        fresh,
        provenance=Provenance(kind=ProvenanceKind.EXACT, matched_query="Tarn ferry price?", age_s=60),
    )


def test_large_results_are_packed_and_come_back(queries: QueryCache, store: DictCache) -> None:
    chunks = tuple(Chunk(text=f"{n} " + "words " * 60, url="https://a.example/") for n in range(100))
    queries.store(KEY, "q", evolve(result(), chunks=chunks))
    assert len(store.rows["queries", KEY]) < 10_000
    found = queries.lookup(KEY)
    assert found is not None and found.result.chunks == chunks


def test_reading_does_not_lengthen_a_life(queries: QueryCache, clock: Clock) -> None:
    queries.store(KEY, "q", result())
    kinds = []
    for at in (600, 890, 910):
        clock.now = 1_000_000 + at
        found = queries.lookup(KEY, hint=Freshness.REALTIME)
        kinds.append(found.kind if found else None)
    assert kinds == [ProvenanceKind.EXACT, ProvenanceKind.EXACT, None]


def test_past_its_life_a_row_is_stale_then_gone(queries: QueryCache, clock: Clock, store: DictCache) -> None:
    queries.store(KEY, "q", result())
    clock.now += 900
    found = queries.lookup(KEY)
    assert found is not None and found.kind is ProvenanceKind.STALE
    assert found.result.provenance.kind is ProvenanceKind.STALE
    clock.now += 900
    assert queries.lookup(KEY) is None
    assert not store.rows


def test_a_stricter_hint_misses_and_keeps_the_row(queries: QueryCache, clock: Clock) -> None:
    queries.store(KEY, "q", result(freshness=Freshness.STABLE))
    clock.now += 8 * DAY
    assert queries.lookup(KEY, hint=Freshness.RECENT) is None
    assert queries.lookup(KEY, hint=Freshness.REALTIME) is None
    found = queries.lookup(KEY)
    assert found is not None and found.kind is ProvenanceKind.EXACT


@given(
    st.floats(0, 400 * DAY),
    st.sampled_from(Freshness),
    st.one_of(st.none(), st.sampled_from(Freshness)),
    st.floats(0, 100 * DAY),
)
@settings(deadline=None)
def test_no_bound_is_ever_exceeded(
    age: float, own: Freshness, hint: Freshness | None, ceiling: float
) -> None:
    ttl = TtlSettings(ceiling_s=ceiling)
    own_s = min({"realtime": 900.0, "recent": 7 * DAY, "stable": 90 * DAY}[own], ceiling)
    kind = judge(age, own, hint, ttl)
    if kind is ProvenanceKind.EXACT:
        assert age < own_s
    if kind is not None:
        assert age < 2 * own_s
        assert hint is None or age < {"realtime": 900.0, "recent": 7 * DAY, "stable": 90 * DAY}[hint]


def test_rows_without_a_class_count_as_recent(queries: QueryCache, store: DictCache, clock: Clock) -> None:
    queries.store(KEY, "q", result())
    value = store.rows["queries", KEY]
    line, _, body = value.partition(b"\n")
    facts = json.loads(line)
    del facts["freshness"]
    store.rows["queries", KEY] = json.dumps(facts).encode() + b"\n" + body
    clock.now += 6 * DAY
    found = queries.lookup(KEY)
    assert found is not None and found.freshness is Freshness.RECENT


@pytest.mark.parametrize(
    "poor",
    [
        evolve(result(), chunks=()),
        evolve(result(), chunks=(), hits=()),
        result(partial=True),
        *(result(provenance=Provenance(kind=k)) for k in ProvenanceKind if k is not ProvenanceKind.FRESH),
    ],
)
def test_poor_and_second_hand_results_are_not_kept(
    queries: QueryCache, store: DictCache, poor: SearchResult
) -> None:
    assert not queries.store(KEY, "q", poor)
    assert not store.rows


@given(st.data())
@settings(deadline=None, max_examples=80)
def test_damage_is_a_miss(data: st.DataObject) -> None:
    store, clock = DictCache(), Clock()
    queries = QueryCache(store, clock, TTL)
    queries.store(KEY, "q", result())
    value = bytearray(store.rows["queries", KEY])
    if data.draw(st.booleans()):
        value = value[: data.draw(st.integers(0, len(value) - 1))]
    else:
        start = value.index(b"\n")
        value[data.draw(st.integers(start + 1, len(value) - 1))] ^= data.draw(st.integers(1, 255))
    store.rows["queries", KEY] = bytes(value)
    assert queries.lookup(KEY) is None
    assert not store.rows


@pytest.mark.parametrize(
    "value", [b"", b"\n", b"[]\n", b'{"at":"x"}\n', b'{"at":1}', b'{"at":NaN}\n', b"[" * 99_999]
)
def test_what_is_no_row_is_a_miss(queries: QueryCache, store: DictCache, value: bytes) -> None:
    store.rows["queries", KEY] = value
    assert decode_row(value) is None
    assert queries.lookup(KEY) is None
    assert not store.rows


def test_a_row_from_the_future_is_not_served_for_ever(
    queries: QueryCache, store: DictCache, clock: Clock
) -> None:
    clock.now += DAY
    queries.store(KEY, "q", result())
    clock.now -= DAY
    assert queries.lookup(KEY) is None
    queries.store(KEY, "q", result())
    clock.now -= 10
    found = queries.lookup(KEY)
    assert found is not None and found.age_s == 0


def test_a_failing_store_is_an_empty_one_and_is_told_once_a_kind(clock: Clock) -> None:
    told: list[str] = []
    store = TolerantStore(BrokenCache(), told.append)
    queries, pages = QueryCache(store, clock, TTL), PageCache(store, clock, TTL)
    for _ in range(3):
        assert queries.lookup(KEY) is None
        assert not queries.store(KEY, "q", result())
        assert pages.get("https://a.example/") is None
    Counters(store).bump("searches")
    assert told == [
        "the cache could not read: the disk is on fire (call somebody)",
        "the cache could not write: a plugin's own fault",
    ]


def test_without_a_store_everything_misses(clock: Clock) -> None:
    queries, pages, failures = (kind(None, clock, TTL) for kind in (QueryCache, PageCache, NegativeCache))
    assert not queries.store(KEY, "q", result()) and queries.lookup(KEY) is None
    assert not pages.put("u", Document(url="u", text="t")) and pages.get("u") is None
    assert not failures.remember("u", "timeout") and failures.recall("u") is None


# ---- pages and failures ----


def test_a_page_comes_back_with_its_validators_until_the_ceiling(store: DictCache, clock: Clock) -> None:
    pages = PageCache(store, clock, TTL)
    url = "https://a.example/" + "x" * 3_000
    document = Document(url=url, text="# Title\n\ntext", metadata={"a": "b"}, links=("https://b.example/",))
    assert pages.put(
        url, document, final_url="https://a.example/y", validators={"etag": '"1"', "server": "x"}
    )
    clock.now += 80 * DAY
    found = pages.get(url)
    assert found is not None
    assert (found.document, found.etag, found.final_url) == (document, '"1"', "https://a.example/y")
    assert found.age_s == 80 * DAY
    pages.renew(url, found, validators={"last-modified": "today"})
    clock.now += 80 * DAY
    found = pages.get(url)
    assert found is not None and (found.etag, found.last_modified) == ('"1"', "today")
    clock.now += 11 * DAY
    assert pages.get(url) is None
    assert not store.rows


def test_a_page_without_text_is_not_kept(store: DictCache, clock: Clock) -> None:
    assert not PageCache(store, clock, TTL).put("u", Document(url="u", text=" \n"))


@pytest.mark.parametrize(("kind", "seconds"), [("not_found", 300), ("blocked", 180), ("timeout", 60)])
def test_failures_are_remembered_by_kind(store: DictCache, clock: Clock, kind: str, seconds: float) -> None:
    failures = NegativeCache(store, clock, TTL)
    assert failures.remember("u", kind, "why")
    clock.now += seconds - 1
    found = failures.recall("u")
    assert found is not None and (found.url, found.kind, found.reason) == ("u", kind, "why")
    assert failures.recall("u", force_fresh=True) is None
    clock.now += 1
    assert failures.recall("u") is None
    assert not store.rows


@pytest.mark.parametrize(
    "kind", ["busy", "benched", "cancelled", "not_configured", "plugin_error", "refused", "ok"]
)
def test_faults_of_this_host_are_not_the_pages(store: DictCache, clock: Clock, kind: str) -> None:
    assert not NegativeCache(store, clock, TTL).remember("u", kind)


def test_a_failure_is_remembered_no_longer_than_the_other_side_said(store: DictCache, clock: Clock) -> None:
    failures = NegativeCache(store, clock, TTL)
    failures.remember("u", "rate_limited", at_most_s=5.0)
    failures.remember("v", "rate_limited", at_most_s=1e9)
    clock.now += 4
    assert failures.recall("u") is not None
    clock.now += 1
    assert failures.recall("u") is None
    clock.now += 0.6 * TTL.negative_s
    assert failures.recall("v") is None


def test_a_page_that_works_again_is_forgotten(store: DictCache, clock: Clock) -> None:
    failures = NegativeCache(store, clock, TTL)
    failures.remember("u", "timeout")
    assert failures.forget("u")
    assert failures.recall("u") is None


# ---- single flight ----


def test_identical_work_runs_once() -> None:
    flight, runs, gate = SingleFlight(), [], threading.Event()
    got: list[tuple[str, bool]] = []

    def work() -> str:
        runs.append(1)
        gate.wait(60)
        return "v"

    threads = [threading.Thread(target=lambda: got.append(flight.do(b"k", work, 60))) for _ in range(6)]
    for thread in threads:
        thread.start()
    while not flight.running(b"k"):
        time.sleep(0.001)
    time.sleep(0.05)
    gate.set()
    for thread in threads:
        thread.join(60)
    assert runs == [1]
    assert sorted(got) == [("v", False)] + [("v", True)] * 5
    assert not flight.running(b"k")
    assert flight.do(b"k", lambda: "again") == ("again", False)


def _beside(flight: SingleFlight, error: BaseException) -> tuple[threading.Event, threading.Thread]:
    gate = threading.Event()

    def work() -> str:
        gate.wait(60)
        raise error

    def lead() -> None:
        with pytest.raises(type(error)):
            flight.do(b"k", work)

    thread = threading.Thread(target=lead)
    thread.start()
    while not flight.running(b"k"):
        time.sleep(0.001)
    return gate, thread


def test_a_failure_is_shared() -> None:
    flight = SingleFlight()
    gate, thread = _beside(flight, ValueError("no"))
    threading.Timer(0.05, gate.set).start()
    with pytest.raises(ValueError, match="no"):
        flight.do(b"k", lambda: "mine", 60)
    thread.join(60)


@pytest.mark.parametrize("error", [Cancelled("gone"), KeyboardInterrupt()])
def test_after_a_cancelled_run_one_of_the_waiting_takes_over(error: BaseException) -> None:
    flight = SingleFlight()
    gate, thread = _beside(flight, error)
    threading.Timer(0.05, gate.set).start()
    assert flight.do(b"k", lambda: "mine", 60) == ("mine", False)
    thread.join(60)


def test_one_who_waits_can_leave_alone() -> None:
    flight, token = SingleFlight(), CancelToken()
    gate, thread = _beside(flight, ValueError("no"))
    threading.Timer(0.05, token.cancel).start()
    with pytest.raises(Cancelled):
        flight.do(b"k", lambda: "mine", 60, token=token)
    assert flight.running(b"k")
    gate.set()
    thread.join(60)


def test_one_who_is_cancelled_as_well_does_not_take_over() -> None:
    flight, token = SingleFlight(), CancelToken()
    gate, thread = _beside(flight, Cancelled("gone"))
    token.cancel()
    gate.set()
    with pytest.raises(Cancelled, match="the caller"):
        flight.do(b"k", lambda: "mine", 60, token=token)
    thread.join(60)


def test_waiting_ends_at_the_deadline() -> None:
    flight = SingleFlight()
    gate, thread = _beside(flight, ValueError("no"))
    with pytest.raises(TimedOut):
        flight.do(b"k", lambda: "mine", 0.02)
    gate.set()
    thread.join(60)


def test_asking_again_from_within_does_not_wait_for_oneself() -> None:
    flight = SingleFlight()
    assert flight.do(b"k", lambda: flight.do(b"k", lambda: 1, 5)) == ((1, False), False)


# ---- rows ----


def test_listing_showing_and_purging(store: DictCache, clock: Clock) -> None:
    queries, pages = QueryCache(store, clock, TTL), PageCache(store, clock, TTL)
    queries.store(KEY, "Tarn ferry price", result())
    pages.put("u", Document(url="u", text="t"))
    clock.now += 100
    other = query_key("dam height", engines=["ddg"], limit=10)
    queries.store(other, "dam height", result(freshness=Freshness.STABLE))
    store.put("stats", b"counter/x", b"{}")
    store.put("vectors", b"v", b"\0\1")
    store.put("queries", b"damaged", b"?")

    listed = list(list_queries(store, clock.now))
    assert [(r.query, r.age_s, r.freshness, r.chunks) for r in listed] == [
        ("dam height", 0, Freshness.STABLE, 1),
        ("Tarn ferry price", 100, Freshness.REALTIME, 1),
    ]
    assert [r.result.query for r in show(store, "TARN ferry price?", clock.now)] == ["tarn ferry price"]
    assert len(show(store, listed[0].key[:10], clock.now)) == 1
    assert show(store, "nothing like it", clock.now) == []

    assert purge(store, now=clock.now, older_than_s=100) == 2
    assert purge(store, now=clock.now, query="Dam height") == 1
    assert queries.lookup(other) is None
    assert purge(store, now=clock.now, space="vectors") == 1
    assert purge(store, now=clock.now) == 1
    assert list(store.rows) == [("stats", b"counter/x")]
    assert purge(store, now=clock.now, space="stats") == 1


def test_keys_of_urls_are_short_and_any_text_has_one() -> None:
    assert len(url_key("https://a.example/" + "é\ud800" * 4_000)) == 32
