from __future__ import annotations

from webfetch_core.testing.contracts import SearchEngineContract

ORGANIC = [
    {
        "title": f"Tides &amp; gauges {n}",
        "link": f"https://t{n}.example/",
        "snippet": "a &lt; b",
        "position": n,
    }
    for n in range(1, 6)
]


class TestSerper(SearchEngineContract):
    plugin = "webfetch_search_serper.plugin"
    provider = "serper"
    reply = {"searchParameters": {"q": "lighthouse"}, "organic": ORGANIC, "credits": 1}
    empty_reply = {"searchParameters": {"q": "lighthouse"}, "organic": [], "credits": 1}
