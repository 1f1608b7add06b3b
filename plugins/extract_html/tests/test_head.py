"""What the head says: dates in all their forms, authors, addresses, titles, and data that is not "
"quite JSON."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from webfetch_extract_html import dom
from webfetch_extract_html.dates import iso_date
from webfetch_extract_html.head import Head, read_head
from webfetch_extract_html.html import HtmlExtractor
from webfetch_extract_html.settings import ExtractHtmlSettings

from webfetch_core.api import Page


def head_of(html: str) -> Head:
    return read_head(dom.parse(f"<html><head>{html}</head><body><p>x</p></body></html>"))


@pytest.mark.parametrize(
    ("written", "date"),
    [
        ("2026-03-04T05:06:07Z", "2026-03-04T05:06:07Z"),
        ("2026-03-04 05:06:07.123 +01:00", "2026-03-04T05:06:07.123+01:00"),
        ("2026-03-04T05:06:07 UTC", "2026-03-04T05:06:07Z"),
        ("2026/03/04", "2026-03-04"),
        ("20260304", "2026-03-04"),
        ("20260304T050607", "2026-03-04"),
        ("March 4, 2026", "2026-03-04"),
        ("Published on Mar. 4th, 2026 by the office", "2026-03-04"),
        ("4 March 2026", "2026-03-04"),
        ("4. März 2026", "2026-03-04"),
        ("4 de marzo de 2026", "2026-03-04"),
        ("4 марта 2026", "2026-03-04"),
        ("Wed, 04 Mar 2026 05:06:07 GMT", "2026-03-04"),
        ("2026年3月4日", "2026-03-04"),
        ("04.03.2026", "2026-03-04"),
        ("25/03/2026", "2026-03-25"),
        ("03/25/2026", "2026-03-25"),
        ("03/04/2026", None),
        ("1772600767", "2026-03-04T05:06:07Z"),
        ("1772600767000", "2026-03-04T05:06:07Z"),
        ("2026-02-31", "2026-02-31"),
        ("31 February 2026", None),
        ("soon", None),
        ("", None),
        ("0000-00-00", None),
    ],
)
def test_dates(written, date):
    assert iso_date(written) == date


@given(st.text(max_size=60))
def test_no_text_breaks_the_dates(text):
    assert iso_date(text) is None or iso_date(text)[:4].isdigit()


@pytest.mark.parametrize(
    "html",
    [
        "<meta property='article:published_time' content='2025-01-02'>",
        "<meta name=citation_publication_date content='2025/01/02'>",
        "<meta name=DC.date.issued content='2 January 2025'>",
        '<script type=\'application/ld+json; charset=utf-8\'>{"datePublished": "2025-01-02",}</script>',
        '<script type=\'application/ld+json\'><!-- {"datePublished": "2025-01-02"} --></script>',
        '<script type=\'application/ld+json\'>//<![CDATA[{"datePublished": "2025-01-02"}//]]></script>',
        '<script>push({"@context": "https://schema.org", "datePublished": "2025-01-02"});</script>',
        "</head><body><article><time datetime='2025-01-02'>then</time></article>",
        "</head><body><article><time>January 2, 2025</time></article>",
        "</head><body><span itemprop=datePublished content='2025-01-02'></span>",
        '<script type=\'application/ld+json\'>{"@type": "VideoObject", "uploadDate": "2025-01-02"}</script>',
    ],
)
def test_places_of_the_date(html):
    assert head_of(html).published == "2025-01-02"


@pytest.mark.parametrize(
    ("html", "author"),
    [
        ("<meta name=author content='Ada Quill'>", "Ada Quill"),
        (
            "<meta property='article:author' content='https://t.example/ada'><meta name=byl "
            "content='By Ada Quill'>",
            "Ada Quill",
        ),
        (
            "<meta name=citation_author content='Ada Quill'><meta name=citation_author content='Bo Marsh'>",
            "Ada Quill, Bo Marsh",
        ),
        (
            f"<script type='application/ld+json'>"
            f"{json.dumps({'author': [{'name': 'Ada Quill'}, 'Bo Marsh']})}</script>",
            "Ada Quill, Bo Marsh",
        ),
        ("</head><body><a rel=author href=x>By Ada Quill</a>", "Ada Quill"),
        ("<meta name=author content='@shop'>", ""),
    ],
)
def test_authors(html, author):
    assert head_of(html).author == author


def test_addresses_languages_and_names():
    head = head_of(
        "<link rel='canonical' href='/a?x=1'><meta http-equiv=content-language content='de_AT, en'>"
        "<meta name=application-name content=Dams><meta property='article:modified_time' "
        "content='2025-02-03'>"
    )
    assert head.canonical_url("https://t.example/b") == "https://t.example/a?x=1"
    assert (head.language, head.site_name, head.modified) == ("de-AT", "Dams", "2025-02-03")
    assert (
        head_of("<meta property='og:url' content='javascript:x'>").canonical_url("https://t.example/") == ""
    )
    assert head_of("<link rel=canonical href='http://[bad'>").canonical_url("https://t.example/") == ""
    assert head_of("<meta property='og:locale' content='{{locale}}'>").language == ""


def test_a_title_that_is_none():
    assert head_of("<title>Untitled</title><meta property='og:title' content='The lock'>").title == "The lock"
    assert head_of("<title>null</title>").title == "null"


def test_the_document_has_them_labelled():
    page = (
        "<title>Gauges</title><meta name=author content='Ada Quill'><link rel=canonical href='/gauges'>"
        "<meta property='article:modified_time' content='2025-02-03'><p>The gauges were read at noon.</p>"
    )
    document = HtmlExtractor(ExtractHtmlSettings()).extract(
        Page(url="https://t.example/x", body=page.encode())
    )
    assert document.metadata["author"] == "Ada Quill"
    assert document.metadata["canonical"] == "https://t.example/gauges"
    assert document.metadata["modified"] == "2025-02-03"


@pytest.mark.parametrize("word", ["word ", "字"])
def test_a_head_leaves_room_for_the_text(word: str) -> None:
    many = word * 100_000
    head = head_of(f"<title>{many}</title><meta name=description content='{many}'>")
    assert 900 < len(head.title) <= 1_000 and 4_900 < len(head.description) <= 5_000
    assert set(head.title.split()) == {"word"} or word == "字"
    assert head_of("<title>A title of its usual length</title>").title == "A title of its usual length"
