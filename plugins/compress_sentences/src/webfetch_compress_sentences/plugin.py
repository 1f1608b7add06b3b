"""Entry point: declares the provider ``sentences``."""

from __future__ import annotations

from functools import partial

from webfetch_core.api import Compressor, PluginContext, Provider, hookimpl

from .settings import CompressSentencesSettings


def build(settings: CompressSentencesSettings | None, context: PluginContext) -> Compressor:
    """Make the compressor; its coefficients are read here, once."""
    from .compressor import SentenceCompressor

    chosen = settings or CompressSentencesSettings()
    return SentenceCompressor(
        embed=context.embed if chosen.use_biencoder else None,
        # Never the lexical ranker that would stand in for it: words are in the scores already.
        score_pairs=partial(context.score_pairs, kind="crossencoder") if chosen.use_crossencoder else None,
    )


@hookimpl
def webfetch_compressors() -> list[Provider[Compressor]]:
    return [
        Provider(
            name="sentences",
            build=build,
            summary="keeps the sentences, rows and list items that answer the query",
            settings=CompressSentencesSettings,
        )
    ]
