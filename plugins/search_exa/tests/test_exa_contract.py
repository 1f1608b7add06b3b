from __future__ import annotations

from webfetch_core.testing.contracts import SearchEngineContract


class TestExa(SearchEngineContract):
    plugin = "webfetch_search_exa.plugin"
    provider = "exa"
    reply = {
        "requestId": "b5947044c4b78efa9552a7c89b306d95",
        "results": [
            {
                "id": f"https://lamp.example/{n}",
                "url": f"https://lamp.example/{n}",
                "title": f"Lamp &amp; lens <b>{n}</b>",
                "publishedDate": "2026-08-02T00:00:00.000Z",
                "highlights": ["The lamp <em>turns</em> once in ten seconds.", "It is seen for 18 miles."],
            }
            for n in range(6)
        ],
    }
    empty_reply = {"requestId": "b5947044c4b78efa9552a7c89b306d95", "results": []}
