"""Rows that another process, a hand-made import or a faulty store left, and that claim what is not so."""

from __future__ import annotations

import json
import sys
import zlib
from collections.abc import Callable, Sequence
from threading import Barrier, Thread
from typing import Any

import pytest

from webfetch_core.models import Chunk, Document, Freshness, Match, SearchHit, SearchResult
from webfetch_core.pipeline.cache_admin import list_queries
from webfetch_core.pipeline.cache_check import check_row
from webfetch_core.pipeline.cache_rows import ASKED, FINDINGS, QUERIES, STATS, decode_row, encode_row, url_key
from webfetch_core.pipeline.cache_rows import PAGES as PAGES_SPACE
from webfetch_core.pipeline.counters import PREFIX, Counters
from webfetch_core.pipeline.findings import SCOPE, finding_key
from webfetch_core.pipeline.page_cache import PageCache
from webfetch_core.pipeline.receipts import Assumptions, Receipt, SavingsReport, estimate
from webfetch_core.pipeline.render import human_age
from webfetch_core.settings import TtlSettings
from webfetch_core.testing import FakeClock, MemoryCache, ScriptedMatcher, fake_plugin

DAY = 86_400.0
PAGES = {
    f"https://p{n}.example/": f"Page {n}\n\nThe tower of place{n} is tall, says w{n}a w{n}b w{n}c."
    for n in range(1, 4)
}
TOWER, DAM = "who built the tower", "who built the dam"


def alike(query: str, candidates: Sequence[str]) -> Match | None:
    """A matcher to which queries about the tower are the same, and those about the dam."""
    about = next((word for word in ("tower", "dam") if word in query), "?")
    for index, candidate in enumerate(candidates):
        if about in candidate:
            return Match(index=index, query=candidate, score=0.9, reason="the same thing")
    return None


@pytest.fixture
def host(world: Callable[..., Any]) -> Callable[..., Any]:
    def make(**options: Any) -> Any:
        plugins = [fake_plugin("match", ScriptedMatcher(alike), "mine"), *options.pop("plugins", ())]
        return world(pages=PAGES, plugins=plugins, **options)

    return make


def only(cache: MemoryCache, space: str) -> tuple[bytes, bytes]:
    [(key, value)] = cache.scan(space)
    return key, value


# ---- keys that do not belong to their query ----


def test_a_query_of_the_index_does_not_lead_to_the_answer_of_another(host: Any) -> None:
    one = host()
    one.search(TOWER)
    key, value = only(one.cache, ASKED)
    row = decode_row(value)
    assert row is not None
    one.cache.put(ASKED, key, encode_row(row.at, {**row.facts, "query": DAM}))
    found = one.search("the dam was built by whom")
    assert (found.provenance.kind, found.provenance.matched_query) == ("fresh", "")
    assert DAM not in [decode_row(v).facts["query"] for _, v in one.cache.scan(ASKED)]  # type: ignore[union-attr]


def test_a_query_of_the_index_is_of_the_filters_that_it_says(host: Any) -> None:
    one = host()
    one.search(TOWER, include_domains=["p1.example"])
    one.search(DAM)
    rows = {decode_row(v).facts["query"]: (k, v) for k, v in one.cache.scan(ASKED)}  # type: ignore[union-attr]
    key, value = rows[TOWER]
    row, plain = decode_row(value), decode_row(rows[DAM][1])
    assert row is not None and plain is not None
    one.cache.put(ASKED, key, encode_row(row.at, {**row.facts, "scope": plain.facts["scope"]}))
    assert one.search("the tower was built by whom").provenance.kind == "fresh"


def test_an_answer_under_the_key_of_another_query_is_none(host: Any) -> None:
    one = host()
    one.search(TOWER)
    wrong = only(one.cache, QUERIES)
    one.search(DAM)
    [right] = [key for key, _ in one.cache.scan(QUERIES) if key != wrong[0]]
    one.cache.put(QUERIES, right, wrong[1])
    assert one.search(DAM).provenance.kind == "fresh"
    assert one.search(DAM).provenance.kind == "exact"


def test_a_finding_under_the_key_of_another_query_is_none(host: Any) -> None:
    one = host()
    one.wf.save_finding(TOWER, "The mayor built it, in 1911.")
    _, value = only(one.cache, FINDINGS)
    one.cache.put(FINDINGS, finding_key(DAM), value)
    assert one.search(DAM, cache_only=True).provenance.kind == "none"
    facts = {"space": FINDINGS, "query": DAM, "scope": SCOPE, "freshness": "stable"}
    one.cache.put(ASKED, finding_key(TOWER), encode_row(one.wf.host.clock.time(), facts))
    assert one.search("the dam, whose?", cache_only=True).provenance.kind == "none"
    assert one.search(TOWER, cache_only=True).provenance.kind == "finding"


# ---- times that are none ----


