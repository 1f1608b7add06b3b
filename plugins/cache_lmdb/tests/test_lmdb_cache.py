from __future__ import annotations

import logging
import os
import random
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import lmdb
import pytest
from hypothesis import given
from hypothesis import strategies as st
from webfetch_cache_lmdb.cache import LmdbCache
from webfetch_cache_lmdb.layout import reckon, row_key, split_key
from webfetch_cache_lmdb.plugin import build_cache, webfetch_caches
from webfetch_cache_lmdb.settings import LmdbSettings

from webfetch_core.api import Cache, CacheError

MB = 1 << 20


class Log:
    def __init__(self) -> None:
        self.lines: list[tuple[str, dict[str, Any]]] = []

    def warning(self, event: str, **facts: Any) -> None:
        self.lines.append((event, facts))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "cache.lmdb"


@pytest.fixture
def log() -> Log:
    return Log()


Opener = Callable[..., LmdbCache]


@pytest.fixture
def make(path: Path, log: Log) -> Iterator[Opener]:
    made: list[LmdbCache] = []

    def opener(at: Path | None = None, **settings: Any) -> LmdbCache:
        made.append(LmdbCache(at or path, LmdbSettings(**{"durable": False, **settings}), log=log))
        return made[-1]

    yield opener
    for cache in made:
        cache.close()


def lmdb_of(cache: LmdbCache) -> Any:
    environment = cache._environment
    assert environment is not None
    return environment._handle


def noise(n: int, seed: int = 0) -> bytes:
    return random.Random(seed).randbytes(n)


# ---- the protocol ----


def test_it_is_a_cache(make: Opener) -> None:
    cache = make()
    assert isinstance(cache, Cache)
    assert cache.get("pages", b"k") is None
    cache.put("pages", b"k", b"v")
    cache.put("my_plugin", b"k", b"")
    assert (cache.get("pages", b"k"), cache.get("my_plugin", b"k"), cache.get("page", b"k")) == (
        b"v",
        b"",
        None,
    )
    cache.put("pages", b"k", b"w")
    assert list(cache.scan("pages")) == [(b"k", b"w")]
    assert cache.delete("pages", b"k") and not cache.delete("pages", b"k")
    assert cache.stats()["entries"] == {"my_plugin": 1}
    assert cache.clear("my_plugin") == 1 and cache.clear("my_plugin") == 0


def test_rows_outlive_the_object(make: Opener) -> None:
    first = make()
    first.put("pages", b"k", noise(20_000))
    first.close()
    assert make().get("pages", b"k") == noise(20_000)


def test_keys_of_any_length_are_taken(make: Opener) -> None:
    cache = make()
    keys = [b"", b"a" * 64, b"a" * 65, b"a" * 511, b"a" * 512, b"a" * 100_000]
    for number, key in enumerate(keys):
        cache.put("pages", key, b"%d" % number)
    assert [cache.get("pages", key) for key in keys] == [b"%d" % n for n in range(len(keys))]
    assert all(len(key) <= 64 for key, _ in cache.scan("pages"))
    assert all(cache.delete("pages", key) for key in keys)


@pytest.mark.parametrize("space", ["", "Pages", "a b", "../x", "a\0b", "é", "x" * 65])
def test_names_of_spaces_are_checked(make: Opener, space: str) -> None:
    cache = make()
    for call in (
        lambda: cache.get(space, b"k"),
        lambda: cache.put(space, b"k", b"v"),
        lambda: cache.clear(space),
    ):
        with pytest.raises(CacheError, match="no name of a cache space"):
            call()


def test_a_space_whose_name_begins_like_another_is_apart(make: Opener) -> None:
    cache = make()
    for space in ("a", "ab", "a.b"):
        cache.put(space, b"b", space.encode())
    assert list(cache.scan("a")) == [(b"b", b"a")]
    assert cache.clear("a") == 1
    assert cache.stats()["entries"] == {"ab": 1, "a.b": 1}


