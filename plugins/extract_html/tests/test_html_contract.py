from __future__ import annotations

from webfetch_core.api import Page
from webfetch_core.testing.contracts import ExtractorContract


class TestHtml(ExtractorContract):
    plugin = "webfetch_extract_html.plugin"
    provider = "html"
    title = "lighthouse of Tarn"


class TestText(ExtractorContract):
    plugin = "webfetch_extract_html.plugin"
    provider = "text"
    page = Page(
        url="https://tarn.example/notes.txt",
        final_url="https://tarn.example/notes.txt",
        body=b"The lighthouse of Tarn is 41 metres high.\n\nIt was built in 1887.\n",
        content_type="text/plain; charset=utf-8",
    )
