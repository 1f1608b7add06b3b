from __future__ import annotations

from webfetch_core.testing.contracts import SearchEngineContract

RESULTS = [
    {
        "title": f"Tides &amp; <strong>gauges</strong> {n}",
        "url": f"https://t{n}.example/",
        "description": "a &lt; b",
    }
    for n in range(5)
]


class TestBrave(SearchEngineContract):
    plugin = "webfetch_search_brave.plugin"
    provider = "brave"
    base_url_path = "/res/v1"
    reply = {"type": "search", "web": {"type": "search", "results": RESULTS}}
    empty_reply = {"type": "search", "query": {"original": "lighthouse"}}
