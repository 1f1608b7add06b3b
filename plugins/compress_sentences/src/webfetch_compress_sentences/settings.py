"""The table ``[plugins.compress_sentences]``."""

from __future__ import annotations

from attrs import frozen


@frozen(kw_only=True)
class CompressSentencesSettings:
    """What scores the sentences besides their words.

    Attributes:
        use_biencoder: closeness in meaning, where a bi-encoder is in use.
        use_crossencoder: the verdict of a cross-encoder, where one is in use.
    """

    use_biencoder: bool = True
    use_crossencoder: bool = True
