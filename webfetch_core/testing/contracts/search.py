"""Contract of search engines."""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import monotonic
from typing import Any, ClassVar

import pytest

from ...errors import (
    AuthFailed,
    Blocked,
    ProviderError,
    QuotaExceeded,
    RateLimited,
    Unavailable,
    WebfetchError,
)
from ...models import SearchHit, SearchRequest
from ...providers import Provider, SearchTraits
from ...runtime.replies import check_hits
from ...stages import SearchEngine
from ..context import FakeContext, loopback_http
from ..service import LoopbackService
from .base import CANARY, ProviderContract, concurrently

_ODD_QUERIES = ("東京", "c++ & <b>", "a" * 400, '"quoted" -minus site:x.example', "x\ty", "👩‍👩‍👧", "%00")


class SearchEngineContract(ProviderContract):
    """For an engine that asks an HTTP service, set ``reply`` to a recorded answer with at least two hits.

    The service is then played on loopback, its address given as the setting ``base_url_setting``.
    For any other engine leave ``reply`` as it is and override the fixture ``subject`` or
    ``context`` so that ``query`` finds at least two hits; the tests of the wire are skipped.
    """

    stage = "search"
    protocol = SearchEngine
    traits_type = SearchTraits

    query: ClassVar[str] = "lighthouse"
    reply: ClassVar[Any] = None
    """The body of the service's answer: bytes, text, or JSON as Python data."""
    empty_reply: ClassVar[Any] = None
    """The body of its answer when nothing was found."""
    base_url_setting: ClassVar[str] = "base_url"
    base_url_path: ClassVar[str] = ""
    """What follows the host in the base URL (``/v1``)."""

    @pytest.fixture
    def service(self) -> Iterator[LoopbackService | None]:
        """The played service, or None for an engine that asks none."""
        if self.reply is None:
            yield None
            return
        with LoopbackService(self.reply) as service:
            yield service

    @pytest.fixture
    def wire(self, service: LoopbackService | None) -> LoopbackService:
        """The played service; skips for an engine that asks none."""
        if service is None:
            pytest.skip("this engine asks no HTTP service: reply is not set")
        return service

    @pytest.fixture
    def context(self, tmp_path: Path, service: LoopbackService | None) -> Iterator[FakeContext]:
        context = self.make_context(tmp_path)
        if service is None:
            yield context
            return
        address, keys = (service.host, service.port), self._keys()
        with loopback_http(context.clock, trusted=[address], secrets=keys) as http:
            yield context.having(http=http)

    @pytest.fixture
    def subject(
        self, declared: Provider[Any], context: FakeContext, service: LoopbackService | None
    ) -> Iterator[Any]:
        extra = {} if service is None else {self.base_url_setting: service.base_url + self.base_url_path}
        built = self.build(declared, context, **extra)
        yield built
        self._close(built)

    def _request(self, context: FakeContext, seconds: float = 10.0, **fields: Any) -> SearchRequest:
        fields.setdefault("query", self.query)
        return SearchRequest(deadline=context.clock.monotonic() + seconds, **fields)

    # ---- the contract ------------------------------------------------------------------------------

    def test_finds_hits_with_usable_urls(self, subject: Any, context: FakeContext) -> None:
        request = self._request(context)
        found = subject.search(request)
        assert isinstance(found, Sequence), f"search returned a {type(found).__name__}, not a sequence"
        assert len(found) >= 2, "the input of this contract must give at least two hits"
        assert all(isinstance(hit, SearchHit) for hit in found)
        schemes = self._own_schemes()
        kept = check_hits(found, request, self.provider, schemes)
        assert len(kept) == len(found), "some hits have no usable URL, or one that came before"
        assert all(hit.title.strip() for hit in kept), "every hit has a title"

    def _own_schemes(self) -> tuple[str, ...]:
        hook = getattr(self.loaded_plugin(), "webfetch_fetchers", None)
        return tuple(s for p in (hook() if hook else ()) for s in getattr(p.traits, "schemes", ()))

    def test_keeps_to_the_limit(self, subject: Any, context: FakeContext) -> None:
        for limit in (1, 2):
            assert len(subject.search(self._request(context, limit=limit))) <= limit

    def test_text_is_plain(self, subject: Any, context: FakeContext) -> None:
        for hit in subject.search(self._request(context)):
            for text in (hit.title, hit.snippet):
                assert isinstance(text, str)
                assert "&amp;" not in text and "&quot;" not in text and "<b>" not in text, (
                    f"entities and tags are decoded by the engine: {text!r}"
                )

    def test_nothing_found_is_an_empty_sequence(
        self, subject: Any, context: FakeContext, wire: LoopbackService
    ) -> None:
        if self.empty_reply is None:
            pytest.skip("empty_reply is not set")
        wire.answer(self.empty_reply)
        assert list(subject.search(self._request(context))) == []

    @pytest.mark.parametrize(
        ("status", "kinds"),
        [
            (401, (AuthFailed,)),
            (403, (AuthFailed, Blocked)),
            (402, (QuotaExceeded,)),
            (429, (RateLimited, QuotaExceeded, Blocked)),
            (500, (Unavailable,)),
            (503, (Unavailable, Blocked)),
        ],
    )
    def test_error_statuses_are_told_apart(
        self,
        subject: Any,
        context: FakeContext,
        wire: LoopbackService,
        status: int,
        kinds: tuple[type[ProviderError], ...],
    ) -> None:
        if status in (401, 402) and not self._keys():
            kinds = (ProviderError,)  # no key to be wrong, no credit to be used up
        wire.answer({"error": {"message": "no"}}, status=status)
        with pytest.raises(ProviderError) as caught:
            subject.search(self._request(context))
        assert isinstance(caught.value, kinds), f"status {status} became {caught.value!r}"

    @pytest.mark.parametrize(
        "body",
        [
            b"",
            b"null",
            b"[]",
            b'{"results": [{"url": "https://cut.exam',
            b"<html><body>Sign in to continue</body></html>",
            b"\xff\xfe\x00garbage",
        ],
    )
    def test_a_broken_answer_is_an_error_not_an_empty_one(
        self, subject: Any, context: FakeContext, wire: LoopbackService, body: bytes
    ) -> None:
        wire.answer(body, content_type="application/json")
        with pytest.raises(ProviderError):
            subject.search(self._request(context))

    def test_keeps_to_the_deadline(self, subject: Any, context: FakeContext, wire: LoopbackService) -> None:
        wire.answer(hang=True)
        started = monotonic()
        with pytest.raises(ProviderError):
            subject.search(self._request(context, seconds=0.3))
        took = monotonic() - started
        assert took < 2.0, f"took {took:.1f} s for a deadline of 0.3 s"

    def test_no_secret_in_errors(self, subject: Any, context: FakeContext, wire: LoopbackService) -> None:
        if not self._keys():
            pytest.skip("this engine has no key")
        for body, status in (
            ({"error": f"key {CANARY} is wrong"}, 401),
            (f"oops {CANARY}", 500),
            (f"not JSON {CANARY}", 200),
        ):
            wire.answer(body, status=status, content_type="application/json")
            with pytest.raises(WebfetchError) as caught:
                subject.search(self._request(context))
            told = "".join(traceback.format_exception_only(caught.value))
            assert CANARY not in told, f"the key shows in {told!r}"

    def test_any_query_gives_hits_or_a_clear_error(self, subject: Any, context: FakeContext) -> None:
        for query in _ODD_QUERIES:
            try:
                found = subject.search(self._request(context, query=query))
            except WebfetchError:
                continue
            assert isinstance(found, Sequence)

    def test_concurrent_calls_agree(
        self, subject: Any, context: FakeContext, declared: Provider[Any]
    ) -> None:
        def work() -> list[str]:
            return [hit.url for hit in subject.search(self._request(context))]

        alone = work()
        assert all(found == alone for found in concurrently(min(4, declared.max_concurrency), work))
