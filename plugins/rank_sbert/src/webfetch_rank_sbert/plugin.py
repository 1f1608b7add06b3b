"""Entry point: declares the rankers ``sbert`` (bi-encoder) and ``sbert_crossencoder``."""

from __future__ import annotations

from webfetch_core.api import (
    ModelChoice,
    Module,
    NotConfigured,
    PluginContext,
    Provider,
    Ranker,
    RankTraits,
    Requirement,
    hookimpl,
)

from .settings import RankSbertSettings
from .specs import MINILM, MSMARCO, pick_trained

EXTRA = "'webfetch-rank-sbert[torch]'"
LIBRARIES = (Module("torch", install=EXTRA), Module("sentence_transformers", install=EXTRA))

BIENCODER = ModelChoice(setting="biencoder", known=(MINILM,), pick=pick_trained, variant="trained")
CROSSENCODER = ModelChoice(setting="crossencoder", known=(MSMARCO,), pick=pick_trained, variant="trained")

PRIORITY = -10
"""Where a faster ranker of the kind is installed, that one is taken."""


def build_biencoder(settings: RankSbertSettings | None, context: PluginContext) -> Ranker:
    """Make the bi-encoder; torch is loaded when it is first asked."""
    from .folders import folder_of
    from .models import BiEncoder

    chosen, spec = settings or RankSbertSettings(), BIENCODER.spec(settings)
    _demand_libraries(context)
    files = context.models.files(spec)
    folder = folder_of(files, context.data_dir, spec.name)
    # A folder may be trained on: its vectors are another model's then.
    version = spec.revision[:12] or (spec.files[0].sha256[:12] if spec.files else str(folder))
    return BiEncoder(folder, f"{spec.name}:sbert:{version}", chosen)


def build_crossencoder(settings: RankSbertSettings | None, context: PluginContext) -> Ranker:
    """Make the cross-encoder; torch is loaded when it is first asked."""
    from .folders import folder_of
    from .models import CrossEncoder

    spec = CROSSENCODER.spec(settings)
    _demand_libraries(context)
    folder = folder_of(context.models.files(spec), context.data_dir, spec.name)
    return CrossEncoder(folder, settings or RankSbertSettings())


def _demand_libraries(context: PluginContext) -> None:
    for module in LIBRARIES:
        if missing := module.missing(context.environ):
            raise NotConfigured(missing)


@hookimpl
def webfetch_rankers() -> list[Provider[Ranker]]:
    biencoder: tuple[Requirement, ...] = (*LIBRARIES, BIENCODER)
    return [
        Provider(
            name="sbert",
            build=build_biencoder,
            summary="all-MiniLM-L6-v2, or another, through sentence-transformers: cosine of the two",
            settings=RankSbertSettings,
            requires=biencoder,
            traits=RankTraits(kind="biencoder"),
            priority=PRIORITY,
            timeout_s=120.0,
            max_concurrency=4,
        ),
        Provider(
            name="sbert_crossencoder",
            build=build_crossencoder,
            summary="ms-marco-MiniLM-L6-v2, or another, through sentence-transformers",
            settings=RankSbertSettings,
            requires=(*LIBRARIES, CROSSENCODER),
            traits=RankTraits(kind="crossencoder"),
            priority=PRIORITY,
            timeout_s=120.0,
            max_concurrency=4,
        ),
    ]
