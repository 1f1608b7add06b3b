"""The cascade loses nobody, invents nobody, and says which of its steps ran."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webfetch_core.pipeline.cascade import Ranking, Step, run, steps_for

SCORES = st.lists(st.floats(-10, 10).map(lambda x: round(x, 1)), max_size=25)
FUSIONS = st.sampled_from(["rrf", "zscore"])


def ranked(
    steps: Sequence[Step],
    columns: Mapping[str, Sequence[float]],
    n: int,
    fusion: str = "rrf",
    unrelated: Mapping[str, float] | None = None,
) -> Ranking:
    """Run over passages "0" to "n-1", with each kind's scores by passage; a missing kind is lost."""

    def score(kind: str, passages: Sequence[str], order: Sequence[int]) -> Sequence[float] | None:
        assert sorted(order) == list(range(len(passages)))
        return [columns[kind][int(p)] for p in passages] if kind in columns else None

    return run(steps, [str(i) for i in range(n)], score, fusion=fusion, unrelated=unrelated)


def order(ranking: Ranking) -> list[int]:
    return [s.index for s in ranking.scored]


@given(st.data(), FUSIONS)
def test_no_passage_is_lost_or_doubled(data: st.DataObject, fusion: str) -> None:
    n = data.draw(st.integers(0, 25))
    column = st.lists(st.integers(0, 5).map(float), min_size=n, max_size=n)
    kinds = data.draw(st.sets(st.sampled_from(["lexical", "biencoder", "crossencoder"])))
    columns = {kind: data.draw(column) for kind in sorted(kinds)}
    keep, shortlist = data.draw(st.integers(1, 30)), data.draw(st.integers(1, 30))
    one = ranked(steps_for(shortlist=shortlist, keep=keep), columns, n, fusion)
    places = order(one)
    assert len(places) == len(set(places))
    assert set(places) <= set(range(n))
    if "crossencoder" in kinds:
        assert len(places) == min(n, keep)
    elif kinds == {"lexical"} and any(columns["lexical"]):
        assert all(columns["lexical"][i] > 0 for i in places)
    elif kinds:
        assert len(places) == min(n, max(shortlist, keep))
    else:
        assert places == list(range(n))
    assert one == ranked(steps_for(shortlist=shortlist, keep=keep), columns, n, fusion)
    if n:
        assert set(one.ran) == kinds
        assert set(one.ran) | set(one.lost) == {"lexical", "biencoder", "crossencoder"}
    for scored in one.scored:
        assert dict(scored.steps) == {k: columns[k][scored.index] for k in scored.steps}


PARTIAL = st.lists(
    st.tuples(st.integers(0, 5).map(float), st.integers(-5, 5).map(float) | st.none()), max_size=20
)


@given(PARTIAL, FUSIONS)
def test_a_passage_without_time_is_neither_lost_nor_made_up(
    pairs: list[tuple[float, float | None]], fusion: str
) -> None:
    lexical, meaning = [a for a, _ in pairs], [b for _, b in pairs]
    asked: list[Sequence[int]] = []

    def score(kind: str, passages: Sequence[str], order: Sequence[int]) -> Sequence[float | None]:
        asked.append(order)
        column = lexical if kind == "lexical" else meaning
        return [column[int(p)] for p in passages]

    steps = steps_for(shortlist=30, keep=30, crossencoder=False)
    one = run(steps, [str(i) for i in range(len(pairs))], score, fusion=fusion)
    known = [value for value in meaning if value is not None]
    if pairs:
        # The second scorer is told to begin with what the first one liked.
        assert list(asked[1]) == sorted(range(len(pairs)), key=lambda i: (-lexical[i], i))
        assert ("biencoder" in one.ran) == bool(known)
        assert ("biencoder" in one.lost) == (not known)
    if known:
        assert sorted(order(one)) == list(range(len(pairs)))
        for scored in one.scored:
            assert ("biencoder" in scored.steps) == (meaning[scored.index] is not None)
        # Among those that were not read, the scorer before decides.
        unread = [i for i in order(one) if meaning[i] is None]
        assert unread == sorted(unread, key=lambda i: (-lexical[i], i))


def partly(lexical: Sequence[float], meaning: Sequence[float | None], fusion: str = "zscore") -> list[int]:
    def score(kind: str, passages: Sequence[str], order: Sequence[int]) -> Sequence[float | None]:
        column = lexical if kind == "lexical" else meaning
        return [column[int(p)] for p in passages]

    steps = steps_for(shortlist=99, keep=99, crossencoder=False, lexical_weight=0.5)
    return order(run(steps, [str(i) for i in range(len(lexical))], score, fusion=fusion))


