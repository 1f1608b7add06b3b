"""The bi-encoder that a host may have: used where its vectors are those trained on, and come in time."""

from __future__ import annotations

import threading
from array import array
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest
from webfetch_freshness_classifier.classifier import TrainedClassifier, decided
from webfetch_freshness_classifier.features import FEATURES
from webfetch_freshness_classifier.meaning import REMEMBERED, Meaning
from webfetch_freshness_classifier.model import DIM, Linear, Model, load_model
from webfetch_freshness_classifier.plugin import build
from webfetch_freshness_classifier.settings import FreshnessClassifierSettings

from webfetch_core.api import Embeddings, Freshness, NotConfigured, TimedOut
from webfetch_core.testing import FakeContext

REALTIME, RECENT, STABLE = Freshness.REALTIME, Freshness.RECENT, Freshness.STABLE
NOW = datetime(2026, 7, 20, tzinfo=UTC)
QUERY = "who keeps the lighthouse"
PATIENT = 30.0


def constant(favourite: int, columns: int) -> Linear:
    """A model that always says the same: its words and its vectors count nothing."""
    chances = tuple(float(4 * (i == favourite)) for i in range(3))
    return Linear(weights=[[0.0] * columns] * 3, intercepts=chances, bonus=0.0, bound=1.0)


TOLD_APART = Model(words=constant(1, len(FEATURES)), meaning=constant(2, len(FEATURES) + DIM))
"""Words alone say recent, meaning says stable."""


class Embedder:
    """Gives unit vectors along one axis, under the name of the model trained on unless another is given."""

    def __init__(self, dim: int = DIM, model_id: str = "all-MiniLM-L6-v2:int8", value: float = 1.0) -> None:
        self.asked: list[Sequence[str]] = []
        self.was_asked = threading.Event()
        self.model_id = model_id
        self._row = array("f", [value, *[0.0] * (dim - 1)])

    def embed(self, texts: Sequence[str]) -> Embeddings:
        self.asked.append(texts)
        self.was_asked.set()
        return Embeddings(
            data=self._row.tobytes() * len(texts),
            rows=len(texts),
            dim=len(self._row),
            model_id=self.model_id,
        )


def test_the_vector_counts_and_is_asked_for_once() -> None:
    embedder = Embedder()
    classifier = TrainedClassifier(TOLD_APART, embedder.embed, patience_s=PATIENT)
    assert classifier.classify(QUERY + "?!", NOW) is STABLE
    assert embedder.asked == [[QUERY]]


def test_years_are_embedded_as_distances_from_now() -> None:
    embedder = Embedder()
    for year in (2026, 2031):  # one that remembers would ask once
        classifier = TrainedClassifier(load_model(), embedder.embed, patience_s=PATIENT)
        classifier.classify(f"tarn cup {year}", datetime(year, 1, 1, tzinfo=UTC))
    classifier.classify("gold price since 1980", NOW)
    assert embedder.asked == [["tarn cup 2026"], ["tarn cup 2026"], ["gold price since 2016"]]


def test_what_was_asked_before_needs_no_bi_encoder() -> None:
    embedder = Embedder()
    classifier = TrainedClassifier(TOLD_APART, embedder.embed, patience_s=PATIENT)
    assert [classifier.classify(text, NOW) for text in (QUERY, QUERY.upper() + "?", QUERY)] == [STABLE] * 3
    assert embedder.asked == [[QUERY]]


def test_a_vector_that_cannot_be_used_is_asked_for_again() -> None:
    embedder = Embedder(model_id="other-model")
    classifier = TrainedClassifier(TOLD_APART, embedder.embed, patience_s=PATIENT)
    assert [classifier.classify(QUERY, NOW) for _ in range(2)] == [RECENT] * 2
    assert len(embedder.asked) == 2


def test_no_more_vectors_are_kept_than_there_is_room_for() -> None:
    embedder = Embedder()
    meaning = Meaning(embedder.embed, PATIENT)
    for n in range(2 * REMEMBERED):
        assert meaning.vector(f"q{n}") is not None
        assert len(meaning._known) <= REMEMBERED


@pytest.mark.parametrize("query", ["gold price today", "gold price 2013", "wer ist das", "東京"])
def test_what_needs_no_vector_asks_for_none(query: str) -> None:
    embedder = Embedder()
    TrainedClassifier(TOLD_APART, embedder.embed, patience_s=PATIENT).classify(query, NOW)
    assert embedder.asked == []


