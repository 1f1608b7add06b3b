"""The cascade over a host's rankers: each that fails or is missing costs its own step."""

from __future__ import annotations

from time import monotonic
from typing import Any

import pytest

from webfetch_core.api import NotConfigured, Provider, RankTraits
from webfetch_core.pipeline.ranking import RankStage
from webfetch_core.settings import RankingSettings
from webfetch_core.testing import FakePlugin, Hang, ScriptedRanker, fake_plugin

PASSAGES = [f"passage {n}" for n in range(40)]


def ranker(kind: str, *steps: Any, name: str = "", **fields: Any) -> Any:
    return fake_plugin("rank", ScriptedRanker(*steps), name or kind, traits=RankTraits(kind=kind), **fields)


def rising(query: str, passages: list[str]) -> list[float]:
    return [float(p.split()[1]) for p in passages]


def falling(query: str, passages: list[str]) -> list[float]:
    return [100.0 - x for x in rising(query, passages)]


def rank(one: Any, passages: list[str] = PASSAGES, seconds: float = 2.0, **options: Any) -> Any:
    host = one.wf.host
    scope = host.scope("r")
    ranking = RankStage(host).rank("q", passages, scope=scope, deadline=host.deadline(seconds), **options)
    return ranking, scope.attempts()


def test_the_shortlist_goes_to_the_cross_encoder(world: Any) -> None:
    cross = ScriptedRanker(rising)
    plugins = [
        ranker("lexical", falling),
        fake_plugin("rank", cross, "cross", traits=RankTraits(kind="crossencoder")),
    ]
    ranking, attempts = rank(world(rank=None, plugins=plugins), keep=5)
    assert [s.index for s in ranking.scored] == [29, 28, 27, 26, 25]
    assert len(cross.calls[0][1]) == 30
    assert (ranking.ran, ranking.lost) == (("lexical", "crossencoder"), ("biencoder",))
    assert [(a.provider, a.count) for a in attempts] == [("lexical", 40), ("cross", 30)]
    assert dict(ranking.scored[0].steps) == {"lexical": 71.0, "crossencoder": 29.0}


def test_steps_can_be_switched_off(world: Any) -> None:
    settings = RankingSettings(use_biencoder=False, use_crossencoder=False)
    plugins = [ranker("lexical", falling), ranker("biencoder", rising), ranker("crossencoder", rising)]
    ranking, _ = rank(world(rank=None, plugins=plugins, ranking=settings), keep=3)
    assert (ranking.ran, ranking.lost) == (("lexical",), ())


class Anytime:
    """A bi-encoder that comes as far as it is told, in the order that it is told."""

    def __init__(self, reach: int, value: Any = None) -> None:
        self.reach = reach
        self.value = value
        self.seconds = 0.0

    def score(self, query: str, passages: list[str]) -> list[float]:
        raise AssertionError("the method that can stop is preferred")

    def score_within(self, query: str, passages: list[str], order: list[int], seconds: float) -> Any:
        self.seconds = seconds
        scores: list[float | None] = [None] * len(passages)
        for place in order[: self.reach]:
            scores[place] = float(passages[place].split()[1])
        return scores if self.value is None else self.value


def anytime(one: Anytime) -> Any:
    return fake_plugin("rank", one, "biencoder", traits=RankTraits(kind="biencoder"))


def test_a_ranker_that_can_stop_reads_what_the_others_liked_first(world: Any) -> None:
    one = Anytime(reach=10)
    ranking, attempts = rank(world(rank=None, plugins=[ranker("lexical", falling), anytime(one)]), keep=40)
    read = {s.index for s in ranking.scored if "biencoder" in s.steps}
    assert read == set(range(10))
    assert [(a.provider, a.count) for a in attempts] == [("lexical", 40), ("biencoder", 10)]
    assert ranking.ran == ("lexical", "biencoder")
    assert one.seconds == pytest.approx(0.8)


def test_its_time_is_the_settings_or_what_the_deadline_leaves(world: Any) -> None:
    one = Anytime(reach=40)
    plugins = [ranker("lexical", falling), anytime(one)]
    rank(world(rank=None, plugins=plugins, ranking=RankingSettings(patience_s=0.25)))
    assert one.seconds == pytest.approx(0.25)
    rank(world(rank=None, plugins=plugins), seconds=0.5)
    assert 0.2 < one.seconds < 0.5


