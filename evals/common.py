"""What the evals share: where data is, how answers are compared, how a run is written down."""

from __future__ import annotations

import json
import lzma
import os
import platform
import statistics
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("WEBFETCH_EVAL_DATA", ROOT.parent / "shared" / "data"))
RUNS = ROOT / "evals" / "runs"
FLOORS = ROOT / "evals" / "floors.json"


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a .jsonl or .jsonl.xz file."""
    opener = lzma.open if path.suffix == ".xz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                yield json.loads(line)


def need(path: Path, how: str) -> Path:
    """Return ``path``, or end the run saying how the data is had."""
    if path.exists():
        return path
    raise SystemExit(
        f"{path} is not there. {how}\nSet WEBFETCH_EVAL_DATA to the folder that holds the data sets."
    )


def normal(text: str) -> str:
    """NFKC, lower case, punctuation to blanks, blanks folded: how answers are compared."""
    folded = unicodedata.normalize("NFKC", text).lower()
    return " ".join("".join(c if c.isalnum() else " " for c in folded).split())


def answered(text: str, answers: Iterable[str]) -> bool:
    """Whether any answer occurs in ``text`` as whole words."""
    padded = f" {normal(text)} "
    return any(f" {normal(answer)} " in padded for answer in answers if normal(answer))


def percentile(values: Sequence[float], q: float) -> float:
    """The nearest-rank percentile; ``q`` in [0, 1]."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, round(q * len(ordered)) - 1))] if ordered else 0.0


def mean(values: Sequence[float]) -> float:
    return statistics.fmean(values) if values else 0.0


def median(values: Sequence[float]) -> float:
    return statistics.median(values) if values else 0.0


def machine() -> str:
    """One line on where the figures were taken."""
    model = platform.processor() or platform.machine()
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                model = line.partition(":")[2].strip()
                break
    except OSError:
        pass
    return f"{os.cpu_count()} cores, {model}, Python {platform.python_version()}, {platform.system()}"


def write_run(name: str, figures: dict[str, Any]) -> Path:
    """Write a run's figures under ``evals/runs`` and return the file."""
    RUNS.mkdir(parents=True, exist_ok=True)
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    path = RUNS / f"{name}_{stamp}.json"
    path.write_text(json.dumps({"eval": name, "machine": machine(), **figures}, indent=2), encoding="utf-8")
    return path


def gate(name: str, figures: dict[str, float]) -> list[str]:
    """Compare with ``floors.json``; returns one line for each figure on the wrong side of its bound."""
    bounds = json.loads(FLOORS.read_text(encoding="utf-8")).get(name, {}) if FLOORS.exists() else {}
    faults = []
    for figure, bound in bounds.items():
        if figure not in figures:
            continue
        value = figures[figure]
        if "min" in bound and value < bound["min"]:
            faults.append(f"{name}: {figure} is {value:.3f}, the floor is {bound['min']}")
        if "max" in bound and value > bound["max"]:
            faults.append(f"{name}: {figure} is {value:.3f}, the ceiling is {bound['max']}")
    return faults


def finish(name: str, figures: dict[str, Any]) -> None:
    """Write the run, print where, and end with 1 when a floor is broken."""
    print(f"\nmachine: {machine()}\nrun: {write_run(name, figures).relative_to(ROOT)}")
    faults = gate(name, {k: v for k, v in figures.items() if isinstance(v, (int, float))})
    for fault in faults:
        print(f"FLOOR BROKEN: {fault}")
    raise SystemExit(1 if faults else 0)
