"""The verdict of a cross-encoder, through a host that has one; its scores here are a toy's."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from webfetch_compress_sentences import plugin
from webfetch_compress_sentences.meaning import READ_BATCH, READ_MOST, read

from webfetch_core import Settings, Webfetch
from webfetch_core.api import Chunk, NotConfigured, RankTraits
from webfetch_core.testing import ScriptedRanker, fake_plugin

CHUNK = Chunk(
    text="The cinema price list hangs at the door. "
    "The cinema has a price for groups and a price for schools, as the price list says. "
    "Adults pay nine euros for an evening. The cinema opened in 1931.",
    url="https://tarn.example/cinema",
    title="Cinema",
)
QUERY = "cinema price"


def likes(wanted: str, asked: list[Sequence[str]] | None = None) -> Any:
    def score(query: str, passages: Sequence[str]) -> list[float]:
        if asked is not None:
            asked.append(passages)
        return [9.0 if wanted in passage else -9.0 for passage in passages]

    return score


@contextmanager
def host(tmp_path: Path, *others: Any, **table: Any) -> Iterator[Webfetch]:
    plugins = [("compress_sentences", plugin), *((other.name, other) for other in others)]
    settings = Settings(home=str(tmp_path), plugins={"compress_sentences": table} if table else {})
    with Webfetch(settings, plugins=plugins, autoload=False, environ={}) as wf:
        yield wf


def cross(step: Any) -> Any:
    return fake_plugin("rank", ScriptedRanker(step), "cross", traits=RankTraits(kind="crossencoder"))


def test_its_verdict_counts_where_one_is_in_use(tmp_path: Path) -> None:
    asked: list[Sequence[str]] = []
    with host(tmp_path, cross(likes("nine euros", asked))) as wf:
        assert "nine euros" in wf.compress(QUERY, [CHUNK], 20)[0].text
    assert sorted(asked[0]) == sorted(
        f"Cinema: {text}" for text in CHUNK.text.replace(". ", ".\n").splitlines()
    )
    with host(tmp_path) as wf:
        assert "nine euros" not in wf.compress(QUERY, [CHUNK], 20)[0].text


def test_it_can_be_switched_off(tmp_path: Path) -> None:
    asked: list[Sequence[str]] = []
    with host(tmp_path, cross(likes("nine euros", asked)), use_crossencoder=False) as wf:
        assert "nine euros" not in wf.compress(QUERY, [CHUNK], 20)[0].text
    assert asked == []


def test_a_lexical_ranker_does_not_stand_in_for_it(tmp_path: Path) -> None:
    asked: list[Sequence[str]] = []
    lexical = fake_plugin("rank", ScriptedRanker(likes("nine euros", asked)), "words")
    with host(tmp_path, lexical) as wf:
        assert "nine euros" not in wf.compress(QUERY, [CHUNK], 20)[0].text
    assert asked == []


@pytest.mark.parametrize("reply", [RuntimeError("broken"), [1.0], ["a", "b", "c", "d"], [float("nan")] * 4])
def test_one_that_fails_changes_nothing(tmp_path: Path, reply: Any) -> None:
    with host(tmp_path) as wf:
        plain = wf.compress(QUERY, [CHUNK], 20)
    with host(tmp_path, cross(reply)) as wf:
        assert wf.compress(QUERY, [CHUNK], 20) == plain


def test_one_that_hangs_is_not_waited_for(tmp_path: Path) -> None:
    hang = threading.Event()

    def stuck(query: str, passages: Sequence[str]) -> list[float]:
        hang.wait(30)
        return [0.0] * len(passages)

    with host(tmp_path) as wf:
        plain = wf.compress(QUERY, [CHUNK], 20)
    try:
        with host(tmp_path, cross(stuck)) as wf:
            assert wf.compress(QUERY, [CHUNK], 20) == plain
            hang.set()
    finally:
        hang.set()


def none(query: str, passages: Sequence[str]) -> Sequence[float]:
    raise NotConfigured("no ranker of kind crossencoder is in use")


@given(st.lists(st.integers(-9, 9).map(float), max_size=60), st.integers(0, 3))
def test_what_it_did_not_read_gains_least(scores: list[float], batches: int) -> None:
    texts = [f"{'price' if n % 3 else 'rain'} {n}" for n in range(len(scores))]
    asked: list[Sequence[str]] = []

    def some(query: str, passages: Sequence[str]) -> list[float]:
        if len(asked) == batches:
            raise NotConfigured("enough")
        return likes("price", asked)(query, passages)

    out = read("price", texts, scores, some)
    gains = [after - before for before, after in zip(scores, out, strict=True)]
    order = sorted(range(len(scores)), key=lambda i: (-scores[i], i))
    seen = min(len(scores), READ_MOST, batches * READ_BATCH)
    assert sum(map(len, asked)) == seen
    if seen < 2:
        assert out == scores
    assert all(gains[i] <= min(gains, default=0.0) + 1e-9 for i in order[seen:])
    assert read("price", texts, scores, none) == scores
