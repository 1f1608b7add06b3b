from __future__ import annotations

from webfetch_core.testing.contracts import SearchEngineContract

RESULTS = [
    {
        "url": f"https://t{n}.example/",
        "title": f"Tides &amp; gauges {n}",
        "content": "a &lt; b",
        "score": 1 / n,
    }
    for n in range(1, 6)
]


class TestTavily(SearchEngineContract):
    plugin = "webfetch_search_tavily.plugin"
    provider = "tavily"
    reply = {"query": "lighthouse", "answer": None, "images": [], "results": RESULTS, "response_time": "1.1"}
    empty_reply = {"query": "lighthouse", "results": [], "response_time": 0.4}
