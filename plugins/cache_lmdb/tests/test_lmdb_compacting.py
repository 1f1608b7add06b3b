"""Compaction, and other things that put one file in another's place, while processes use it."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from webfetch_cache_lmdb.cache import LmdbCache
from webfetch_cache_lmdb.compacting import copy_path
from webfetch_cache_lmdb.guard import guard_path, lock, lock_path, unlock

from webfetch_core.api import CacheError

pytestmark = pytest.mark.skipif(os.name == "nt", reason="an open file cannot be replaced there")

MB = 1 << 20
ROWS = 100
Store = Callable[..., LmdbCache]
Program = Callable[..., "subprocess.Popen[str]"]

COMPACT_WITH = """
import functools
from webfetch_cache_lmdb import environment
def steps(at):
    environment.Compaction = functools.partial(environment.Compaction, at=at)
"""


def noise(n: int, seed: int = 0) -> bytes:
    return random.Random(seed).randbytes(n)


def answer(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def tell(process: subprocess.Popen[str], word: str) -> None:
    assert process.stdin is not None
    process.stdin.write(word + "\n")
    process.stdin.flush()


def finish(process: subprocess.Popen[str]) -> str:
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0, out
    return out


def rows_of(cache: LmdbCache) -> dict[str, dict[bytes, bytes]]:
    return {space: dict(cache.scan(space)) for space in cache.stats()["entries"]}


def fill(cache: LmdbCache) -> None:
    """Rows of several sizes in two spaces, four fifths of them deleted again."""
    for space, size in (("pages", 9_000), ("queries", 300)):
        cache.put_many(space, {b"%04d" % n: noise(size, n) for n in range(ROWS)})
        for n in range(ROWS):
            if n % 5:
                cache.delete(space, b"%04d" % n)


# ---- one process -------------------------------------------------------------------------------------


def test_the_disk_gets_back_what_deleted_rows_left(store: Store, path: Path) -> None:
    cache = store()
    fill(cache)
    before, changes = rows_of(cache), list(cache.changes("pages", 0))
    size = path.stat().st_size
    assert cache.stats()["reclaimable"] > 0.6 * size
    told = cache.compact()
    assert told["before"] == size and told["after"] == path.stat().st_size < 0.35 * size
    assert rows_of(cache) == before
    assert list(cache.changes("pages", 0)) == changes
    assert cache.verify() == []
    cache.put("pages", b"next", b"1")
    assert [c.sequence for c in cache.changes("pages", changes[-1].sequence)] == [changes[-1].sequence + 1]
    assert cache.stats()["reclaimable"] < 0.2 * path.stat().st_size
    assert sorted(file.name for file in path.parent.iterdir()) == [
        "cache.lmdb",
        "cache.lmdb-guard",
        "cache.lmdb-lock",
    ]


def test_the_order_of_use_outlives_it(store: Store, path: Path) -> None:
    cache = store(max_bytes=2 * MB)
    cache.put_many("pages", {b"%d" % n: noise(10_000, n) for n in range(40)})
    for _ in range(50):
        cache.put("pages", b"other", b"")
        assert cache.get("pages", b"0")  # the oldest, and much used
    cache.compact()
    cache.put_many("pages", {b"new %d" % n: noise(10_000, n) for n in range(75)})
    assert cache.get("pages", b"0") is not None
    assert cache.get("pages", b"1") is None
    assert cache.verify() == []


def test_an_empty_cache_can_be_compacted_too(store: Store) -> None:
    cache = store()
    cache.compact()
    cache.compact()
    cache.put("pages", b"k", b"v")
    assert cache.get("pages", b"k") == b"v"


def test_only_one_process_compacts(store: Store, path: Path) -> None:
    cache = store()
    fill(cache)
    held = lock(copy_path(path))
    assert held is not None
    with pytest.raises(CacheError, match=r"another process is compacting.*wait"):
        cache.compact()
    unlock(held)
    assert cache.compact()["after"] < cache.stats()["bytes"]


def test_what_a_dead_compaction_left_is_swept_away(store: Store, path: Path) -> None:
    path.parent.mkdir()
    copy_path(path).write_bytes(b"half a copy")
    store()
    assert not copy_path(path).exists()


def test_a_copy_that_does_not_fit_leaves_the_file_alone(store: Store, path: Path, program: Program) -> None:
    cache = store()
    cache.put_many("pages", {b"%d" % n: noise(9_000, n) for n in range(200)})
    before = path.stat().st_ino
    told = finish(
        program(
            "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
            "c = opened(sys.argv[1])\n"
            "resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, 600_000))\n"
            "try: c.compact()\n"
            "except CacheError as exc: said(exc)\n"
            "assert c.get('pages', b'7')\n"
            "c.close()",
            path,
        )
    )
    assert "disk space" in told
    assert path.stat().st_ino == before and not copy_path(path).exists()
    assert cache.get("pages", b"7") == noise(9_000, 7)


# ---- while others use it -----------------------------------------------------------------------------

WRITER = """
c = opened(sys.argv[1], durable=False)
me, n = sys.argv[2].encode(), 0
said('ready')
import threading
stop = threading.Event()
threading.Thread(target=lambda: (told(), stop.set())).start()
while not stop.is_set():
    k = b'%s %d' % (me, n % 50)
    c.put('pages', k, value(k, n)); c.put('queries', b'%s %d' % (me, n), b'%d' % n); n += 1
    if n % 7 == 0: c.delete('pages', k)
