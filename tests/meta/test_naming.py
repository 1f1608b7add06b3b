"""One rule: folder, distribution, import, entry point, settings table and provider follow from each other."""

from __future__ import annotations

import ast
import importlib
import tomllib
from pathlib import Path
from typing import Any

import pytest

from webfetch_core.markers import GROUP
from webfetch_core.registry.catalog import HOOKS

ROOT = Path(__file__).parents[2]
PLUGINS = sorted(p.parent for p in (ROOT / "plugins").glob("*/pyproject.toml") if p.parent.name != "webfetch")
BANNED = {"utils", "util", "helpers", "helper", "common", "misc", "base_utils"}
SOFT_LINES, HARD_LINES = 300, 400

# A folder's prefix and the stage that it names.
PREFIXES = {
    "search": "search",
    "fetch": "fetch",
    "extract": "extract",
    "rank": "rank",
    "compress": "compress",
    "cache": "cache",
    "match": "match",
    "freshness": "freshness",
    "llm": "llm",
}


def project(folder: Path) -> dict[str, Any]:
    return tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))


by_name = pytest.mark.parametrize("folder", PLUGINS, ids=lambda p: p.name)


@by_name
def test_dist_import_and_entry_point_follow_from_the_folder(folder: Path) -> None:
    table = project(folder)
    name = folder.name
    assert table["project"]["name"] == f"webfetch-{name.replace('_', '-')}"
    assert (folder / "src" / f"webfetch_{name}" / "plugin.py").is_file()
    assert table["project"]["entry-points"] == {GROUP: {name: f"webfetch_{name}.plugin"}}
    assert table["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"] == [f"src/webfetch_{name}"]


@by_name
def test_the_provider_is_named_like_the_folder(folder: Path) -> None:
    prefix, _, rest = folder.name.partition("_")
    if prefix == "serve":
        return
    module = importlib.import_module(f"webfetch_{folder.name}.plugin")
    names = [provider.name for provider in getattr(module, HOOKS[PREFIXES[prefix]])()]
    # `freshness_classifier` and the like name their role; every other folder names its provider.
    assert rest in names or any(name.startswith(rest) for name in names), f"{rest!r} is not among {names}"


@by_name
def test_settings_name_the_table(folder: Path) -> None:
    readme = (folder / "README.md").read_text(encoding="utf-8")
    if (folder / "src" / f"webfetch_{folder.name}" / "settings.py").is_file():
        assert f"plugins.{folder.name}" in readme, (
            f"README.md does not show the table [plugins.{folder.name}]"
        )


@by_name
def test_metadata_is_complete_and_carries_no_tool_settings(folder: Path) -> None:
    table = project(folder)
    meta = table["project"]
    for key in ("name", "version", "description", "readme", "license", "requires-python"):
        assert meta.get(key), f"project.{key} is missing"
    assert any(d.replace(" ", "").startswith("webfetch-core>=") and "<" in d for d in meta["dependencies"]), (
        "a plugin bounds webfetch-core from both sides"
    )
    assert set(table.get("tool", {})) == {"hatch"}, "tool settings belong to the root pyproject.toml"


@by_name
def test_it_has_a_readme_tests_and_types(folder: Path) -> None:
    assert len((folder / "README.md").read_text(encoding="utf-8")) > 200
    assert list((folder / "tests").glob("test_*.py")), "no tests"
    assert not (folder / "tests" / "__init__.py").exists()
    assert (folder / "src" / f"webfetch_{folder.name}" / "py.typed").is_file()


@by_name
def test_its_contract_is_tested(folder: Path) -> None:
    prefix = folder.name.partition("_")[0]
    if prefix == "serve":
        return
    tested = "\n".join(p.read_text(encoding="utf-8") for p in (folder / "tests").glob("test_*.py"))
    assert "Contract)" in tested or "Contract," in tested, (
        f"plugins/{folder.name}/tests must subclass the contract of its stage (webfetch_core.testing)"
    )


def modules() -> list[Path]:
    return sorted([*(ROOT / "webfetch_core").rglob("*.py"), *(ROOT / "plugins").glob("*/src/**/*.py")])


def test_no_module_is_a_grab_bag() -> None:
    named = [str(p.relative_to(ROOT)) for p in modules() if p.stem in BANNED or p.parent.name in BANNED]
    assert not named, f"name the noun instead: {named}"


def test_modules_are_short() -> None:
    lengths = {str(p.relative_to(ROOT)): len(p.read_text(encoding="utf-8").splitlines()) for p in modules()}
    long = {name: n for name, n in lengths.items() if n > SOFT_LINES}
    if long:
        print(f"over {SOFT_LINES} lines, worth a split: {long}")
    assert not {n: k for n, k in long.items() if k > HARD_LINES}, f"over {HARD_LINES} lines: {long}"


def test_every_module_says_what_it_is() -> None:
    silent = [
        str(path.relative_to(ROOT))
        for path in modules()
        if not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert not silent, f"no module docstring: {silent}"


def test_test_files_have_their_own_names() -> None:
    """A name that occurs twice is hard to tell apart in a report."""
    seen: dict[str, list[str]] = {}
    for path in sorted((ROOT / "plugins").glob("*/tests/test_*.py")):
        seen.setdefault(path.name, []).append(str(path.relative_to(ROOT)))
    assert not {name: paths for name, paths in seen.items() if len(paths) > 1}
