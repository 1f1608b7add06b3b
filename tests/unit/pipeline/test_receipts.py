"""Counters are exact through a whole Webfetch; dollars are arithmetic over assumptions."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webfetch_core import AllEnginesFailed, BadQuery
from webfetch_core.api import PageError, SearchTraits, Unavailable
from webfetch_core.models import SearchHit
from webfetch_core.pipeline.receipts import Assumptions, SavingsReport, estimate, receipt
from webfetch_core.testing import FakeClock, MemoryCache, ScriptedEngine, fake_plugin

URLS = [f"https://p{n}.example/" for n in range(1, 4)]
PAGES = {
    url: f"Page {n}\n\nThe lighthouse keeper of place{n} says w{n}a w{n}b w{n}c w{n}d."
    for n, url in enumerate(URLS, start=1)
}
CHARS = sum(map(len, PAGES.values()))
COUNTS = st.fixed_dictionaries(
    {},
    optional={
        name: st.integers(0, 10**9)
        for name in (
            "searches",
            "searches_empty",
            "results_handed_out",
            "chars_handed_out",
            "fees_micro_usd",
            "served_exact",
        )
    },
)
PRICES = st.floats(0, 1e6)


def session(one: Any) -> dict[str, int]:
    return dict(one.wf.savings_report().session.counts)


# ---- what is counted ----


def test_every_search_counts_where_its_answer_came_from(world: Any, until: Any) -> None:
    clock = FakeClock()
    one = world(pages=PAGES, clock=clock, limit=3)
    one.search("lighthouse keeper")
    one.search("lighthouse keeper")
    one.search("Lighthouse  keeper?")
    one.search("unknown thing", cache_only=True)
    until(lambda: session(one).get("pages_fetched") == 3)  # the last may come behind its search
    assert session(one) == {
        "searches": 4,
        "served_fresh": 1,
        "served_exact": 2,
        "served_none": 1,
        "searches_empty": 1,
        "pages_fetched": 3,
        "chars_read": CHARS,
    }


def test_pages_count_by_how_they_were_had(world: Any) -> None:
    one = world(pages=PAGES, limit=3)
    one.wf.fetch(URLS[0])
    one.wf.fetch(URLS[0])
    with pytest.raises(PageError):
        one.wf.fetch("https://nowhere.example/")
    counts = session(one)
    assert (counts["pages_fetched"], counts["pages_cached"], counts["pages_failed"]) == (1, 1, 1)
    assert counts["chars_read"] == 2 * len(PAGES[URLS[0]])
    assert "searches" not in counts


def test_texts_count_by_their_length(world: Any) -> None:
    one = world(pages=PAGES, limit=3)
    result = one.search()
    texts = [one.wf.render(result), one.wf.render(result, full_results=True)]
    texts.append(one.wf.render(one.search("unknown thing", cache_only=True)))
    counts = session(one)
    assert counts["results_handed_out"] == 2  # the third has no answer in it
    assert counts["chars_handed_out"] == sum(map(len, texts))


def test_a_search_that_fails_is_counted_apart(world: Any) -> None:
    one = world(engines={"alpha": [Unavailable("gone")]}, pages=PAGES)
    with pytest.raises(AllEnginesFailed):
        one.search()
    with pytest.raises(BadQuery):
        one.search("")  # it was no search
    assert session(one) == {"searches_failed": 1}


def test_fees_of_engines_count_for_every_call_that_was_answered(world: Any) -> None:
    hits = [SearchHit(url=url, title="t") for url in URLS]
    dear = ScriptedEngine(hits, Unavailable("gone"))
    traits = SearchTraits(usd_per_1k=5.0)
    dear_plugin = fake_plugin("search", dear, traits=traits)
    one = world(engines={"free": [hits, Unavailable("gone")]}, pages=PAGES, plugins=[dear_plugin], cache=None)
    one.search()
    with pytest.raises(AllEnginesFailed):
        one.search()
    assert session(one)["fees_micro_usd"] == 5_000
    report = one.wf.savings_report()
    assert report.session.estimate.own_fees_usd == 0.005
    assert not report.kept
    assert report.lifetime.counts == report.session.counts


def test_another_webfetch_adds_to_the_lifetime_and_not_to_the_session(world: Any) -> None:
    cache = MemoryCache()
    first = world(pages=PAGES, cache=cache, limit=3)
    first.search()
    first.wf.render(first.search())
    first.wf.close()
    second = world(pages=PAGES, cache=cache, limit=3)
    second.search()
    report = second.wf.savings_report()
    assert report.kept
    assert report.session.counts == {"searches": 1, "served_exact": 1}
    assert report.lifetime.counts["searches"] == 3
    assert report.lifetime.counts["results_handed_out"] == 1
    third = world(pages=PAGES, cache=cache).wf.savings_report()
    assert not third.session.counts
    assert third.lifetime.counts == report.lifetime.counts


def test_what_was_counted_is_there_after_closing(world: Any) -> None:
    cache = MemoryCache()
    one = world(pages=PAGES, cache=cache)
    one.wf.fetch(URLS[0])
    one.wf.close()
    assert world(cache=cache, pages={}).wf.savings_report().lifetime.counts["pages_fetched"] == 1


# ---- what it comes to ----


@given(COUNTS, PRICES, PRICES, PRICES, PRICES)
def test_the_sum_is_the_sum_of_its_lines(
    counts: dict[str, int], fee: float, hosted: float, own: float, price: float
) -> None:
    assumed = Assumptions(
        usd_per_1k_searches=fee, hosted_tokens=hosted, own_tokens=own, usd_per_million_tokens=price
    )
    got = estimate(counts, assumed)
    assert got.searches >= 0
    assert math.isfinite(got.avoided_usd)
    assert got.avoided_usd == pytest.approx(got.hosted_fees_usd - got.own_fees_usd + got.tokens_usd)
    text = SavingsReport(
        session=receipt(counts, assumed), lifetime=receipt(counts, assumed), assumptions=assumed
    ).text
    for line in text.partition("estimated")[2].partition("assumptions\n")[0].splitlines()[1:]:
        assert not line or line.split()[-1].startswith("~")


def test_a_receipt_by_hand() -> None:
    counts = {
        "searches": 30,
        "searches_empty": 2,
        "results_handed_out": 20,
        "chars_handed_out": 40_000,
        "fees_micro_usd": 13_000,
        "served_exact": 10,
        "served_semantic": 7,
    }
    got = estimate(counts, Assumptions())
    assert got.searches == 28
    assert got.hosted_fees_usd == pytest.approx(0.28)
    assert got.own_tokens == 10_000 + 8 * 3_500
    assert got.hosted_tokens == 28 * 17_400
    assert got.tokens_usd == pytest.approx((487_200 - 38_000) * 5 / 1e6)
    assert got.avoided_usd == pytest.approx(0.28 - 0.013 + 2.246)
    text = SavingsReport(session=receipt(counts, Assumptions()), lifetime=receipt({}, Assumptions())).text
    assert re.search(r"^counted$.*^estimated, by the assumptions below$.*^assumptions$", text, re.M | re.S)
    assert re.search(r"served without a search +57% +-$", text, re.M)
    assert re.search(r"engines, by list price +~-\$0\.0130 +~\$0\.00$", text, re.M)
    assert re.search(r"all together +~\$2\.51 +~\$0\.00$", text, re.M)


def test_ours_can_come_out_dearer_and_it_says_so() -> None:
    counts = {"searches": 1, "results_handed_out": 1, "chars_handed_out": 4_000_000, "fees_micro_usd": 10**6}
    report = SavingsReport(session=receipt(counts, Assumptions()), lifetime=receipt(counts, Assumptions()))
    assert report.session.estimate.avoided_usd < 0
    assert re.search(r"all together +~-\$5\.90 +~-\$5\.90$", report.text, re.M)


def test_given_assumptions_are_told_as_given(world: Any) -> None:
    one = world(pages=PAGES)
    default = one.wf.savings_report().text
    assert "10.00 (list price, 2026-07)" in default
    given_ = one.wf.savings_report(
        usd_per_1k_searches=8, hosted_tokens=9_000, own_tokens=1_000, usd_per_million_tokens=0
    )
    assert given_.assumptions == Assumptions(
        usd_per_1k_searches=8, hosted_tokens=9_000, own_tokens=1_000, usd_per_million_tokens=0
    )
    told = given_.text
    assert "$8.00 (given)" in told
    assert "9,000 input tokens (given)" in told
    assert told.count("(given)") == 4


@pytest.mark.parametrize("value", [-1, float("nan"), float("inf"), 1e10, "5", True, None])
def test_an_assumption_without_sense_is_refused(world: Any, value: Any) -> None:
    one = world(pages=PAGES)
    if value is None:
        one.wf.savings_report(hosted_tokens=None)
        return
    with pytest.raises(BadQuery, match="hosted_tokens must be a number from 0"):
        one.wf.savings_report(hosted_tokens=value)
