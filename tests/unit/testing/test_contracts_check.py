"""``python -m webfetch_core.testing.check`` says what is wrong with a distribution, and what to do."""

from __future__ import annotations

from typing import Any

import pytest

from webfetch_core.testing.check import check, main

HEAD = "from webfetch_core.api import Provider, RankTraits, SearchTraits, hookimpl\n"
RANKER = "class R:\n    def score(self, query, passages):\n        return [0.0 for _ in passages]\n"


def declare(what: str) -> str:
    return f"{HEAD}{RANKER}@hookimpl\ndef webfetch_rankers():\n    return {what}\n"


GOOD = declare("[Provider(name='mine', build=lambda s, c: R(), summary='Mine', traits=RankTraits())]")


def problems(fake_dist: Any, source: str, **options: Any) -> tuple[str, list[str]]:
    options = {"entry_points": {"rank_checked": "webfetch_rank_checked"}, **options}
    fake_dist("webfetch-rank-checked", modules={"webfetch_rank_checked": source}, **options)
    said: list[str] = []
    found = check("webfetch_rank.checked", said.append)
    return "\n".join(found), said


def test_a_good_one_is_listed_and_nothing_is_wrong(fake_dist: Any) -> None:
    assert problems(fake_dist, GOOD) == (
        "",
        ["rank_checked (webfetch-rank-checked 1.0): loaded, webfetch_rankers", "  rank mine: Mine"],
    )


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("x = 1\n", "is @hookimpl missing?"),
        ("import not_there_at_all\n", "not_there_at_all"),
        (declare("['mine']"), "where a Provider belongs"),
        (declare("1 / 0"), "ZeroDivisionError"),
        (declare("[Provider(name='mine', build=lambda s, c: R())]"), "mine: a provider has a one-line"),
        (declare("[Provider(name='mine', build=lambda s, c: R(), summary='x', traits=SearchTraits())]"),
         "mine: the traits of a rank provider are RankTraits, not SearchTraits"),
        (declare("[Provider(name='mine', build=lambda s, c: object(), summary='x')]"), "it lacks score"),
        (declare("[Provider(name='mine', build=lambda s, c: 1 / 0, summary='x')]"), "ZeroDivisionError"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told(fake_dist: Any, source: str, told: str) -> None:
    assert told in problems(fake_dist, source)[0]


def test_a_bound_on_another_core_is_told_before_import(fake_dist: Any) -> None:
    found, said = problems(fake_dist, "raise SystemExit(3)\n", requires=["webfetch-core>=7"])
    assert "it needs webfetch-core>=7, found" in found and not said


def test_absent_and_without_an_entry_point_are_told_apart(fake_dist: Any) -> None:
    assert (
        "no entry point in the group webfetch.v1: add [project.entry-points"
        in (problems(fake_dist, GOOD, entry_points={})[0])
    )
    (absent,) = check("webfetch-not-installed-here", print)
    assert absent.startswith("webfetch-not-installed-here: not installed for ")


def test_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert [main([]), main(["--help"]), main(["--fast", "x"])] == [2, 0, 2]
    assert capsys.readouterr().out.count("usage: ") == 3
