"""The table ``[plugins.match_semantic]``."""

from __future__ import annotations

from attrs import field, frozen
from attrs.validators import ge, in_, le

_SHARE = [ge(0.0), le(1.0)]


@frozen(kw_only=True)
class MatchSemanticSettings:
    """How sure is sure enough, and who says so.

    Attributes:
        verifier: who judges rewordings that rules alone do not settle: ``entailment`` (an NLI model, both
            ways), ``paraphrase`` (a paraphrase model), ``features`` (cosine and words in common), ``strict``
            (nobody: only equal words match), or ``auto``, the first of these that is there.
        shortlist_cosine: how near in meaning a cached query must be to be looked at.
        verify_most: how many cached queries a verifier reads for one query, the nearest first.
        entailment_threshold, paraphrase_threshold, features_threshold: how sure the verifier must be, from 0
            to 1. Lower ones find more rewordings, and more that are none. Less is enough where every word has
            its counterpart, more is needed where a guard doubts (``bars``).
    """

    verifier: str = field(
        default="auto", validator=in_(("auto", "entailment", "paraphrase", "features", "strict"))
    )
    shortlist_cosine: float = field(default=0.6, validator=_SHARE)
    verify_most: int = field(default=3, validator=[ge(1), le(50)])
    entailment_threshold: float = field(default=0.9, validator=_SHARE)
    paraphrase_threshold: float = field(default=0.6, validator=_SHARE)
    features_threshold: float = field(default=0.97, validator=_SHARE)
