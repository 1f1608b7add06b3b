"""Closeness in meaning, from a bi-encoder that a host may have."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from webfetch_compress_sentences.compressor import SentenceCompressor
from webfetch_compress_sentences.meaning import MOST, told, with_meaning

from webfetch_core.api import Chunk, Embeddings, NotConfigured, TimedOut


class Axes:
    """Embeds a text as the direction of the first of its words that it knows."""

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


def test_a_unit_is_told_with_its_title() -> None:
    assert (
        told("Harbour of Tarn " * 9, "It is 41 m high. " * 40)
        == f"{('Harbour of Tarn ' * 9)[:60]}: " + ("It is 41 m high. " * 40)[:300]
    )
    assert told("", "It is high.") == "It is high."


def test_meaning_counts_half_as_much_as_words() -> None:
    embed = Axes("price cost", "weather rain", "other")
    texts = ["a: it rains", "a: it costs nine euros", "a: nothing"]
    blended = with_meaning("what is the price", texts, [1.0, 0.6, 0.0], embed)
    assert blended is not None
    assert max(range(3), key=blended.__getitem__) == 1
    assert list(embed.asked[0]) == ["what is the price", *texts]


@pytest.mark.parametrize("error", [NotConfigured("none"), TimedOut("slow")])
def test_without_an_embedder_words_alone_serve(error: Exception) -> None:
    def embed(texts: Sequence[str]) -> Embeddings:
        raise error

    assert with_meaning("q", ["a", "b"], [1.0, 2.0], embed) is None


@given(st.lists(st.integers(-9, 9).map(float), max_size=90))
def test_what_is_not_embedded_gains_least(
    scores: list[float],
) -> None:
    texts = [f"{'price' if n % 3 else 'rain'} {n}" for n in range(len(scores))]
    embed = Axes("price", "rain")
    blended = with_meaning("price", texts, scores, embed)
    if len(scores) < 2:
        assert blended is None  # there is nothing to choose between
        return
    assert blended is not None and len(blended) == len(scores)
    gains = [after - before for before, after in zip(scores, blended, strict=True)]
    if len(scores) > MOST:
        assert len(embed.asked[0]) == MOST + 1
        order = sorted(range(len(scores)), key=lambda i: (-scores[i], i))
        assert all(gains[i] <= min(gains) + 1e-9 for i in order[MOST:])


def test_the_compressor_keeps_what_is_meant_though_no_word_is_shared() -> None:
    text = (
        "The cinema opened in 1931 and shows two films an evening. "
        "Getting in sets you back nine euros. "
        "The roof was repaired after the storm of 1953, at the town's request."
    )
    chunk = Chunk(text=text, url="https://tarn.example/cinema", title="Cinema")
    query = "ticket price"
    embed = Axes("price sets you back", "opened", "roof")
    compressor = SentenceCompressor(embed=embed)
    assert "nine euros" in compressor.compress(query, [chunk], 90)[0].text
    assert "nine euros" not in SentenceCompressor().compress(query, [chunk], 90)[0].text
