from __future__ import annotations

import json
import math
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from webfetch_rank_bm25.plugin import webfetch_rankers
from webfetch_rank_bm25.ranker import Bm25Ranker
from webfetch_rank_bm25.settings import Bm25Settings
from webfetch_rank_bm25.terms import fold, query_terms, split, word_terms

CASES = Path(__file__).parents[3].parent / "shared" / "cases" / "inputs"
WORDS = ["lake", "depth", "the", "of", "41.3", "harbour", "水库", "深", "ไทย", "море", "C++", "_", "ﬁ"]
passage = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)


@pytest.fixture(scope="module")
def ranker() -> Bm25Ranker:
    return Bm25Ranker(Bm25Settings())


def test_the_passage_that_answers_is_best(ranker: Bm25Ranker) -> None:
    scores = ranker.score(
        "how deep is the orvane reservoir",
        [
            "Tickets cost 14 crowns.",
            "The Orvane reservoir is 41 m deep.",
            "The reservoir is closed in January.",
        ],
    )
    assert scores[1] > scores[2] > scores[0] == 0.0


def test_nothing_shared_is_exactly_zero(ranker: Bm25Ranker) -> None:
    assert ranker.score(
        "boiling point of xenon", ["The ferry leaves hourly.", "Tickets cost 14 crowns."]
    ) == [0.0, 0.0]


@pytest.mark.parametrize(
    "passages", [["lake"], ["lake", "lake"], ["lake"] * 5, ["lake", "hill"], ["lake " * 50, "x"]]
)
def test_a_shared_term_counts_however_common_it_is(ranker: Bm25Ranker, passages: list[str]) -> None:
    for text, score in zip(passages, ranker.score("the lake", passages), strict=True):
        assert (score > 0) == ("lake" in text)


def test_a_shared_function_word_alone_still_counts_a_little(ranker: Bm25Ranker) -> None:
    scores = ranker.score("the lake", ["the mill", "lake mill"])
    assert 0 < scores[0] < scores[1]


@pytest.mark.parametrize(
    ("query", "passages"), [("", ["a"]), ("!?", ["a"]), ("a", []), ("", []), ("a", ["", "…"])]
)
def test_empty_input_scores_zero(ranker: Bm25Ranker, query: str, passages: list[str]) -> None:
    assert ranker.score(query, passages) == [0.0] * len(passages)


@pytest.mark.parametrize(
    ("query", "passages", "best"),
    [
        ("水库最大水深", ["北门早上六点开放。", "奥文水库的最大水深为四十一米。", "票价为三十元。"], 1),
        ("闸门 python", ["渡船时刻", "闸门巡检 python 脚本", "python 语法"], 1),
        ("深", ["北门开放", "最大水深"], 1),
        ("ภาษาไทย", ["ท่าเรือ", "เรียนภาษาไทยวันนี้"], 1),
        ("수심", ["표 가격", "저수지의수심은 41미터"], 1),
        ("最大水深は", ["切符の値段", "湖の最大水深は四十一"], 1),
        ("CAFE", ["thé", "un café ouvert"], 1),
        ("глубина озера", ["цена билета", "глубиной озеро"], 1),
    ],
)
def test_scripts(ranker: Bm25Ranker, query: str, passages: list[str], best: int) -> None:
    scores = ranker.score(query, passages)
    assert scores.index(max(scores)) == best and scores[best] > 0


@given(passage, st.lists(passage, max_size=8), st.randoms(use_true_random=False))
def test_order_of_passages_does_not_matter(query: str, passages: list[str], rng: random.Random) -> None:
    ranker = Bm25Ranker(Bm25Settings())
    scores = ranker.score(query, passages)
    order = list(range(len(passages)))
    rng.shuffle(order)
    assert ranker.score(query, [passages[i] for i in order]) == [scores[i] for i in order]


@settings(deadline=None)
@given(st.text(max_size=80), st.lists(st.text(max_size=200), max_size=6))
def test_scores_are_finite_and_zero_means_nothing_shared(query: str, passages: list[str]) -> None:
    scores = Bm25Ranker(Bm25Settings()).score(query, passages)
    wanted = query_terms(query)
    assert len(scores) == len(passages)
    for text, score in zip(passages, scores, strict=True):
        folded = fold(text)
        terms = {t for word in split(folded)[0] for t in word_terms(word)}
        shared = terms & set(wanted.words) or any(gram in folded for gram in wanted.grams)
        assert math.isfinite(score) and (score > 0) == bool(shared)


@given(st.text(min_size=1, max_size=60))
def test_a_text_with_any_term_matches_itself(text: str) -> None:
    wanted = query_terms(text)
    [score] = Bm25Ranker(Bm25Settings()).score(text, [text])
    assert (score > 0) == bool(wanted.words or wanted.grams)


def test_same_scores_as_the_reference_formula() -> None:
    library = pytest.importorskip("rank_bm25")
    passages = [
        "lake of lakes",
        "depth lake harbour lake lake",
        "mill",
        "harbour depth 41.3",
        "depth of lake",
    ]

    class Reference(library.BM25Okapi):  # type: ignore[misc,name-defined]
        def _calc_idf(self, found_in: dict[str, int]) -> None:
            self.idf = {
                t: math.log(1 + (self.corpus_size - n + 0.5) / (n + 0.5)) for t, n in found_in.items()
            }

    corpus = [[t for word in split(fold(p))[0] for t in word_terms(word)] for p in passages]
    asked = query_terms("lake depth 41.3 harbour")
    expected = Reference(corpus, k1=1.5, b=0.75).get_scores(list(asked.words))
    scores = Bm25Ranker(Bm25Settings()).score("lake depth 41.3 harbour", passages)
    assert scores == pytest.approx(list(expected))


def test_a_thousand_passages_take_no_time_worth_mentioning(ranker: Bm25Ranker) -> None:
    rng = random.Random(7)
    words = ["".join(rng.choices("abcdefghijklmnop", k=rng.randint(2, 9))) for _ in range(4_000)]
    passages = [" ".join(rng.choices(words, k=70))[:400] for _ in range(1_000)]
    began = time.process_time()
    ranker.score(" ".join(words[:8]), passages)
    assert time.process_time() - began < 10  # about 0.07 s; the margin is for a busy machine


def test_the_declaration() -> None:
    [provider] = webfetch_rankers()
    assert (provider.name, provider.traits.kind) == ("bm25", "lexical")
    assert provider.build(None, None).score("lake", ["lake"])[0] > 0


def test_declaring_imports_no_library() -> None:
    code = "import sys, webfetch_rank_bm25.plugin as p; p.webfetch_rankers(); print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize("case", ["C142", "C144", "C334"])
def test_inputs_that_broke_others(ranker: Bm25Ranker, case: str) -> None:
    folder = CASES / case
    if not folder.is_dir():
        pytest.skip("no shared cases beside the repository")
    given_ = json.loads((folder / "rank.json").read_text())
    expected = json.loads((folder / "expected.json").read_text())
    scores = ranker.score(given_["query"], given_["chunks"])
    if "top" in expected:
        assert scores.index(max(scores)) == expected["top"]
        assert max(scores) > expected["bounds"]["top_score_min_exclusive"]
    else:
        assert max(scores) == 0.0
