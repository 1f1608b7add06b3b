"""Fixtures for the whole tree, and ``--cases AREA``: run cases from outside instead of the tests."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

# How long an example takes says how busy the machine is; speed is measured in evals.
settings.register_profile("webfetch", deadline=None)
settings.load_profile("webfetch")

pytest_plugins = ["webfetch_core.testing.plugin"]

CASES = Path(__file__).parent / "tests" / "cases"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--cases",
        action="append",
        metavar="AREA",
        help="run the inputs of ../shared/cases of this area (repeat for more), and nothing else",
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("cases") and config.args_source is not pytest.Config.ArgsSource.ARGS:
        config.args = [str(CASES)]


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    inside = CASES in (collection_path, *collection_path.parents)
    return True if inside and not config.getoption("cases") else None


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    areas = config.getoption("cases") or ()
    for area in dict.fromkeys(areas):
        outcomes = [
            outcome
            for outcome in ("passed", "failed")
            for report in terminalreporter.getreports(outcome)
            if ("area", area) in getattr(report, "user_properties", ())
        ]
        terminalreporter.write_line(f"cases of {area}: {outcomes.count('passed')} of {len(outcomes)} passed")
