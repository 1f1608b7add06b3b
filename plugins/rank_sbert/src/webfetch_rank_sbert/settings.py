"""The table ``[plugins.rank_sbert]``."""

from __future__ import annotations

from attrs import field, frozen
from attrs.validators import ge, le


@frozen(kw_only=True)
class RankSbertSettings:
    """Which models run, and how.

    Attributes:
        biencoder, crossencoder: a name of ``webfetch models list``, the whole path of a folder, or
            ORG/NAME@COMMIT of the hub.
        batch: texts that are encoded at a time.
        device: what torch calls it: ``cpu``, ``cuda``, ``mps``.
    """

    biencoder: str = "all-minilm-l6-v2-fp32"
    crossencoder: str = "ms-marco-minilm-l6-v2-trained"
    batch: int = field(default=32, validator=[ge(1), le(1024)])
    device: str = "cpu"
