"""What a process sees of the shared cache: ``python store_probe.py PLAN.json-text`` prints what it measured.

A plan names an ``act``: ``fill`` (rows, then a search), ``fork``, ``keys`` (long URLs and a query), ``size``
(some entries, and what they take). Everything runs through a Webfetch with the installed cache_lmdb; engine,
fetcher and extractor are scripted.
"""

from __future__ import annotations

import json
import logging
import multiprocessing
import os
import random
import string
import sys
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from webfetch_core import Settings, Webfetch
from webfetch_core.providers import SearchTraits
from webfetch_core.testing import ScriptedEngine, ScriptedExtractor, ScriptedFetcher, fake_plugin

MB = 1 << 20
PAGE = "Harbour\nThe harbour clock was rebuilt in 1931 after the fire, says the town's chronicle."


class Counting(logging.Handler):
    """Counts what was logged from ``WARNING`` on."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


class Probe:
    def __init__(self, plan: Mapping[str, Any]) -> None:
        self.plan = plan
        self.measured: dict[str, float] = {"exceptions": 0}
        self.told: list[str] = []
        self.log = Counting()
        logging.getLogger("webfetch").addHandler(self.log)
        urls = plan.get("urls", ["https://a.example/harbour"])
        self.fetcher = ScriptedFetcher(dict.fromkeys(urls, PAGE))
        network = {"traits": SearchTraits(network=True)}
        mine = [
            fake_plugin("search", ScriptedEngine(urls, urls, urls), name="mine", **network),
            fake_plugin("fetch", self.fetcher, name="pages"),
            fake_plugin("extract", ScriptedExtractor(), name="plain"),
        ]
        settings = Settings(
            home=plan["home"],
            allow_plugins=("cache_lmdb",),
            plugins={"cache_lmdb": plan.get("settings", {})},
            cache=("lmdb",),
        )
        self.wf = Webfetch(settings, plugins=[(plugin.name, plugin) for plugin in mine], environ={})

    def run(self) -> None:
        with self.wf:
            getattr(self, f"_{self.plan['act']}")()
        self.measured["warnings"] = len(self.log.lines)

    def tried(self, work: Callable[[], Any]) -> Any:
        """What ``work`` returns; an exception is counted."""
        try:
            return work()
        except Exception as exc:
            self.measured["exceptions"] += 1
            self.told.append(f"{type(exc).__name__}: {exc}")
            return None

    def _fill(self) -> None:
        cache, chance = self.wf.cache(), random.Random(1)
        letters = string.ascii_letters + string.digits
        for number in range(self.plan["entries"]):
            text = "".join(chance.choices(letters, k=self.plan["entry_bytes"])).encode()
            self.tried(lambda text=text, n=number: cache.put("pages", b"%d" % n, text))
        self.measured["last_is_there"] = cache.get("pages", b"%d" % (self.plan["entries"] - 1)) is not None
        self._search(self.plan.get("query", "x"))
        self._files()

    def _search(self, query: str) -> None:
        found = self.tried(lambda: self.wf.search(query))
        self.measured["search_ok"] = bool(found and found.chunks)
        again = self.tried(lambda: self.wf.search(query, cache_only=True))
        self.measured["cached"] = bool(again and again.provenance.kind.value == "exact")

    def _files(self) -> None:
        """Sizes as they are named, holes too: some systems make none."""
        path = Path(self.wf.cache().stats()["path"])
        sizes = [file.stat().st_size for file in path.parent.glob(f"{path.name}*")]
        self.measured["file_mb"] = self.measured["mb"] = sum(sizes) / MB

    def _fork(self) -> None:
        cache = self.wf.cache()
        cache.put("pages", b"parent", b"1")
        self.measured["read"] = cache.get("pages", b"parent") == b"1"
        for _ in range(3):
            if (child := os.fork()) == 0:
                os._exit(0)
            os.waitpid(child, 0)
            self.tried(lambda: cache.get("pages", b"parent"))
        context = multiprocessing.get_context("fork")
        for number in range(3):
            process = context.Process(target=self._in_child, args=(number,))
            process.start()
            process.join(60)
            self.measured["exceptions"] += process.exitcode != 0
        kept = {key for key, _ in self.tried(lambda: list(cache.scan("pages"))) or ()}
        self.measured["rows_of_children"] = len(kept & {b"child %d" % n for n in range(3)})
        self._search("after the forks")

    def _in_child(self, number: int) -> None:
        cache = self.wf.cache()
        assert cache.get("pages", b"parent") == b"1"
        cache.put("pages", b"child %d" % number, b"2")
        assert cache.get("pages", b"child %d" % number) == b"2"
        os._exit(0)

    def _keys(self) -> None:
        urls, query = self.plan["urls"], self.plan["query"]
        cache = self.wf.cache()
        back = 0
        for text in (*urls, query):
            key = text.encode()
            self.tried(lambda key=key: cache.put("pages", key, key[:100]))
            back += self.tried(lambda key=key: cache.get("pages", key)) == key[:100]
        self.measured["read_back"] = back
        first = [self.tried(lambda url=url: self.wf.fetch(url)) for url in urls]
        asked = len(self.fetcher.calls)
        again = [self.tried(lambda url=url: self.wf.fetch(url)) for url in urls]
        same = sum(bool(a and b and a.text == b.text) for a, b in zip(first, again, strict=True))
        self.measured["pages_served"] = same if len(self.fetcher.calls) == asked else 0
        self._search(query[:2_000])

    def _size(self) -> None:
        cache = self.wf.cache()
        for number in range(self.plan["entries"]):
            self.tried(lambda n=number: cache.put("pages", b"%d" % n, random.Random(n).randbytes(4_096)))
        self._files()
        self.measured["rows"] = cache.stats()["entries"]["pages"]


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    probe = Probe(json.loads(sys.argv[1]))
    with suppress(SystemExit):
        probe.run()
    print(json.dumps({"measured": probe.measured, "told": probe.told[:5], "log": probe.log.lines[:5]}))
