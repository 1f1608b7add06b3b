"""The table ``[plugins.freshness_classifier]``."""

from __future__ import annotations

from attrs import field, frozen
from attrs.validators import ge, le


@frozen(kw_only=True)
class FreshnessClassifierSettings:
    """What is asked besides the words of a query.

    Attributes:
        use_biencoder: the meaning of the query, where the shipped bi-encoder is in use.
        patience_s: seconds to wait for it at most; what comes later helps the next query.
    """

    use_biencoder: bool = True
    patience_s: float = field(default=0.1, validator=[ge(0.0), le(1.0)])
