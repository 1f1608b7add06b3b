"""Several real processes on one file."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from webfetch_cache_lmdb.cache import LmdbCache
from webfetch_cache_lmdb.settings import LmdbSettings

from webfetch_core.api import CacheError
from webfetch_core.testing import FakeContext

MB = 1 << 20
PRELUDE = """
import os, random, resource, signal, sys, time
from pathlib import Path
from webfetch_cache_lmdb.cache import LmdbCache
from webfetch_cache_lmdb.settings import LmdbSettings
from webfetch_core.api import CacheError
from webfetch_core.testing import FakeContext
LOG = FakeContext("test").log  # all is imported by now: another user may not read this one's Python
def value(key, n): return key * 40 + random.Random(n).randbytes(8_000)
cache = None
def opened(path, **settings):
    return LmdbCache(Path(path), LmdbSettings(**settings), log=LOG)
"""

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cache.lmdb"


@pytest.fixture
def cache(path: Path) -> Iterator[LmdbCache]:
    made = LmdbCache(path, LmdbSettings(max_bytes=256 * MB), log=FakeContext("test").log)
    yield made
    made.close()


def start(script: str, *args: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", PRELUDE + script, *map(str, args)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> str:
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0, out
    return out


def test_readers_and_writers_together(path: Path) -> None:
    writers = [
        start(
            "c = opened(sys.argv[1], durable=False)\n"
            "for n in range(150):\n"
            "    k = b'%d' % (n % 30); c.put('pages', k, value(k, n))\n"
            "c.close()",
            path,
        )
        for _ in range(2)
    ]
    readers = [
        start(
            "c = opened(sys.argv[1])\n"
            "end = time.monotonic() + 0.6\n"
            "while time.monotonic() < end:\n"
            "    for n in range(30):\n"
            "        k = b'%d' % n; v = c.get('pages', k)\n"
            "        assert v is None or v.startswith(k * 40) and len(v) == len(k) * 40 + 8_000\n"
            "    assert all(v.startswith(k * 40) for k, v in c.scan('pages'))\n"
            "c.close()",
            path,
        )
        for _ in range(4)
    ]
    for process in writers + readers:
        finish(process)


def test_the_map_grows_under_other_processes(cache: LmdbCache, path: Path) -> None:
    cache.put("pages", b"mine", b"1")
    finish(
        start(
            "c = opened(sys.argv[1], max_bytes=256 << 20)\n"
            "for n in range(30): c.put('pages', b'%d' % n, random.Random(n).randbytes(1 << 20))\n"
            "c.close()",
            path,
        )
    )
    assert path.stat().st_size > 30 * MB
    assert cache.get("pages", b"29") == random.Random(29).randbytes(MB)
    cache.put("pages", b"mine", b"2")
    assert cache.stats()["entries"] == {"pages": 31}


@pytest.mark.slow
def test_a_killed_writer_loses_nothing_it_stored(path: Path) -> None:
    done = 0
    for turn in range(5):
        process = start(
            "c = opened(sys.argv[1])\n"
            "n = int(sys.argv[2])\n"
            "while True:\n"
            "    k = b'%d' % n; c.put('pages', k, value(k, n)); print(n, flush=True); n += 1",
            path,
            done,
        )
        assert process.stdout is not None
        for _ in range(10 + 3 * turn):
            process.stdout.readline()
        process.send_signal(signal.SIGKILL)
        told = process.stdout.read()  # and not communicate(), which loses what readline() read ahead
        process.communicate(timeout=30)
        lines = told.split("\n")[:-1]
        done = int(lines[-1]) + 1 if lines else done + 10 + 3 * turn
        with_rows = LmdbCache(path, LmdbSettings(), log=FakeContext("test").log)
        for n in range(done):
            key = b"%d" % n
            assert with_rows.get("pages", key) == key * 40 + random.Random(n).randbytes(8_000)
        rows = with_rows.stats()["entries"]["pages"]
        assert rows in (done, done + 1)  # the last one may have been stored and not told
        assert len(list(with_rows.scan("pages"))) == rows
        done = rows
        with_rows.close()


def test_a_killed_reader_does_not_hold_space(path: Path) -> None:
    process = start(
        "import lmdb\n"
        "c = opened(sys.argv[1]); c.put('pages', b'k', b'v')\n"
        "t = c._environment._handle.begin()\n"
        "print('reading', flush=True); time.sleep(60)",
        path,
    )
    assert process.stdout is not None and process.stdout.readline() == "reading\n"
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=30)
    cache = LmdbCache(path, LmdbSettings(max_bytes=2 * MB, durable=False), log=FakeContext("test").log)
    for n in range(500):
        cache.put("pages", b"%d" % (n % 50), random.Random(n).randbytes(8_000))
    cache.close()


@pytest.mark.slow
def test_a_reader_that_does_not_end_is_told_and_holds_nobody_for_ever(path: Path) -> None:
    process = start(
        "c = opened(sys.argv[1], max_bytes=2 << 20); c.put('pages', b'k', b'v')\n"
        "t = c._environment._handle.begin()\n"
        "print('reading', flush=True); sys.stdin.read()",
        path,
    )
    assert process.stdout is not None and process.stdout.readline() == "reading\n"
    cache = LmdbCache(path, LmdbSettings(max_bytes=2 * MB, durable=False), log=FakeContext("test").log)
    with pytest.raises(CacheError, match="close a process that has been reading for long"):
        for n in range(1_000):
            cache.put("pages", b"%d" % (n % 50), random.Random(n).randbytes(8_000))
    process.kill()
    process.communicate(timeout=30)
    for n in range(200):
        cache.put("pages", b"%d" % (n % 50), random.Random(n).randbytes(8_000))
    assert cache.verify() == []
    cache.close()


@needs_fork
def test_parent_and_child_go_on_after_a_fork(path: Path) -> None:
    out = finish(
        start(
            "c = opened(sys.argv[1]); c.put('pages', b'k', b'v')\n"
            "if (pid := os.fork()) == 0: os._exit(0)\n"
            "os.waitpid(pid, 0); assert c.get('pages', b'k') == b'v'\n"
            "if (pid := os.fork()) == 0:\n"
            "    assert c.get('pages', b'k') == b'v'\n"
            "    c.put('pages', b'child', b'1')\n"
            "    if (grandchild := os.fork()) == 0:\n"
            "        c.put('pages', b'grandchild', b'2'); c.close(); os._exit(0)\n"
            "    os._exit(os.waitpid(grandchild, 0)[1])\n"
            "assert os.waitpid(pid, 0)[1] == 0\n"
            "c.put('pages', b'parent', b'3')\n"
            "print(sorted(c.scan('pages')))\n"
            "c.close()",
            path,
        )
    )
    assert out == "[(b'child', b'1'), (b'grandchild', b'2'), (b'k', b'v'), (b'parent', b'3')]\n"


@needs_fork
def test_a_fork_amid_the_writes_of_other_threads(path: Path) -> None:
    finish(
        start(
            "import threading, warnings; warnings.simplefilter('ignore')\n"
            "c = opened(sys.argv[1]); stop = threading.Event()\n"
            "def work(me):\n"
            "    n = 0\n"
            "    while not stop.is_set(): c.put('pages', b'%d' % me, value(b'x', n)); n += 1\n"
            "threads = [threading.Thread(target=work, args=(me,)) for me in range(3)]\n"
            "[t.start() for t in threads]\n"
            "for turn in range(8):\n"
            "    if (pid := os.fork()) == 0:\n"
            "        c.put('pages', b'child%d' % turn, b'1'); os._exit(0)\n"
            "    assert os.waitpid(pid, 0)[1] == 0\n"
            "stop.set(); [t.join() for t in threads]\n"
            "assert all(c.get('pages', b'child%d' % turn) for turn in range(8))\n"
            "c.close()",
            path,
        )
    )


@pytest.mark.skipif(not hasattr(os, "setuid"), reason="no users on this system")
def test_a_folder_that_may_not_be_written() -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        out = finish(
            start(
                "if os.geteuid() == 0: os.setuid(65534)\n"
                "else: os.chmod(sys.argv[1], 0o555)\n"
                "try: opened(sys.argv[1] + '/cache.lmdb')\n"
                "except CacheError as exc: print(exc)\n",
                folder,
            )
        )
        Path(folder).chmod(0o755)
    assert "Permission denied" in out and "plugins.cache_lmdb.path" in out


@pytest.mark.skipif(sys.platform == "win32", reason="no file size limit on this system")
def test_a_full_disk_is_an_error_with_its_fix_and_loses_nothing(path: Path) -> None:
    # A limit on the size of files fails the same writes as a full disk does.
    out = finish(
        start(
            "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
            "c = opened(sys.argv[1])\n"
            "c.put('pages', b'k', b'v')\n"
            "resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, 600_000))\n"
            "n = 0\n"
            "try:\n"
            "    while n < 100: c.put('pages', b'%d' % n, random.Random(n).randbytes(20_000)); n += 1\n"
            "except CacheError as exc: print(exc)\n"
            "assert 0 < n < 100 and c.get('pages', b'k') == b'v'\n"
            "assert all(c.get('pages', b'%d' % i) for i in range(n))\n"
            "c.close()",
            path,
        )
    )
    assert "max_bytes" in out
    cache = LmdbCache(path, LmdbSettings(), log=FakeContext("test").log)
    assert cache.get("pages", b"k") == b"v"
    cache.close()


def test_two_processes_set_a_bad_file_aside_once(path: Path) -> None:
    path.write_bytes(b"not a cache" * 100)
    processes = [
        start(
            "c = opened(sys.argv[1]); c.put('pages', sys.argv[2].encode(), b'v'); time.sleep(0.2); c.close()",
            path,
            n,
        )
        for n in range(2)
    ]
    for process in processes:
        finish(process)
    assert [p.name for p in path.parent.glob("*.corrupt-*") if not p.name.endswith("-lock")] == [
        "cache.lmdb.corrupt-1"
    ]
    cache = LmdbCache(path, LmdbSettings(), log=FakeContext("test").log)
    assert len(list(cache.scan("pages"))) == 2
    cache.close()


def test_loading_the_plugin_does_not_load_lmdb() -> None:
    code = "import sys, webfetch_cache_lmdb.plugin as p; p.webfetch_caches(); print('lmdb' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "False\n"


def test_work_after_close_is_refused(cache: LmdbCache) -> None:
    busy = threading.Thread(target=lambda: [cache.get("pages", b"k") for _ in range(200)])
    busy.start()
    busy.join()
    cache.close()
    with pytest.raises(CacheError, match="closed"):
        list(cache.scan("pages"))