@given(
    space=st.one_of(
        st.sampled_from(["pages", "queries", "vectors", "negative", "findings", "stats", "asked"]),
        st.from_regex(r"[a-z][a-z0-9_.-]{0,63}", fullmatch=True),
    ),
    key=st.binary(max_size=64),
    other=st.from_regex(r"[a-z][a-z0-9_.-]{0,9}", fullmatch=True),
)
def test_space_and_key_are_told_apart_again(space: str, key: bytes, other: str) -> None:
    full = row_key(space, key)
    assert split_key(full) == (space, key)
    assert full.startswith(row_key(space, b""))
    assert other == space or not full.startswith(row_key(other, b""))


def test_values_are_copies(make: Opener) -> None:
    cache = make()
    cache.put("pages", b"k", memoryview(bytearray(b"first" * 1_000)))  # type: ignore[arg-type]
    value = cache.get("pages", b"k")
    for n in range(50):
        cache.put("pages", b"k", noise(5_000, n))
    assert type(value) is bytes and value == b"first" * 1_000


def test_a_scan_is_one_snapshot_and_lets_its_caller_write(make: Opener) -> None:
    cache = make(max_bytes=64 * MB)
    for n in range(50):
        cache.put("pages", b"%03d" % n, noise(2_000, n))
    seen = []
    for key, _ in cache.scan("pages"):
        seen.append(key)
        cache.delete("pages", key)
        cache.put("pages", b"new" + key, noise(100_000))  # grows the map on the way
    assert seen == [b"%03d" % n for n in range(50)]


def test_the_change_log_counts_by_space_and_is_bounded(make: Opener) -> None:
    cache = make(log_length=5)
    cache.put("a", b"1", b"x")
    cache.put("b", b"9", b"x")
    cache.delete("a", b"1")
    cache.delete("a", b"1")  # no row, no change
    cache.put("a", b"2", b"x")
    told = [(c.sequence, c.key, c.deleted) for c in cache.changes("a", 0)]
    assert told == [(1, b"1", False), (2, b"1", True), (3, b"2", False)]
    assert [c.sequence for c in cache.changes("a", 2)] == [3]
    assert list(cache.changes("a", 3)) == []
    for n in range(20):
        cache.put("a", b"%d" % n, b"y")
    assert [c.sequence for c in cache.changes("a", 3)] == [19, 20, 21, 22, 23]
    assert cache.stats()["sequences"] == {"a": 23, "b": 1}
    assert cache.clear("a") == 20
    assert all(c.deleted for c in cache.changes("a", 23))


def test_a_reader_that_knows_another_file_is_told_from_the_start(make: Opener) -> None:
    cache = make()
    cache.put("a", b"1", b"x")
    assert [c.sequence for c in cache.changes("a", 500)] == [1]


def test_reading_takes_no_turn(make: Opener, path: Path) -> None:
    """What makes a hit quick: it waits for no writer, and it writes nothing."""
    cache = make()
    cache.put("queries", b"k", noise(20_000))
    many = {b"%d" % n: b"v" for n in range(5_000)}
    cache.put_many("pages", many)
    with lmdb_of(cache).begin(write=True):
        before = path.read_bytes()
        assert all(cache.get("pages", key) == b"v" for key in many)
        assert cache.get_many("pages", many) == many
        for _ in range(20):
            assert cache.get("queries", b"k") == noise(20_000)
        assert len(list(cache.scan("queries"))) == 1
        assert [change.key for change in cache.changes("queries", 0)] == [b"k"]
        assert path.read_bytes() == before


@pytest.mark.parametrize("durable", [True, False])
def test_a_commit_waits_for_the_disk(make: Opener, durable: bool) -> None:
    flags = lmdb_of(make(durable=durable)).flags()
    assert flags["sync"] and not flags["map_async"] and not flags["writemap"]
    assert flags["metasync"] is durable


# ---- size ----


