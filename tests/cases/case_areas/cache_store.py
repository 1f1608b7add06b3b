"""A cache that is full, forked, given long keys, or larger than one would think."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from case_runner import Case, Seen

PROBE = Path(__file__).parents[1] / "store_probe.py"
MB = 1 << 20


def run(case: Case, tmp_path: Path) -> Seen:
    pytest.importorskip("webfetch_cache_lmdb", reason="the cases are about this cache")
    script = case.json("script.json")
    if case.op == "fill then search":
        return _fill(script, tmp_path)
    if case.op == "fork":
        return _seen(probe({"act": "fork"}, tmp_path / "home"))
    if case.op == "store and read back":
        found = probe({"act": "keys", "urls": script["urls"], "query": script["query"]}, tmp_path / "home")
        right = found["measured"]["read_back"] == len(script["urls"]) + 1
        right = right and found["measured"]["pages_served"] == len(script["urls"])
        return _seen(found, kind=None if right else "not what was stored")
    if case.op == "open and store":
        return _seen(probe({"act": "size", "entries": script["entries"]}, tmp_path / "home"))
    raise AssertionError(f"no adapter for {case.op!r} of {case.id}")


def _fill(script: dict[str, Any], tmp_path: Path) -> Seen:
    """Once with the cap at the case's map, where rows must make room, and once where the map may grow."""
    entries, size = re.match(r"([\d,]+) entries of (\d+) KB", script["store"]).groups()  # type: ignore[union-attr]
    plan = {
        "act": "fill",
        "entries": int(entries.replace(",", "")),
        "entry_bytes": int(size) * 1024,
        "query": re.search(r"search\('(.*?)'\)", script["then"])[1],  # type: ignore[index]
    }
    runs = []
    for name, cap in (("capped", script["map_size_mb"] * MB), ("growing", 64 * MB)):
        settings = {"max_bytes": cap, "durable": False}
        runs.append(probe({**plan, "settings": settings}, tmp_path / name)["measured"])
        if runs[-1]["file_mb"] * MB > cap + MB:
            return Seen(text=f"{name}: {runs[-1]['file_mb']:.1f} MB", error_kind="larger than its cap")
        if not runs[-1]["last_is_there"] or not runs[-1]["cached"]:
            return Seen(text=f"{name}: {runs[-1]}", error_kind="a full cache keeps nothing new")
    measured = {bound: max(run[bound] for run in runs) for bound in ("exceptions", "file_mb", "warnings")}
    return Seen(measured={**measured, "search_ok": all(run["search_ok"] for run in runs)})


def _seen(found: dict[str, Any], kind: str | None = None) -> Seen:
    return Seen(text="\n".join(found["told"]), error_kind=kind, measured=found["measured"])


def probe(plan: dict[str, Any], home: Path) -> dict[str, Any]:
    """Carry a plan out in a process of its own."""
    done = subprocess.run(
        [sys.executable, str(PROBE), json.dumps({**plan, "home": str(home)})],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    if done.returncode:
        raise AssertionError(done.stderr)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found
