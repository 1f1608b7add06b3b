"""``docs/plugin-authors/contracts.md``: every attribute of every contract, and examples that pass.

An example is run against the module that ``docs/hooks.md`` shows for its stage.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from webfetch_core.registry.catalog import HOOKS
from webfetch_core.testing import contracts

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "plugin-authors" / "contracts.md").read_text(encoding="utf-8")
HOOKS_PAGE = (ROOT / "docs" / "hooks.md").read_text(encoding="utf-8")
CLASSES = {name: getattr(contracts, name) for name in contracts.__all__ if name.endswith("Contract")}
NO_FIXTURES = set(CLASSES) - {"ProviderContract", "SearchEngineContract", "FetcherContract", "LLMContract"}
STAGES = {name: cls.stage for name, cls in CLASSES.items() if cls.stage}


def section(name: str) -> str:
    found = re.search(rf"^(##+) {name}\n(.*?)(?=^\1 |^## |\Z)", PAGE, re.DOTALL | re.MULTILINE)
    assert found, f"contracts.md needs a section: ## {name}"
    return found[2]


def example(name: str) -> tuple[str, str]:
    """File name and text of a contract's example."""
    (found,) = re.findall(r"^```python (test_\w+\.py)\n(.*?)^```", section(name), re.DOTALL | re.MULTILINE)
    return found


def test_every_stage_has_its_contract() -> None:
    assert sorted(STAGES.values()) == sorted(HOOKS)


@pytest.mark.parametrize("name", CLASSES)
def test_every_attribute_is_told_with_its_type_and_default(name: str) -> None:
    table = re.search(r"^\| attribute \|.*?\n\n", section(name), re.DOTALL | re.MULTILINE)
    assert table, f"{name} has no table of attributes"
    rows = re.findall(r"^\| `(\w+)` \| ([^|]+) \| ([^|]+) \| [^|]+ \|$", table[0], re.MULTILINE)
    own = vars(CLASSES[name])["INPUTS"]
    assert {row[0] for row in rows} == set(own)
    for attribute, _, default in rows:
        assert (default == "required") is bool(own[attribute].unset), f"{attribute}: {default}"
        if default.startswith("`"):
            assert eval(default.strip("`")) == getattr(CLASSES[name], attribute), attribute


@pytest.mark.parametrize("name", CLASSES)
def test_every_fixture_is_told(name: str) -> None:
    own = vars(CLASSES[name]).items()
    made = [n for n, x in own if "fixturefunction" in f"{type(x).__name__} {dir(x)}".lower() and n[0] != "_"]
    assert all(f"`{fixture}`" in section(name) + section("ProviderContract") for fixture in made), made
    assert made or name in NO_FIXTURES


def test_the_examples_pass_against_the_modules_of_the_hooks_page(tmp_path: Path) -> None:
    files = []
    for name, stage in STAGES.items():
        file, test = example(name)
        (module,) = re.findall(r'plugin = "(\w+)"', test)
        start = HOOKS_PAGE.index(f"### `{HOOKS[stage]}(")
        shown = re.search(r"```python\n(.*?)```", HOOKS_PAGE[start:], re.DOTALL)
        assert shown
        (tmp_path / f"{module}.py").write_text(shown[1], encoding="utf-8")
        (tmp_path / file).write_text(test, encoding="utf-8")
        files.append(file)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", "-W", "error", *files],
        capture_output=True, text=True, check=False, timeout=120, cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path), "COLUMNS": "200"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-6000:]
    for file in files:
        assert len(re.findall(rf"^{file}::.* PASSED", done.stdout, re.MULTILINE)) >= 10, file


def test_the_message_that_is_shown_is_the_one_that_comes() -> None:
    class TestTables(contracts.ExtractorContract):
        plugin = "webfetch_extract_tables"
        provider = "tables"
        page = b"name,height"

    (told,) = TestTables().input_problems()
    assert f"TestTables.{told}" in PAGE