def test_what_was_not_read_is_not_behind_what_was_read_by_chance() -> None:
    """The vectors that are there are those of the pages that came first, not of the best passages."""
    lexical = [9.0, *[float(i % 3) for i in range(30)]]
    meaning: list[float | None] = [None, *[0.1 + 0.05 * (i % 3) for i in range(30)]]
    assert partly(lexical, meaning)[0] == 0


def test_a_scorer_that_contradicts_is_not_turned_round_for_what_it_did_not_read() -> None:
    lexical, meaning = [1.0, 2.0, 3.0, 4.0, 0.0], [0.4, 0.3, 0.2, None, None]
    assert partly(lexical, meaning).index(3) < partly(lexical, meaning).index(4)


def test_alone_it_has_nothing_to_tell_the_unread_from() -> None:
    def score(kind: str, passages: Sequence[str], order: Sequence[int]) -> Sequence[float | None]:
        return [[0.1, None, 0.3][int(p)] for p in passages]

    assert order(run([Step(kinds=("biencoder",), keep=9)], ["0", "1", "2"], score)) == [2, 0, 1]


@given(SCORES, FUSIONS)
def test_ties_keep_the_given_order_and_better_scores_come_first(scores: list[float], fusion: str) -> None:
    one = ranked([Step(kinds=("crossencoder",), keep=99)], {"crossencoder": scores}, len(scores), fusion)
    assert order(one) == sorted(range(len(scores)), key=lambda i: (-scores[i], i))


def test_either_signal_keeps_a_passage_alive() -> None:
    n = 60
    lexical = [0.0] * n
    semantic = [0.0] * n
    lexical[57] = semantic[58] = 1.0
    one = ranked(steps_for(shortlist=5, keep=2), {"lexical": lexical, "biencoder": semantic}, n)
    assert {57, 58} <= set(order(one))


def test_a_scorer_without_an_opinion_does_not_order_by_position() -> None:
    columns = {"lexical": [0.0] * 5, "biencoder": [0.1, 0.2, 0.3, 0.4, 0.5]}
    for fusion in ("rrf", "zscore"):
        assert order(ranked(steps_for(shortlist=5, keep=5), columns, 5, fusion)) == [4, 3, 2, 1, 0]


@pytest.mark.parametrize(
    ("there", "ran", "lost"),
    [
        ((), (), ("lexical", "biencoder", "crossencoder")),
        (("lexical",), ("lexical",), ("biencoder", "crossencoder")),
        (("biencoder", "crossencoder"), ("biencoder", "crossencoder"), ("lexical",)),
    ],
)
def test_steps_that_could_not_run_are_named(
    there: tuple[str, ...], ran: tuple[str, ...], lost: tuple[str, ...]
) -> None:
    one = ranked(steps_for(shortlist=3, keep=2), {kind: [1.0, 2.0, 3.0] for kind in there}, 3)
    assert (one.ran, one.lost) == (ran, lost)


def test_steps_that_are_switched_off_are_neither_run_nor_lost() -> None:
    steps = steps_for(shortlist=3, keep=2, biencoder=False, crossencoder=False)
    one = ranked(steps, {"lexical": [1.0, 2.0, 3.0], "biencoder": [9.0, 0.0, 0.0]}, 3)
    assert (one.ran, one.lost, order(one)) == (("lexical",), (), [2, 1, 0])


def test_words_that_nobody_shares_are_not_evidence() -> None:
    one = ranked(steps_for(shortlist=3, keep=3), {"lexical": [0.0, 0.0, 0.0]}, 3)
    assert one.relevant is False
    both = ranked(steps_for(shortlist=3, keep=3), {"lexical": [0.0] * 3, "biencoder": [0.3, 0.2, 0.1]}, 3)
    assert both.relevant is True
    some = ranked(steps_for(shortlist=3, keep=3), {"lexical": [0.0, 2.0, 0.0]}, 3)
    assert (some.relevant, order(some)) == (True, [1])


def test_what_no_scorer_finds_related_is_not_evidence() -> None:
    steps = steps_for(shortlist=4, keep=4)

    def judged(lexical: list[float], biencoder: list[float], **more: list[float]) -> Ranking:
        signals = {"lexical": lexical, "biencoder": biencoder, **more}
        return ranked(steps, signals, 4, unrelated={"biencoder": 0.2})

    assert judged([0.0] * 4, [0.2, 0.1, 0.0, -0.1]).relevant is False
    assert order(judged([0.0, 1.0, 0.0, 0.0], [0.1, 0.1, 0.3, 0.0])) == [1, 2]
    # A cross-encoder that does not say where it draws the line has the last word.
    assert judged([0.0] * 4, [0.1] * 4, crossencoder=[1.0, 2.0, 3.0, 4.0]).relevant is True


def test_no_passage_is_no_fault() -> None:
    assert ranked(steps_for(shortlist=3, keep=3), {"lexical": []}, 0) == Ranking(scored=())


