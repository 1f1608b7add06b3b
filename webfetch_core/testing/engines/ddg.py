"""DuckDuckGo's pages without scripts: ``/html/`` and ``/lite/``.

Both take the same form. Results, ads, the page that found nothing and the human check have the nodes
by which clients know them; the rest of a page is left out.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from typing import ClassVar
from urllib.parse import quote, urlsplit

from attrs import evolve

from .base import (
    SOME_HITS,
    EngineSimulator,
    Received,
    Reply,
    SimulatedHit,
    SimulatedQuery,
    form_fields,
    instant,
    split_sites,
    text_reply,
    whole,
)

MAX_QUERY_CHARS = 499
FIRST_PAGE, NEXT_PAGE = 10, 15
"""Results on the first page and on each one after it."""

_TIME = {"d": "day", "w": "week", "m": "month", "y": "year"}
# Where a region's second part is not a language.
_TONGUES = {"jp": "ja", "kr": "ko", "tzh": "zh", "wt": ""}
_AD_LINK = "https://duckduckgo.com/y.js?ad_domain=shop.example&amp;ad_provider=ads&amp;ad_type=txad"
_KIND = "text/html; charset=UTF-8"


class DdgSimulator(EngineSimulator):
    """DuckDuckGo.

    Attributes:
        ads: whether an advertisement stands above the results.
        wrapped: the links that go through ``/l/?uddg=``: ``title``, ``all`` or ``none``.
    """

    name = "ddg"
    routes = ("/html/", "/html", "/lite/", "/lite")
    base_path = "/html/"
    max_limit = 300
    results_at: ClassVar[tuple[str, ...]] = ()
    faults = (
        "empty",
        "silent_block",
        "challenge_200",
        "empty_202",
        "forbidden",
        "rate_limited",
        "server_error",
        "layout_drift",
    )

    ads = True
    wrapped = "title"

    def parse_request(self, received: Received) -> SimulatedQuery:
        """The fields of the form, posted or in the URL."""
        sent = form_fields(received)
        words, include, exclude = split_sites(sent.get("q", ""))
        region, time = sent.get("kl") or sent.get("l") or "", sent.get("df", "")
        country, _, tongue = region.partition("-")
        start, _, end = time.partition("..")
        return SimulatedQuery(
            query=words,
            freshness=_TIME.get(time, ""),
            after=instant(start) if end else None,
            before=instant(end) if end else None,
            include=include,
            exclude=exclude,
            language=_TONGUES.get(tongue, tongue),
            country="" if country == "wt" else country,
            params={**sent, "page": "lite" if received.path.startswith("/lite") else "html"},
        )

    def search(self, query: SimulatedQuery) -> list[SimulatedHit]:
        """One page: ``s`` is how many results came before it."""
        start = max(0, whole(query.params.get("s")) or 0)
        end = start + (NEXT_PAGE if start else FIRST_PAGE)
        return super().search(evolve(query, limit=end))[start:]

    def validate(self, query: SimulatedQuery) -> Reply | None:
        """The empty form for a query that is missing or too long; a bang leads to another site."""
        sent = str(query.params.get("q", ""))
        if bang := re.search(r"(?<!\S)!(\w+)", sent):
            headers = {"Location": f"https://{bang[1]}.example/", "Content-Type": _KIND}
            return Reply(status=302, headers=headers)
        if not sent.strip() or len(sent) > MAX_QUERY_CHARS:
            return _page(query, f'<div class="search__form">{_form(query)}</div>')
        return None

    def hits_reply(self, hits: Sequence[SimulatedHit], query: SimulatedQuery) -> Reply:
        """A page of results, or the one that found none."""
        lite = query.params.get("page") == "lite"
        if not hits:
            return _page(query, _LITE_NOTHING if lite else _NOTHING)
        if lite:
            rows = [_LITE_AD] if self.ads else []
            rows += [self._lite_row(place, hit, query) for place, hit in enumerate(hits, 1)]
            return _page(query, f'<table border="0">{"".join(rows)}</table>{_form(query, len(hits))}')
        rows = [_AD] if self.ads else []
        rows += [self._row(hit, query) for hit in hits]
        more = f'<div class="nav-link">{_form(query, len(hits))}</div>'
        return _page(query, f'<div id="links" class="results">{"".join(rows)}{more}</div>')

    def fault_reply(self, kind: str, query: SimulatedQuery) -> Reply:
        """The faults: a block is a page that asks for a human, sent as 202 or 200, or no page at all."""
        if kind == "empty":
            return self.hits_reply([], query)
        if kind in ("silent_block", "challenge_200"):
            return _page(query, _challenge(query), 202 if kind == "silent_block" else 200)
        if kind == "layout_drift":
            drifted = "".join(map(_drifted, self.search(query) or SOME_HITS))
            return _page(query, f'<main><ol class="react-results--main">{drifted}</ol></main>')
        status = {"empty_202": 202, "forbidden": 403, "rate_limited": 429, "server_error": 500}[kind]
        text = "" if kind == "empty_202" else f"<html><body><h1>Error {status}</h1></body></html>"
        return text_reply(text, status, _KIND)

    def missing_fields(self, query: SimulatedQuery) -> Reply:
        """Results without a snippet, without a title, without any address; then a whole one."""
        hits = [*self.search(query), *SOME_HITS][:4]
        rows = [self._row(hit, query) for hit in hits]
        rows[0] = re.sub(r'<a class="result__snippet".*?</a>', "", rows[0])
        rows[1] = re.sub(r'(class="result__a"[^>]*>).*?</a>', r"\1</a>", rows[1])
        rows[2] = re.sub(r' href="[^"]*"', "", rows[2])
        return _page(query, f'<div id="links" class="results">{"".join(rows)}</div>')

    # ---- nodes ----

    def _row(self, hit: SimulatedHit, query: SimulatedQuery) -> str:
        title_link = _wrap(hit.url) if self.wrapped != "none" else hit.url
        snippet_link = _wrap(hit.url) if self.wrapped == "all" else hit.url
        shown = html.escape(_shown(hit.url))
        return (
            '<div class="result results_links results_links_deep web-result">'
            '<div class="links_main links_deep result__body">'
            f'<h2 class="result__title"><a rel="nofollow" class="result__a" href="{html.escape(title_link)}">'
            f"{_marked(hit.title, query)}</a></h2>"
            '<div class="result__extras"><div class="result__extras__url">'
            f'<a class="result__url" href="{html.escape(snippet_link)}">{shown}</a></div></div>'
            f'<a class="result__snippet" href="{html.escape(snippet_link)}">{_marked(hit.snippet, query)}</a>'
            "</div></div>\n"
        )

    def _lite_row(self, place: int, hit: SimulatedHit, query: SimulatedQuery) -> str:
        shown = html.escape(_shown(hit.url))
        link = hit.url if self.wrapped == "none" else _wrap(hit.url)
        return (
            f'<tr><td valign="top">{place}.&nbsp;</td><td>'
            f'<a rel="nofollow" href="{html.escape(link)}" class=\'result-link\'>'
            f"{_marked(hit.title, query)}</a></td></tr>"
            f"<tr><td>&nbsp;</td><td class='result-snippet'>{_marked(hit.snippet, query)}</td></tr>"
            f"<tr><td>&nbsp;</td><td><span class='link-text'>{shown}</span></td></tr>\n"
        )


_NOTHING = '<div id="links" class="results"><div class="no-results">No results.</div></div>'
_LITE_NOTHING = '<table><tr><td><span class="no-results">No results.</span></td></tr></table>'
_AD = (
    '<div class="result results_links results_links_deep result--ad">'
    '<div class="links_main links_deep result__body">'
    f'<h2 class="result__title"><a rel="nofollow" class="result__a" href="{_AD_LINK}">Buy it</a></h2>'
    f'<a class="result__snippet" href="{_AD_LINK}">An advertisement.</a></div></div>\n'
)
_LITE_AD = (
    '<tr class="result-sponsored"><td valign="top">1.&nbsp;</td><td>'
    f'<a rel="nofollow" href="{_AD_LINK}" class=\'result-link\'>Buy it</a></td></tr>'
    "<tr class=\"result-sponsored\"><td>&nbsp;</td><td class='result-snippet'>An advertisement.</td></tr>\n"
)
_REGIONS = (
    "ar-es au-en at-de be-fr be-nl br-pt bg-bg ca-en ca-fr ct-ca cl-es cn-zh co-es hr-hr cz-cs dk-da ee-et "
    "fi-fi fr-fr de-de gr-el hk-tzh hu-hu in-en id-id ie-en il-en it-it jp-jp kr-kr lv-lv lt-lt my-en mx-es "
    "nl-nl nz-en no-no pk-en pe-es ph-en pl-pl pt-pt ro-ro ru-ru sg-en sk-sk sl-sl za-en es-es se-sv ch-de "
    "tw-tzh th-th tr-tr us-en ua-uk uk-en vn-vi"
)
_SELECT = (
    '<select class="frm__select" name="kl"><option value="">All Regions</option>'
    + "".join(f'<option value="{region}">{region}</option>' for region in _REGIONS.split())
    + "</select>"
)


def _page(query: SimulatedQuery, content: str, status: int = 200) -> Reply:
    asked = html.escape(str(query.params.get("q", "")))
    head = f'<head><meta charset="UTF-8"><title>{asked} at DuckDuckGo</title></head>'
    form = (
        f'<form name="x" class="header__form" action="/{query.params.get("page", "html")}/" method="post">'
        f'<input name="q" class="search__input" value="{asked}">{_SELECT}</form>'
    )
    return text_reply(f"<!DOCTYPE html><html>{head}<body>{form}{content}</body></html>", status, _KIND)


def _form(query: SimulatedQuery, shown: int = 0) -> str:
    """The form that leads to the next page."""
    start = (whole(query.params.get("s")) or 0) + shown
    sent = query.params
    fields = {"q": sent.get("q", ""), "s": start, "nextParams": "", "v": "l", "o": "json", "dc": start + 1}
    fields |= {"api": "d.js", "vqd": "4-123456789", "kl": sent.get("kl", "wt-wt"), "df": sent.get("df", "")}
    inputs = "".join(
        f'<input type="hidden" name="{name}" value="{html.escape(str(value))}">'
        for name, value in fields.items()
    )
    return f'<form action="/{sent.get("page", "html")}/" method="post">{inputs}</form>'


def _challenge(query: SimulatedQuery) -> str:
    asked = html.escape(str(query.params.get("q", "")))
    return (
        '<form id="challenge-form" action="//duckduckgo.com/anomaly.js?sv=html&amp;cc=botnet" method="POST">'
        '<div class="anomaly-modal__mask"><div class="anomaly-modal__modal">'
        '<div class="anomaly-modal__title">Unfortunately, bots use DuckDuckGo too.</div>'
        '<div class="anomaly-modal__description">Please complete the following challenge.</div>'
        f'</div></div><input type="hidden" name="q" value="{asked}"></form>'
    )


def _drifted(hit: SimulatedHit) -> str:
    return (
        f'<li data-layout="organic"><h2><a data-testid="title" href="{html.escape(hit.url)}">'
        f'{html.escape(hit.title)}</a></h2><p data-testid="text">{html.escape(hit.snippet)}</p></li>'
    )


def _wrap(url: str) -> str:
    return f"//duckduckgo.com/l/?uddg={quote(url, safe='')}&rut=9f86d081884c7d65"


def _shown(url: str) -> str:
    parts = urlsplit(url)
    return parts.netloc + parts.path


def _marked(text: str, query: SimulatedQuery) -> str:
    """``text`` as HTML with the query's words in bold."""
    words = [re.escape(word) for word in dict.fromkeys(re.findall(r"\w+", query.query))]
    if not words:
        return html.escape(text)
    pieces = re.split(rf"(?i)\b({'|'.join(words)})\b", text)
    return "".join(f"<b>{html.escape(p)}</b>" if i % 2 else html.escape(p) for i, p in enumerate(pieces))
