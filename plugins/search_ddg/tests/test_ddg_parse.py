# ruff: noqa: E501 - markup as the engine sends it
from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from webfetch_search_ddg.parse import parse, read, target_url

PAGE = """<!doctype html><html><head><title>tide gauge at DuckDuckGo</title></head><body>
<form action="/html/" method="post"><input name="q" value="tide gauge anomaly.js no-results"></form>
<div class="zci" id="zero_click_abstract"><a href="https://abstract.example/">Tide: a short abstract.</a></div>
<div id="links" class="results">
 <div class="result results_links results_links_deep result--ad"><div class="links_main links_deep result__body">
  <h2 class="result__title"><a class="result__a" href="https://duckduckgo.com/y.js?ad_domain=shop.example">Ad</a></h2>
  <a class="result__snippet" href="https://duckduckgo.com/y.js?ad_domain=shop.example">buy</a></div></div>
 <div class="result results_links result--ad"><div class="result__body">
  <h2 class="result__title"><a class="result__a" href="https://shop.example/direct">A direct ad</a></h2></div></div>
 <div class="result results_links results_links_deep web-result"><div class="links_main links_deep result__body">
  <h2 class="result__title"><a rel="nofollow" class="result__a"
   href="//duckduckgo.com/l/?uddg=https%3A%2F%2Fharbor.example%2Ftide%3Fx%3D1%26n%3Da%252Fb&amp;rut=9f">Tide &amp;
   <b>gauge</b> &amp;lt;now&amp;gt;</a></h2>
  <div class="result__extras"><a class="result__url" href="https://harbor.example/tide">harbor.example/tide</a></div>
  <a class="result__snippet" href="https://harbor.example/tide?x=1">Reads the <b>tide</b>
   level &ndash; in m\u00b2.</a></div></div>
 <div class="result web-result"><div class="result__body">
  <h2 class="result__title"><a class="result__a" href="https://files.example/a%2Fb/%E6%B0%B4?q=a+b%20c">Second</a></h2>
  </div></div>
 <div class="result web-result"><div class="result__body">
  <h2 class="result__title"><a class="result__a" href="https://files.example/a%2Fb/%E6%B0%B4?q=a+b%20c">Again</a></h2>
  </div></div>
 <div class="result web-result"><div class="result__body">
  <h2 class="result__title"><a class="result__a" href="https://duckduckgo.com/y.js?ad_provider=x">Unmarked ad</a></h2>
  </div></div>
 <div class="result web-result"><div class="result__body">
  <h2 class="result__title"><a class="result__a">No address</a></h2>
  <a class="result__snippet" href="/l/?uddg=http%3A%2F%2Fthird.example%2F">By the snippet</a></div></div>
 <div class="nav-link"><form action="/html/" method="post"><input type="hidden" name="vqd" value="4-1"></form></div>
</div></body></html>"""

LITE = """<html><body><form action="/lite/"><input name="q" value="tide"></form><table border="0">
<tr class="result-sponsored"><td>1.&nbsp;</td><td><a class="result-link" href="https://shop.example/">Ad</a></td></tr>
<tr class="result-sponsored"><td></td><td class="result-snippet">buy</td></tr>
<tr><td>1.&nbsp;</td><td><a rel="nofollow" class='result-link'
 href="//duckduckgo.com/l/?uddg=https%3A%2F%2Fharbor.example%2F&amp;rut=1">Harbor</a></td></tr>
<tr><td>&nbsp;</td><td class='result-snippet'>The <b>tide</b> table.</td></tr>
<tr><td>&nbsp;</td><td><span class='link-text'>harbor.example</span></td></tr>
<tr><td>2.&nbsp;</td><td><a class='result-link' href="https://bare.example/">Bare</a></td></tr>
<tr><td>3.&nbsp;</td><td><a class='result-link' href="https://last.example/">Last</a></td></tr>
<tr><td>&nbsp;</td><td class='result-snippet'>End.</td></tr></table></body></html>"""

NO_RESULTS = """<html><body><div id="links" class="results"><div class="result results_links result--no-result">
<div class="no-results">No results found for <b>anomaly-modal challenge-form</b></div></div></div></body></html>"""


def test_hits_in_engine_order_without_ads_and_repeats() -> None:
    assert [h.url for h in parse(PAGE)] == [
        "https://harbor.example/tide?x=1&n=a%2Fb",
        "https://files.example/a%2Fb/%E6%B0%B4?q=a+b%20c",
        "http://third.example/",
    ]


def test_tags_go_and_entities_are_decoded_once() -> None:
    first, second, third = parse(PAGE)
    assert first.title == "Tide & gauge &lt;now&gt;"
    assert first.snippet == "Reads the tide level – in m²."
    assert (second.title, second.snippet) == ("Second", "")
    assert third.snippet == "By the snippet"


