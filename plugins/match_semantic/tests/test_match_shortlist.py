"""Cached queries that are near: by vectors, by words, and what happens when models or texts change."""

from __future__ import annotations

import threading
from array import array
from collections.abc import Sequence

import pytest
from webfetch_match_semantic import shortlist as module
from webfetch_match_semantic.shortlist import VectorIndex, WordIndex

from webfetch_core.api import Embeddings, NotConfigured


class Axes:
    """Embeds a text as the direction of its first letter; counts what it was asked."""

    def __init__(self, model_id: str = "m-a", dim: int = 26) -> None:
        self.model_id, self.dim = model_id, dim
        self.asked: list[str] = []

    def __call__(self, texts: Sequence[str]) -> Embeddings:
        self.asked += texts
        data = array("f")
        for text in texts:
            place = (ord(text[:1] or "a") - ord("a")) % self.dim
            data.extend(float(n == place) for n in range(self.dim))
        return Embeddings(data=data.tobytes(), rows=len(texts), dim=self.dim, model_id=self.model_id)


class Ticks:
    """A clock that moves by a step at every look."""

    def __init__(self, step: float = 0.0) -> None:
        self.now, self.step = 0.0, step

    def __call__(self) -> float:
        self.now += self.step
        return self.now


def test_the_near_ones_come_the_youngest_first() -> None:
    index = VectorIndex(Axes(), Ticks())
    texts = ("apple", "boat", "anchor", "cloud", "axe")
    assert index.nearest("arrow", texts, 2, 0.6) == [4, 2]
    assert index.nearest("zebra", texts, 5, 0.6) == []
    assert index.nearest("arrow", (), 5, 0.6) == []


def test_many_equals_are_cut_without_losing_nearer_ones() -> None:
    index = VectorIndex(Axes(), Ticks())
    texts = tuple(f"a{n}" for n in range(500))
    found = index.nearest("a", texts, 8, 0.6)
    assert len(set(found)) == 8


def test_a_text_is_embedded_once_though_the_collection_grows() -> None:
    embed = Axes()
    index = VectorIndex(embed, Ticks())
    texts = tuple(f"{letter}{n}" for letter in "abc" for n in range(10))
    index.nearest("b", texts, 3, 0.6)
    index.nearest("b", texts, 3, 0.6)
    grown = (*texts, "bell")
    assert index.nearest("b", grown, 1, 0.6) == [30]
    assert sorted(text for text in embed.asked if text != "b") == sorted(grown)


@pytest.mark.parametrize(("model", "dim"), [("m-b", 26), ("m-a", 13), ("m-b", 30)])
def test_vectors_of_two_models_are_never_compared(model: str, dim: int) -> None:
    embed = Axes()
    index = VectorIndex(embed, Ticks())
    texts = ("apple", "boat")
    assert index.nearest("arrow", texts, 2, 0.6) == [0]
    embed.model_id, embed.dim, embed.asked = model, dim, []
    assert index.nearest("bath", texts, 2, 0.6) == [1]
    assert set(texts) <= set(embed.asked), "all were embedded anew"


def test_what_takes_too_long_comes_at_the_next_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BATCH", 4)
    index = VectorIndex(Axes(), Ticks(step=1.0))
    texts = tuple(f"a{n}" for n in range(10))
    assert sorted(index.nearest("a", texts, 10, 0.6)) == [6, 7, 8, 9]
    assert len(index.nearest("a", texts, 10, 0.6)) == 8
    assert len(index.nearest("a", texts, 10, 0.6)) == 10


def test_texts_that_are_gone_make_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SLACK", 10)
    embed = Axes()
    index = VectorIndex(embed, Ticks())
    index.nearest("a", tuple(f"a{n}" for n in range(100)), 1, 0.6)
    assert index.nearest("b", ("a1", "b1", "b2"), 3, 0.6) == [2, 1]
    assert len(index._row) == 3
    assert embed.asked.count("a1") == 1, "what is still there is kept"


def test_without_vectors_it_says_so() -> None:
    def none(texts: Sequence[str]) -> Embeddings:
        raise NotConfigured("no bi-encoder is in use")

    with pytest.raises(NotConfigured):
        VectorIndex(none, Ticks()).nearest("a", ("b",), 1, 0.6)


def test_words_find_what_shares_them() -> None:
    texts = ("height of the dam", "capital of Mongolia", "dams of Mongolia", "price of milk")
    index = WordIndex()
    assert index.nearest("how high is the dam", texts, 2)[0] in (0, 2)
    assert index.nearest("Mongolia capital", texts, 1) == [1]
    assert index.nearest("capital of mongolia", ("x capital of Mongolia", "capital of Mongolia"), 1) == [1]
    assert index.nearest("the", texts, 3) == []
    assert index.nearest("", texts, 3) == []


def test_threads_agree() -> None:
    index = VectorIndex(Axes(), Ticks())
    texts = tuple(f"{letter}{n}" for letter in "abcdef" for n in range(50))
    found: list[list[int]] = []
    threads = [
        threading.Thread(target=lambda: found.append(index.nearest("c", texts, 5, 0.6))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8 and all(one == found[0] for one in found)
