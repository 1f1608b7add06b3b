from __future__ import annotations

from webfetch_core.testing.contracts import QueryMatcherContract


class TestSemantic(QueryMatcherContract):
    plugin = "webfetch_match_semantic.plugin"
    provider = "semantic"
    same = [
        ("what is the population of Norway", "Norway population"),
        ("How tall is the lighthouse of Tarn?", "height of the Tarn lighthouse"),
        ("who wrote the Tarn charter", "author of the Tarn charter"),
    ]
    different = [
        ("population of Norway 2020", "population of Norway 2023"),
        ("convert miles to kilometres", "convert kilometres to miles"),
        ("who founded Tarn Shipping", "capital of Mongolia"),
        ("how to grant access in mysql", "how to revoke access in mysql"),
        ("did Orvane acquire Quill", "did Quill acquire Orvane"),
    ]
