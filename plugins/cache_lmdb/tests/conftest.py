"""Real processes that use the cache, ended with the test whatever becomes of it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from webfetch_cache_lmdb.cache import LmdbCache
from webfetch_cache_lmdb.settings import LmdbSettings

from webfetch_core.testing import FakeContext

PRELUDE = """
import os, random, resource, signal, sys, time
from pathlib import Path
from webfetch_cache_lmdb.cache import LmdbCache
from webfetch_cache_lmdb.settings import LmdbSettings
from webfetch_core.api import CacheError
from webfetch_core.testing import FakeContext
LOG = FakeContext("test").log  # all is imported by now: another user may not read this one's Python
def value(key, n): return key * 40 + random.Random(n).randbytes(8_000)
def opened(path, **settings):
    return LmdbCache(Path(path), LmdbSettings(**settings), log=LOG)
def said(word):
    print(word, flush=True)
def told():
    return sys.stdin.readline().strip()
"""

Program = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def program() -> Iterator[Program]:
    """Start a process that runs a script: ``program(script, *args)``."""
    running: list[subprocess.Popen[str]] = []

    def start(script: str, *args: object) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", PRELUDE + script, *map(str, args)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        running.append(process)
        return process

    yield start
    for process in running:
        process.kill()
        process.communicate()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "cache.lmdb"


@pytest.fixture
def store(path: Path) -> Iterator[Callable[..., LmdbCache]]:
    """Open the cache at ``path``: ``store(**settings)``; closed with the test."""
    made: list[LmdbCache] = []

    def open_it(**settings: object) -> LmdbCache:
        given = LmdbSettings(**{"durable": False, **settings})  # type: ignore[arg-type]
        made.append(LmdbCache(path, given, log=FakeContext("test").log))
        return made[-1]

    yield open_it
    for cache in made:
        cache.close()
