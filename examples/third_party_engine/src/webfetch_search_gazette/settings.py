"""The settings of the engine."""

from __future__ import annotations

from attrs import field, frozen
from attrs.validators import in_


@frozen(kw_only=True)
class GazetteSettings:
    """``[plugins.search_gazette]``. Every field has a default; the host of ``base_url`` is trusted."""

    base_url: str = "https://archive.gazette.example/v2"
    edition: str = field(default="all", validator=in_(("all", "morning", "evening")))
