"""Who judges what the rules leave open, and what happens where nobody can."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any

import pytest
from webfetch_match_semantic.features import FEATURES, features, load_model
from webfetch_match_semantic.matcher import SemanticMatcher
from webfetch_match_semantic.rules import rule
from webfetch_match_semantic.settings import MatchSemanticSettings

from webfetch_core.api import Embeddings, NotConfigured, TimedOut
from webfetch_core.testing import FakeClock, FakeContext

OPEN = ("what did python 3.13 add", "python 3.13 new features")
DOUBTFUL = ("risks of dynamite", "risks of globalization")
IN_2026 = 1_784_500_000.0


class Context(FakeContext):
    """Has models of given opinions; a missing one raises NotConfigured, as in a host."""

    def __init__(self, cosine: float | None = None, **opinions: Any) -> None:
        super().__init__("match_semantic", clock=FakeClock(epoch=IN_2026))
        self.cosine, self.opinions = cosine, opinions
        self.asked: list[tuple[str, ...]] = []

    def embed(self, texts: Sequence[str]) -> Embeddings:
        if self.cosine is None:
            raise NotConfigured("no bi-encoder is in use")
        rows = [(1.0, 0.0), (self.cosine, (1 - self.cosine**2) ** 0.5)]
        data = array("f", [x for n in range(len(texts)) for x in rows[n % 2]])
        return Embeddings(data=data.tobytes(), rows=len(texts), dim=2, model_id="flat")

    def score_pairs(self, query: str, passages: Sequence[str], *, kind: str = "") -> Sequence[float]:
        self.asked.append((kind, query, *passages))
        opinion = self.opinions.get(kind, NotConfigured(f"no {kind} model"))
        if isinstance(opinion, BaseException):
            raise opinion
        return [opinion] * len(passages)


def matcher(context: Context, **settings: Any) -> SemanticMatcher:
    return SemanticMatcher(MatchSemanticSettings(**settings), context)


def test_the_rules_leave_these_open() -> None:
    assert rule(*OPEN, 2026).same is None and not rule(*OPEN, 2026).guard


@pytest.mark.parametrize(
    ("opinions", "by", "same"),
    [
        ({"entailment": 0.95, "paraphrase": 0.0}, "entailment", True),
        ({"entailment": 0.5, "paraphrase": 1.0}, "entailment", False),
        ({"paraphrase": 0.95}, "paraphrase", True),
        ({"paraphrase": 0.1}, "paraphrase", False),
        ({"entailment": TimedOut("slow"), "paraphrase": 0.95}, "paraphrase", True),
        ({"entailment": float("nan"), "paraphrase": 0.95}, "paraphrase", True),
        ({}, "strict", False),
    ],
)
def test_the_most_able_model_that_answers_decides(opinions: dict[str, Any], by: str, same: bool) -> None:
    verdict = matcher(Context(**opinions)).judge(*OPEN)
    assert (verdict.guard, verdict.same) == (by, same)
    assert verdict.reason


def test_a_match_says_why_and_how_surely() -> None:
    found = matcher(Context(paraphrase=0.93)).match(OPEN[0], ["capital of Mongolia", OPEN[1]])
    assert found is not None
    assert (found.index, found.query, found.score) == (1, OPEN[1], 0.93)
    assert "0.93" in found.reason
    equal = matcher(Context()).match("Height of the dam?", ["height of the dam"])
    assert equal is not None and equal.score == 1.0 and equal.reason == "the same text"


def test_where_a_guard_doubts_the_model_must_be_surer() -> None:
    assert rule(*DOUBTFUL, 2026).guard
    assert not matcher(Context(paraphrase=0.9)).judge(*DOUBTFUL).same
    assert matcher(Context(paraphrase=0.99)).judge(*DOUBTFUL).same
    assert not matcher(Context(cosine=0.99)).judge(*DOUBTFUL).same, "features know no more than the guard"


def test_what_a_guard_rejects_is_never_asked_about() -> None:
    context = Context(cosine=1.0, entailment=1.0, paraphrase=1.0)
    one = matcher(context)
    assert one.match("flights from Oslo to Paris", ["flights from Paris to Oslo"]) is None
    verdict = one.judge("python 3.11 release date", "python 3.12 release date")
    assert not verdict.same and verdict.guard == "number" and "3.11" in verdict.reason
    assert context.asked == []


def test_a_model_that_is_not_there_is_asked_for_once() -> None:
    context = Context(paraphrase=0.1)
    one = matcher(context)
    for _ in range(3):
        one.judge(*OPEN)
    assert [kind for kind, *_ in context.asked].count("entailment") == 1


def test_a_verdict_does_not_depend_on_who_was_cached() -> None:
    context = Context(paraphrase=0.95)
    one = matcher(context)
    assert one.judge(*OPEN) == one.judge(*OPEN[::-1])
    assert len(set(context.asked[1:])) <= 2


@pytest.mark.parametrize(("verifier", "same"), [("strict", False), ("features", True), ("paraphrase", False)])
def test_a_chosen_verifier_is_the_only_one(verifier: str, same: bool) -> None:
    context = Context(cosine=0.99, entailment=1.0)
    one = matcher(context, verifier=verifier, features_threshold=0.5)
    assert one.judge(*OPEN).same is same


def test_thresholds_are_settings() -> None:
    assert not matcher(Context(paraphrase=0.8), paraphrase_threshold=0.9).judge(*OPEN).same
    assert matcher(Context(paraphrase=0.8), paraphrase_threshold=0.75).judge(*OPEN).same


def test_the_verifier_reads_no_more_than_it_may() -> None:
    context = Context(paraphrase=0.1)
    others = [
        f"python 3.13 new {word}" for word in ("features", "parts", "things to know", "changes", "syntax")
    ]
    assert matcher(context, verify_most=2).match(OPEN[0], others) is None
    assert [kind for kind, *_ in context.asked].count("paraphrase") <= 2


def test_without_anything_equal_words_still_match() -> None:
    found = matcher(Context()).match("Norway population", ["what is the population of Norway"])
    assert found is not None and found.index == 0


def test_without_vectors_words_make_the_shortlist() -> None:
    one = matcher(Context())
    texts = ("capital of Mongolia", "population of Norway", "price of milk")
    assert one.shortlist("norway's population", texts, 2)[0] == 1
    assert one.shortlist("anything", texts, 0) == []


def test_the_shipped_coefficients_fit_the_features() -> None:
    ruling = rule(*OPEN, 2026)
    assert ruling.a and ruling.b and ruling.pairs
    row = features(ruling.a, ruling.b, ruling.pairs, 0.9, 0.5)
    assert len(row) == len(FEATURES) == len(load_model().weights)
    near, far = (load_model().sure(features(ruling.a, ruling.b, ruling.pairs, c, c)) for c in (0.95, 0.6))
    assert 0.0 <= far < near <= 1.0


def test_features_are_symmetric() -> None:
    for a, b in (OPEN, DOUBTFUL, ("was Quill acquired by Orvane", "did Orvane acquire Quill")):
        x, y = rule(a, b, 2026), rule(b, a, 2026)
        assert x == y
