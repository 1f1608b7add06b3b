"""Closeness in meaning, from a bi-encoder that a host may have."""

from __future__ import annotations

import threading
from array import array
from collections.abc import Sequence

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from webfetch_compress_sentences.closeness import WITH_MEANING, with_cosines
from webfetch_compress_sentences.compressor import SentenceCompressor
from webfetch_compress_sentences.features import FEATURES
from webfetch_compress_sentences.layout import lay_out
from webfetch_compress_sentences.meaning import BATCH, MOST, cosines, deviation, reads, standard, told
from webfetch_compress_sentences.model import load_model

from webfetch_core.api import Chunk, Embeddings, NotConfigured, TimedOut


class Axes:
    """Embeds a text as the direction of the words that it knows, or of the last axis."""

    def __init__(self, *groups: str) -> None:
        self.groups = [group.split() for group in groups]
        self.asked: list[Sequence[str]] = []

    def __call__(self, texts: Sequence[str]) -> Embeddings:
        self.asked.append(texts)
        data = array("f")
        for text in texts:
            words = text.lower()
            row = [float(any(word in words for word in group)) for group in self.groups]
            data.extend(row if any(row) else [0.0] * (len(row) - 1) + [1.0])
        return Embeddings(data=data.tobytes(), rows=len(texts), dim=len(self.groups))


CINEMA = Chunk(
    text="The cinema opened in 1931 and shows two films an evening. "
    "Getting in sets you back nine euros. "
    "The roof was repaired after the storm of 1953, at the town's request.",
    url="https://tarn.example/cinema",
    title="Cinema",
)
PRICE = Axes("price sets you back", "opened", "roof")


def test_a_unit_is_told_with_its_title() -> None:
    assert (
        told("Harbour of Tarn " * 9, "It is 41 m high. " * 40)
        == f"{('Harbour of Tarn ' * 9)[:60]}: " + ("It is 41 m high. " * 40)[:300]
    )
    assert told("", "It is high.") == "It is high."


def test_cosines_come_in_the_order_of_the_texts() -> None:
    texts = ["it rains", "it costs nine euros", "nothing"]
    assert cosines("what is the price", texts, Axes("price cost", "rain", "other")) == [0.0, 1.0, 0.0]


def test_the_query_is_embedded_once_and_texts_in_batches() -> None:
    embed = Axes("price", "other")
    texts = [f"text {n}" for n in range(2 * BATCH + 3)]
    assert len(cosines("q", texts, embed)) == len(texts)
    assert list(embed.asked[0]) == ["q", *texts[:BATCH]]
    assert [len(some) for some in embed.asked[1:]] == [BATCH, 3]


@pytest.mark.parametrize("error", [NotConfigured("none"), TimedOut("slow"), RuntimeError("broken")])
def test_what_came_before_a_failure_counts(error: Exception) -> None:
    embed = Axes("price", "other")

    def failing(texts: Sequence[str]) -> Embeddings:
        if embed.asked:
            raise error
        return embed(texts)

    texts = [f"text {n}" for n in range(3 * BATCH)]
    assert len(cosines("price", texts, failing)) == BATCH


def test_an_embedder_that_hangs_is_not_waited_for() -> None:
    hang = threading.Event()

    def stuck(texts: Sequence[str]) -> Embeddings:
        hang.wait(30)
        raise TimedOut("slow")

    try:
        assert cosines("price", ["a", "b"], stuck, patience_s=0.05) == []
    finally:
        hang.set()


def test_without_cosines_words_alone_serve() -> None:
    def none(texts: Sequence[str]) -> Embeddings:
        raise NotConfigured("no bi-encoder is in use")

    kept = SentenceCompressor(embed=none).compress("ticket price", [CINEMA], 90)
    assert kept == SentenceCompressor().compress("ticket price", [CINEMA], 90)


def test_the_compressor_keeps_what_is_meant_though_no_word_is_shared() -> None:
    assert "nine euros" in SentenceCompressor(embed=PRICE).compress("ticket price", [CINEMA], 90)[0].text
    assert "nine euros" not in SentenceCompressor().compress("ticket price", [CINEMA], 90)[0].text


def test_other_languages_than_that_of_the_training_data_are_not_embedded() -> None:
    text = "Das Kino wurde 1931 eröffnet und zeigt abends zwei Filme. Der Eintritt kostet neun Euro. " * 3
    embed = Axes("eintritt", "kino")
    chunks = [evolve(CINEMA, text=text + "Das Dach wurde nach dem Sturm von 1953 erneuert.")]
    compressor = SentenceCompressor(embed=embed)
    assert "neun Euro" in compressor.compress("Was kostet der Eintritt", chunks, 120)[0].text
    assert embed.asked == []
    common = load_model().idf
    assert reads([CINEMA.text], common)
    assert not reads(["奥文水库的最大水深为四十一米。"], common)
    assert reads(["The Nag Chaudhuri and Talukdar of Kolkata, Basanti Dulal, was wed to Dipali Nag."], common)
    assert reads(["12.5 % 7"], common)  # no words: nothing speaks against it


def test_at_most_so_many_units_are_embedded_best_by_words_first() -> None:
    sentences = [f"The gauge number {n} is in the north of the town." for n in range(MOST + 20)]
    sentences[50] = "The price of a ticket is nine euros."
    chunk = Chunk(text=" ".join(sentences), url="https://tarn.example/")
    embed = Axes("price", "other")
    [kept] = SentenceCompressor(embed=embed).compress("ticket price", [chunk], 120)
    assert sum(map(len, embed.asked)) == MOST + 1
    assert embed.asked[0][1] == sentences[50]
    assert sentences[50] in kept.text


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=40), st.integers(0, 5))
def test_one_row_for_each_known_cosine(values: list[float], unknown: int) -> None:
    text = "\n".join(f"- item {n}" for n in range(len(values) + unknown))
    placed = lay_out([Chunk(text=text, url="u")])
    rows = [[float(n)] * len(FEATURES) for n in range(len(placed))]
    order = list(range(len(placed)))[::-1]
    out = with_cosines(rows, placed, order, values)
    assert [row[0] for row in out] == [float(n) for n in order[: len(values)]]
    at = {name: WITH_MEANING.index(name) for name in WITH_MEANING[len(FEATURES) :]}
    assert all(len(row) == len(WITH_MEANING) for row in out)
    assert [row[at["cosine"]] for row in out] == values
    for row in out:
        assert row[at["cosine_gap"]] <= row[at["cosine_near"]] <= 0


@given(st.lists(st.floats(-1e6, 1e6), max_size=30))
def test_standard_scores(values: list[float]) -> None:
    scaled = standard(values)
    assert len(scaled) == len(values)
    if deviation(values) > 1e-3:
        assert abs(sum(scaled)) < 1e-3 and abs(deviation(scaled) - 1) < 1e-3
    assert standard([2.0, 2.0]) == [0.0, 0.0]
