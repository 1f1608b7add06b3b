from __future__ import annotations

import pytest
from webfetch_extract_html.plugin import build_text

from webfetch_core.api import Page


def extract(body: str | bytes, content_type: str):
    data = body.encode() if isinstance(body, str) else body
    return build_text(None, None).extract(
        Page(url="https://t.example/feed", body=data, content_type=content_type)
    )


def test_plain_text_keeps_its_lines():
    body = "Field   Bytes\n-----   -----\nseq     2\r\n\r\n   indented\n"
    assert (
        extract(body, "text/plain; charset=utf-8").text
        == "Field   Bytes\n-----   -----\nseq     2\n\n   indented"
    )


def test_markdown_gives_its_title():
    document = extract("---\ntitle: 'The guide'\n---\n# Start #\n\n- one\n", "text/markdown")
    assert (document.title, document.text) == ("The guide", "# Start #\n\n- one")
    assert extract("intro\n\n# Start #\n", "text/markdown").title == "Start"


def test_json_is_laid_out_and_broken_json_is_text():
    assert (
        extract('{"level":[1.10,"\\u6c34"],"of":{"a":{"b":1}}}', "application/json").text
        == '{\n  "level": [1.10, "水"],\n  "of": {\n    "a": {"b": 1}\n  }\n}'
    )
    assert extract('{"level":', "application/ld+json").text == '{"level":'
    assert extract("[" * 100_000, "application/json").text.startswith("[[")


RSS = """<?xml version="1.0" encoding="utf-8"?><!DOCTYPE rss [<!ENTITY x SYSTEM "file:///etc/passwd">]>
<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel><title>Dam news</title>
<description>All about dams</description><link>https://t.example/</link>
<item><title>Gate &amp; lamp</title><link>/a?x=1</link><pubDate>Tue, 03 Mar 2026 10:00:00 GMT</pubDate>
<description>&lt;p&gt;The gate is &lt;b&gt;open&lt;/b&gt;.&lt;/p&gt;</description></item>
<item><title>Second &x;</title><link>https://o.example/b</link>
<content:encoded><![CDATA[<p>Long text</p>]]></content:encoded></item>
</channel></rss>"""


def test_a_feed_lists_its_entries():
    document = extract(RSS, "application/rss+xml")
    assert document.title == "Dam news"
    assert document.links == ("https://t.example/a?x=1", "https://o.example/b")
    assert (
        "# Dam news\n\n> All about dams\n\n## Gate & lamp\n\nTue, 03 Mar 2026 10:00:00 GMT · "
        "https://t.example/a?x=1" in document.text
    )
    assert "The gate is open." in document.text
    assert "Long text" in document.text
    assert "root:" not in document.text


def test_atom_works_alike():
    atom = (
        '<feed xmlns="http://www.w3.org/2005/Atom"><title>Dams</title><entry><title>One</title>'
        '<link rel="self" href="/self"/><link href="/one"/><updated>2026-01-02T03:04:05Z</updated>'
        '<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>Body text</p></div>'
        "</content></entry></feed>"
    )
    document = extract(atom, "application/atom+xml")
    assert document.links == ("https://t.example/one",)
    assert "## One\n\n2026-01-02T03:04:05Z · https://t.example/one\n\nBody text" in document.text


def test_other_xml_gives_its_text():
    assert extract("<a><b>one</b><c>two <d>three</d></c></a>", "text/xml").text == "b: one\nc: two three"
    bomb = '<!DOCTYPE a [<!ENTITY b "bbbbbbbbbb"><!ENTITY c "&b;&b;&b;&b;">]><a>&c;x</a>'
    assert "bbbb" not in extract(bomb, "application/xml").text


@pytest.mark.parametrize("content_type", ["text/plain", "application/json", "application/xml"])
def test_nothing_in_gives_none(content_type):
    assert extract(" \n", content_type) is None


def test_broken_xml_is_text():
    assert "level 4" in extract("level 4 <", "application/xml").text


def test_invisible_characters_are_flagged():
    document = extract("open\U000e0041\U000e0042 gate", "text/plain")
    assert document.text == "open gate"
    assert document.flags == ("invisible_unicode_removed",)
