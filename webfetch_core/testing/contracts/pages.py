"""Contracts of fetchers and extractors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any, ClassVar

import pytest
from attrs import asdict, evolve

from ...errors import PageError, ProviderError, Refused, Unavailable, WebfetchError
from ...models import Document, FetchRequest, Page
from ...providers import ExtractTraits, FetchTraits, Provider
from ...runtime.replies import check_document, check_page
from ...stages import Extractor, Fetcher
from ..context import FakeContext, loopback_http
from ..service import LoopbackService
from . import inputs
from .base import ProviderContract, concurrently
from .inputs import Input
from .outcomes import must_raise, value_or_error

HTML = b"""<!doctype html><html lang="en">
<head><meta charset="utf-8"><title>The lighthouse of Tarn</title></head>
<body><nav><a href="/">Home</a></nav><article><h1>The lighthouse of Tarn</h1>
<p>The lighthouse of Tarn is 41 metres high and was built in 1887 on the northern cliff, where the
currents are strong and the ferries from the mainland pass twice a day in summer.</p>
<p>Its light is seen from thirty kilometres away. The keeper's house is a museum today, with a
collection of lamps, lenses and logbooks, and it is open from May to September.</p></article></body></html>"""


class FetcherContract(ProviderContract):
    """Works as it stands for a fetcher of http. For another scheme set ``good_url`` and ``bad_url``,
    give ``expected`` (bytes in the page), and override ``subject`` so that it can serve them."""

    stage = "fetch"
    protocol = Fetcher
    traits_type = FetchTraits

    INPUTS: ClassVar[Mapping[str, Input]] = {
        "good_url": Input("a string, the URL of a page that is there", lambda v: isinstance(v, str)),
        "bad_url": Input("a string, the URL of a page that is not there", lambda v: isinstance(v, str)),
        "expected": Input(
            "bytes that are in the page at good_url", lambda v: isinstance(v, bytes) and len(v) > 0
        ),
    }

    good_url: ClassVar[str] = ""
    bad_url: ClassVar[str] = ""
    expected: ClassVar[bytes] = b"41 metres high"

    @pytest.fixture
    def site(self) -> Iterator[LoopbackService]:
        """A web server that answers every path alike."""
        with LoopbackService(HTML.decode()) as site:
            yield site

    @pytest.fixture
    def context(self, tmp_path: Path, site: LoopbackService) -> Iterator[FakeContext]:
        context = self.make_context(tmp_path)
        with loopback_http(context.clock, allow=[site.host]) as http:
            yield context.having(http=http)

    def input_problems(self) -> Iterator[str]:
        found = list(super().input_problems())
        yield from found
        if not found and not self._serves_http(self.find_provider()):
            for name in ("good_url", "bad_url"):
                if not getattr(self, name):
                    yield (
                        f"{name} is not set: a fetcher of other schemes than http needs a URL of its own "
                        "for a page that is there, and one for a page that is not"
                    )

    def _serves_http(self, declared: Provider[Any]) -> bool:
        return "http" in getattr(declared.traits, "schemes", ("http",))

    @pytest.fixture
    def web(self, declared: Provider[Any], site: LoopbackService) -> LoopbackService:
        """The web server; skips for a fetcher of other schemes."""
        if not self._serves_http(declared):
            pytest.skip("this fetcher does not serve http")
        return site

    def _request(self, context: FakeContext, url: str, seconds: float = 10.0) -> FetchRequest:
        return FetchRequest(url=url, deadline=context.clock.monotonic() + seconds, purpose="user")

    def test_fetches_bytes(self, subject: Any, context: FakeContext, site: LoopbackService) -> None:
        url = self.good_url or site.url("/lighthouse")
        page = check_page(subject.fetch(self._request(context, url)))
        assert self.expected in page.body
        assert page.url == url, "the page keeps the URL that was asked for"
        assert page.final_url, "final_url says where the page came from"
        assert page.content_type, "content_type is what the page says it is"
        assert all(name == name.lower() for name in page.headers), "header names are lower case"

    def test_a_missing_page_is_an_error(
        self, subject: Any, context: FakeContext, site: LoopbackService
    ) -> None:
        site.answer("no such page", status=404)
        request = self._request(context, self.bad_url or site.url("/missing"))
        error = must_raise(
            PageError, partial(subject.fetch, request), "for a page that is not there",
            'PageError(message, kind="not_found")',
        )  # fmt: skip
        assert error.kind == "not_found", f"for a page that is not there, the kind is {error.kind!r}"

    def test_a_scheme_that_is_not_its_own_is_refused(self, subject: Any, context: FakeContext) -> None:
        for url in ("file:///etc/passwd", "ftp://files.example/x", "javascript:alert(1)", "nonsense", ""):
            request = self._request(context, url)
            must_raise(WebfetchError, partial(subject.fetch, request), f"for {url!r}", "Refused or PageError")

    def test_server_errors_are_no_content(
        self, subject: Any, context: FakeContext, web: LoopbackService
    ) -> None:
        for status in (500, 502, 503):
            web.answer(HTML.decode(), status=status)
            request = self._request(context, web.url(f"/{status}"))
            must_raise(
                ProviderError, partial(subject.fetch, request), f"for status {status}",
                "Unavailable, Blocked or PageError",
            )  # fmt: skip

    def test_nobody_listening_is_unavailable(
        self, subject: Any, context: FakeContext, web: LoopbackService
    ) -> None:
        url = web.url("/gone")
        web.close()
        request = self._request(context, url, seconds=3)
        must_raise(Unavailable, partial(subject.fetch, request), "where nobody listens")

    def test_private_hosts_are_refused_unless_allowed(
        self, declared: Provider[Any], tmp_path: Path, web: LoopbackService
    ) -> None:
        context = self.make_context(tmp_path)
        with loopback_http(context.clock) as http:
            guarded = self.build(declared, context.having(http=http))
            request = self._request(context, web.url("/secret"))
            must_raise(
                Refused, partial(guarded.fetch, request),
                "for a private host (context.http.fetch_page refuses it, a client of your own does not)",
            )  # fmt: skip
            self._close(guarded)
        assert not web.requests, "the request was sent before it was refused"

    def test_keeps_to_the_deadline(self, subject: Any, context: FakeContext, web: LoopbackService) -> None:
        web.answer(hang=True)
        started = monotonic()
        request = self._request(context, web.url("/slow"), seconds=0.3)
        must_raise(
            ProviderError, partial(subject.fetch, request), "for a server that never answers", "TimedOut"
        )
        assert monotonic() - started < 2.0, "the deadline of 0.3 s was passed"

    def test_concurrent_calls_agree(
        self, subject: Any, context: FakeContext, site: LoopbackService, declared: Provider[Any]
    ) -> None:
        url = self.good_url or site.url("/lighthouse")

        def work() -> bytes:
            body: bytes = subject.fetch(self._request(context, url)).body
            return body

        alone = work()
        assert all(found == alone for found in concurrently(min(4, declared.max_concurrency), work))


class ExtractorContract(ProviderContract):
    """Set ``page`` (of a type that it takes) and ``expected`` (text that must be in the document).

    What cannot be read is None, or a clear error: a WebfetchError, as PageError with its kind.
    """

    stage = "extract"
    protocol = Extractor
    traits_type = ExtractTraits

    INPUTS: ClassVar[Mapping[str, Input]] = {
        "page": Input(
            "a webfetch_core.api.Page, its body bytes and its content_type not blank", inputs.is_page
        ),
        "expected": inputs.TEXT,
        "title": Input("a string", lambda v: isinstance(v, str)),
    }

    page: ClassVar[Page] = Page(
        url="https://tarn.example/lighthouse",
        final_url="https://tarn.example/en/lighthouse",
        body=HTML,
        content_type="text/html; charset=utf-8",
        headers={"content-type": "text/html; charset=utf-8"},
    )
    expected: ClassVar[str] = "41 metres high"
    title: ClassVar[str] = ""
    """What the title must contain, if the page has one."""

    def test_takes_the_type_of_its_page(self, declared: Provider[Any]) -> None:
        traits = declared.traits or ExtractTraits()
        kind = self.page.content_type.partition(";")[0].strip()
        taken = getattr(traits, "content_types", ())
        assert {kind, f"{kind.partition('/')[0]}/*", "*/*"} & set(taken), f"{kind} is not among {taken}"

    def test_extracts_a_document(self, subject: Any) -> None:
        document = check_document(subject.extract(self.page))
        assert document is not None, "the page of this contract must give a document"
        text = " ".join(document.text.split())
        assert self.expected in text, f"expected text is not in the document: {text!r:.300}"
        assert self.title in document.title, f"the title is {document.title!r}, without {self.title!r}"
        assert document.url in (self.page.url, self.page.final_url), (
            f"the document's url is {document.url!r}: give it page.final_url or page.url"
        )
        assert "\r" not in document.text, "the text has carriage returns: lines end with \\n"
        assert "\x00" not in document.text, "the text has NUL characters"

    def test_nothing_in_it_is_none_or_a_clear_error(self, subject: Any) -> None:
        for body in (b"", b"   \n", b"<html><body></body></html>"):
            self._document_or_error(subject, body, f"for a page of {body!r}")

    def test_any_bytes_are_survived(self, subject: Any) -> None:
        body = self.page.body
        for damaged, what in (
            (body[: len(body) // 2], "the first half of the page"),
            (body[len(body) // 3 :], "the last two thirds of the page"),
            (b"\xff\xfe" + body, "the page behind two bytes that are no UTF-8"),
            (b"\x00" * 1_000, "a thousand NUL bytes"),
            (bytes(range(256)) * 20, "every byte there is"),
            (body * 20, "the page twenty times over"),
            (b"<div>" * 3_000 + b"deep", "3,000 nested tags"),
        ):
            self._document_or_error(subject, damaged, f"for {what}")

    def _document_or_error(self, subject: Any, body: bytes, when: str) -> Document | None:
        return value_or_error(
            lambda: check_document(subject.extract(evolve(self.page, body=body))),
            when,
            'return None, or raise PageError(message, kind="bad_encoding") or the like of webfetch_core.api',
        )

    def test_the_page_is_left_alone(self, subject: Any) -> None:
        before = asdict(self.page)
        subject.extract(self.page)
        assert asdict(self.page) == before

    def test_same_page_same_document(self, subject: Any) -> None:
        assert subject.extract(self.page) == subject.extract(self.page)

    def test_concurrent_calls_agree(self, subject: Any, declared: Provider[Any]) -> None:
        alone = subject.extract(self.page)
        threads = min(4, declared.max_concurrency)
        assert all(d == alone for d in concurrently(threads, lambda: subject.extract(self.page)))