def test_the_file_starts_small(make: Opener, path: Path) -> None:
    cache = make()
    for n in range(100):
        cache.put("pages", b"%d" % n, noise(20_000, n))
    files = [path, *(path.with_name(f"cache.lmdb-{name}") for name in ("lock", "guard"))]
    assert sum(f.stat().st_size for f in files) < 16 * MB
    assert cache.stats()["bytes"] == sum(f.stat().st_size for f in files)


def test_the_map_grows_as_needed(make: Opener) -> None:
    cache = make(max_bytes=64 * MB)
    for n in range(20):
        cache.put("pages", b"%d" % n, noise(MB, n))
    assert all(cache.get("pages", b"%d" % n) == noise(MB, n) for n in range(20))


@pytest.mark.parametrize("size", [400, 4_096, 60_000])
def test_a_full_cache_forgets_what_was_used_least_recently(make: Opener, path: Path, size: int) -> None:
    cache = make(max_bytes=MB)
    cache.put("findings", b"kept", b"always")
    cache.put("pages", b"favourite", noise(size))
    rows = MB // reckon(10, size)  # half as many again as fit
    for n in range(rows):
        cache.put("pages", b"%d" % n, noise(size, n))
        if n % 3 == 0:
            assert cache.get("pages", b"favourite") == noise(size)
    assert path.stat().st_size <= MB
    assert cache.get("findings", b"kept") == b"always"
    assert cache.get("pages", b"%d" % (rows - 1)) == noise(size, rows - 1)
    assert cache.get("pages", b"0") is None
    stats = cache.stats()
    assert stats["entries"]["pages"] == len(list(cache.scan("pages")))
    assert 0.3 * MB < stats["used"] < 0.7 * MB


def test_sizes_of_all_kinds_fit_under_the_cap(make: Opener, path: Path) -> None:
    cache, random_ = make(max_bytes=4 * MB), random.Random(1)
    for n in range(600):
        cache.put(
            random_.choice(["pages", "vectors"]), b"%d" % n, noise(int(10 ** random_.uniform(1, 5.6)), n)
        )
    assert path.stat().st_size <= 4 * MB


