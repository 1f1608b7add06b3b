"""The chain of extractors: who is asked, in which order, and what their answers come to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from webfetch_core.api import Document, ExtractTraits, NotConfigured, Page, PageError, WebfetchError
from webfetch_core.app import Webfetch
from webfetch_core.runtime.extraction import media_type, worker_factory, worker_spec
from webfetch_core.settings import Settings
from webfetch_core.testing import Hang, ScriptedExtractor, fake_plugin

URL = "https://a.example/"
HTML = Page(url=URL, final_url=f"{URL}final", body=b"<p>text</p>", content_type="Text/HTML; charset=utf-8")
FOUND = Document(url=URL, text="found")


@pytest.fixture
def chain() -> Iterator[Callable[..., Webfetch]]:
    """``chain(name=(content types, steps))``; earlier ones have the higher priority."""
    made: list[Webfetch] = []

    def make(**extractors: tuple[tuple[str, ...], Any]) -> Webfetch:
        plugins = [
            fake_plugin(
                "extract",
                step if isinstance(step, ScriptedExtractor) else ScriptedExtractor(step),
                name,
                traits=ExtractTraits(content_types=types),
                priority=-place,
                timeout_s=0.3,
            )
            for place, (name, (types, step)) in enumerate(extractors.items())
        ]
        made.append(Webfetch(Settings(), plugins=[(p.name, p) for p in plugins], autoload=False, environ={}))
        return made[-1]

    yield make
    for wf in made:
        wf.close()


def by(name: str) -> Document:
    return Document(url=URL, text=name)


@pytest.mark.parametrize(
    ("content_type", "used"),
    [
        ("text/html", "exact"),
        ("text/html;charset=x", "exact"),
        ("TEXT/HTML", "exact"),
        ("", "exact"),
        ("text/plain", "family"),
        ("application/pdf", "any"),
        ("textual/html", "any"),
    ],
)
def test_the_most_specific_is_asked_first(chain: Any, content_type: str, used: str) -> None:
    wf = chain(
        any=(("*/*",), by("any")),
        family=(("text/*",), by("family")),
        exact=(("text/html",), by("exact")),
    )
    page = Page(url=URL, body=b"x", content_type=content_type)
    assert wf.extract(page).text == used


def test_equals_are_asked_in_their_order_until_one_finds_something(chain: Any) -> None:
    last = ScriptedExtractor(by("late"))
    html = ("text/html",)
    wf = chain(
        one=(html, lambda page: None),
        two=(html, Document(url=URL, text=" \n")),
        three=(html, by("three")),
        four=(html, last),
    )
    assert wf.extract(HTML).text == "three"
    assert last.calls == []


def test_nobody_finds_anything(chain: Any) -> None:
    html = ("text/html",)
    assert chain(one=(html, lambda page: None), two=(html, RuntimeError("x"))).extract(HTML) is None


@pytest.mark.parametrize("step", [RuntimeError("broken"), 42, "text", SystemExit(1)])
def test_one_that_breaks_leaves_the_page_to_the_next(chain: Any, step: Any) -> None:
    html = ("text/html",)
    wf = chain(one=(html, step if isinstance(step, BaseException) else lambda page: step), two=(html, FOUND))
    assert wf.extract(HTML) == FOUND


def test_one_that_hangs_leaves_the_page_to_the_next(chain: Any) -> None:
    stuck = ScriptedExtractor(Hang(5))
    assert chain(one=(("text/html",), stuck), two=(("text/html",), FOUND)).extract(HTML) == FOUND
    stuck.close()


def test_when_all_break_the_last_error_is_told(chain: Any) -> None:
    html = ("text/html",)
    with pytest.raises(WebfetchError, match="second"):
        chain(one=(html, RuntimeError("first")), two=(html, RuntimeError("second"))).extract(HTML)


def test_what_one_recognised_counts_for_more_than_nothing_found(chain: Any) -> None:
    html = ("text/html",)
    wf = chain(one=(html, PageError("log in first", kind="login")), two=(html, lambda page: None))
    with pytest.raises(PageError) as caught:
        wf.extract(HTML)
    assert caught.value.kind == "login"


def test_a_type_that_nobody_takes_is_told_and_so_is_having_nobody(chain: Any) -> None:
    with pytest.raises(PageError, match="no extractor takes image/gif") as caught:
        chain(one=(("text/html",), FOUND)).extract(Page(url=URL, body=b"x", content_type="image/gif"))
    assert caught.value.kind == "unsupported_type"
    with pytest.raises(NotConfigured, match="webfetch-extract-html"):
        chain().extract(HTML)


def test_a_document_without_an_address_gets_the_pages_last(chain: Any) -> None:
    wf = chain(one=(("text/html",), Document(url="", text="t")))
    assert wf.extract(HTML).url == f"{URL}final"


@pytest.mark.parametrize(("given", "media"), [("Text/HTML ; q=1", "text/html"), ("", ""), (";", "")])
def test_media_types(given: str, media: str) -> None:
    assert media_type(given) == media


def test_workers_cannot_rebuild_what_the_host_passed_in(chain: Any) -> None:
    host = chain(one=(("text/html",), FOUND)).host
    assert worker_spec(host.manager, host.settings, host.environ) is None
    assert host.workers() is None


def test_a_worker_builds_the_chain_that_the_host_has(tmp_path: Path) -> None:
    settings = Settings(home=str(tmp_path), allow_plugins=("extract_html",))
    with Webfetch(settings, environ={}) as wf:
        spec = worker_spec(wf.host.manager, settings, {})
        assert spec is not None
        body = (
            b"<html><body><article><p>"
            + b"The keeper lights the lamp every evening. " * 20
            + b"</p></article>"
        )
        page = Page(url=URL, final_url=URL, body=body, content_type="text/html")
        here, there = wf.extract(page), worker_factory(spec.payload)(page)
    assert here is not None
    assert here == there
