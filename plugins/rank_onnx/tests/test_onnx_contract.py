from __future__ import annotations

from webfetch_core.testing.contracts import RankerContract


class TestMiniLM(RankerContract):
    plugin = "webfetch_rank_onnx.plugin"
    provider = "onnx"
