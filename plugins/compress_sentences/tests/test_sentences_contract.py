from __future__ import annotations

from webfetch_core.testing.contracts import CompressorContract


class TestSentences(CompressorContract):
    plugin = "webfetch_compress_sentences.plugin"
    provider = "sentences"
