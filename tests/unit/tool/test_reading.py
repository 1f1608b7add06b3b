"""``fetch_url``: addresses as models write them, parts of one text, passages of a page."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from webfetch_core import BadQuery, Document, ToolBox
from webfetch_core.models import Page
from webfetch_core.testing import FakeClock, ScriptedExtractor, ScriptedFetcher
from webfetch_core.tool.reading import KEPT_PAGES, KEPT_S, checked_address

URL = "https://tarn.example/survey"
LONG = "Survey\n\n" + "\n\n".join(
    f"## Gauge {n}\n\nGauge {n} stands {n} metres above the reservoir and was read twice." for n in range(400)
)
Box = Callable[..., ToolBox]


def read_all(box: ToolBox, **options: Any) -> tuple[str, list[str]]:
    """The whole page, part by part, as a model would read it: by what the texts say."""
    whole, texts, start = "", [], 0
    while True:
        given = {"url": URL, "start": start, **options}
        outcome = box.call("fetch_url", given)
        assert not outcome.is_error, outcome.text
        whole += outcome.structured["text"]
        texts.append(outcome.text)
        told = re.search(r"again with start=(\d+)\]\Z", outcome.text)
        assert outcome.structured["next_start"] == (int(told[1]) if told else None)
        if told is None:
            return whole, texts
        start = int(told[1])


@pytest.mark.parametrize("tokens", [100, 333, 2_000, None])
def test_all_parts_joined_are_the_page(box: Box, tokens: int | None) -> None:
    whole, texts = read_all(box({URL: LONG}), max_tokens=tokens)
    assert whole == LONG
    room = 24_000 if tokens is None else tokens * 4
    assert all(len(text) <= room for text in texts) and len(texts) > 1


def test_parts_are_of_one_text_even_without_a_cache(box: Box) -> None:
    """The page changes with every fetch; the parts of one reading do not."""
    texts = iter(f"{LONG}\n\nRead {n} times." for n in range(1, 100))

    class Changing(ScriptedFetcher):
        def fetch(self, request: Any) -> Any:
            body = next(texts).encode()
            return Page(url=request.url, final_url=request.url, body=body, content_type="text/html")

    tools = box(fetch=Changing({}), cache=None)
    whole, _ = read_all(tools, max_tokens=2_000)
    assert whole == f"{LONG}\n\nRead 1 times."
    assert read_all(tools, max_tokens=2_000)[0] == f"{LONG}\n\nRead 2 times."


def test_a_page_is_remembered_for_a_while_and_not_for_ever(box: Box, clock: FakeClock) -> None:
    fetcher = ScriptedFetcher({URL: LONG})
    tools = box(fetch=fetcher, cache=None, clock=clock)
    for _ in range(3):
        tools.handle("fetch_url", {"url": URL, "start": 9_000})
    assert len(fetcher.calls) == 1
    clock.advance(KEPT_S + 1)
    tools.handle("fetch_url", {"url": URL, "start": 9_000})
    assert len(fetcher.calls) == 2


def test_a_few_pages_are_remembered_and_not_all(box: Box) -> None:
    urls = [f"https://tarn.example/{n}" for n in range(KEPT_PAGES + 1)]
    fetcher = ScriptedFetcher(dict.fromkeys(urls, LONG))
    tools = box(fetch=fetcher, cache=None)
    for url in urls:
        tools.handle("fetch_url", {"url": url})
    tools.handle("fetch_url", {"url": urls[-1], "start": 9_000})
    assert len(fetcher.calls) == len(urls)
    tools.handle("fetch_url", {"url": urls[0], "start": 9_000})
    assert len(fetcher.calls) == len(urls) + 1


def test_past_the_end(box: Box) -> None:
    text = box({URL: "Short."}).handle("fetch_url", {"url": URL, "start": 6})
    assert text == (
        "[failed: bad_query] fetch_url: start=6 is past the end: the page has 6 characters\n"
        "What to do: Correct the input and call again: call fetch_url without start for its beginning."
    )


def test_what_is_known_of_the_page_is_told(box: Box) -> None:
    def extract(page: Page) -> Document:
        return Document(
            url=page.url, text="It burns.", title="Lamp", published="2026-03-04", flags=("paywalled",)
        )

    outcome = box({URL: "x"}, extract=ScriptedExtractor(extract)).call("fetch_url", {"url": URL})
    assert outcome.text.splitlines()[:2] == [
        f"[Source: Lamp | {URL}]", "[note: published 2026-03-04; flags paywalled]",
    ]  # fmt: skip
    assert outcome.structured == {
        "schema_version": 1, "url": URL, "title": "Lamp", "published": "2026-03-04", "flags": ["paywalled"],
        "total_chars": 9, "text": "It burns.", "start": 0, "next_start": None,
    }  # fmt: skip


# ---- passages ----


def test_passages_about_something(box: Box) -> None:
    outcome = box({URL: LONG}).call("fetch_url", {"url": URL, "query": "gauge 217 metres"})
    assert "Gauge 217 stands 217 metres above" in outcome.text
    assert len(outcome.text) <= 8_000 < len(LONG)
    assert outcome.text.splitlines()[1].startswith(
        '[note: passages of this page about "gauge 217 metres"; it'
    )
    for passage in outcome.structured["passages"]:
        assert passage["text"] == LONG[passage["start"] : passage["end"]]
    starts = [passage["start"] for passage in outcome.structured["passages"]]
    assert starts == sorted(starts)


def test_one_can_read_on_at_a_passage(box: Box) -> None:
    tools = box({URL: LONG})
    found = tools.handle("fetch_url", {"url": URL, "query": "gauge 217"})
    start = int(re.findall(r"\[characters (\d+) to \d+", found)[0])
    part = tools.handle("fetch_url", {"url": URL, "start": start, "max_tokens": 200})
    assert f"characters {start} to " in part


def test_a_page_about_something_else(box: Box) -> None:
    outcome = box({URL: LONG}).call("fetch_url", {"url": URL, "query": "zebra"})
    assert f'[note: nothing in this page is about "zebra"; fetch_url without query reads its {len(LONG)}' in (
        outcome.text
    )
    assert outcome.structured["passages"] == [] and not outcome.is_error


def test_without_a_ranker_the_page_is_read_from_its_beginning(box: Box) -> None:
    outcome = box({URL: LONG}, rank=None).call("fetch_url", {"url": URL, "query": "gauge", "max_tokens": 300})
    assert outcome.text.endswith("[note: query was ignored: no ranker is in use]")
    assert outcome.structured["start"] == 0 and len(outcome.text) <= 1_200


@pytest.mark.parametrize("query", ["  ", "?!", "x" * 3_000])
def test_a_query_that_is_none(box: Box, query: str) -> None:
    text = box({URL: LONG}).handle("fetch_url", {"url": URL, "query": query})
    assert text.startswith("[failed: bad_query] fetch_url: ")


# ---- addresses ----


@pytest.mark.parametrize(
    ("given", "address"),
    [
        ("https://a.example/b?c=d#e", "https://a.example/b?c=d#e"),
        (" <https://a.example/> ", "https://a.example/"),
        ("`https://a.example/`", "https://a.example/"),
        ("a.example", "https://a.example"),
        ("www.a.example/b/c", "https://www.a.example/b/c"),
        ("a.example:8443/b", "https://a.example:8443/b"),
        ("local:docs/a b.md", None),
        ("local:docs/a.md", "local:docs/a.md"),
        ("ftp://a.example/", "ftp://a.example/"),
        ("the page about lamps", None),
        ("lamp", None),
        ("javascript:alert(1)", None),
        ("https://a.example/ b", None),
        (f"https://a.example/{'a' * 9_000}", None),
    ],
)
def test_addresses(given: str, address: str | None) -> None:
    if address is None:
        with pytest.raises(BadQuery):
            checked_address(given)
    else:
        assert checked_address(given) == address
