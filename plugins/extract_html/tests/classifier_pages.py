"""Pages that the tests of the classifier share."""

from __future__ import annotations

from webfetch_core.api import Page

PROSE = (
    "The keeper walked the northern shore twice before noon and wrote down every reading of the gauges. "
    "Notes from the survey were copied into the ledger the same evening, as they had been since the dam "
    "was built, and nobody on the council ever asked to see them again. "
)
ARTICLE = (
    "<html lang=en><head><title>Gauges of the north</title><meta property='og:type' content='article'></head>"
    "<body><nav><ul><li><a href=/>Home</a><li><a href=/a>All pages</a><li><a href=/b>Weather</a></ul></nav>"
    f"<main><article class='post'><h1>Gauges of the north</h1><p class=byline>By A. Quill</p>"
    f"<p>{PROSE}</p><h2>Readings</h2><p>{PROSE.replace('northern', 'southern')}</p>"
    f"<ul><li>Low water at the pier</li><li>High water at the lock</li></ul>"
    f"<p>{PROSE.replace('shore', 'bank')}</p></article></main>"
    "<aside class=related><h3>Related articles</h3><a href=/c>Ten walks along the shore</a></aside>"
    "<footer>Copyright, all rights reserved</footer></body></html>"
)
THREAD = (
    "<html><head><title>Pump does not start - Boat forum</title><meta name=generator content='Discourse'>"
    "</head><body><header class='site-header'><a href=/>All forums</a> <a href=/login>Log in</a></header>"
    "<div class='topic-list'>"
    + "".join(
        f"<div class='post topic-body'><a class='username' href=/u/{n}>sailor{n}</a><div class='cooked'><p>"
        f"Answer number {n}: check the fuse first, then the float switch, then the hose. {PROSE}</p></div>"
        "<button class='reply'>Reply</button></div>"
        for n in range(6)
    )
    + "</div><footer class='footer'>Terms of use. All rights reserved.</footer></body></html>"
)


def page(html: str, url: str = "https://t.example/dir/page.html") -> Page:
    return Page(url=url, body=html.encode(), content_type="text/html")