assert all(v.startswith(k * 40) for k, v in c.scan('pages') if b' ' in k)
c.close()
said(n)
"""


def test_writers_lose_no_row_to_compactions(store: Store, path: Path, program: Program) -> None:
    cache = store()
    fill(cache)
    cache.clear("queries")
    writers = {name: program(WRITER, path, name) for name in ("one", "two", "three")}
    for writer in writers.values():
        assert answer(writer) == "ready"
    inodes = set()
    for turn in range(6):
        cache.put("stats", b"turn", b"%d" % turn)
        cache.compact()
        assert cache.get("stats", b"turn") == b"%d" % turn
        inodes.add(path.stat().st_ino)
    wanted = {}
    for name, writer in writers.items():
        tell(writer, "stop")
        wanted |= {f"{name} {n}".encode(): b"%d" % n for n in range(int(answer(writer)))}
        finish(writer)
    kept = dict(cache.scan("queries"))
    assert kept == wanted
    assert cache.verify() == []
    assert len(inodes) > 1


@pytest.mark.parametrize("log_length", [10_000, 3], ids=["from the log", "the log is too short"])
def test_what_is_written_during_the_copy_is_in_it(
    store: Store, path: Path, program: Program, log_length: int
) -> None:
    cache = store(log_length=log_length)
    fill(cache)
    writer = program(
        f"c = opened(sys.argv[1], log_length={log_length})\n"
        "said('ready'); told()\n"
        "for n in range(0, 100, 10): c.put('pages', b'%04d' % n, b'again')\n"
        "for n in range(5, 100, 10): c.delete('pages', b'%04d' % n)\n"
        "c.put('new_space', b'k', b'v')\n"
        "c.clear('queries')\n"
        "said('written'); told(); said(len(list(c.scan('pages')))); c.close()",
        path,
    )
    assert answer(writer) == "ready"
    compactor = program(
        COMPACT_WITH
        + "def at(step):\n"
        + "    if step == 'copied' and not seen: seen.append(1); said(step); told()\n"
        + "seen = []; steps(at)\n"
        + f"c = opened(sys.argv[1], log_length={log_length}); c.compact(); c.close()",
        path,
    )
    assert answer(compactor) == "copied"
    tell(writer, "write")
    assert answer(writer) == "written"
    tell(compactor, "go on")
    finish(compactor)
    tell(writer, "count")
    assert answer(writer) == "10"
    assert rows_of(cache) == {
        "pages": {b"%04d" % n: b"again" for n in range(0, ROWS, 10)},
        "new_space": {b"k": b"v"},
    }
    assert cache.stats()["sequences"] == {"pages": 200, "queries": 200, "new_space": 1}
    assert cache.verify() == []


@pytest.mark.parametrize(
    ("step", "transactions"),  # LMDB keeps its two last states by turns
    [
        ("copy", 1),
        ("copied", 1),
        ("catch up", 1),
        ("rename", 1),
        ("renamed", 1),
        ("renamed", 2),
        ("unlocked", 1),
    ],
)
def test_a_compaction_that_is_killed_at_any_step_loses_nothing(
    store: Store, path: Path, program: Program, step: str, transactions: int
) -> None:
    cache = store()
    fill(cache)
    for _ in range(transactions):
        cache.put("pages", b"0000", noise(9_000, 0))
    other = program(
        "c = opened(sys.argv[1]); c.put('pages', b'other', b'1'); said('ready'); told()\n"
        "assert c.get('pages', b'mine') == b'2'\n"
        "c.put('pages', b'other', b'3'); said('done'); told(); c.close()",
        path,
    )
    assert answer(other) == "ready"
    killed = program(
        COMPACT_WITH
        + "steps(lambda step: step == sys.argv[2] and os.kill(os.getpid(), signal.SIGKILL))\n"
        + "opened(sys.argv[1]).compact()",
        path,
        step,
    )
    killed.communicate(timeout=60)
    assert killed.returncode == -signal.SIGKILL
    cache.put("pages", b"mine", b"2")
    tell(other, "go on")
    assert answer(other) == "done"
    newcomer = program(
        "c = opened(sys.argv[1])\n"
        "assert c.get('pages', b'other') == b'3' and c.get('pages', b'mine') == b'2'\n"
        "c.put('pages', b'new', b'4'); c.close()",
        path,
    )
    finish(newcomer)
    tell(other, "end")
    finish(other)
    wanted = {b"%04d" % n: noise(9_000, n) for n in range(0, ROWS, 5)}
    assert dict(cache.scan("pages")) == wanted | {b"other": b"3", b"mine": b"2", b"new": b"4"}
    assert cache.verify() == []
    cache.compact()
    assert cache.verify() == [] and not copy_path(path).exists()


# ---- files that come and go --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("gone", "transactions"), [("data", 20), ("data", 21), ("lock and data", 20), ("all", 20)]
)
def test_a_file_that_is_removed_is_made_anew_by_everyone(
    store: Store, path: Path, program: Program, gone: str, transactions: int
) -> None:
    cache = store()
    for _ in range(transactions):
        cache.put("pages", b"old", b"1")
    other = program(
        "c = opened(sys.argv[1]); c.put('pages', b'other', b'1'); said('ready'); told()\n"
        "c.put('pages', b'other', b'2'); said(sorted(c.scan('pages'))); told(); c.close()",
        path,
    )
    assert answer(other) == "ready"
    path.unlink()
    if gone != "data":
        lock_path(path).unlink()
    if gone == "all":
        guard_path(path).unlink()
    cache.put("pages", b"mine", b"1")
    tell(other, "go on")
    assert answer(other) == "[(b'mine', b'1'), (b'other', b'2')]"
    for n in range(50):
        cache.put("pages", b"%d" % n, noise(9_000, n))
    assert cache.get("pages", b"other") == b"2"
    assert cache.verify() == []
    tell(other, "end")
    finish(other)


@pytest.mark.parametrize("transactions", [100, 101])
def test_a_file_that_is_put_back_from_elsewhere_is_taken_up(
    store: Store, path: Path, program: Program, transactions: int
) -> None:
    cache = store()
    cache.put("pages", b"k", b"then")
    cache.close()
    backup = path.with_name("backup")
    shutil.copy(path, backup)
    cache = store()
    other = program(
        "c = opened(sys.argv[1])\n"
        "for n in range(int(sys.argv[2])): c.put('pages', b'k', b'%d' % n)\n"
        "said('ready'); told(); said(c.get('pages', b'k')); c.put('pages', b'other', b'1'); c.close()",
        path,
        transactions,
    )
    assert answer(other) == "ready"
    backup.rename(path)
    assert cache.get("pages", b"k") == b"then"
    cache.put("pages", b"mine", b"1")
    tell(other, "go on")
    assert answer(other) == "b'then'"
    finish(other)
    assert dict(cache.scan("pages")) == {b"k": b"then", b"mine": b"1", b"other": b"1"}
    assert cache.verify() == []


def test_a_folder_that_is_removed_is_left_removed(store: Store, path: Path) -> None:
    cache = store()
    cache.put("pages", b"k", b"v")
    shutil.rmtree(path.parent)
    cache.put("pages", b"l", b"w")
    assert cache.get("pages", b"k") == b"v"
    cache.close()
    assert not path.parent.exists()


# ---- the guard ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [b"", b"nonsense", b"1 2", b"1 2\n", b"a b\n", b"\xff" * 300, b"1\n"])
def test_the_guard_may_hold_anything(store: Store, path: Path, text: bytes) -> None:
    cache = store()
    cache.put("pages", b"k", b"v")
    cache.close()
    guard_path(path).write_bytes(text)
    again = store()
    assert again.get("pages", b"k") == b"v"
    assert guard_path(path).read_bytes() == b"%d %d\n" % (path.stat().st_ino, lock_path(path).stat().st_ino)


def test_a_lock_is_one_holders_and_a_child_does_not_keep_it(tmp_path: Path, program: Program) -> None:
    file = tmp_path / "guard"
    held = lock(file)
    assert held is not None and lock(file) is None
    unlock(held)
    parent = program(
        "from webfetch_cache_lmdb.guard import lock\n"
        "assert lock(Path(sys.argv[1])) is not None\n"
        "if os.fork() == 0: os.close(1); told(); os._exit(0)\n"  # a child that outlives the holder
        "os._exit(0)",
        file,
    )
    assert parent.wait(30) == 0
    taken = lock(file, 5.0)
    assert taken is not None
    unlock(taken)
