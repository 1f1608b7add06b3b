"""The adapter against a simulated DuckDuckGo: filters on the wire, and each fault told from the others."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from webfetch_search_ddg.engine import DdgEngine
from webfetch_search_ddg.settings import DdgSettings

from webfetch_core.api import (
    BadResponse,
    Blocked,
    Freshness,
    RateLimited,
    SearchHit,
    SearchRequest,
    TimedOut,
    Unavailable,
)
from webfetch_core.testing.clock import FakeClock
from webfetch_core.testing.engines.base import CorpusDocument, SimulatedHit
from webfetch_core.testing.engines.ddg import DdgSimulator

CLOCK = FakeClock()  # 2024-01-01
DOCUMENTS = [
    CorpusDocument(url=url, title=title, text=text, published=published, language=language)
    for url, title, text, published, language in (
        ("https://harbor.example/tide?x=1&y=a%2Fb", "Tide & <gauge>", "Reads the tide.", "2023-12-31", "en"),
        ("https://sea.example/", "Tide tables", "When the tide is high.", "2023-12-10", "de"),
        ("https://docs.sea.example/old", "Old tide tables", "Of the tide.", "2019-01-01", ""),
    )
]


@pytest.fixture
def ddg() -> Iterator[DdgSimulator]:
    with DdgSimulator(DOCUMENTS, clock=CLOCK) as made:
        yield made


def search(ddg: DdgSimulator, query: str = "tide", timeout_s: float = 5.0, path: str = "/html/", **fields):
    settings = DdgSettings(base_url=ddg.url(path), timeout_s=timeout_s)
    return DdgEngine(settings, CLOCK).search(SearchRequest(query=query, **fields))


def urls(hits: list[SearchHit]) -> list[str]:
    return [hit.url for hit in hits]


@pytest.mark.parametrize("path", ["/html/", "/lite/"])
@pytest.mark.parametrize("wrapped", ["title", "all", "none"])
def test_hits_come_out_whole_without_the_advertisement(ddg: DdgSimulator, path: str, wrapped: str) -> None:
    ddg.wrapped = wrapped
    hits = search(ddg, path=path)
    assert sorted(urls(hits)) == sorted(d.url for d in DOCUMENTS)
    gauge = next(h for h in hits if "harbor" in h.url)
    assert (gauge.title, gauge.snippet) == ("Tide & <gauge>", "Reads the tide.")


@pytest.mark.parametrize("path", ["/html/", "/lite/"])
def test_nothing_found_is_an_empty_answer(ddg: DdgSimulator, path: str) -> None:
    assert search(ddg, "zebra", path=path) == []
    ddg.fault = "empty"
    assert search(ddg, path=path) == []


def test_filters_are_put_into_the_form(ddg: DdgSimulator) -> None:
    assert urls(search(ddg, freshness=Freshness.REALTIME)) == [DOCUMENTS[0].url]
    assert len(search(ddg, freshness=Freshness.RECENT)) == 2
    assert urls(search(ddg, include_domains=("sea.example",), language="de", country="AT")) == [
        "https://sea.example/",
        "https://docs.sea.example/old",
    ]
    assert urls(search(ddg, exclude_domains=("sea.example",))) == [DOCUMENTS[0].url]
    first, second, third, fourth = ddg.queries
    assert (first.freshness, second.freshness) == ("day", "month")
    assert third.include == ("sea.example",) and (third.language, third.country) == ("de", "at")
    assert fourth.exclude == ("sea.example",)
    assert {q.query for q in ddg.queries} == {"tide"}


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ("silent_block", Blocked),
        ("challenge_200", Blocked),
        ("empty_202", Blocked),
        ("forbidden", Blocked),
        ("rate_limited", RateLimited),
        ("server_error", Unavailable),
        ("layout_drift", BadResponse),
        ("cut_off", (Unavailable, BadResponse)),
    ],
)
@pytest.mark.parametrize("path", ["/html/", "/lite/"])
def test_each_fault_is_told_from_the_others(
    ddg: DdgSimulator, fault: str, error: type[Exception], path: str
) -> None:
    ddg.fault = fault
    with pytest.raises(error):
        search(ddg, path=path)
    assert ddg.outcomes == [fault]


@pytest.mark.parametrize("fault", ["hang", "slow_drip"])
def test_a_slow_answer_ends_at_its_time(ddg: DdgSimulator, fault: str) -> None:
    ddg.fault = fault
    with pytest.raises(TimedOut):
        search(ddg, timeout_s=0.3)


def test_a_result_without_an_address_is_left_out(ddg: DdgSimulator) -> None:
    ddg.fault = "missing_fields"
    hits = search(ddg)
    assert all(hit.url.startswith("https://") for hit in hits) and len(hits) == 3
    assert [bool(hit.title) for hit in hits] == [True, False, True]
    assert [bool(hit.snippet) for hit in hits] == [False, True, True]


def test_a_query_that_forges_the_block_page_gets_its_hits(ddg: DdgSimulator) -> None:
    assert len(search(ddg, 'tide anomaly-modal "challenge-form" anomaly.js')) == 3


def test_a_hit_list_of_ones_own_is_written_as_it_is(ddg: DdgSimulator) -> None:
    odd = SimulatedHit(url="https://ö.example/ä?q=<&>", title="<script>alert(1)</script>", snippet="a & b")
    ddg.script([odd], "silent_block")
    assert search(ddg) == [SearchHit(url=odd.url, title=odd.title, snippet=odd.snippet)]
    with pytest.raises(Blocked):
        search(ddg)
    assert len(search(ddg)) == 3
