"""The cases of the areas that ``--cases`` names, each held against its expected.json."""

from __future__ import annotations

from pathlib import Path

import case_runner
import pytest


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    areas = list(dict.fromkeys(metafunc.config.getoption("cases") or ()))
    rows: list[tuple[str, case_runner.Case | None]] = []
    for area in areas:
        cases = case_runner.load(area) if case_runner.CASES.is_dir() else []
        rows += [(area, case) for case in cases] or [(area, None)]
    metafunc.parametrize(("area", "case"), rows, ids=[f"{a}-{c.id if c else 'none'}" for a, c in rows])


def test_case(area: str, case: case_runner.Case | None, tmp_path: Path, record_property: object) -> None:
    if not case_runner.CASES.is_dir():
        pytest.skip(f"the cases are not beside this checkout ({case_runner.CASES} is not there)")
    if case is None:
        pytest.fail(
            f"no such area: {area}; there are {', '.join(case_runner.areas_of_the_log())}", pytrace=False
        )
    record_property("area", area)  # type: ignore[operator]
    run = case_runner.adapter(area)
    if run is None:
        pytest.fail(f"no adapter for area {area}; there are {', '.join(case_runner.AREAS)}", pytrace=False)
    seen = run(case, tmp_path)
    wrong = list(case_runner.problems(case.expected, seen))
    told = f"{case.id} ({case.expected['kind']}): {case.expected['why']}"
    assert not wrong, "\n  ".join([told, *wrong])
