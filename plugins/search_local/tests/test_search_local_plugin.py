from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points
from typing import Any

from webfetch_search_local import plugin

from webfetch_core.api import GROUP, Fetcher, FetchTraits, SearchEngine, SearchTraits


def test_the_entry_point_is_the_plugin() -> None:
    (entry,) = entry_points(group=GROUP, name="search_local")
    assert entry.load() is plugin


def test_what_is_declared() -> None:
    (engine,) = plugin.webfetch_search_engines()
    (fetcher,) = plugin.webfetch_fetchers()
    assert (engine.name, engine.priority, engine.timeout_s) == ("local", 10, 5.0)
    assert engine.traits == SearchTraits(network=False)
    assert (fetcher.name, fetcher.traits) == ("local", FetchTraits(schemes=("local",)))
    assert all(not need.missing({}) for need in (*engine.requires, *fetcher.requires))


def test_what_is_built_keeps_the_protocols(bench: Any) -> None:
    bench.write("a.md", "x")
    settings = plugin.LocalSettings(here=(str(bench.docs),))
    (engine,) = plugin.webfetch_search_engines()
    (fetcher,) = plugin.webfetch_fetchers()
    assert isinstance(engine.build(settings, bench.context), SearchEngine)
    assert isinstance(fetcher.build(settings, bench.context), Fetcher)


def test_loading_imports_no_index_library() -> None:
    code = "import sys, webfetch_search_local.plugin; print('tantivy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