def test_rank_and_engine_are_left_to_the_core() -> None:
    assert {(h.rank, h.engine) for h in parse(PAGE)} == {(0, "")}


def test_lite_page() -> None:
    assert [(h.url, h.title, h.snippet) for h in parse(LITE)] == [
        ("https://harbor.example/", "Harbor", "The tide table."),
        ("https://bare.example/", "Bare", ""),
        ("https://last.example/", "Last", "End."),
    ]


def test_bytes_and_text_read_the_same() -> None:
    assert parse(PAGE.encode()) == parse(PAGE)


def test_what_the_page_is_comes_from_structure_not_from_the_echoed_query() -> None:
    page = read(PAGE)
    assert page.known_layout and not page.challenge and not page.says_empty
    empty = read(NO_RESULTS)
    assert empty.says_empty and not empty.challenge and not empty.hits


@pytest.mark.parametrize(
    "markup",
    [
        '<form id="challenge-form" method="post"></form>',
        '<form id="img-form" action="//duckduckgo.com/anomaly.js?sv=html&cc=sre"></form>',
        '<div class="x anomaly-modal__title">Unfortunately, bots</div>',
    ],
)
def test_challenge_markup(markup: str) -> None:
    assert read(f"<html><body>{markup}</body></html>").challenge


def test_echoed_challenge_words_are_no_challenge() -> None:
    echoed = '<p>anomaly.js anomaly-modal</p><input value="challenge-form anomaly.js"><a href="/?q=anomaly.js">x</a>'
    assert not read(f"<html><body>{echoed}</body></html>").challenge


@pytest.mark.parametrize(
    "html", ["", " ", b"", b"\0\0", "<", "<!-- x -->", "\ud800", "plain text", b"\xff\xfe<a>"]
)
def test_odd_input_is_no_page(html: str | bytes) -> None:
    assert parse(html) == []


def test_an_encoding_declaration_in_text_is_no_fault() -> None:
    assert len(parse('<?xml version="1.0" encoding="iso-8859-1"?>' + PAGE)) == 3


@pytest.mark.parametrize(
    ("href", "url"),
    [
        ("https://x.example/a%2Fb", "https://x.example/a%2Fb"),
        ("//x.example/p", "https://x.example/p"),
        ("//duckduckgo.com/l/?uddg=https%3A%2F%2Fx.example%2Fa%252Fb&rut=1", "https://x.example/a%2Fb"),
        ("/l/?kh=-1&uddg=https%3A%2F%2Fx.example%2F", "https://x.example/"),
        (
            "https://html.duckduckgo.com/l/?uddg=https%3A%2F%2Fx.example%2F%3Fa%3D1%26b%3D2",
            "https://x.example/?a=1&b=2",
        ),
        ("//duckduckgo.com/l/?uddg=https%3A%2F%2Fx.example%2Fsnow+white", "https://x.example/snow+white"),
        ("//duckduckgo.com/l/?uddg=https%3A%2F%2Fx.example%2F%E9", "https://x.example/%E9"),
        ("//duckduckgo.com/l/?uddg=https%3A%2F%2Fx.example%2F%C3%A9", "https://x.example/é"),
        (
            "https://x.example/l/?uddg=https%3A%2F%2Fy.example",
            "https://x.example/l/?uddg=https%3A%2F%2Fy.example",
        ),
        ("https://duckduckgo.com/about", "https://duckduckgo.com/about"),
        ("https://duckduckgo.com/y.js?ad_domain=x", ""),
        ("//duckduckgo.com/l/?uddg=https%3A%2F%2Fduckduckgo.com%2Fy.js%3Fad_domain%3Dx", ""),
        ("//duckduckgo.com/l/?uddg=%2F%2Fduckduckgo.com%2Fl%2F%3Fuddg%3Dhttps%253A%252F%252Fx.example", ""),
        ("//duckduckgo.com/l/?rut=1", ""),
        ("/html/?q=next", ""),
        ("javascript:alert(1)", ""),
        ("file:///etc/passwd", ""),
        ("//duckduckgo.com/l/?uddg=file%3A%2F%2F%2Fetc%2Fpasswd", ""),
        ("http://[broken", ""),
        ("", ""),
    ],
)
def test_target_url(href: str, url: str) -> None:
    assert target_url(href) == url


@settings(deadline=None)
@given(st.text(max_size=300))
def test_any_text_in_a_result_comes_back_once_unescaped(text: str) -> None:
    from html import escape

    clean = " ".join("".join(c for c in text if c.isprintable() or c == " ").split())
    page = f'<div class="result"><a class="result__a" href="https://x.example/">{escape(clean)}</a></div>'
    from unicodedata import normalize

    assert parse(page)[0].title == normalize("NFC", clean)
