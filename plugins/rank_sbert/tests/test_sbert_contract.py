"""The contract, with the real library and the weights of the package; skipped where they are missing."""

from __future__ import annotations

import pytest

from webfetch_core.testing.contracts import RankerContract

WHY = "rank_sbert needs webfetch-rank-sbert[torch]"
pytest.importorskip("torch", reason=WHY)
pytest.importorskip("sentence_transformers", reason=WHY)
pytest.importorskip("all_minilm_l6_v2", reason=WHY)

pytestmark = pytest.mark.filterwarnings("ignore")


class TestSbert(RankerContract):
    plugin = "webfetch_rank_sbert.plugin"
    provider = "sbert"
