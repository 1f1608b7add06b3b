"""Entry point: declares the provider ``classifier``."""

from __future__ import annotations

from webfetch_core.api import FreshnessClassifier, PluginContext, Provider, hookimpl

from .settings import FreshnessClassifierSettings


def build(settings: FreshnessClassifierSettings | None, context: PluginContext) -> FreshnessClassifier:
    """Make the classifier; its coefficients are read here, once."""
    from .classifier import TrainedClassifier
    from .model import load_model

    chosen = settings or FreshnessClassifierSettings()
    embed = context.embed if chosen.use_biencoder else None
    return TrainedClassifier(load_model(), embed, patience_s=chosen.patience_s)


@hookimpl
def webfetch_freshness_classifiers() -> list[Provider[FreshnessClassifier]]:
    return [
        Provider(
            name="classifier",
            build=build,
            summary="realtime, recent or stable, told from words and, with a bi-encoder, from meaning",
            settings=FreshnessClassifierSettings,
        )
    ]
