from __future__ import annotations

from webfetch_core.testing.contracts import SearchEngineContract


class TestPerplexity(SearchEngineContract):
    plugin = "webfetch_search_perplexity.plugin"
    provider = "perplexity"
    reply = {
        "id": "e38104d5-6bd7-4d82-bc4e-0a21179d1f77",
        "server_time": None,
        "results": [
            {
                "title": f"Lamp &amp; lens <b>{n}</b>",
                "url": f"https://lamp.example/{n}",
                "snippet": "The lamp <em>turns</em> once in ten seconds.\n\n## Range\nSeen for 18 miles.",
                "date": "2026-06-11",
                "last_updated": "2026-10-30",
            }
            for n in range(6)
        ],
    }
    empty_reply = {"id": "e38104d5-6bd7-4d82-bc4e-0a21179d1f77", "results": []}
