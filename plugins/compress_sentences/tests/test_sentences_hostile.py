"""Models that answer nonsense, titles that differ within a source, and one block of very many units."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from typing import Any

import pytest
from webfetch_compress_sentences.compressor import SentenceCompressor, header_cost
from webfetch_compress_sentences.layout import lay_out
from webfetch_compress_sentences.leads import lead_ins
from webfetch_compress_sentences.meaning import cosines

from webfetch_core.api import Chunk, Embeddings

QUERY = "how high is the tower"
TEXT = "The tower is 41 metres high. It was built in 1873. Copper conducts electricity. " + " ".join(
    f"Sentence number {number} tells of the year {1900 + number} in the town." for number in range(30)
)
CHUNKS = [Chunk(text=TEXT, url="https://a.example/", title="Tower")]


def vectors_of(number: float, rows: int | None = None) -> Any:
    def embed(texts: Sequence[str]) -> Embeddings:
        n = len(texts) if rows is None else rows
        return Embeddings(data=array("f", [number] * (8 * n)).tobytes(), rows=n, dim=8, model_id="m")

    return embed


@pytest.mark.parametrize(
    "embed", [vectors_of(math.nan), vectors_of(math.inf), vectors_of(0.1, rows=1), vectors_of(0.1, rows=60)]
)
def test_vectors_of_nonsense_are_none(embed: Any) -> None:
    assert cosines(QUERY, ["one", "two"], embed) == []
    plain = SentenceCompressor().compress(QUERY, CHUNKS, 300)
    assert SentenceCompressor(embed=embed).compress(QUERY, CHUNKS, 300) == plain


@pytest.mark.parametrize(
    "answer", [[math.nan] * 8, [math.inf] * 8, ["high"] * 8, [1.0], [1.0] * 99, None], ids=str
)
def test_verdicts_of_nonsense_are_none(answer: Any) -> None:
    plain = SentenceCompressor().compress(QUERY, CHUNKS, 300)
    asked = SentenceCompressor(score_pairs=lambda query, passages: answer)
    assert asked.compress(QUERY, CHUNKS, 300) == plain


@pytest.mark.parametrize("titles", [("", "A long title of this page " * 3), ("A title " * 9, "")])
def test_the_dearest_header_of_a_source_is_paid_for(titles: tuple[str, str]) -> None:
    chunks = [
        Chunk(text="Copper conducts. " * 30, url="https://a.example/", title=titles[0]),
        Chunk(text="The tower is 41 metres high. " + TEXT, url="https://a.example/", title=titles[1]),
    ]
    for budget in range(60, 400, 20):
        kept = SentenceCompressor().compress(QUERY, chunks, budget)
        spent = sum(len(chunk.text) for chunk in kept) + len(kept) - 1
        alone = len(kept) == 1 and spent <= budget  # not even one unit and its header fit
        assert alone or spent + header_cost(kept[0]) <= budget


def test_what_stands_above_is_looked_for_nearby() -> None:
    """All of a long block was gone through for each of its units: seconds, where there are thousands."""
    placed = lay_out([Chunk(text="Tower\n\n" + "The tower is high.\n" * 3_000, url="https://a.example/")])
    compared = Counting(placed)
    assert lead_ins(len(placed) - 1, compared, "") == []
    assert compared.looked_at < 2_000


class Counting(list[Any]):
    looked_at = 0

    def __getitem__(self, place: Any) -> Any:
        self.looked_at += 1
        return super().__getitem__(place)
