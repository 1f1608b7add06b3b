"""The plugin: one cache named ``lmdb``."""

from __future__ import annotations

from pathlib import Path

from webfetch_core.api import Cache, Module, PluginContext, Provider, hookimpl

from .settings import LmdbSettings


def build_cache(settings: LmdbSettings | None, context: PluginContext) -> Cache:
    """Open the store; a file that cannot be used raises CacheError here, not at the first read."""
    from .cache import LmdbCache

    settings = settings or LmdbSettings()
    path = Path(settings.path).expanduser() if settings.path else context.data_dir / "cache.lmdb"
    return LmdbCache(path, settings, log=context.log)


@hookimpl
def webfetch_caches() -> list[Provider[Cache]]:
    return [
        Provider(
            name="lmdb",
            build=build_cache,
            summary="one file, shared by processes, with a size cap",
            settings=LmdbSettings,
            requires=(Module("lmdb", install="webfetch-cache-lmdb"),),
            timeout_s=10.0,
            max_concurrency=64,
        )
    ]
