"""``webfetch models export``, over a plugin that converts in its own way."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from webfetch_core import manifests
from webfetch_core.api import ExportReport, ExportRequest, ModelExporter, Module, Unavailable, hookimpl
from webfetch_core.testing.hub import LoopbackHub

COMMIT = "b" * 40


def pick(names: Sequence[str]) -> list[str]:
    if "model.txt" not in names:
        raise ValueError("it has no model.txt")
    return [name for name in names if name.endswith(".txt")]


class Plugin:
    """Turns text into capitals; ``drift`` is what it measures."""

    def __init__(self, drift: float = 0.0, requires: tuple[Any, ...] = (), error: Exception | None = None):
        self.drift, self.requires, self.error = drift, requires, error

    @hookimpl
    def webfetch_model_exporters(self) -> list[ModelExporter]:
        return [
            ModelExporter(
                name="capitals",
                kinds=("crossencoder",),
                pick=pick,
                export=self.export,
                requires=self.requires,
            )
        ]

    def export(self, asked: ExportRequest) -> ExportReport:
        asked.tell("converting")
        text = (asked.source / "model.txt").read_text()
        (asked.target / "onnx").mkdir()
        (asked.target / "onnx" / "model.onnx").write_text(text.upper())
        if self.error:
            raise self.error
        problems = ("drift 0.5, at most 0.1",) if self.drift > 0.1 else ()
        return ExportReport(kind="crossencoder", figures={"drift": self.drift}, problems=problems)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "trained"
    folder.mkdir()
    (folder / "model.txt").write_text("weights")
    return folder


def export(cli: Any, plugin: Plugin, *words: str) -> Any:
    cli.plugins.append(plugin)
    return cli("models", "export", *words)


def test_a_folder_becomes_a_folder_with_a_manifest(cli: Any, source: Path, tmp_path: Path) -> None:
    target = tmp_path / "out" / "mine"
    ran = export(cli, Plugin(), str(source), "--to", str(target))
    assert (ran.code, ran.err) == (0, "converting\n")
    assert "crossencoder, int8, beside the original" in ran.out and "drift" in ran.out
    assert f'crossencoder = "{target}"' in ran.out
    assert (target / "onnx" / "model.onnx").read_text() == "WEIGHTS"
    written = json.loads((target / manifests.NAME).read_text())
    assert (written["kind"], written["precision"], written["measured"]) == (
        "crossencoder",
        "int8",
        {"drift": 0.0},
    )
    assert [row.name for row in manifests.read(target) or ()] == ["onnx/model.onnx"]
    assert sorted(path.name for path in target.parent.iterdir()) == ["mine"]


def test_without_a_folder_it_lies_below_the_home(cli: Any, source: Path, tmp_path: Path) -> None:
    cli.environ["WEBFETCH_HOME"] = str(tmp_path / "home")
    ran = export(cli, Plugin(), str(source), "--precision", "fp32", "--json")
    data = json.loads(ran.out)
    assert data["folder"] == str(tmp_path / "home" / "models" / "exported" / "trained-fp32")
    assert set(data["files"]) == {"onnx/model.onnx"} and data["problems"] == []


def test_what_misses_its_gate_is_not_kept(cli: Any, source: Path, tmp_path: Path) -> None:
    ran = export(cli, Plugin(drift=0.5), str(source), "--to", str(tmp_path / "out"))
    assert ran.code == 1
    assert "missed: drift 0.5, at most 0.1" in ran.out and "nothing was kept" in ran.out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["trained"]


def test_an_error_leaves_nothing_behind(cli: Any, source: Path, tmp_path: Path) -> None:
    ran = export(cli, Plugin(error=Unavailable("no such layer")), str(source), "--to", str(tmp_path / "out"))
    assert ran.code != 0 and "no such layer" in ran.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["trained"]


def test_nothing_is_written_over(cli: Any, source: Path) -> None:
    ran = export(cli, Plugin(), str(source), "--to", str(source))
    assert ran.code == 2 and "is there already" in ran.err
    assert (source / "model.txt").read_text() == "weights"


def test_a_folder_that_makes_no_model_says_why(cli: Any, tmp_path: Path) -> None:
    (tmp_path / "bare").mkdir()
    ran = export(cli, Plugin(), str(tmp_path / "bare"), "--to", str(tmp_path / "out"))
    assert ran.code == 3 and "it has no model.txt" in ran.err


def test_a_name_that_is_none_says_what_to_write(cli: Any) -> None:
    ran = export(cli, Plugin(), "acme/some")
    assert ran.code == 2 and "acme/some@COMMIT" in ran.err
    assert "ORG/NAME@COMMIT" in cli("models", "export", "nothing-of-the-kind").err


def test_what_the_exporter_lacks_is_said(cli: Any, source: Path) -> None:
    ran = export(cli, Plugin(requires=(Module("no_such_library", install="x[export]"),)), str(source))
    assert ran.code == 3 and "pip install x[export]" in ran.err


@pytest.mark.parametrize("kind", [[], ["--kind", "biencoder"]])
def test_no_exporter_says_what_to_install(cli: Any, source: Path, kind: list[str]) -> None:
    ran = export(cli, Plugin(), str(source), *kind) if kind else cli("models", "export", str(source))
    assert ran.code == 3 and "pip install 'webfetch-rank-onnx[export]'" in ran.err


@pytest.fixture
def hub() -> Iterator[LoopbackHub]:
    pytest.importorskip("huggingface_hub", reason="pulling needs huggingface_hub")
    with LoopbackHub() as hub:
        yield hub.add("acme/trained", COMMIT, {"model.txt": b"from the hub", "big.bin": b"no"})


def test_a_model_of_the_hub_is_pulled_first(cli: Any, hub: LoopbackHub, tmp_path: Path) -> None:
    cli.environ.update({"HF_ENDPOINT": hub.endpoint, "WEBFETCH_HOME": str(tmp_path / "home")})
    target = tmp_path / "out"
    ran = export(cli, Plugin(), f"acme/trained@{COMMIT}", "--to", str(target))
    assert ran.code == 0
    assert (target / "onnx" / "model.onnx").read_text() == "FROM THE HUB"
    assert not any("big.bin" in line for line in hub.downloads)
    assert json.loads((target / manifests.NAME).read_text())["source"] == {
        "repo": "acme/trained",
        "revision": COMMIT,
    }
