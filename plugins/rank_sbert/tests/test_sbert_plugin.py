"""What holds without torch: the declaration, which files make a model, and unpacking one."""

from __future__ import annotations

import subprocess
import sys
import threading
import zipfile
from pathlib import Path
from typing import Any

import pytest
from webfetch_rank_sbert import plugin
from webfetch_rank_sbert.folders import folder_of, unpacked
from webfetch_rank_sbert.models import MAX_CHARS, BiEncoder, CrossEncoder, Opened, clean
from webfetch_rank_sbert.settings import RankSbertSettings
from webfetch_rank_sbert.specs import MINILM, MSMARCO, pick_trained

from webfetch_core import Settings, Webfetch
from webfetch_core.api import NotConfigured
from webfetch_core.testing import FakeContext, model_store

NAMES = [
    "README.md", "config.json", "model.safetensors", "pytorch_model.bin", "tokenizer.json", "vocab.txt",
    "modules.json", "1_Pooling/config.json", "onnx/model.onnx", "onnx/config.json", "openvino/x.json",
]  # fmt: skip


def test_declaring_loads_no_library() -> None:
    code = (
        "import sys, webfetch_rank_sbert.plugin as p; p.webfetch_rankers();"
        "sys.exit(any(m in sys.modules for m in ('numpy', 'torch', 'sentence_transformers')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_both_give_way_to_faster_ones() -> None:
    assert all(provider.priority < 0 for provider in plugin.webfetch_rankers())


def test_without_torch_both_are_off_and_say_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = plugin.LIBRARIES[0].__class__.missing
    absent = ("torch", "sentence_transformers")

    def missing(self: Any, environ: Any) -> str | None:
        if self.name in absent:
            return f"module {self.name} is missing: pip install {self.install}"
        return real(self, environ)

    monkeypatch.setattr(type(plugin.LIBRARIES[0]), "missing", missing)
    with Webfetch(Settings(home=str(tmp_path), cache=("none",)), plugins=[plugin], autoload=False) as wf:
        rows = {p.name: p for p in wf.status().providers if p.name.startswith("sbert")}
    assert {row.state for row in rows.values()} == {"off"}
    assert all("pip install 'webfetch-rank-sbert[torch]'" in row.reason for row in rows.values())
    context = FakeContext("rank_sbert", data_dir=tmp_path, models=model_store(tmp_path), environ={})
    for provider in plugin.webfetch_rankers():
        with pytest.raises(NotConfigured, match="torch is missing"):
            provider.build(None, context)


def test_of_a_repository_what_was_trained_is_picked() -> None:
    assert sorted(pick_trained(NAMES)) == [
        "1_Pooling/config.json", "config.json", "model.safetensors", "modules.json", "tokenizer.json",
        "vocab.txt",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("names", "told"),
    [
        ([], "no config.json"),
        (["config.json", "pytorch_model.bin"], "safetensors"),
        (["onnx/config.json"], "config"),
    ],
)
def test_what_is_no_model_is_said(names: list[str], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        pick_trained(names)


def test_models_are_pinned() -> None:
    assert len(MSMARCO.revision) == 40 and MINILM.files[0].package == "all_minilm_l6_v2"
    assert RankSbertSettings().biencoder == MINILM.name and RankSbertSettings().crossencoder == MSMARCO.name


# ---- the archive ------------------------------------------------------------------------------------------


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    path = tmp_path / "model.zip"
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("config.json", "{}")
        packed.writestr("1_Pooling/config.json", "pooling")
    return path


def test_an_archive_is_unpacked_once(archive: Path, tmp_path: Path) -> None:
    target = folder_of({"model.zip": archive}, tmp_path / "data", "mine")
    assert (target / "1_Pooling" / "config.json").read_text() == "pooling"
    (target / "config.json").write_text("[]")  # as long as before: it is left alone
    assert unpacked(archive, target) == target and (target / "config.json").read_text() == "[]"
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["mine"]


def test_what_is_not_whole_is_unpacked_again(archive: Path, tmp_path: Path) -> None:
    target = unpacked(archive, tmp_path / "mine")
    (target / "config.json").write_text("")
    (target / "1_Pooling" / "config.json").unlink()
    unpacked(archive, target)
    assert (target / "config.json").read_text() == "{}" and (target / "1_Pooling" / "config.json").is_file()


def test_names_that_lead_out_stay_inside(tmp_path: Path) -> None:
    path = tmp_path / "evil.zip"
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("../../out.txt", "x")
    unpacked(path, tmp_path / "a" / "b" / "mine")
    assert not (tmp_path / "out.txt").exists() and not (tmp_path / "a" / "out.txt").exists()


def test_files_lie_in_one_folder_by_their_names(tmp_path: Path) -> None:
    paths = {"1_Pooling/config.json": tmp_path / "m" / "1_Pooling" / "config.json"}
    assert folder_of(paths, tmp_path, "x") == tmp_path / "m"


# ---- opening ----------------------------------------------------------------------------------------------


def test_a_model_is_opened_once_and_when_it_is_needed() -> None:
    opened: list[int] = []
    model = Opened(lambda: opened.append(1) or "model")  # type: ignore[func-returns-value]
    assert not opened
    assert model.use(str.upper) == model.use(str.upper) == "MODEL"
    assert opened == [1]
    model.close()
    model.close()
    with pytest.raises(RuntimeError, match="closed"):
        model.use(str.upper)


def test_closing_does_not_wait_for_a_call_under_way() -> None:
    running, go_on = threading.Event(), threading.Event()
    model = Opened(lambda: "model")

    def slow(opened: str) -> str:
        running.set()
        assert go_on.wait(20)
        return opened

    got: list[str] = []
    thread = threading.Thread(target=lambda: got.append(model.use(slow)))
    thread.start()
    assert running.wait(20)
    model.close()  # it would hang here
    go_on.set()
    thread.join(20)
    assert got == ["model"] and model._model is None


def test_a_model_that_cannot_be_opened_says_why() -> None:
    def broken() -> Any:
        raise OSError("no config.json")

    with pytest.raises(NotConfigured, match=r"OSError: no config.json"):
        Opened(broken).use(str.upper)


def test_nothing_to_score_opens_nothing(tmp_path: Path) -> None:
    settings = RankSbertSettings()
    assert BiEncoder(tmp_path / "nowhere", "x", settings).score("q", []) == []
    assert CrossEncoder(tmp_path / "nowhere", settings).score("q", []) == []


@pytest.mark.parametrize("text", ["", "\ud800 lone", "x" * 50_000, "東京"])
def test_any_text_can_be_tokenised(text: str) -> None:
    assert clean(text).encode("utf-8") is not None and len(clean(text)) <= MAX_CHARS
