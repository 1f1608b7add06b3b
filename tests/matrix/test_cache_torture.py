"""A short run of the torture of the cache; the long one is ``evals/cache_torture.py`` itself."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "evals" / "cache_torture.py"


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.parametrize("part", ["mixed", "evicting", "full"])
def test_killed_processes_lose_nothing(part: str, tmp_path: Path) -> None:
    pytest.importorskip("webfetch_cache_lmdb")
    # With it, the script would not find the modules beside it.
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    words = ["--seconds", "2", "--processes", "4", "--seed", "7", "--only", part]
    done = subprocess.run(
        [sys.executable, str(SCRIPT), *words],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
        env={**environ, "TMPDIR": str(tmp_path)},
    )
    assert done.stdout.splitlines()[-1:] == ["passed"], done.stdout + done.stderr
    assert done.returncode == 0
