"""Models on a real machine: damaged files, offline mode, threads under a quota, an idle process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from case_runner import Case, Seen

PROBE = Path(__file__).parents[1] / "model_probe.py"


def run(case: Case, tmp_path: Path) -> Seen:
    pytest.importorskip("webfetch_rank_onnx", reason="the models of these cases come with rank_onnx")
    script = case.json("script.json")
    plan: dict[str, Any] = {"home": str(tmp_path / "home")}
    if case.op == "rank":
        plan |= {"rank": True, "truncate": "prepare" in script}
    elif case.op.startswith(("embed", "idle")):
        texts = 64 if "limits" in script else 1
        idle_s = 10.0 if "limits" in script else 20.0
        plan |= {"affinity": script.get("limits", {}).get("affinity"), "texts": texts, "idle_s": idle_s}
    else:
        raise AssertionError(f"no adapter for {case.op!r} of {case.id}")
    ran = subprocess.run(
        [sys.executable, str(PROBE), json.dumps(plan)],
        env={**os.environ, **script.get("env", {})},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    if ran.returncode:
        raise AssertionError(ran.stderr)
    found = json.loads(ran.stdout.splitlines()[-1])
    measured = dict(found["measured"])
    if "idle_cpu_s" in measured:
        measured["idle_cpu_percent"] = 100 * measured["idle_cpu_s"] / plan["idle_s"]
        measured["cpu_s_in_20s"] = measured["idle_cpu_s"] * 20 / plan["idle_s"]
    return Seen(text=found["text"] + ran.stderr, measured=measured)
