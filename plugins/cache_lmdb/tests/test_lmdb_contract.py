from __future__ import annotations

from webfetch_core.testing.contracts import CacheContract


class TestLmdb(CacheContract):
    plugin = "webfetch_cache_lmdb.plugin"
    provider = "lmdb"