@given(st.lists(st.integers(-5, 5).map(float), min_size=1, max_size=20), FUSIONS)
def test_fusing_a_signal_with_itself_changes_nothing(scores: list[float], fusion: str) -> None:
    columns = {"lexical": scores, "biencoder": scores}
    one = ranked([Step(kinds=("lexical", "biencoder"), keep=99)], columns, len(scores), fusion)
    assert order(one) == sorted(range(len(scores)), key=lambda i: (-scores[i], i))


def test_a_thousand_passages_are_nothing() -> None:
    n = 1_000
    columns = {"lexical": [float(i % 37) for i in range(n)], "biencoder": [float(i % 91) for i in range(n)]}
    started = process_time()
    ranked(steps_for(shortlist=n, keep=n), columns, n)
    assert process_time() - started < 10


# ---- what a kind counts, and the page's standing ------------------------------------------------------


COLUMNS = st.integers(1, 15).flatmap(
    lambda n: st.tuples(
        *[st.lists(st.integers(-5, 5).map(float), min_size=n, max_size=n) for _ in range(2)],
        st.lists(st.sampled_from([0.5, 0.8, 1.0, 1.5]), min_size=n, max_size=n),
    )
)
KINDS = st.sampled_from([("lexical",), ("biencoder",), ("lexical", "biencoder")])


def weighed(
    columns: tuple[list[float], list[float], list[float]],
    kinds: tuple[str, ...],
    fusion: str,
    prior: Sequence[float] | None,
    weights: Mapping[str, float] | None = None,
) -> Ranking:
    by_kind = {"lexical": [abs(value) for value in columns[0]], "biencoder": columns[1]}

    def score(kind: str, passages: Sequence[str], order: Sequence[int]) -> Sequence[float]:
        return [by_kind[kind][int(p)] for p in passages]

    passages = [str(i) for i in range(len(columns[0]))]
    step = Step(kinds=kinds, keep=len(passages), weights=weights or {})
    return run([step], passages, score, fusion=fusion, prior=prior)


@given(COLUMNS, KINDS, FUSIONS)
def test_a_page_like_all_others_changes_nothing(
    columns: tuple[list[float], list[float], list[float]], kinds: tuple[str, ...], fusion: str
) -> None:
    alike = weighed(columns, kinds, fusion, [1.0] * len(columns[0]))
    assert order(alike) == order(weighed(columns, kinds, fusion, None))


@given(COLUMNS, KINDS, FUSIONS, st.data())
def test_a_better_page_never_costs_a_place(
    columns: tuple[list[float], list[float], list[float]],
    kinds: tuple[str, ...],
    fusion: str,
    data: st.DataObject,
) -> None:
    prior = columns[2]
    chosen = data.draw(st.integers(0, len(prior) - 1))
    better = [2.0 * value if i == chosen else value for i, value in enumerate(prior)]
    before, after = (order(weighed(columns, kinds, fusion, p)) for p in (prior, better))
    if chosen in before:  # a lexical scorer alone leaves out what shares nothing with the query
        assert after.index(chosen) <= before.index(chosen)


@pytest.mark.parametrize("kinds", [("lexical",), ("biencoder",), ("lexical", "biencoder")])
@pytest.mark.parametrize("fusion", ["rrf", "zscore"])
def test_of_equal_passages_the_one_of_the_better_page_comes_first(
    kinds: tuple[str, ...], fusion: str
) -> None:
    """Also where scores are below zero, which no factor may touch."""
    columns = ([3.0, 3.0, 1.0], [-0.2, -0.2, -0.6], [0.5, 1.0, 0.7])
    places = order(weighed(columns, kinds, fusion, columns[2]))
    assert places.index(1) < places.index(0)


def test_a_page_is_weighed_where_every_passage_has_the_same_score() -> None:
    columns = ([1.0] * 3, [0.0] * 3, [0.5, 0.8, 1.0])
    assert order(weighed(columns, ("biencoder",), "zscore", columns[2])) == [2, 1, 0]


@given(COLUMNS, FUSIONS)
def test_a_kind_counts_what_its_step_says(
    columns: tuple[list[float], list[float], list[float]], fusion: str
) -> None:
    kinds = ("lexical", "biencoder")
    plain = weighed(columns, kinds, fusion, None)
    assert plain == weighed(columns, kinds, fusion, None, {"lexical": 1.0})
    deaf = weighed(columns, kinds, fusion, None, {"lexical": 0.0})
    assert order(deaf) == order(weighed(columns, ("biencoder",), fusion, None))


def test_the_default_cascade_says_what_the_lexical_scorer_counts() -> None:
    first, second = steps_for(shortlist=30, keep=5, lexical_weight=0.5)
    assert (first.kinds, first.keep, dict(first.weights)) == (("lexical", "biencoder"), 30, {"lexical": 0.5})
    assert (second.kinds, second.keep, dict(second.weights)) == (("crossencoder",), 5, {})
