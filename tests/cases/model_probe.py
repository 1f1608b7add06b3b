"""One process with a model in it, and what was seen of it: run by the cases of ``runtime``.

    python model_probe.py '{"home": FOLDER, "rank": true, "truncate": false}'
    python model_probe.py '{"home": FOLDER, "texts": 64, "affinity": [0, 1], "idle_s": 10}'

Prints a line of JSON: ``text`` and ``measured``.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

QUERY = "how high is the lighthouse of Tarn"
PASSAGES = [
    "Copper conducts electricity better than iron does.",
    "The lighthouse of Tarn is 41 metres high.",
    "Its keeper lived there until 1962.",
]


def main(plan: dict[str, Any]) -> None:
    connections = count_connections()
    if plan.get("affinity") and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, set(plan["affinity"]) & os.sched_getaffinity(0) or {0})
    from webfetch_core import Settings, Webfetch

    if plan.get("truncate"):
        truncated_model(Path(plan["home"]))
    measured: dict[str, float] = {}
    with Webfetch(Settings(home=plan["home"], cache=("none",))) as host:
        if plan.get("rank"):
            ranked = host.rank(QUERY, PASSAGES)
            measured["search_ok"] = float(ranked[0].index == 1 and "biencoder" in ranked[0].steps)
        else:
            host.host.embed([f"short text number {n}" for n in range(plan["texts"])])
            measured["threads"] = float(threads())
            measured["idle_cpu_s"] = idle(plan["idle_s"])
        reasons = [p.reason for p in host.status().providers if p.name.startswith("onnx") and p.reason]
    measured["connections"] = float(len(connections))
    print(json.dumps({"text": "\n".join(reasons), "measured": measured}))


def count_connections() -> list[str]:
    """A list that gets a row for each connection and each name that is looked up, from now on."""
    seen: list[str] = []

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto"):
            seen.append(f"{event} {arguments[-1]!r}")

    sys.addaudithook(hook)
    return seen


def truncated_model(home: Path) -> None:
    """Leave what an interrupted copy leaves: the cross-encoder's file, 1,024 bytes of it."""
    from webfetch_rank_onnx.specs import MSMARCO

    folder = home / "models" / MSMARCO.folder
    for file in MSMARCO.files:
        path = folder / file.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"\0" * min(1_024, file.size))


def threads() -> int:
    """Threads of this process as the system counts them: a library's own are among them."""
    tasks = Path("/proc/self/task")
    return len(list(tasks.iterdir())) if tasks.is_dir() else threading.active_count()


def idle(seconds: float) -> float:
    """CPU seconds that this process takes while nobody asks it for anything."""
    before = time.process_time()
    time.sleep(seconds)
    return time.process_time() - before


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
