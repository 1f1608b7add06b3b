from __future__ import annotations

from pathlib import Path

import pytest
from webfetch_search_local.reading import Reading
from webfetch_search_local.store import Store, StoreBusy, StoreDamaged, stems

ANY = {"zymurgi": {"body": 1.0}}
KEYS = [0, 7, 2**63 - 1, 2**63, 2**64 - 1]


def put(store: Store, *keys: int, text: str = "zymurgy") -> int:
    with store.writer() as writer:
        for key in keys:
            writer.put(key, "a.md", Reading(title="T", text=text, published="2024"))
        return writer.commit()


@pytest.mark.parametrize("key", KEYS)
def test_a_document_is_replaced_and_deleted_by_its_key(key: int) -> None:
    store = Store.in_memory()
    put(store, key, 5)
    put(store, key, text="brewing zymurgy")
    assert store.view().count == 2
    assert store.view().reading(key) == Reading(title="T", text="brewing zymurgy", published="2024")
    assert store.view().holders("brew", [key, 5]) == {key}
    with store.writer() as writer:
        writer.delete(key)
        writer.commit()
    assert store.view().reading(key) is None
    assert [found.key for found in store.view().search(ANY, 9)] == [5]


def test_nothing_is_seen_without_a_commit(tmp_path: Path) -> None:
    store = Store.create(tmp_path)
    stamp = put(store, 1)
    with pytest.raises(ZeroDivisionError), store.writer() as writer:
        writer.clear()
        writer.put(2, "b.md", Reading(title="", text="zymurgy"))
        raise ZeroDivisionError
    store.reload()
    assert [found.key for found in store.view().search(ANY, 9)] == [1]
    with store.writer() as writer:
        assert writer.stamp == stamp


def test_a_view_stays_as_it_was(tmp_path: Path) -> None:
    store = Store.create(tmp_path)
    put(store, 1)
    view = store.view()
    put(store, 2)
    assert (view.count, store.view().count) == (1, 2)


def test_one_writer(tmp_path: Path) -> None:
    store = Store.create(tmp_path)
    with store.writer(), pytest.raises(StoreBusy):
        Store.open(tmp_path).writer()


def test_no_index_there(tmp_path: Path) -> None:
    with pytest.raises(StoreDamaged):
        Store.open(tmp_path)


def test_one_stem_a_term() -> None:
    assert stems(["ranking", "engines", "東京", "c++"]) == ["rank", "engin", "東京", "c++"]
    assert stems([]) == []
