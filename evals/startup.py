"""How long the core takes to import and ``webfetch --help`` to answer, and what they load.

    python evals/startup.py [--runs 11]

Each figure is the median of whole processes, with the bare interpreter measured in the same
round for comparison.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from typing import Any

from common import finish, median

HEAVY = (
    "requests",
    "urllib3",
    "lxml",
    "numpy",
    "trafilatura",
    "cattrs",
    "structlog",
    "tantivy",
    "lmdb",
    "ddgs",
)
HELP = "from webfetch_core.cli import main\ntry:\n    main(['--help'])\nexcept SystemExit:\n    pass"
COMMANDS = {
    "bare_python": ["-c", "pass"],
    "import_core": ["-c", "import webfetch_core"],
    "import_api": ["-c", "import webfetch_core.api"],
    "import_app": ["-c", "from webfetch_core import Webfetch"],
    "help": ["-m", "webfetch_core", "--help"],
    "version": ["-m", "webfetch_core", "--version"],
    "plugins": ["-m", "webfetch_core", "plugins"],
}


def run(arguments: list[str]) -> float:
    started = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
    return (time.perf_counter() - started) * 1000


def loaded(statement: str) -> list[str]:
    code = f"import sys\n{statement}\nprint(*[m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return done.stdout.splitlines()[-1].split() if done.stdout.strip() else []


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=11)
    args = parser.parse_args()
    for arguments in COMMANDS.values():  # byte code and disk cache are warm, as they are for a user
        run(arguments)
    times: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(args.runs):
        for name, arguments in COMMANDS.items():
            times[name].append(run(arguments))
    figures: dict[str, Any] = {f"{name}_ms": round(median(values), 1) for name, values in times.items()}
    for name, value in figures.items():
        print(f"  {name:20} {value:7.1f}   {value / figures['bare_python_ms']:.1f} x bare")
    for what, statement in {
        "core": "import webfetch_core",
        "api": "import webfetch_core.api",
        "app": "from webfetch_core import Webfetch",
        "help": HELP,
    }.items():
        names = loaded(statement)
        figures[f"heavy_modules_{what}"] = len(names)
        print(f"  heavy modules after {what}: {', '.join(names) or 'none'}")
    finish("startup", figures)


if __name__ == "__main__":
    main()
