"""The table ``[plugins.rank_bm25]``."""

from __future__ import annotations

from attrs import field, frozen
from attrs.validators import ge, le


@frozen(kw_only=True)
class Bm25Settings:
    """BM25's two parameters.

    Attributes:
        k1: how much a repeated term adds; 0 counts a term once.
        b: how much a long passage is discounted, from 0 (not at all) to 1.
    """

    k1: float = field(default=1.5, validator=ge(0))
    b: float = field(default=0.75, validator=[ge(0), le(1)])