def test_of_a_long_list_the_best_are_waited_for_and_the_others_hardly(world: Any) -> None:
    asked: list[tuple[list[int], float]] = []

    class Watched(Anytime):
        def score_within(self, query: str, passages: list[str], order: list[int], seconds: float) -> Any:
            asked.append((list(order), seconds))
            return super().score_within(query, passages, order, seconds)

    passages = [f"passage {n}" for n in range(250)]
    plugins = [
        ranker("lexical", lambda query, some: [1.0 / (n + 1) for n in range(len(some))]),
        anytime(Watched(reach=60)),
    ]
    one = world(rank=None, plugins=plugins)
    ranking, _ = rank(one, passages, keep=250)
    (first, patience), (others, rest) = asked
    assert (first, others) == (list(range(100)), list(range(100, 250)))
    assert patience == pytest.approx(0.8)
    assert 0 < rest <= 0.1
    read = {s.index for s in ranking.scored if "biencoder" in s.steps}
    assert read == {*range(60), *range(100, 160)}
    asked.clear()
    rank(one, passages, patience_s=60.0)
    assert [len(order) for order, _ in asked] == [250]


@pytest.mark.parametrize("value", [[1.0], [None] * 41, [float("nan")] * 40, "x"])
def test_wrong_partial_scores_are_a_broken_contract(world: Any, value: Any) -> None:
    plugins = [ranker("lexical", falling), anytime(Anytime(0, value))]
    ranking, attempts = rank(world(rank=None, plugins=plugins))
    assert ranking.ran == ("lexical",)
    assert attempts[1].outcome == "plugin_error"


def test_no_time_at_all_costs_the_step(world: Any) -> None:
    ranking, _ = rank(world(rank=None, plugins=[ranker("lexical", falling), anytime(Anytime(0))]))
    assert (ranking.ran, ranking.lost) == (("lexical",), ("biencoder", "crossencoder"))


@pytest.mark.parametrize("step", [RuntimeError("x"), [1.0], ["a"] * 40, None])
def test_a_ranker_that_fails_costs_its_step_and_is_on_the_record(world: Any, step: Any) -> None:
    plugins = [ranker("lexical", falling), ranker("crossencoder", step)]
    ranking, attempts = rank(world(rank=None, plugins=plugins), keep=3)
    assert [s.index for s in ranking.scored][:3] == [0, 1, 2]
    assert ranking.lost == ("biencoder", "crossencoder")
    assert [a.outcome for a in attempts] == ["ok", "plugin_error"]


def test_a_ranker_that_hangs_leaves_what_the_others_found(world: Any) -> None:
    stuck = ScriptedRanker(Hang(60))
    cross = fake_plugin("rank", stuck, "cross", traits=RankTraits(kind="crossencoder"))
    started = monotonic()
    ranking, attempts = rank(
        world(rank=None, plugins=[ranker("lexical", falling), cross]), seconds=2.0, keep=3
    )
    stuck.close()
    assert monotonic() - started < 20
    assert ranking.ran == ("lexical",)
    assert attempts[-1].outcome == "timeout"


def test_a_ranker_that_declines_gives_its_place_to_the_next(world: Any) -> None:
    def decline(settings: Any, context: Any) -> Any:
        raise NotConfigured("no model")

    shy = Provider(name="shy", build=decline, priority=9, traits=RankTraits(kind="lexical"))
    one = world(rank=None, plugins=[FakePlugin("rank_shy", {"rank": [shy]}), ranker("lexical", falling)])
    rank(one)
    ranking, _ = rank(one)
    assert ranking.ran == ("lexical",)


def test_nothing_to_rank_calls_nobody(world: Any) -> None:
    ranking, attempts = rank(world(rank=None, plugins=[ranker("lexical", falling)]), [])
    assert (ranking.scored, attempts) == ((), ())


@pytest.mark.parametrize(("bound", "relevant"), [(None, True), (39.0, False), (38.0, True)])
def test_a_ranker_says_from_where_on_a_passage_is_related(world: Any, bound: float, relevant: bool) -> None:
    traits = RankTraits(kind="biencoder", unrelated=bound)
    none_shared = ranker("lexical", lambda query, passages: [0.0] * len(passages))
    near = fake_plugin("rank", ScriptedRanker(rising), "near", traits=traits)
    ranking, _ = rank(world(rank=None, plugins=[none_shared, near]))
    assert ranking.relevant is relevant
