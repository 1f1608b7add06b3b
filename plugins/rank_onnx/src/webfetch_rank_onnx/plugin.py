"""Entry point: declares the rankers ``onnx`` (bi-encoder) and ``onnx_crossencoder``."""

from __future__ import annotations

from webfetch_core.api import Model, PluginContext, Provider, Ranker, RankTraits, hookimpl

from .settings import RankOnnxSettings
from .specs import MINILM, MSMARCO


def build_biencoder(settings: RankOnnxSettings | None, context: PluginContext) -> Ranker:
    """Make the bi-encoder: about a tenth of a second, most of it for checking 23 MB of weights."""
    from .biencoder import BiEncoder
    from .minilm import load

    chosen = settings or RankOnnxSettings()
    return BiEncoder(load(context.models.files(MINILM), chosen), context if chosen.cache_vectors else None)


def build_crossencoder(settings: RankOnnxSettings | None, context: PluginContext) -> Ranker:
    """Make the cross-encoder of the model store."""
    from .crossencoder import load

    return load(context.models.files(MSMARCO), settings or RankOnnxSettings())


@hookimpl
def webfetch_rankers() -> list[Provider[Ranker]]:
    return [
        Provider(
            name="onnx",
            build=build_biencoder,
            summary="all-MiniLM-L6-v2: cosine of query and passage, int8 on onnxruntime",
            settings=RankOnnxSettings,
            requires=(Model(MINILM),),
            traits=RankTraits(kind="biencoder"),
            timeout_s=30.0,
            max_concurrency=8,
        ),
        Provider(
            name="onnx_crossencoder",
            build=build_crossencoder,
            summary="ms-marco-MiniLM-L6-v2: query and passage read together, on onnxruntime",
            settings=RankOnnxSettings,
            requires=(Model(MSMARCO),),
            traits=RankTraits(kind="crossencoder"),
            timeout_s=30.0,
            max_concurrency=8,
        ),
    ]