def test_a_value_that_is_too_large_is_refused_and_says_what_to_do(make: Opener) -> None:
    cache = make(max_bytes=MB)
    with pytest.raises(CacheError, match=r"more than an eighth.*max_bytes"):
        cache.put("pages", b"k", noise(MB // 8 + 1))
    cache.put("pages", b"k", noise(MB // 8))


def test_many_large_rows_find_room_as_one_by_one(make: Opener, path: Path) -> None:
    cache = make(max_bytes=4 * MB)
    rows = {b"%d" % n: noise(300_000, n) for n in range(40)}
    cache.put_many("pages", rows)
    kept = cache.get_many("pages", rows)
    assert b"39" in kept
    assert kept.items() <= rows.items()
    assert path.stat().st_size <= 4 * MB
    with pytest.raises(CacheError, match="more than an eighth"):
        cache.put_many("pages", {b"new": b"1", b"large": noise(MB)})
    assert cache.get("pages", b"new") is None


def test_when_nothing_may_go_the_error_says_so(make: Opener) -> None:
    cache = make(max_bytes=MB, keep_spaces=("pages",))
    with pytest.raises(CacheError, match=r"full.*max_bytes"):
        for n in range(300):
            cache.put("pages", b"%d" % n, noise(8_000, n))
    assert cache.get("pages", b"0") == noise(8_000, 0)
    cache.clear("pages")
    cache.put("pages", b"k", b"v")


# ---- objects and threads ----


def test_two_objects_of_a_process_share_the_file(make: Opener, path: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(path.parent)
    one, other = make(), make(tmp_path / "link" / "cache.lmdb")
    one.put("pages", b"k", b"v")
    assert other.get("pages", b"k") == b"v"
    one.close()
    one.close()
    other.put("pages", b"k", b"w")
    with pytest.raises(CacheError, match="closed"):
        one.get("pages", b"k")
    other.close()
    with pytest.raises(CacheError, match="closed"):
        other.put("pages", b"k", b"w")
    assert make().get("pages", b"k") == b"w"


def test_threads_may_do_everything_at_once(make: Opener) -> None:
    cache, errors = make(max_bytes=8 * MB), []

    def work(me: int) -> None:
        try:
            for n in range(60):
                cache.put("pages", b"%d" % (n % 20), noise(30_000, n))
                cache.get("pages", b"%d" % me)
                if n % 20 == me:
                    assert len(list(cache.scan("pages"))) <= 20
                    cache.delete("pages", b"%d" % me)
        except BaseException as exc:
            errors.append(exc)

    threads = [threading.Thread(target=work, args=(me,)) for me in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not errors


def test_close_waits_for_work_and_ends_the_rest_cleanly(make: Opener) -> None:
    cache, ends = make(), []

    def work() -> None:
        try:
            while True:
                cache.put("pages", b"k", noise(10_000))
                cache.get("pages", b"k")
        except CacheError as exc:
            ends.append(str(exc))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    time.sleep(0.05)
    cache.close()
    for thread in threads:
        thread.join(10)
    assert len(ends) == 4 and all("closed" in end for end in ends)
    assert make().get("pages", b"k") == noise(10_000)


# ---- files that are not a cache ----


@pytest.mark.parametrize(
    "content",
    [b"not a cache", b"\0" * 9_000, b"SQLite format 3\0" + b"x" * 9_000, noise(30_000)],
    ids=["text", "zeros", "sqlite", "noise"],
)
def test_what_is_no_cache_is_set_aside(make: Opener, path: Path, log: Log, content: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    make().put("pages", b"k", b"v")
    aside = path.with_name("cache.lmdb.corrupt-1")
    assert aside.read_bytes() == content
    assert [(event, facts["kept_as"]) for event, facts in log.lines] == [("cache.quarantined", str(aside))]


def _filled(make: Opener, path: Path) -> bytearray:
    cache = make()
    for n in range(200):
        cache.put("pages", b"%03d" % n, noise(3_000, n))
    cache.close()
    return bytearray(path.read_bytes())


def test_a_file_cut_short_neither_kills_nor_lies(make: Opener, path: Path, log: Log) -> None:
    whole = _filled(make, path)
    for size in (100, 4_096, 5_000, len(whole) // 2, len(whole) - 4_096):
        path.write_bytes(whole[:size])
        cache = make()
        for n in range(200):
            assert cache.get("pages", b"%03d" % n) in (None, noise(3_000, n))
        cache.put("pages", b"new", b"row")
        assert cache.get("pages", b"new") == b"row"
        cache.close()
    assert log.lines


def test_damage_met_on_the_way_is_set_aside(make: Opener, path: Path, log: Log) -> None:
    whole = _filled(make, path)
    whole[8_192:] = noise(len(whole) - 8_192)
    path.write_bytes(whole)
    cache = make()
    assert cache.get("pages", b"001") is None
    cache.put("pages", b"k", b"v")
    assert cache.get("pages", b"k") == b"v"
    assert log.lines[0][0] == "cache.quarantined"
    assert path.with_name("cache.lmdb.corrupt-1").read_bytes() == whole


def test_a_changed_byte_of_a_value_is_a_miss(make: Opener, path: Path) -> None:
    whole = _filled(make, path)
    at = whole.index(noise(3_000, 7)[:64])
    whole[at + 10] ^= 1
    path.write_bytes(whole)
    cache = make()
    assert cache.get("pages", b"007") is None
    assert cache.get("pages", b"008") == noise(3_000, 8)
    assert len(list(cache.scan("pages"))) == 199


def test_other_programs_files_and_other_formats_are_left_alone(make: Opener, path: Path) -> None:
    path.parent.mkdir()
    with lmdb.open(str(path), subdir=False) as other, other.begin(write=True) as txn:
        txn.put(b"their", b"data")
    before = path.read_bytes()
    with pytest.raises(CacheError, match="another program"):
        make()
    assert path.read_bytes() == before
    path.unlink()
    make().close()
    with lmdb.open(str(path), subdir=False, max_dbs=9) as ours:
        meta = ours.open_db(b"meta")
        with ours.begin(write=True, db=meta) as txn:
            txn.put(b"format", b"webfetch-cache 99")
    with pytest.raises(CacheError, match=r"webfetch-cache 99.*newer version.*upgrade"):
        make()
    assert not list(path.parent.glob("*.corrupt-*"))


def test_places_where_no_file_can_be(make: Opener, tmp_path: Path) -> None:
    with pytest.raises(CacheError, match=r"is a folder.*path"):
        make(tmp_path)
    (tmp_path / "file").write_text("x")
    with pytest.raises(CacheError, match=r"no folder.*path"):
        make(tmp_path / "file" / "cache.lmdb")
    with pytest.raises(CacheError, match=r"path"):
        make(tmp_path / ("x" * 300))


# ---- the plugin ----


def test_the_plugin_builds_it_where_it_is_told(tmp_path: Path) -> None:
    (provider,) = webfetch_caches()
    assert (provider.name, provider.settings, provider.priority) == ("lmdb", LmdbSettings, 0)
    assert all(need.missing(os.environ) is None for need in provider.requires)
    context: Any = SimpleNamespace(data_dir=tmp_path, log=logging.getLogger("webfetch.test"))
    for settings, expected in (
        (LmdbSettings(), tmp_path / "cache.lmdb"),
        (None, tmp_path / "cache.lmdb"),
        (LmdbSettings(path=str(tmp_path / "elsewhere" / "c")), tmp_path / "elsewhere" / "c"),
    ):
        cache: Any = build_cache(settings, context)
        assert cache.stats()["path"] == str(expected)
        cache.close()
        assert expected.is_file()


@pytest.mark.parametrize("wrong", [{"max_bytes": 1}, {"log_length": 0}])
def test_settings_are_checked(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        LmdbSettings(**wrong)


# ---- a file that is spoilt while it is open ----


@pytest.mark.parametrize("left", [0, 1, 4096, 3 * 4096, 0.5, 0.99])
@pytest.mark.parametrize("work", ["get", "put", "scan", "clear", "stats"])
def test_a_file_that_is_cut_short_while_open_is_set_aside(
    make: Opener, path: Path, log: Log, left: float, work: str
) -> None:
    cache = make()
    for n in range(50):
        cache.put("pages", b"%03d" % n, noise(3_000, n))
    os.truncate(path, int(left if left >= 1 or not left else path.stat().st_size * left))
    {
        "get": lambda: cache.get("pages", b"007"),
        "put": lambda: cache.put("pages", b"x", b"y"),
        "scan": lambda: list(cache.scan("pages")),
        "clear": lambda: cache.clear("pages"),
        "stats": cache.stats,
    }[work]()
    assert [event for event, _ in log.lines] == ["cache.quarantined"]
    cache.put("pages", b"new", b"row")
    assert cache.get("pages", b"new") == b"row"


def test_a_file_that_is_overwritten_while_open_is_set_aside_in_the_end(
    make: Opener, path: Path, log: Log
) -> None:
    cache = make()
    for n in range(200):
        cache.put("pages", b"%03d" % n, noise(3_000, n))
    with path.open("r+b") as file:
        file.seek(2 * 4096)
        file.write(noise(path.stat().st_size - 2 * 4096, 1))
    for n in range(5):
        with suppress(CacheError):
            cache.put("pages", b"%03d" % n, b"again")
    assert cache.get("pages", b"004") == b"again"
    assert "cache.quarantined" in [event for event, _ in log.lines]


def test_many_threads_see_no_damage_in_a_growing_file(make: Opener, log: Log) -> None:
    cache = make()

    def work(thread: int) -> None:
        for n in range(60):
            cache.put("pages", b"%d %d" % (thread, n), noise(5_000, n))
            assert cache.get("pages", b"%d %d" % (thread, n)) is not None

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert not log.lines
