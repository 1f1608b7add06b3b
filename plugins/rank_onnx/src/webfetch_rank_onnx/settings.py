"""The table ``[plugins.rank_onnx]``."""

from __future__ import annotations

from attrs import field, frozen
from attrs.validators import ge, le


@frozen(kw_only=True)
class RankOnnxSettings:
    """How the models run.

    Attributes:
        threads: streams of one thread each; 0 takes the cores that this process may use.
        batch: texts that a stream encodes at a time.
        cache_vectors: keep the vectors of passages in the cache, by model and content.
    """

    threads: int = field(default=0, validator=[ge(0), le(64)])
    batch: int = field(default=8, validator=[ge(1), le(256)])
    cache_vectors: bool = True