@pytest.mark.parametrize(
    "embedder",
    [
        Embedder(dim=DIM + 1),
        Embedder(model_id="other-model"),
        Embedder(model_id=""),
        Embedder(value=float("nan")),
        Embedder(value=float("inf")),
    ],
)
def test_vectors_of_another_model_do_not_count(embedder: Embedder) -> None:
    classifier = TrainedClassifier(TOLD_APART, embedder.embed, patience_s=PATIENT)
    assert classifier.classify(QUERY, NOW) is RECENT


@pytest.mark.parametrize("error", [NotConfigured("none"), TimedOut("slow"), RuntimeError("broken")])
def test_words_decide_where_embedding_fails(error: Exception) -> None:
    def failing(texts: Sequence[str]) -> Embeddings:
        raise error

    assert TrainedClassifier(TOLD_APART, failing, patience_s=PATIENT).classify(QUERY, NOW) is RECENT


def test_one_that_hangs_is_waited_for_once_and_used_again_when_it_answers() -> None:
    embedder, go, asked = Embedder(), threading.Event(), threading.Event()

    def slow(texts: Sequence[str]) -> Embeddings:
        asked.set()
        if not go.wait(60):
            raise TimedOut("nobody let it go")
        return embedder.embed(texts)

    classifier = TrainedClassifier(TOLD_APART, slow, patience_s=0.0)
    try:
        assert classifier.classify(QUERY, NOW) is RECENT
        assert asked.wait(60)
        asked.clear()
        assert classifier.classify(QUERY, NOW) is RECENT
        assert not asked.is_set(), "a second one was asked while the first was overdue"
    finally:
        go.set()
    for thread in threading.enumerate():
        if thread.name == "freshness":
            thread.join(60)
    patient = TrainedClassifier(TOLD_APART, slow, patience_s=PATIENT)
    assert patient.classify(QUERY, NOW) is STABLE


def test_where_words_say_nothing_the_vector_decides_without_a_bonus() -> None:
    even = Linear(
        weights=[[0.0] * (len(FEATURES) + DIM)] * 3, intercepts=(0.0, 0.5, 0.2), bonus=3.0, bound=1.0
    )
    model = Model(words=TOLD_APART.words, meaning=even)
    classifier = TrainedClassifier(model, Embedder().embed, patience_s=PATIENT)
    assert classifier.classify("zebra crossing", NOW) is RECENT
    assert classifier.classify("who keeps the lighthouse", NOW) is REALTIME
    assert TrainedClassifier(model).classify("zebra crossing", NOW) is None


def test_the_bound_and_open_questions_forbid_stable() -> None:
    linear = Linear(weights=[[]] * 3, intercepts=(0.0, 0.0, 0.0), bonus=0.0, bound=0.25)
    chances = (0.2, 0.3, 0.5)
    assert decided(chances, linear, bonus=0.0, never_stable=False) is STABLE
    assert decided(chances, linear, bonus=0.0, never_stable=True) is RECENT
    assert decided((0.26, 0.28, 0.46), linear, bonus=0.0, never_stable=False) is RECENT
    assert decided((0.26, 0.28, 0.46), linear, bonus=0.5, never_stable=False) is REALTIME
    assert decided((0.2, 0.4, 0.4), linear, bonus=0.0, never_stable=False) is RECENT, "the fresher of equals"


def test_the_plugin_borrows_the_hosts_bi_encoder_unless_told_not_to() -> None:
    embedder = Embedder()
    context = FakeContext(embedder=embedder)  # type: ignore[arg-type]
    build(FreshnessClassifierSettings(use_biencoder=False), context).classify(QUERY, NOW)
    assert embedder.asked == []
    build(FreshnessClassifierSettings(patience_s=1.0), context).classify(QUERY, NOW)
    assert embedder.was_asked.wait(60) and embedder.asked == [[QUERY]]
    assert build(None, FakeContext()).classify("gold price", NOW) is REALTIME


def test_what_ships_is_small() -> None:
    from importlib.resources import files

    assert len(files("webfetch_freshness_classifier").joinpath("model.json").read_bytes()) < 100_000
    model = load_model()
    assert {len(row) for row in model.words.weights} == {len(FEATURES)}
    assert {len(row) for row in model.meaning.weights} == {len(FEATURES) + DIM}
