"""What may befall the shared cache must not befall a search: a Webfetch over the real store, in processes."""

from __future__ import annotations

import io
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("webfetch_cache_lmdb")

from case_areas.cache_store import probe

from webfetch_core import Settings, Webfetch
from webfetch_core.cli import main

MB = 1 << 20


@pytest.mark.parametrize("cap_mb", [1, 3, 16])
def test_a_full_cache_breaks_no_search(tmp_path: Path, cap_mb: int) -> None:
    plan = {"act": "fill", "entries": 900, "entry_bytes": 3_000, "query": "harbour clock"}
    found = probe({**plan, "settings": {"max_bytes": cap_mb * MB, "durable": False}}, tmp_path)
    seen = found["measured"]
    assert (seen["exceptions"], seen["search_ok"], seen["cached"], seen["last_is_there"]) == (
        0,
        True,
        True,
        True,
    )
    assert seen["file_mb"] <= cap_mb + 0.1
    assert seen["warnings"] == 0


def test_a_cache_in_which_nothing_may_go_breaks_no_search(tmp_path: Path) -> None:
    settings = {"max_bytes": MB, "durable": False, "keep_spaces": ["pages"]}
    plan = {"act": "fill", "entries": 400, "entry_bytes": 3_000, "settings": settings}
    found = probe(plan, tmp_path)
    assert found["measured"]["search_ok"] is True
    assert found["measured"]["exceptions"] > 0 and "max_bytes" in found["told"][0]
    assert found["measured"]["warnings"] <= 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_processes_that_fork_after_the_cache_was_used(tmp_path: Path) -> None:
    seen = probe({"act": "fork"}, tmp_path)["measured"]
    assert (seen["exceptions"], seen["rows_of_children"], seen["search_ok"]) == (0, 3, True)


def test_urls_and_queries_of_any_length(tmp_path: Path) -> None:
    urls = [f"https://a.example/{'path/' * n}?q={'ü' * n}" for n in (1, 60, 120, 400)]
    seen = probe({"act": "keys", "urls": urls, "query": "harbour " * 300}, tmp_path)["measured"]
    assert (seen["exceptions"], seen["read_back"], seen["pages_served"], seen["cached"]) == (0, 5, 4, True)


def test_a_hundred_entries_take_little_disk(tmp_path: Path) -> None:
    seen = probe({"act": "size", "entries": 100}, tmp_path)["measured"]
    assert (seen["exceptions"], seen["rows"]) == (0, 100)
    assert seen["mb"] < 5


def test_the_commands_over_the_real_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    environ = {"WEBFETCH_HOME": str(tmp_path / "home"), "XDG_CONFIG_HOME": str(tmp_path / "config")}

    def run(*words: str) -> tuple[int, dict[str, Any]]:
        out = io.StringIO()
        code = main([*words, "--json"], environ=environ, stdout=out, stderr=io.StringIO())
        return code, json.loads(out.getvalue())

    with Webfetch(Settings(home=environ["WEBFETCH_HOME"], cache=("lmdb",)), environ=environ) as wf:
        wf.save_finding("how old is the harbour clock", "It was rebuilt in 1931.")
        for n in range(200):
            wf.cache().put("vectors", b"%d" % n, b"v" * 20_000)
        wf.cache().clear("vectors")
    code, told = run("cache", "stats")
    assert code == 0 and told["cache"]["reclaimable"] > 3 * MB
    code, told = run("cache", "compact")
    assert code == 0 and told["compacted"]["after"] < MB < 3 * MB < told["compacted"]["before"]
    code, told = run("cache", "verify")
    assert (code, told["sound"], told["store"]) == (0, True, [])
    code, told = run("cache", "export", "rows.gz")
    assert code == 0 and told["exported"]["rows"]["findings"] == 1
    assert run("cache", "purge", "--space", "findings")[1]["purged"] == 1
    code, told = run("cache", "import", "rows.gz")
    assert code == 0 and told["imported"]["stored"]["findings"] == 1
    file = Path(run("cache", "stats")[1]["cache"]["path"])
    file.write_bytes(file.read_bytes().replace(b"how old is the harbour", b"how odd is the harbour"))
    code, told = run("cache", "verify")
    assert (code, told["sound"]) == (7, False) and "checksum" in told["store"][0]


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk that is far smaller than the cache's cap."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)]
    try:
        mounted = subprocess.run(command, capture_output=True, timeout=30, check=False).returncode == 0
    except OSError:
        mounted = False
    if not mounted:
        pytest.skip("this user may not mount a file system")
    yield folder
    subprocess.run(["umount", str(folder)], check=True, timeout=30)


@pytest.mark.parametrize("kept", [[], ["pages"]], ids=["rows make room", "none may go"])
def test_a_disk_smaller_than_the_cap(tiny_disk: Path, tmp_path: Path, kept: list[str]) -> None:
    settings: dict[str, Any] = {"path": str(tiny_disk / "cache.lmdb"), "keep_spaces": kept}
    plan = {"act": "fill", "entries": 900, "entry_bytes": 3_000, "settings": settings}
    found = probe(plan, tmp_path / "home")
    assert found["measured"]["search_ok"] is True
    assert found["measured"]["file_mb"] <= 2
    if kept:
        assert "plugins.cache_lmdb.max_bytes" in found["told"][0]
    else:
        assert (found["measured"]["exceptions"], found["measured"]["last_is_there"]) == (0, True)
