from __future__ import annotations

from webfetch_core.testing.contracts import RankerContract


class TestBm25(RankerContract):
    plugin = "webfetch_rank_bm25.plugin"
    provider = "bm25"
