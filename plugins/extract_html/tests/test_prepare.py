from __future__ import annotations

import pytest
from webfetch_extract_html import dom
from webfetch_extract_html.noscript import place_noscript
from webfetch_extract_html.prepare import prepare

WORDS = "The keeper walked the northern shore twice before noon and wrote down every reading. "


def prepared(html: str):
    return prepare(dom.parse(f"<html><body>{html}</body></html>"))


def text_of(found) -> str:
    return " ".join(block.text for block in found.blocks)


# ---- noscript --------------------------------------------------------------------------------------------


def test_content_for_readers_without_scripts_is_read_where_there_is_no_other():
    found = prepared(f"<p>{WORDS * 2}</p><noscript><h1>Thread</h1><p>{WORDS * 6}</p></noscript>")
    assert WORDS.strip() in text_of(found)
    assert any(block.kind == "heading" for block in found.blocks)


@pytest.mark.parametrize(
    "html",
    [
        "<p>Short page.</p><noscript>Please enable JavaScript to use this page.</noscript>",
        f"<p>{WORDS * 9}</p><noscript><p>Notice: {WORDS * 5}</p></noscript>",
        f"<script>{'x' * 9_000}</script><p>{WORDS * 9}</p><noscript><p>Notice: {WORDS * 5}</p></noscript>",
    ],
)
def test_notices_and_doubles_for_them_are_not(html):
    root = dom.parse(html)
    assert not place_noscript(root)
    assert root.find(".//noscript") is not None


def test_programs_do_not_count_as_the_rest_of_the_page():
    shell = f"<p>{WORDS * 3}</p><script>{'x' * 90_000}</script>"
    root = dom.parse(f"<body>{shell}<noscript><p>{WORDS * 6}</p></noscript></body>")
    assert place_noscript(root)
    assert root.find(".//noscript") is None


# ---- hidden ----------------------------------------------------------------------------------------------


def test_a_page_that_waits_to_be_revealed_is_kept_and_flagged():
    found = prepared(f"<p>Menu of the shop.</p><div style='display:none'><p>{WORDS * 30}</p></div>")
    assert WORDS.strip() in text_of(found)
    assert found.flags == ("hidden_text_kept",)


@pytest.mark.parametrize("share", [1, 8])
def test_less_than_that_is_hidden_text(share):
    shown = "".join(f"<p>{n}: {WORDS}</p>" for n in range(8))
    found = prepared(f"{shown}<div style='display:none'><p>SECRET {WORDS * share}</p></div>")
    assert "SECRET" not in text_of(found)
    assert found.flags == ("hidden_text_removed",)


def test_a_short_hidden_text_is_never_the_page():
    found = prepared(f"<p>Hello.</p><div style='display:none'>SECRET {WORDS * 3}</div>")
    assert "SECRET" not in text_of(found)
