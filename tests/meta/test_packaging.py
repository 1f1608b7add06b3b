"""Versions agree, the requirement files name what is there, and nothing of one machine is committed."""

from __future__ import annotations

import importlib.metadata
import os
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

import webfetch_core
from webfetch_core.registry.catalog import _OURS

ROOT = Path(__file__).parents[2]
STARTER = (
    "search_local",
    "search_ddg",
    "fetch_http",
    "extract_html",
    "rank_bm25",
    "rank_onnx",
    "compress_sentences",
    "match_semantic",
    "cache_lmdb",
    "freshness_classifier",
)
PLUGINS = sorted(p.parent.name for p in (ROOT / "plugins").glob("*/pyproject.toml"))


def project(path: str) -> dict[str, object]:
    table: dict[str, object] = tomllib.loads((ROOT / path).read_text(encoding="utf-8"))["project"]
    return table


def lines(name: str) -> list[str]:
    text = (ROOT / name).read_text(encoding="utf-8")
    return [line.split("#")[0].strip() for line in text.splitlines() if line.split("#")[0].strip()]


def test_the_cores_version_is_told_once() -> None:
    declared = project("pyproject.toml")["version"]
    assert webfetch_core.__version__ == declared
    assert importlib.metadata.version("webfetch-core") == declared


@pytest.mark.parametrize("name", PLUGINS)
def test_every_plugin_is_of_this_release(name: str) -> None:
    assert project(f"plugins/{name}/pyproject.toml")["version"] == project("pyproject.toml")["version"]


@pytest.mark.parametrize("name", PLUGINS)
def test_every_plugin_is_installed_as_it_is_here(name: str) -> None:
    dist = f"webfetch-{name.replace('_', '-')}" if name != "webfetch" else "webfetch"
    assert importlib.metadata.version(dist) == project(f"plugins/{name}/pyproject.toml")["version"]


def test_what_the_core_says_to_install_is_what_there_is() -> None:
    named = {f"{stage}_{name}" for stage, names in _OURS.items() for name in names}
    assert named | {"webfetch"} == set(PLUGINS)


@pytest.mark.parametrize("name", PLUGINS)
def test_every_plugin_brings_the_licence(name: str) -> None:
    own = ROOT / "plugins" / name / "LICENSE"
    assert own.read_text("utf-8") == (ROOT / "LICENSE").read_text("utf-8")
    assert "LICENSE" in project(f"plugins/{name}/pyproject.toml")["license-files"]


def test_the_core_that_is_tested_is_this_one() -> None:
    """A checkout may lie in front of another installed core; then all of this would test the wrong one."""
    here = Path(webfetch_core.__file__).parent == ROOT / "webfetch_core"
    assert here is not bool(os.environ.get("TEST_WHEELS")), webfetch_core.__file__
    files = importlib.metadata.distribution("webfetch-core").entry_points
    assert any(e.name == "webfetch" and e.group == "console_scripts" for e in files)


def test_requirements_are_the_core_and_the_starter_set() -> None:
    assert lines("requirements.txt") == [".[formats]", *(f"./plugins/{name}" for name in STARTER)]


def test_development_requirements_have_every_plugin_editable() -> None:
    wanted = {"-e .[formats]", *(f"-e ./plugins/{name}" for name in PLUGINS)}
    assert wanted <= set(lines("requirements-dev.txt"))


def test_the_umbrella_brings_the_starter_set() -> None:
    needed = {
        re.split(r"[<>=~! \[]", d)[0] for d in project("plugins/webfetch/pyproject.toml")["dependencies"]
    }  # type: ignore[attr-defined]
    assert needed == {"webfetch-core", *(f"webfetch-{name.replace('_', '-')}" for name in STARTER)}


def test_the_import_rules_cover_every_plugin() -> None:
    table = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    wanted = {f"webfetch_{name}" for name in PLUGINS if name != "webfetch"}
    assert set(table["root_packages"]) == {"webfetch_core", *wanted}
    for rule in table["contracts"]:
        listed = rule.get("modules") or rule.get("forbidden_modules")
        assert listed is None or set(listed) == wanted, f"{rule['name']!r} does not list every plugin"


# Written in parts, or this file would be the first to have them.
WORDS = """
/wo|rk/
/ro|ot/
/opt/|pypi
/ho|me/
/Us|ers/
pypi.org/|simple
files.python|hosted
extra-index|-url
--index|-url
artif|actory
BEGIN |PRIVATE KEY
"""
WRONG = [re.escape(word.replace("|", "")) for word in WORDS.strip().splitlines()]
WRONG += [r"(?<![\w.])/t" + "mp/w", r"\bsk-[a-z]*-?[A-Za-z0-9]{20,}"]
PRIVATE_KEYS_ALLOWED = ("tests/unit/runtime/tls/",)  # certificates of the loopback server, made for the tests


def committed() -> list[str]:
    run = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        pytest.skip("not a git checkout: nothing to list")
    return [name for name in run.stdout.split("\0") if name and (ROOT / name).is_file()]


def test_nothing_of_one_machine_is_committed() -> None:
    pattern = re.compile("|".join(WRONG))
    found = []
    for name in committed():
        if name.startswith(PRIVATE_KEYS_ALLOWED):
            continue
        try:
            text = (ROOT / name).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        found += [
            f"{name}:{number}: {match[0]}"
            for number, line in enumerate(text.splitlines(), 1)
            if (match := pattern.search(line))
        ]
    assert not found, "\n".join(found)


def test_no_large_file_is_committed() -> None:
    large = {n: s for n in committed() if (s := (ROOT / n).stat().st_size) > 1_000_000}
    assert not large


def test_what_is_made_is_not_committed() -> None:
    made = re.compile(r"(^|/)(__pycache__|build|dist|\.venv|\.nox)/|\.(pyc|whl|egg-info)$|^uv\.lock$")
    assert not [name for name in committed() if made.search(name)]
