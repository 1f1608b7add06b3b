from __future__ import annotations

import os
import random
import struct
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from webfetch_cache_lmdb.cache import LmdbCache
from webfetch_cache_lmdb.layout import row_key
from webfetch_cache_lmdb.settings import LmdbSettings

Store = Callable[..., LmdbCache]


def noise(n: int, seed: int = 0) -> bytes:
    return random.Random(seed).randbytes(n)


@pytest.fixture
def filled(store: Store) -> LmdbCache:
    cache = store()
    cache.put_many("pages", {b"%03d" % n: noise(3_000, n) for n in range(60)})
    cache.put_many("queries", {b"%03d" % n: noise(100, n) for n in range(60)})
    for n in range(0, 60, 3):
        cache.delete("pages", b"%03d" % n)
        cache.put("queries", b"%03d" % n, noise(5_000, n))
    return cache


def spoil(cache: LmdbCache, work: Callable[[Any, Any], object]) -> None:
    environment = cache._environment
    assert environment is not None
    environment.write(work)


def test_nothing_is_wrong_with_a_file_that_was_much_used(filled: LmdbCache, store: Store) -> None:
    assert filled.verify() == []
    filled.clear("pages")
    for key in (b"001", b"002"):
        filled.get("queries", key)
    filled.put("stats", b"k", b"v")
    assert filled.verify() == []
    assert store(max_bytes=1 << 20, log_length=3).verify() == []


def test_nothing_is_wrong_where_rows_were_evicted(store: Store) -> None:
    cache = store(max_bytes=1 << 20, log_length=50)
    for n in range(300):
        cache.put("pages", b"%d" % n, noise(random.Random(n).randrange(12_000), n))
    assert len(list(cache.scan("pages"))) < 300
    assert cache.verify() == []


KEYS = st.integers(min_value=0, max_value=9)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), KEYS, st.integers(min_value=0, max_value=9_000)),
        st.tuples(st.sampled_from(["get", "delete"]), KEYS, st.just(0)),
        st.tuples(st.sampled_from(["clear", "compact", "open anew"]), st.just(0), st.just(0)),
    ),
    max_size=25,
)


@settings(max_examples=25, deadline=None)
@given(steps=STEPS)
def test_whatever_is_done_the_file_is_sound_and_holds_what_was_stored(steps: list[Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path, given_settings = Path(folder) / "cache.lmdb", LmdbSettings(durable=False, log_length=7)
        cache = LmdbCache(path, given_settings, log=None)
        model: dict[bytes, bytes] = {}
        last = 0
        for work, number, size in steps:
            key = b"%d" % number
            if work == "put":
                model[key] = noise(size, number)
                cache.put("pages", key, model[key])
            elif work == "get":
                assert cache.get("pages", key) == model.get(key)
            elif work == "delete":
                assert cache.delete("pages", key) is (model.pop(key, None) is not None)
            elif work == "clear":
                assert cache.clear("pages") == len(model)
                model.clear()
            elif work == "compact" and os.name != "nt":
                cache.compact()
            elif work == "open anew":
                cache.close()
                cache = LmdbCache(path, given_settings, log=None)
            numbers = [change.sequence for change in cache.changes("pages", 0)]
            assert numbers[-1:] >= [last] or not numbers
            last = numbers[-1] if numbers else last
        assert dict(cache.scan("pages")) == model
        assert cache.verify() == []
        cache.close()


def test_it_looks_while_others_write(filled: LmdbCache, path: Path, program: Any) -> None:
    writer = program(
        "c = opened(sys.argv[1], durable=False)\n"
        "said('ready')\n"
        "for n in range(200): c.put('pages', b'%d' % (n % 20), value(b'k', n))\n"
        "c.close()",
        path,
    )
    assert writer.stdout.readline() == "ready\n"
    for _ in range(20):
        assert filled.verify() == []
    writer.communicate(timeout=60)
    assert writer.returncode == 0
    assert filled.verify() == []


@pytest.mark.parametrize(
    ("work", "told"),
    [
        (
            lambda t, o: t.put(row_key("pages", b"001"), b"xxxxyyyy", db=o.handles[b"rows"]),
            "303031 of pages is damaged",
        ),
        (
            lambda t, o: t.delete(row_key("pages", b"001"), db=o.handles[b"ticks"]),
            "has no place in the order of use",
        ),
        (
            lambda t, o: t.delete(row_key("pages", b"001"), db=o.handles[b"rows"]),
            "counts 40 rows and has 39",
        ),
        (lambda t, o: t.put(b"\xff" * 8, b"no row", db=o.handles[b"ages"]), "101 ages for 100 rows"),
        (
            lambda t, o: t.put(b"space/queries", struct.pack(">QQQ", 7, 80, 9), db=o.meta),
            "counts 7 rows and has 60",
        ),
        (lambda t, o: t.put(b"tick", struct.pack(">Q", 3), db=o.meta), "counter of uses is behind"),
        (
            lambda t, o: t.delete(row_key("queries", b"") + struct.pack(">Q", 40), db=o.handles[b"log"]),
            "the log of the space queries has gaps",
        ),
        (
            lambda t, o: t.delete(row_key("queries", b"") + struct.pack(">Q", 80), db=o.handles[b"log"]),
            "is at change 80 and its log ends with 79",
        ),
    ],
    ids=["value", "tick", "row", "age", "facts", "counter", "gap", "end"],
)
def test_each_thing_that_can_be_wrong_is_told(filled: LmdbCache, work: Any, told: str) -> None:
    spoil(filled, work)
    found = filled.verify()
    assert any(part in problem for part in told.split("|") for problem in found), found
    assert filled.verify() == found


def test_at_most_fifty_problems_are_told(filled: LmdbCache) -> None:
    def work(txn: Any, layout: Any) -> None:
        for full in list(txn.cursor(db=layout.handles[b"rows"]).iternext(values=False)):
            txn.put(full, b"none", db=layout.handles[b"rows"])

    spoil(filled, work)
    assert len(filled.verify()) == 50


def test_damaged_pages_are_told_and_left_as_they_are(filled: LmdbCache, path: Path) -> None:
    whole = bytearray(path.read_bytes())
    pages = range(2 * 4096, len(whole), 4096)
    leaves = [at for at in pages if struct.unpack_from("=H", whole, at + 10)[0] == 2]  # P_LEAF
    for at in leaves:
        whole[at + 16 : at + 64] = b"\xff" * 48  # the offsets of its nodes
    with path.open("r+b") as file:
        file.write(whole)
    found = filled.verify()
    assert found and all(isinstance(problem, str) for problem in found)
    assert path.read_bytes() == whole
    assert not list(path.parent.glob("*.corrupt-*"))


def test_damaged_files_that_were_kept_are_told(store: Store, path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"no cache")
    cache = store()
    assert cache.stats()["set_aside"] == [f"{path}.corrupt-1"]
    assert cache.verify() == []
