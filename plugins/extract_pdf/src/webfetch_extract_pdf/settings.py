"""Settings of ``[plugins.extract_pdf]``."""

from __future__ import annotations

from attrs import field, frozen
from attrs.validators import ge, gt


@frozen(kw_only=True)
class ExtractPdfSettings:
    """Caps are what a page or file is read up to; what lies beyond is left out and flagged ``truncated``.

    Attributes:
        max_pages: pages that are read.
        max_chars: characters of the document's text.
        max_page_chars: characters that are read from one page.
        max_page_objects: drawing operations that are looked at on one page.
        max_stream_bytes: how large one compressed stream may become (images are never unpacked); a file
            with a larger one is refused as ``too_large``.
        max_seconds: time for one file, the first page excepted.
        max_links: addresses kept with a document.
        retry: read pages that came out illegible once more with pdfplumber.
    """

    max_pages: int = field(default=1_000, validator=ge(1))
    max_chars: int = field(default=2_000_000, validator=ge(1_000))
    max_page_chars: int = field(default=60_000, validator=ge(1_000))
    max_page_objects: int = field(default=60_000, validator=ge(100))
    max_stream_bytes: int = field(default=128_000_000, validator=ge(1_000_000))
    max_seconds: float = field(default=30.0, validator=gt(0))
    max_links: int = field(default=200, validator=ge(0))
    retry: bool = True
