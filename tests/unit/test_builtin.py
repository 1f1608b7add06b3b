"""What the core brings itself: the last resort of three stages."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webfetch_core import builtin
from webfetch_core.app import Webfetch
from webfetch_core.builtin import LeadCompressor, NoCache, OrderRanker
from webfetch_core.models import Chunk
from webfetch_core.runtime.replies import check_compressed, check_scores
from webfetch_core.settings import Settings
from webfetch_core.testing import ScriptedRanker, fake_plugin

CHUNKS = st.lists(st.builds(Chunk, text=st.text("ab c\n", max_size=30), url=st.just("u")), max_size=6)


@given(st.integers(0, 50))
def test_the_given_order_is_the_ranking(n: int) -> None:
    scores = check_scores(OrderRanker().score("q", ["p"] * n), n)
    assert list(scores) == sorted(set(scores), reverse=True)
    assert all(score > 0 for score in scores)


@given(CHUNKS, st.integers(1, 80))
def test_beginnings_are_kept_within_the_budget(chunks: list[Chunk], budget: int) -> None:
    kept = check_compressed(LeadCompressor().compress("q", chunks, budget), chunks, budget)
    for before, after in zip(chunks, kept, strict=False):
        assert before.text.startswith(after.text)
    if sum(len(c.text) for c in chunks) <= budget:
        assert "".join(c.text for c in kept) == "".join(c.text for c in chunks)


def test_a_text_is_cut_at_a_word() -> None:
    chunk = Chunk(text="one two three", url="u")
    assert [c.text for c in LeadCompressor().compress("q", [chunk], 9)] == ["one two"]
    assert [c.text for c in LeadCompressor().compress("q", [chunk], 2)] == ["on"]
    assert chunk.text == "one two three"


def test_the_store_that_keeps_nothing() -> None:
    store = NoCache()
    store.put("pages", b"k", b"v")
    assert store.get("pages", b"k") is None
    assert (list(store.scan("pages")), list(store.changes("pages", 0))) == ([], [])
    assert (store.delete("pages", b"k"), store.clear("pages"), store.stats()["bytes"]) == (False, 0, 0)


def test_they_stand_behind_every_plugin_and_can_be_named() -> None:
    mine: Any = fake_plugin("rank", ScriptedRanker(), "mine", priority=-99)
    with Webfetch(Settings(), plugins=[(mine.name, mine)], autoload=False, environ={}) as wf:
        assert [h.name for h in wf.host.handles("rank")] == ["mine", "order"]
        assert [h.name for h in wf.host.handles("compress")] == ["lead"]
        assert [h.name for h in wf.host.handles("cache")] == ["none"]
    with Webfetch(Settings(rank=("order",)), plugins=[(mine.name, mine)], autoload=False, environ={}) as wf:
        assert [s.index for s in wf.rank("query", ["a", "query", "b"])] == [0, 1, 2]


@pytest.mark.parametrize("hook", ["webfetch_rankers", "webfetch_compressors", "webfetch_caches"])
def test_they_come_through_the_same_door_as_plugins(hook: str) -> None:
    (provider,) = getattr(builtin, hook)()
    assert provider.priority < 0
    assert provider.summary
    assert provider.build(None, None) is not None