@pytest.mark.parametrize("at", ["Infinity", "-Infinity", "NaN", "-1e999", '"inf"', "1" + "0" * 400])
def test_a_row_whose_time_is_no_moment_is_no_row(at: str) -> None:
    value = b'{"at": %b, "query": "tide"}\n{}' % at.encode()
    assert decode_row(value) is None
    for space in (QUERIES, FINDINGS, ASKED):
        assert check_row(space, value, 1.0)
    cache = MemoryCache()
    cache.put(QUERIES, b"k" * 32, value)
    assert list(list_queries(cache, 1.0)) == []


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e999"])
@pytest.mark.parametrize("place", ["0.125", "0.25", "0.5"])
def test_a_row_with_a_number_that_is_none_is_damaged(place: str, number: str) -> None:
    hit = SearchHit(url="https://a.example/", extra={"stars": 0.25})
    chunk = Chunk(text="The tide.", url=hit.url, score=0.125)
    value = encode_row(1.0, {}, SearchResult(query="tide", chunks=(chunk,), hits=(hit,), elapsed_s=0.5))
    assert check_row(QUERIES, value, 1.0) == ""
    header, _, body = value.partition(b"\n")
    changed = body.replace(place.encode(), number.encode())
    check = [str(zlib.crc32(one)).encode() for one in (body, changed)]
    value = header.replace(*check) + b"\n" + changed
    assert check_row(QUERIES, value, 1.0) == "its body cannot be read"


@pytest.mark.parametrize("at", [0.0, -1e300, 1e300])
def test_any_moment_can_be_told(at: float) -> None:
    cache = MemoryCache()
    cache.put(QUERIES, b"k" * 32, encode_row(at, {"query": "tide"}))
    [row] = list_queries(cache, 1.0)
    assert human_age(row.age_s)


# ---- counters that are none ----


def nested(depth: int) -> bytes:
    plain: dict[str, Any] = {"searches": 1}
    for _ in range(depth):
        plain = {"searches": 1, "folded": {"x": plain}}
    text = json.dumps(plain)
    return text.encode()


@pytest.mark.parametrize(
    "value",
    [
        nested(sys.getrecursionlimit() // 3),
        b'{"folded": ' * 20_000 + b"{}" + b"}" * 20_000,
        b'{"at": 1%b, "searches": 3}' % (b"0" * 400),
        b'{"at": 1, "searches": 1%b}' % (b"0" * 400),
        b'{"at": 1, "folded": []}',
        b'{"at": 1, "folded": {"x": 5}}',
        b'{"at": 1, "folded": {"\\u1234": {"searches": 1}}}',
        b"[]",
        b"5",
        b"\xff",
    ],
    ids=["deep", "very deep", "time", "count", "list", "no row", "no key", "array", "number", "no text"],
)
@pytest.mark.parametrize("key", [PREFIX + b"total", PREFIX + b"0" * 32])
def test_counters_of_a_row_that_makes_no_sense_are_none(key: bytes, value: bytes) -> None:
    cache = MemoryCache()
    cache.put(STATS, key, value)
    counters = Counters(cache, clock=FakeClock())
    counters.bump("searches", 2)
    counts = counters.lifetime()
    assert counts["searches"] in (2, 3)
    column = Receipt(counts=counts, estimate=estimate(counts, Assumptions()))
    assert "searches" in SavingsReport(session=column, lifetime=column).text


# ---- a finding does not outlive the class of its question ----


def test_a_finding_that_is_said_to_last_ages_as_its_question_does(host: Any) -> None:
    clock = FakeClock()
    one = host(clock=clock)
    saved = one.wf.save_finding("bitcoin price today", "It is 60,000 dollars.", freshness="stable")
    assert saved.lifetime_s == 900.0
    assert one.search("bitcoin price today").provenance.kind == "finding"
    clock.advance(1_000)
    assert one.search("bitcoin price today", cache_only=True).provenance.kind == "none"
    # Who says at the search that it never changes has said so of this search.
    found = one.search("bitcoin price today", freshness=Freshness.STABLE)
    assert found.provenance.kind == "finding"


def test_a_page_under_the_address_of_another_is_none() -> None:
    cache = MemoryCache()
    pages = PageCache(cache, FakeClock(), TtlSettings())
    pages.put("https://a.example/", Document(url="https://a.example/", text="The tide."))
    _, value = only(cache, PAGES_SPACE)
    cache.put(PAGES_SPACE, url_key("https://b.example/"), value)
    assert pages.get("https://b.example/") is None
    assert pages.get("https://a.example/") is not None


# ---- one run for many ----


def test_who_may_not_be_told_old_news_does_not_share_a_run_with_who_may(world: Callable[..., Any]) -> None:
    both = Barrier(2, timeout=30)

    def answer(*_: Any) -> list[str]:
        both.wait()  # a run that serves both never gets here twice
        return list(PAGES)

    one = world(engines={"alpha": [answer, answer]}, pages=PAGES, clock=None)
    found: list[Any] = []
    threads = [
        Thread(
            target=lambda hint=hint: found.append(
                one.search("tower price today", freshness=hint, deadline_s=60)
            )
        )
        for hint in ("stable", None)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(result.freshness for result in found) == ["realtime", "stable"]
    assert len(one.engines["alpha"].calls) == 2
