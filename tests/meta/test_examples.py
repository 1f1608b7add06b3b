"""The examples do what they say, offline."""

from __future__ import annotations

import importlib.util
import io
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from webfetch_core.api import RateLimited
from webfetch_core.testing import ScriptedEngine, ScriptedExtractor, ScriptedFetcher, fake_dist, fake_plugin

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
ENGINE = EXAMPLES / "third_party_engine"
URL = "https://tarn.example/lighthouse"


def load(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(f"example_{path.stem}", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def embed() -> Any:
    return load(EXAMPLES / "embed.py")


def answered(embed: Any, host: Any, query: str) -> tuple[int, str]:
    out = io.StringIO()
    return embed.answer(host, query, out), out.getvalue()


def test_embed_answers(embed: Any, wf: Any) -> None:
    text = "The lighthouse of Tarn is 41 metres high and stands on the northern cliff of the island."
    host = wf(
        fake_plugin("search", ScriptedEngine([URL, "https://gone.example/"]), name="mine"),
        fake_plugin("fetch", ScriptedFetcher({URL: text})),
        fake_plugin("extract", ScriptedExtractor()),
    )
    code, told = answered(embed, host, "how high is the lighthouse of Tarn")
    assert code == 0
    assert "41 metres high" in told and f"best page: {URL} (mine)" in told
    assert "left out: https://gone.example/: not_found" in told and "call: search mine ok" in told


def test_embed_tells_why_no_engine_answered(embed: Any, wf: Any) -> None:
    engine = ScriptedEngine(RateLimited("mine says: slow down", retry_after_s=60))
    code, told = answered(embed, wf(fake_plugin("search", engine, name="mine")), "lighthouse")
    assert code == 4 and "mine: rate_limited: mine says: slow down" in told
    code, told = answered(embed, wf(), "lighthouse")
    assert code == 4 and "no search engine is ready" in told


def test_embed_tells_a_bad_query_and_an_empty_answer(embed: Any, wf: Any) -> None:
    host = wf(fake_plugin("search", ScriptedEngine([])))
    assert answered(embed, host, "   ")[0] == 2
    assert answered(embed, host, "lighthouse") == (5, "nothing was found\n")


def test_embed_as_a_program(tmp_path: Path) -> None:
    environ = {**os.environ, "WEBFETCH_HOME": str(tmp_path), "WEBFETCH_PLUGINS": "none_of_them"}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, str(EXAMPLES / "embed.py"), *arguments],
            capture_output=True, text=True, env=environ, cwd=tmp_path, check=False, timeout=60,
        )  # fmt: skip

    assert run().returncode == 2 and "usage: " in run().stderr
    done = run("lighthouse")
    assert done.returncode == 4 and "no search engine is ready" in done.stdout, done


def test_the_third_party_engine(tmp_path: Path) -> None:
    """Its own tests and the check of an installed distribution, in a process that sees it as installed."""
    project = tomllib.loads((ENGINE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (entry_points,) = project["entry-points"].values()
    fake_dist(
        tmp_path, project["name"], version=project["version"], entry_points=entry_points,
        requires=project["dependencies"],
    )  # fmt: skip
    # Copied: nothing of this repository's own configuration may be needed.
    copy = shutil.copytree(ENGINE, tmp_path / "project", ignore=shutil.ignore_patterns("__pycache__"))
    path = os.pathsep.join([str(copy / "src"), str(tmp_path)])
    environ = {**os.environ, "PYTHONPATH": path, "WEBFETCH_HOME": str(tmp_path / "home")}

    def python(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", *arguments],
            capture_output=True, text=True, env=environ, cwd=tmp_path, check=False, timeout=120,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    python("pytest", "-q", "-p", "no:cacheprovider", "-W", "error", str(copy / "tests"))
    checked = python("webfetch_core.testing.check", project["name"])
    assert "search gazette: The archive of the Gazette" in checked and "nothing wrong" in checked


def test_the_list_of_examples_is_whole() -> None:
    listed = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    there = {p.name for p in EXAMPLES.iterdir() if p.suffix == ".py" or (p / "pyproject.toml").exists()}
    assert there and all(f"[{name}]" in listed for name in there)
