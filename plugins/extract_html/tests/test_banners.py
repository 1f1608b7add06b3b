"""Consent banners are no content, and what only looks like one is."""

from __future__ import annotations

import pytest
from webfetch_extract_html import dom
from webfetch_extract_html.banners import remove_banners

PAGE = "<main><h1>Mill opening hours</h1><p>Open daily 10:15 to 16:45, closed in January.</p></main>"
WORDS = "We use cookies and similar technologies to improve your experience."


def text_after(html: str) -> tuple[str, bool]:
    root = dom.parse(f"<html><head><title>Mill</title></head><body>{html}</body></html>")
    assert root is not None
    taken = remove_banners(root)
    return " ".join("".join(root.find("body").itertext()).split()), taken


@pytest.mark.parametrize(
    "start",
    [
        "<div id='cookie-banner' role='dialog' class='cc-window'>",
        '<div class="cookie-consent">',
        '<section aria-label="Cookie notice">',
        '<div id="onetrust-banner-sdk">',
        '<div id="CybotCookiebotDialog">',
        '<div class="eu-cookie-law">',
        '<div class="gdpr_overlay">',
        '<dialog open class="privacy-modal">',
    ],
)
def test_a_banner_goes_and_the_page_stays(start: str) -> None:
    name = start[1:].split()[0].rstrip(">")
    banner = f"{start}<h2>Your choices</h2><p>{WORDS * 5}</p><button>Allow cookies</button></{name}>"
    for html in (f"{banner}{PAGE}", f"{PAGE}{banner}", f"before {banner} after {PAGE}"):
        text, taken = text_after(html)
        assert taken and "similar technologies" not in text and "10:15 to 16:45" in text
        assert ("before" in text) == ("after" in text) == ("before" in html)


@pytest.mark.parametrize(
    "html",
    [
        "<div class='recipe-cookies'><p>Oat cookies: bake for 12 minutes, and allow them to cool.</p></div>",
        f"<article class='cookie-law'><p>{WORDS} So said the ministry.</p></article>",
        f"<div class='cookie-consent'><main><p>{WORDS}</p></main></div>",
        "<div class='consent'><p>Patients sign a form before the operation.</p></div>",
        "<div class='cmp-text'><p>Our privacy team has grown to forty people.</p></div>",
        f"<div class='cookie-notice'>{'Long text about cookies. ' * 400}</div>",
    ],
)
def test_content_stays(html: str) -> None:
    before = " ".join("".join(dom.parse(f"<body>{html}{PAGE}</body>").itertext()).split())
    assert text_after(html + PAGE) == (before, False)


def test_a_page_that_is_nothing_else_keeps_it() -> None:
    text, taken = text_after(f"<div class='cookie-consent'>{WORDS}</div><p>OK</p>")
    assert not taken and "similar technologies" in text
