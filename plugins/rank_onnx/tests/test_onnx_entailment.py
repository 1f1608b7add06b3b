"""Entailment both ways: which label is taken, that the worse way counts, and how the model comes."""

from __future__ import annotations

import hashlib
import json
import shutil
from importlib.resources import files
from math import exp
from pathlib import Path

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from webfetch_rank_onnx import plugin
from webfetch_rank_onnx.entailment import Entailment, load
from webfetch_rank_onnx.settings import RankOnnxSettings
from webfetch_rank_onnx.specs import NLI
from webfetch_rank_onnx.tokens import wordpiece

from webfetch_core import Settings, Webfetch
from webfetch_core.api import ModelFile, NotConfigured
from webfetch_core.testing import LoopbackHub

DATA = Path(__file__).parent / "data"
LABELS = {"0": "contradiction", "1": "entailment", "2": "neutral"}


def share(words_lost: int) -> float:
    """What the toy says: a logit of 3 less 2 a word, beside two of 0."""
    logit = 3 - 2 * words_lost
    return exp(logit) / (exp(logit) + 2)


def toy(folder: Path, config: object = None, graph: str = "toy_entailment.onnx") -> dict[str, Path]:
    folder.mkdir(exist_ok=True)
    shutil.copy(DATA / graph, folder / "model.onnx")
    wordpiece(Path(str(files("webfetch_rank_onnx") / "data" / "vocab.txt")), 512).save(
        str(folder / "tokenizer.json")
    )
    (folder / "config.json").write_text(json.dumps({"id2label": LABELS} if config is None else config))
    return {path.name: path for path in folder.iterdir()}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Entailment:
    return load(toy(tmp_path_factory.mktemp("nli") / "toy"), RankOnnxSettings(threads=2, batch=3))


def test_the_worse_of_both_ways_counts(model: Entailment) -> None:
    scores = model.score("red green", ["green red", "red", "red green blue", "red blue", "blue"])
    assert scores == pytest.approx([share(0), share(1), share(1), share(1), share(2)], abs=1e-6)
    assert model.score("red", []) == []
    model.warm_up()


@given(st.lists(st.sampled_from(["red", "green", "blue", ""]), min_size=1, max_size=6))
def test_either_order_and_any_batch_give_the_same(model: Entailment, words: list[str]) -> None:
    query = "red blue"
    passages = [" ".join(words[:n]) for n in range(len(words) + 1)]
    together = model.score(query, passages)
    assert together == pytest.approx([model.score(passage, [query])[0] for passage in passages], abs=1e-6)


def test_the_label_is_taken_from_the_config(tmp_path: Path) -> None:
    turned = {"id2label": {"0": "ENTAILMENT", "1": "contradiction", "2": "neutral"}}
    other = load(toy(tmp_path / "a", turned), RankOnnxSettings(threads=1))
    assert other.score("red", ["red"])[0] == pytest.approx(1 / (exp(3) + 2), abs=1e-6)
    other.close()


@pytest.mark.parametrize(
    ("config", "told"),
    [
        ({"id2label": {"0": "no", "1": "yes"}}, "none is entailment"),
        ({}, "id2label"),
        ({"id2label": {"0": "entailment", "1": "not_entailment"}}, "its labels are 2"),
    ],
)
def test_a_model_that_does_not_say_what_entailment_is_is_refused(
    tmp_path: Path, config: object, told: str
) -> None:
    with pytest.raises(NotConfigured, match=told):
        load(toy(tmp_path / "a", config), RankOnnxSettings(threads=1))


def test_it_is_off_until_it_is_pulled_and_then_serves_beside_the_cascade(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = toy(tmp_path / "toy")
    bodies = {"onnx/model.onnx": made["model.onnx"], "tokenizer.json": made["tokenizer.json"]}
    bodies["config.json"] = made["config.json"]
    with LoopbackHub() as hub:
        content = {name: path.read_bytes() for name, path in bodies.items()}
        hub.add(NLI.repo, NLI.revision, content)
        small = tuple(
            ModelFile(name=name, sha256=hashlib.sha256(body).hexdigest(), size=len(body))
            for name, body in content.items()
        )
        spec = evolve(NLI, files=small)
        monkeypatch.setattr(plugin, "NLI", spec)
        chosen = Settings(home=str(tmp_path / "home"), cache=("none",))
        environ = {"HF_ENDPOINT": hub.endpoint}
        with Webfetch(chosen, plugins=[plugin], autoload=False, environ=environ) as wf:
            (row,) = [p for p in wf.status().providers if p.name == "onnx_entailment"]
            assert row.state == "off" and "webfetch models pull nli-minilm2-l6-h768" in row.reason
            with pytest.raises(NotConfigured, match="no ranker of kind entailment"):
                wf.host.score_pairs("red", ["red"], kind="entailment")
            before = wf.rank("red", ["blue", "red green"])
            wf.host.models().pull(spec)
        with Webfetch(chosen, plugins=[plugin], autoload=False, environ=environ) as wf:
            assert list(wf.host.score_pairs("red", ["red", "blue"], kind="entailment")) == pytest.approx(
                [share(0), share(1)], abs=1e-6
            )
            wf.warm_up()
            assert wf.rank("red", ["blue", "red green"]) == before
