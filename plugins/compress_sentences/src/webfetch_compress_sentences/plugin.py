"""Entry point: declares the provider ``sentences``."""

from __future__ import annotations

from webfetch_core.api import Compressor, PluginContext, Provider, hookimpl


def build(settings: None, context: PluginContext) -> Compressor:
    """Make the compressor; its coefficients are read here, once."""
    from .compressor import SentenceCompressor

    return SentenceCompressor(embed=context.embed)


@hookimpl
def webfetch_compressors() -> list[Provider[Compressor]]:
    return [
        Provider(
            name="sentences",
            build=build,
            summary="keeps the sentences, rows and list items that answer the query",
        )
    ]
