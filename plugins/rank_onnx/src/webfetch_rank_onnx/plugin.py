"""Entry point: declares the rankers ``onnx`` (bi-encoder) and ``onnx_crossencoder``, and two that rank no
search: ``onnx_paraphrase`` and ``onnx_entailment`` judge whether two queries ask the same."""

from __future__ import annotations

from webfetch_core.api import (
    ExportReport,
    ExportRequest,
    HealthCheck,
    Model,
    ModelChoice,
    ModelExporter,
    Module,
    PluginContext,
    Provider,
    Ranker,
    RankTraits,
    hookimpl,
)

from .picking import pick_biencoder, pick_crossencoder, pick_trained
from .settings import RankOnnxSettings
from .specs import CROSSENCODERS, MINILM, NLI

BIENCODER = ModelChoice(setting="biencoder", known=(MINILM,), pick=pick_biencoder)
CROSSENCODER = ModelChoice(setting="crossencoder", known=CROSSENCODERS, pick=pick_crossencoder)
EXTRA = "'webfetch-rank-onnx[export]'"

UNRELATED = 0.2
"""Cosine. Of 943 questions of seven sets the best judged passage is nearer in 99.5 %; of 30 passages from
sets about other things the nearest is not, in four of five (``rerank`` data)."""


def build_biencoder(settings: RankOnnxSettings | None, context: PluginContext) -> Ranker:
    """Make the bi-encoder: about a tenth of a second, most of it for checking 23 MB of weights."""
    from .biencoder import BiEncoder
    from .encoder import load as load_other
    from .minilm import load

    chosen, spec = settings or RankOnnxSettings(), BIENCODER.spec(settings)
    paths = context.models.files(spec)
    encoder = load(paths, chosen) if spec is MINILM else load_other(paths, chosen, spec.name)
    _in_use[:] = [f"bi-encoder runs on {encoder.choice or 'onnxruntime'}", "; ".join(encoder.passed_over)]
    context.log.info("biencoder.opened", model=encoder.model_id, runs_on=_in_use[0], passed_over=_in_use[1])
    return BiEncoder(encoder, context if chosen.cache_vectors else None)


_in_use: list[str] = []
"""Of the bi-encoder that was opened last in this process: what it runs on, and what could not be used."""


def build_crossencoder(settings: RankOnnxSettings | None, context: PluginContext) -> Ranker:
    """Make the cross-encoder that the settings name."""
    from .crossencoder import load

    return load(context.models.files(CROSSENCODER.spec(settings)), settings or RankOnnxSettings())


def build_paraphrase(settings: RankOnnxSettings | None, context: PluginContext) -> Ranker:
    """Make the judge of paraphrases, on the weights of the bi-encoder."""
    from .paraphrase import load

    return load(context.models.files(MINILM), settings or RankOnnxSettings())


def build_entailment(settings: RankOnnxSettings | None, context: PluginContext) -> Ranker:
    """Make the judge of entailment."""
    from .entailment import load

    return load(context.models.files(NLI), settings or RankOnnxSettings())


def export_model(asked: ExportRequest) -> ExportReport:
    """Turn a model as it was trained into one that runs here, and measure it."""
    from .export import export

    return export(asked)


@hookimpl
def webfetch_rankers() -> list[Provider[Ranker]]:
    return [
        Provider(
            name="onnx",
            build=build_biencoder,
            summary="all-MiniLM-L6-v2, or another: cosine of query and passage, on onnxruntime or OpenVINO",
            settings=RankOnnxSettings,
            requires=(BIENCODER,),
            traits=RankTraits(kind="biencoder", unrelated=UNRELATED),
            timeout_s=30.0,
            max_concurrency=8,
        ),
        Provider(
            name="onnx_crossencoder",
            build=build_crossencoder,
            summary="ms-marco-MiniLM-L6-v2, or another: query and passage read together, on onnxruntime",
            settings=RankOnnxSettings,
            requires=(CROSSENCODER,),
            traits=RankTraits(kind="crossencoder"),
            timeout_s=30.0,
            max_concurrency=8,
        ),
        Provider(
            name="onnx_paraphrase",
            build=build_paraphrase,
            summary="how likely two queries ask the same, by an adapter on all-MiniLM-L6-v2; ranks no search",
            settings=RankOnnxSettings,
            requires=(Model(MINILM),),
            traits=RankTraits(kind="paraphrase"),
            timeout_s=30.0,
            max_concurrency=8,
        ),
        Provider(
            name="onnx_entailment",
            build=build_entailment,
            summary="how likely two queries follow from each other, by nli-MiniLM2-L6-H768; ranks no search",
            settings=RankOnnxSettings,
            requires=(Model(NLI),),
            traits=RankTraits(kind="entailment"),
            timeout_s=30.0,
            max_concurrency=8,
        ),
    ]


@hookimpl
def webfetch_health_checks() -> list[HealthCheck]:
    """What the bi-encoder runs on; a problem where something better should have worked and did not."""
    if not _in_use:
        return []
    name, passed_over = _in_use
    return [HealthCheck(name=name, check=lambda: passed_over and f"could not be used: {passed_over}")]


@hookimpl
def webfetch_model_exporters() -> list[ModelExporter]:
    return [
        ModelExporter(
            name="ONNX",
            kinds=("biencoder", "crossencoder"),
            pick=pick_trained,
            export=export_model,
            requires=tuple(
                Module(module, install=EXTRA)
                for module in ("torch", "sentence_transformers", "optimum.onnxruntime")
            ),
        )
    ]
