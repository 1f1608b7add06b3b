"""Entry point: declares the provider ``bm25``."""

from __future__ import annotations

from webfetch_core.api import PluginContext, Provider, Ranker, RankTraits, hookimpl

from .settings import Bm25Settings


def build(settings: Bm25Settings | None, context: PluginContext) -> Ranker:
    """Make the ranker; it holds its two parameters and nothing else."""
    from .ranker import Bm25Ranker

    return Bm25Ranker(settings or Bm25Settings())


@hookimpl
def webfetch_rankers() -> list[Provider[Ranker]]:
    return [
        Provider(
            name="bm25",
            build=build,
            summary="BM25 over words, word beginnings and character n-grams; any script, no model",
            settings=Bm25Settings,
            traits=RankTraits(kind="lexical"),
        )
    ]
