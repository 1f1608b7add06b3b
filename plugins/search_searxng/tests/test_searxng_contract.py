from __future__ import annotations

import pytest
from webfetch_search_searxng.plugin import webfetch_search_engines
from webfetch_search_searxng.settings import SearxngSettings

from webfetch_core.api import NotConfigured
from webfetch_core.testing import FakeContext
from webfetch_core.testing.contracts import SearchEngineContract


class TestSearxng(SearchEngineContract):
    plugin = "webfetch_search_searxng.plugin"
    provider = "searxng"
    settings = {"base_url": "http://127.0.0.1:9/"}  # where none is played
    reply = {
        "query": "lighthouse",
        "results": [
            {
                "url": f"https://lamp.example/{n}",
                "engine": "mojeek",
                "engines": ["mojeek"],
                "title": f"Lamp &amp; lens <b>{n}</b>",
                "content": "The lamp <em>turns</em> once in ten seconds.",
                "publishedDate": "2026-10-02T00:00:00",
                "score": 1.0 / (n + 1),
                "category": "general",
            }
            for n in range(6)
        ],
        "answers": [],
        "unresponsive_engines": [["google", "Suspended: CAPTCHA"]],
    }
    empty_reply = {"query": "lighthouse", "results": [], "answers": [], "unresponsive_engines": []}


def test_without_an_instance_it_declines_and_says_what_to_set() -> None:
    [provider] = webfetch_search_engines()
    for settings in (None, SearxngSettings()):
        with pytest.raises(NotConfigured) as caught:
            provider.build(settings, FakeContext("search_searxng"))
        assert "set plugins.search_searxng.base_url to your instance" in str(caught.value)
        assert "json in its search.formats" in str(caught.value)
