"""Counters and findings over one LMDB file and real processes, one of which is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from webfetch_core.pipeline.counters import Counters
from webfetch_core.pipeline.findings import FindingCache, finding_key
from webfetch_core.pipeline.tolerant_store import TolerantStore
from webfetch_core.runtime.deadline import SystemClock
from webfetch_core.settings import TtlSettings
from webfetch_core.testing import FakeContext

pytest.importorskip("webfetch_cache_lmdb", reason="the store that processes share")

OPEN = """
import json
import sys
import time
from pathlib import Path
from webfetch_cache_lmdb.plugin import webfetch_caches
from webfetch_core.models import Freshness
from webfetch_core.pipeline.counters import Counters
from webfetch_core.pipeline.findings import FindingCache
from webfetch_core.pipeline.tolerant_store import TolerantStore
from webfetch_core.runtime.deadline import SystemClock
from webfetch_core.settings import TtlSettings
from webfetch_core.testing import FakeContext

cache = webfetch_caches()[0].build(None, FakeContext(data_dir=Path(sys.argv[1])))
"""
COUNT = (
    OPEN
    + """
counters = Counters(TolerantStore(cache, wait_s=30.0))
for _ in range(40):
    counters.bump_many({"searches": 1, "chars_read": 7})
while json.loads(cache.get("stats", counters._own().key) or b"{}").get("searches") != 40:
    time.sleep(0.01)  # they are written behind
cache.close()
"""
)
FOREVER = (
    OPEN
    + """
counters = Counters(TolerantStore(cache))  # a store without a limit is written to in the same thread
number = 0
while True:
    counters.bump("searches")
    number += 1
    print(number, flush=True)
"""
)
SAVE = (
    OPEN
    + """
findings = FindingCache(TolerantStore(cache), SystemClock(), TtlSettings())
findings.save(cache, "who keeps the lock", "process " + sys.argv[2], freshness=Freshness.STABLE)
cache.close()
"""
)


def started(code: str, folder: Path, *words: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", code, str(folder), *words]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def all_ended(running: list[subprocess.Popen[str]]) -> bool:
    for process in running:
        process.communicate(timeout=120)
    return all(process.returncode == 0 for process in running)


def opened(folder: Path) -> Any:
    from webfetch_cache_lmdb.plugin import webfetch_caches

    return webfetch_caches()[0].build(None, FakeContext(data_dir=folder))


def test_processes_that_count_at_once_lose_nothing(tmp_path: Path) -> None:
    running = [started(COUNT, tmp_path) for _ in range(4)]
    assert all_ended(running)
    cache = opened(tmp_path)
    assert Counters(cache).lifetime() == {"searches": 160, "chars_read": 1_120}
    cache.close()


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL")
def test_what_was_written_survives_a_kill(tmp_path: Path) -> None:
    with started(FOREVER, tmp_path) as process:
        assert process.stdout is not None
        told = [int(process.stdout.readline()) for _ in range(5)]
        process.send_signal(signal.SIGKILL)
        rest = [int(line) for line in process.stdout if line.endswith("\n")]
    cache = opened(tmp_path)
    counted = Counters(cache).lifetime()["searches"]
    # What it told of was written; of what it counted after that, one at most.
    assert counted - max([*told, *rest]) in (0, 1)
    Counters(cache).bump("searches")
    assert Counters(cache).lifetime()["searches"] == counted + 1
    cache.close()


def test_of_findings_that_processes_save_at_once_one_is_there_whole(tmp_path: Path) -> None:
    running = [started(SAVE, tmp_path, str(number)) for number in range(3)]
    assert all_ended(running)
    cache = opened(tmp_path)
    findings = FindingCache(TolerantStore(cache), SystemClock(), TtlSettings())
    found = findings.lookup(finding_key("Who keeps the lock?"))
    assert found is not None
    assert found.result.chunks[0].text in {f"process {number}" for number in range(3)}
    assert len(list(cache.scan("findings"))) == 1
    cache.close()
