"""Settings of ``[plugins.extract_html]``."""

from __future__ import annotations

from attrs import field, frozen
from attrs.validators import ge


@frozen(kw_only=True)
class ExtractHtmlSettings:
    """``links_in_text`` writes links as ``[text](url)``; ``max_links`` caps ``Document.links``;
    ``max_chars`` is the longest text read from one page (the rest is cut and flagged):
    two million are a long book, and are read in a few seconds."""

    links_in_text: bool = False
    max_links: int = field(default=200, validator=ge(0))
    max_chars: int = field(default=2_000_000, validator=ge(1_000))
