"""Contracts of rankers and compressors."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import pytest

from ...models import Chunk
from ...providers import Provider, RankTraits
from ...runtime.replies import check_compressed, check_embeddings, check_scores
from ...stages import Compressor, Embedder, Ranker
from . import inputs
from .base import ProviderContract, concurrently
from .inputs import Input

_ODD_TEXTS = (
    "", "   ", "\n\n", "?!", "東京の天気", "ภาษาไทยไม่มีช่องว่าง", "مرحبا بالعالم",
    "e\u0301 é", "\u200b\ufeff", "a" * 20_000, "👩‍👩‍👧", "C++ <b>&amp;</b>", "x\x00y",
)  # fmt: skip


class RankerContract(ProviderContract):
    """Set ``query``, ``relevant`` (a passage that answers it) and ``irrelevant`` passages, or keep these."""

    stage = "rank"
    protocol = Ranker
    traits_type = RankTraits

    INPUTS: ClassVar[Mapping[str, Input]] = {
        "query": inputs.TEXT,
        "relevant": inputs.TEXT,
        "irrelevant": Input("a list of strings, with at least one", inputs.are_texts),
    }

    query: ClassVar[str] = "how high is the lighthouse of Tarn"
    relevant: ClassVar[str] = "The lighthouse of Tarn is 41 metres high and was built in 1887."
    irrelevant: ClassVar[Sequence[str]] = (
        "Our shop is closed on public holidays.",
        "Subscribe to receive offers by e-mail every week.",
        "Copper conducts electricity better than iron does.",
    )

    def test_scores_one_finite_number_a_passage(self, subject: Any) -> None:
        passages = [*self.irrelevant, self.relevant]
        check_scores(subject.score(self.query, passages), len(passages))

    def test_the_answer_scores_highest(self, subject: Any) -> None:
        passages = [*self.irrelevant, self.relevant]
        scores = check_scores(subject.score(self.query, passages), len(passages))
        best = max(range(len(scores)), key=scores.__getitem__)
        assert best == len(passages) - 1, f"{passages[best]!r:.80} scores above relevant: {scores}"

    def test_no_passages_no_scores(self, subject: Any) -> None:
        assert list(subject.score(self.query, [])) == []

    def test_one_passage(self, subject: Any) -> None:
        check_scores(subject.score(self.query, [self.relevant]), 1)

    def test_any_text_can_be_scored(self, subject: Any) -> None:
        for query in (self.query, *_ODD_TEXTS):
            check_scores(subject.score(query, list(_ODD_TEXTS)), len(_ODD_TEXTS))

    def test_scores_do_not_depend_on_order(self, subject: Any) -> None:
        passages = [*self.irrelevant, self.relevant]
        forward = check_scores(subject.score(self.query, passages), len(passages))
        backward = check_scores(subject.score(self.query, passages[::-1]), len(passages))[::-1]
        assert forward == pytest.approx(backward, abs=1e-3)

    def test_same_input_same_scores(self, subject: Any) -> None:
        passages = [self.relevant, *self.irrelevant]
        first = list(subject.score(self.query, passages))
        assert list(subject.score(self.query, passages)) == pytest.approx(first, abs=1e-6)

    def test_concurrent_calls_agree(self, subject: Any, declared: Provider[Any]) -> None:
        passages = [self.relevant, *self.irrelevant]
        alone = list(subject.score(self.query, passages))
        threads = min(4, declared.max_concurrency)
        for scores in concurrently(threads, lambda: list(subject.score(self.query, passages))):
            assert scores == pytest.approx(alone, abs=1e-4)

    def test_biencoder_embeds_unit_vectors(self, subject: Any, declared: Provider[Any]) -> None:
        if getattr(declared.traits, "kind", "") != "biencoder":
            return
        assert isinstance(subject, Embedder), "a bi-encoder has model_id, embed and prepare"
        texts = [self.relevant, *self.irrelevant]
        made = check_embeddings(subject.embed(texts), len(texts))
        numbers = array("f", made.data)
        for row in range(made.rows):
            vector = numbers[row * made.dim : (row + 1) * made.dim]
            assert math.sqrt(sum(x * x for x in vector)) == pytest.approx(1.0, abs=1e-2)
        assert subject.model_id and made.model_id in ("", subject.model_id)
        subject.prepare(texts)


class CompressorContract(ProviderContract):
    """Set ``query``, ``chunks`` and ``answer`` (text that must survive a budget of ``budget``)."""

    stage = "compress"
    protocol = Compressor

    INPUTS: ClassVar[Mapping[str, Input]] = {
        "query": inputs.TEXT,
        "answer": inputs.TEXT,
        "budget": Input(
            "a whole number of characters, at least 1",
            lambda v: isinstance(v, int) and not isinstance(v, bool) and v >= 1,
        ),
        "chunks": Input("a list of webfetch_core.api.Chunk, with at least one", inputs.are_chunks),
    }

    query: ClassVar[str] = "how high is the lighthouse of Tarn"
    answer: ClassVar[str] = "41 metres high"
    budget: ClassVar[int] = 160
    chunks: ClassVar[Sequence[Chunk]] = (
        Chunk(
            text="Welcome to our pages about the coast. The lighthouse of Tarn is 41 metres high. "
            "Tickets are sold at the gate. Dogs are not admitted. Parking is free for visitors.",
            url="https://tarn.example/lighthouse",
            title="Lighthouse",
            score=2.0,
        ),
        Chunk(
            text="Our shop sells postcards and soap. It opens at nine. It closes when the last ferry leaves.",
            url="https://shop.example/",
            title="Shop",
            score=1.0,
        ),
    )

    def input_problems(self) -> Iterator[str]:
        found = list(super().input_problems())
        yield from found
        if not found and not any(self.answer in chunk.text for chunk in self.chunks):
            yield f"answer must be text of one of chunks; none of them has {self.answer!r}"
        if not found and self.budget < len(self.answer):
            yield f"budget must leave room for answer, which has {len(self.answer)} characters"

    def _total(self) -> int:
        return sum(len(chunk.text) for chunk in self.chunks)

    def test_keeps_to_every_budget(self, subject: Any) -> None:
        for budget in (0, 1, 20, 80, self.budget, self._total(), 10 * self._total()):
            check_compressed(subject.compress(self.query, list(self.chunks), budget), self.chunks, budget)

    def test_keeps_the_answer(self, subject: Any) -> None:
        kept = subject.compress(self.query, list(self.chunks), self.budget)
        text = "\n".join(chunk.text for chunk in kept)
        assert self.answer in text, f"{self.answer!r} is not in what is left: {text!r}"

    def test_keeps_order_url_and_title(self, subject: Any) -> None:
        kept = list(subject.compress(self.query, list(self.chunks), self._total()))
        known = [(chunk.url, chunk.title) for chunk in self.chunks]
        places = [known.index((chunk.url, chunk.title)) for chunk in kept]
        assert places == sorted(places), "chunks came back in another order"

    def test_input_is_left_alone(self, subject: Any) -> None:
        given = list(self.chunks)
        subject.compress(self.query, given, self.budget)
        assert given == list(self.chunks)

    def test_nothing_in_nothing_out(self, subject: Any) -> None:
        assert list(subject.compress(self.query, [], self.budget)) == []

    def test_any_text_can_be_compressed(self, subject: Any) -> None:
        odd = [Chunk(text=text, url=f"https://odd.example/{n}") for n, text in enumerate(_ODD_TEXTS)]
        for query in ("", self.query, "東京"):
            check_compressed(subject.compress(query, odd, self.budget), odd, self.budget)

    def test_concurrent_calls_agree(self, subject: Any, declared: Provider[Any]) -> None:
        def work() -> list[str]:
            return [c.text for c in subject.compress(self.query, list(self.chunks), self.budget)]

        alone = work()
        assert all(found == alone for found in concurrently(min(4, declared.max_concurrency), work))
