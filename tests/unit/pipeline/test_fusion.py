"""Engines' answers become one list, in an order that owes nothing to chance."""

from __future__ import annotations

import random

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from webfetch_core.models import SearchHit
from webfetch_core.pipeline.fusion import PEER_HITS, filter_domains, fuse, resolved, rrf, silently_blocked
from webfetch_core.pipeline.urls import canonical

PAGES = st.lists(st.integers(0, 12), max_size=8, unique=True)
ANSWERS = st.dictionaries(st.sampled_from(["ant", "bee", "cat", "dog"]), PAGES)


def answer(engine: str, *urls: str) -> list[SearchHit]:
    return [
        SearchHit(url=u, title=f"{engine} on {u}", snippet=u, rank=n, engine=engine, engines={engine: n})
        for n, u in enumerate(urls, start=1)
    ]


def page(number: int) -> str:
    return f"https://p{number}.example/"


@given(ANSWERS, st.randoms(use_true_random=False))
def test_the_order_does_not_depend_on_who_answered_first(
    answers: dict[str, list[int]], dice: random.Random
) -> None:
    made = {engine: answer(engine, *map(page, pages)) for engine, pages in answers.items()}
    shuffled = list(made.items())
    dice.shuffle(shuffled)
    assert fuse(made) == fuse(dict(shuffled))


@given(ANSWERS)
def test_every_page_comes_out_once_and_knows_its_ranks(answers: dict[str, list[int]]) -> None:
    fused = fuse({engine: answer(engine, *map(page, pages)) for engine, pages in answers.items()})
    assert sorted(h.url for h in fused) == sorted({page(n) for pages in answers.values() for n in pages})
    assert [h.rank for h in fused] == list(range(1, len(fused) + 1))
    assert [h.score for h in fused] == sorted((h.score for h in fused), reverse=True)
    for hit in fused:
        found = {e: pages.index(n) + 1 for e, pages in answers.items() for n in pages if page(n) == hit.url}
        assert dict(hit.engines) == found
        assert hit.engine in found


@given(st.integers(0, 9))
def test_two_engines_pass_one_of_equal_rank(rank: int) -> None:
    ant, bee = ([f"https://{e}{n}.example/" for n in range(10)] for e in "ab")
    ant[rank] = bee[rank] = "https://both.example/"
    fused = [h.url for h in fuse({"ant": answer("ant", *ant), "bee": answer("bee", *bee)})]
    assert fused[0] == "https://both.example/"


def test_a_page_is_one_whatever_its_spelling_and_is_shown_as_its_best_engine_wrote_it() -> None:
    fused = fuse(
        {
            "bee": answer("bee", "https://x.example/", "http://www.site.example/a/?utm_source=bee"),
            "ant": answer("ant", "https://site.example/a#top"),
        }
    )
    assert [(h.url, h.engine, dict(h.engines)) for h in fused] == [
        ("https://site.example/a#top", "ant", {"ant": 1, "bee": 2}),
        ("https://x.example/", "bee", {"bee": 1}),
    ]


def test_one_engine_that_repeats_a_page_gets_its_best_rank_only() -> None:
    (only,) = fuse({"ant": answer("ant", "https://site.example/a", "https://www.site.example/a")})
    assert (only.score, dict(only.engines)) == (1 / 61, {"ant": 1})


def test_what_the_best_engine_left_out_another_fills_in() -> None:
    ant = [evolve(answer("ant", "https://s.example/")[0], title="", snippet="")]
    bee = [
        evolve(h, published="2024-05-01") for h in answer("bee", "https://o.example/", "https://s.example/")
    ]
    first = fuse({"ant": ant, "bee": bee})[0]
    assert (first.url, first.title, first.snippet) == (
        "https://s.example/",
        "bee on https://s.example/",
        "https://s.example/",
    )
    assert first.published == "2024-05-01"


def test_advertisements_go_and_redirect_links_lead_to_their_page() -> None:
    wrapped = "https://duckduckgo.com/l/?uddg=https%3A%2F%2Fsite.example%2Fa"
    fused = fuse(
        {
            "ant": answer("ant", "https://duckduckgo.com/y.js?ad_domain=x", wrapped),
            "bee": answer("bee", "https://site.example/a"),
        }
    )
    assert [(h.url, sorted(h.engines)) for h in fused] == [("https://site.example/a", ["ant", "bee"])]


def test_a_redirect_link_cannot_reach_what_only_a_local_engine_may_name() -> None:
    wrapped = "https://duckduckgo.com/l/?uddg=local%3Anotes%2Fdiary.md"
    assert [h.url for h in fuse({"web": answer("web", wrapped)})] == [wrapped]


def test_a_url_that_cannot_be_encoded_stops_nothing() -> None:
    assert len(fuse({"ant": answer("ant", "https://x.example/\ud800", "https://y.example/")})) == 2


def test_nothing_fuses_to_nothing() -> None:
    assert fuse({}) == fuse({"ant": []}) == ()


@given(st.lists(st.lists(st.sampled_from("abcdef"), max_size=6, unique=True), max_size=4))
def test_rrf_is_the_formula(rankings: list[list[str]]) -> None:
    scores = rrf(rankings)
    for key in {k for ranking in rankings for k in ranking}:
        assert scores[key] == pytest.approx(sum(1 / (60 + r.index(key) + 1) for r in rankings if key in r))
    assert len(scores) == len({k for ranking in rankings for k in ranking})


def test_filters_judge_the_page_that_a_link_leads_to() -> None:
    wrapped = "https://duckduckgo.com/l/?uddg=https%3A%2F%2Fsub.site.example%2Fa"
    hits = answer("ant", wrapped, "https://other.example/", "local:docs/a")
    assert [h.url for h in filter_domains(hits, ("site.example",), ())] == ["https://sub.site.example/a"]
    assert [h.url for h in filter_domains(hits, (), ("site.example",))] == [
        "https://other.example/",
        "local:docs/a",
    ]
    assert filter_domains(hits, ("site.example",), ("sub.site.example",)) == ()
    assert [h.rank for h in resolved(hits)] == [1, 2, 3]


@pytest.mark.parametrize(
    ("counts", "blocked"),
    [
        ({}, set()),
        ({"ant": 0}, set()),
        ({"ant": 0, "bee": 0}, set()),
        ({"ant": 0, "bee": PEER_HITS - 1}, set()),
        ({"ant": 0, "bee": PEER_HITS}, {"ant"}),
        ({"ant": 0, "bee": 0, "cat": 9}, {"ant", "bee"}),
        ({"ant": 1, "bee": 9}, set()),
    ],
)
def test_an_empty_answer_is_suspicious_only_beside_a_full_one(
    counts: dict[str, int], blocked: set[str]
) -> None:
    assert silently_blocked(counts) == blocked


def test_the_key_of_a_fused_hit_is_unique() -> None:
    urls = [
        f"https://{w}site.example/{p}" for w in ("", "www.", "m.") for p in ("a", "a/", "b?utm_id=1", "b")
    ]
    fused = fuse({"ant": answer("ant", *urls), "bee": answer("bee", *reversed(urls))})
    assert len({canonical(h.url) for h in fused}) == len(fused) == 2
