"""The paraphrase model that the package brings: parity with its training, what it declines, who asks it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st
from webfetch_rank_onnx import paraphrase, plugin
from webfetch_rank_onnx.paraphrase import Paraphrase, load
from webfetch_rank_onnx.settings import RankOnnxSettings
from webfetch_rank_onnx.specs import MINILM

from webfetch_core import Settings, Webfetch
from webfetch_core.api import NotConfigured
from webfetch_core.testing import model_store
from webfetch_core.testing.contracts import RankerContract

RECORDED = json.loads((Path(__file__).parent / "data" / "paraphrase_logits.json").read_text(encoding="utf-8"))
"""Pairs and the mean logit of both orders in torch, of the adapter as it ships (``train_paraphrase.py``)."""
LARGEST = 1_000_000
DRIFT = 0.6
"""Of an int8 logit to torch's, at most; the recorded ones lie between -12 and 12."""
MEAN_DRIFT = 0.2


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return dict(model_store(tmp_path_factory.mktemp("home")).files(MINILM))


@pytest.fixture(scope="module")
def model(paths: dict[str, Path]) -> Iterator[Paraphrase]:
    made = load(paths, RankOnnxSettings(threads=2))
    yield made
    made.close()


def logits(model: Paraphrase) -> np.ndarray:
    """The logits behind the scores of the recorded pairs."""
    scores = np.array([model.score(a, [b])[0] for a, b in RECORDED["pairs"]])
    slope, offset = paraphrase._learned()["calibration"]
    return (np.log(scores / (1 - scores)) - offset) / slope


def test_fp32_scores_as_torch_does(paths: dict[str, Path]) -> None:
    exact = load(paths, RankOnnxSettings(threads=1, precision="fp32"))
    assert logits(exact) == pytest.approx(np.array(RECORDED["logits"]), abs=0.01)
    exact.close()


def test_int8_stays_near(model: Paraphrase) -> None:
    drift = np.abs(logits(model) - np.array(RECORDED["logits"]))
    assert drift.max() <= DRIFT and drift.mean() <= MEAN_DRIFT, drift


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("how tall is the eiffel tower", "eiffel tower height", True),
        ("iPhone 16 battery capacity mAh", "how big is the battery in the iPhone 16", True),
        ("who wrote Dracula", "author of Dracula", True),
        ("iPhone 16 battery capacity", "iPhone 15 battery capacity", False),
        ("what foods should I eat before surgery", "what foods should I avoid before surgery", False),
        ("population of Austria", "population of Australia", False),
        ("how tall is the eiffel tower", "who designed the eiffel tower", False),
    ],
)
def test_what_asks_the_same_scores_high(model: Paraphrase, one: str, other: str, same: bool) -> None:
    assert (model.score(one, [other])[0] > 0.5) is same


def test_either_order_scores_the_same(model: Paraphrase) -> None:
    for a, b in RECORDED["pairs"]:
        assert model.score(a, [b])[0] == pytest.approx(model.score(b, [a])[0], abs=1e-5)


def test_a_score_does_not_depend_on_what_else_is_asked(model: Paraphrase) -> None:
    query = RECORDED["pairs"][0][0]
    passages = [b for _, b in RECORDED["pairs"]]
    alone = [model.score(query, [passage])[0] for passage in passages]
    assert model.score(query, passages) == pytest.approx(alone, abs=1e-6)
    assert model.score(query, []) == []


@pytest.mark.parametrize(
    "other",
    ["", "  ", "東京の天気", "\u200b", "a" * 20_000, "weather in Paris \U0001f327",
     "Wie hoch ist der Eiffelturm in Paris ungefähr", "how high is it " * 20],
    ids=["empty", "blank", "other script", "invisible", "one long word", "emoji", "German", "long"],
)  # fmt: skip
def test_what_it_cannot_read_never_matches(model: Paraphrase, other: str) -> None:
    assert model.score(other, [other]) == [0.0]
    assert model.score("weather in Paris", [other])[0] < 0.5  # there is English in the pair


@settings(max_examples=25)
@given(st.text(max_size=40), st.text(max_size=40))
def test_any_text_has_a_probability(model: Paraphrase, one: str, other: str) -> None:
    (score,) = model.score(one, [other])
    assert 0.0 <= score <= 1.0


def test_a_machine_that_computes_something_else_is_told_of(
    paths: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = paraphrase._learned() | {"check1.logit": np.float32(40)}
    monkeypatch.setattr(paraphrase, "_learned", lambda: wrong)
    with pytest.raises(NotConfigured, match=r"int8: its logits .* fp32: its logits"):
        load(paths, RankOnnxSettings(threads=1))


def test_the_adapter_is_small() -> None:
    assert (files("webfetch_rank_onnx") / "data" / "paraphrase.npz").stat().st_size <= LARGEST  # type: ignore[attr-defined]


def test_the_host_reaches_it_by_kind_and_no_ranking_does(tmp_path: Path) -> None:
    passages = ["The lighthouse is 41 metres high.", "Copper conducts electricity."]
    chosen = Settings(home=str(tmp_path), cache=("none",))
    with Webfetch(chosen, plugins=[plugin], autoload=False) as wf:
        assert "onnx_paraphrase" in [p.name for p in wf.status().providers if p.state == "ready"]
        same, other = wf.host.score_pairs(
            "how tall is the lighthouse", ["height of the lighthouse", "copper price"], kind="paraphrase"
        )
        assert same > 0.5 > other
        wf.warm_up()
        ranked = wf.rank("how tall is the lighthouse", passages)
    assert all(set(scored.steps) <= {"lexical", "biencoder"} for scored in ranked)
    without = evolve(chosen, rank=("onnx",))
    with Webfetch(without, plugins=[plugin], autoload=False) as wf:
        assert [s.index for s in wf.rank("how tall is the lighthouse", passages)] == [s.index for s in ranked]


class TestParaphrase(RankerContract):
    plugin = "webfetch_rank_onnx.plugin"
    provider = "onnx_paraphrase"
    relevant = "height of the lighthouse of Tarn"
    irrelevant = ("who built the lighthouse of Tarn", "price of copper", "how high is the lighthouse of Holm")
