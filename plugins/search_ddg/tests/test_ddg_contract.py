from __future__ import annotations

from webfetch_core.testing.contracts import SearchEngineContract

ROW = '<div class="result"><a class="result__a" href="https://x.example/{n}">Title {n}</a></div>'


class TestDdg(SearchEngineContract):
    plugin = "webfetch_search_ddg.plugin"
    provider = "ddg"
    reply = "<html><body>" + "".join(ROW.format(n=n) for n in range(6)) + "</body></html>"
    empty_reply = '<html><body><div class="no-results">No results.</div></body></html>'
    base_url_path = "/html/"
