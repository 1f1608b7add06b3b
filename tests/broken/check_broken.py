"""With every plugin of this folder installed, the good engine answers and each culprit is named.

Run by ``nox -s broken`` in an environment where the core and all of these are installed:
``python tests/broken/check_broken.py``. It talks to a host and to the command line as a user does.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from time import monotonic

from webfetch_core import Settings, Webfetch

HERE = Path(__file__).parent

# Folder to what the listing must say of it: state, and a part of the reason.
EXPECTED = {
    "good": ("loaded", ""),
    "import_error": ("failed", "a_module_that_does_not_exist"),
    "import_exit": ("failed", "SystemExit: 3"),
    "import_hang": ("failed", "did not finish within"),
    "hook_raises": ("failed", "the hook raised"),
    "hook_hang": ("failed", "did not finish within"),
    "hook_lies": ("failed", "a str where a Provider belongs"),
    "hook_flood": ("failed", "more than"),
    "search_hang": ("loaded", ""),
    "search_lies": ("loaded", ""),
    "search_exit": ("loaded", ""),
    "search_flood": ("loaded", ""),
    "close_raises": ("loaded", ""),
    "same_provider_one": ("loaded", "broken-same-provider-two"),
    "same_provider_two": ("loaded", "broken-same-provider-one"),
    "same_plugin_one": ("incompatible", "broken-same-plugin-two"),
    "same_plugin_two": ("incompatible", "broken-same-plugin-one"),
    "next_major": ("incompatible", "webfetch.v2"),
}
# Provider to what its attempt must say.
ATTEMPTS = {
    "good": ("ok", ""),
    "close_raises": ("ok", ""),
    "search_hang": ("timeout", "did not answer in time"),
    "search_lies": ("plugin_error", "where a list of SearchHit belongs"),
    "search_exit": ("plugin_error", "SystemExit: 5"),
    "search_flood": ("plugin_error", "usable URL"),
}
DEADLINE_S = 6.0


def installed() -> dict[str, tuple[str, str]]:
    """Folder to distribution and version, as the project files say."""
    found = {}
    for file in sorted(HERE.glob("*/pyproject.toml")):
        project = tomllib.loads(file.read_text(encoding="utf-8"))["project"]
        found[file.parent.name] = (project["name"], project["version"])
    return found


def check_listing(rows: list[dict[str, object]], where: str) -> Iterator[str]:
    """Say what is wrong with a listing of plugins."""
    for folder, (dist, version) in installed().items():
        state, told = EXPECTED[folder]
        mine = [row for row in rows if row["dist"] == dist]
        if len(mine) != 1:
            yield f"{where}: {dist} is listed {len(mine)} times"
            continue
        row = mine[0]
        reasons = f"{row['reason']} {' '.join(p['reason'] for p in row.get('providers', ()))}"  # type: ignore[attr-defined]
        if row["state"] != state or told not in reasons or row["version"] != version:
            yield f"{where}: {dist} {version}: expected {state} ({told!r}), got {row}"


def check_host(home: str) -> Iterator[str]:
    """Search in a host of this process."""
    from webfetch_core.wire import to_plain

    started = monotonic()
    with Webfetch(Settings(home=home, fetch=())) as wf:
        loading = monotonic() - started
        yield from check_listing(to_plain(list(wf.plugins())), "host")
        for turn in range(4):  # four, so that breakers open under way
            begun = monotonic()
            result = wf.search(f"question {turn}", deadline_s=DEADLINE_S, force_fresh=True)
            took = monotonic() - begun
            if took > DEADLINE_S + 1:
                yield f"search {turn} took {took:.1f} s for a deadline of {DEADLINE_S} s"
            urls = {hit.url for hit in result.hits}
            if urls != {"https://good.example/", "https://stubborn.example/"}:
                yield f"search {turn}: hits are {urls}"
            outcomes = {a.provider: (a.outcome, a.reason) for a in result.attempts if a.stage == "search"}
            for name, (outcome, told) in ATTEMPTS.items():
                got = outcomes.get(name, ("not asked", ""))
                allowed = {outcome} if turn < 3 or outcome == "ok" else {"benched"}
                if got[0] not in allowed or (got[0] != "benched" and told not in got[1]):
                    yield f"search {turn}: {name}: expected {outcome} ({told!r}), got {got}"
        closing = monotonic()
    took = monotonic() - closing
    if took > 5:
        yield f"closing took {took:.1f} s"
    print(f"loaded in {loading:.1f} s, closed in {took:.1f} s")


def check_command_line(home: str) -> Iterator[str]:
    """Ask ``webfetch plugins`` as a user does."""
    environ = {**os.environ, "WEBFETCH_HOME": home}
    for arguments in (["plugins"], ["plugins", "--json"]):
        run = subprocess.run(
            [sys.executable, "-m", "webfetch_core", *arguments],
            env=environ, cwd=home, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        where = f"webfetch {' '.join(arguments)}"
        if run.returncode != 0 or "Traceback" in run.stderr:
            yield f"{where} ended with {run.returncode}: {run.stderr[-500:]}"
        elif "--json" in arguments:
            yield from check_listing(json.loads(run.stdout)["plugins"], where)
        else:
            text = " ".join(run.stdout.split())
            for folder, (dist, version) in installed().items():
                for part in (dist, version, EXPECTED[folder][1]):
                    if part not in text:
                        yield f"{where}: {part!r} of {dist} is not shown"


def main() -> int:
    if set(EXPECTED) != set(installed()):
        print(f"expected and installed differ: {set(EXPECTED) ^ set(installed())}")
        return 1
    missing = [d for d, _ in installed().values() if not _is_installed(d)]
    if missing:
        print(f"not installed: {', '.join(missing)}")
        return 1
    problems = []
    for check in (check_host, check_command_line):
        with tempfile.TemporaryDirectory() as home:
            problems += list(check(home))
    for problem in problems:
        print(f"WRONG: {problem}")
    if not problems:
        print(f"{len(EXPECTED) - 1} bad plugins installed: the good engine answers, each culprit is named")
    return 1 if problems else 0


def _is_installed(dist: str) -> bool:
    try:
        importlib.metadata.version(dist)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
