"""Contract of search engines."""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any, ClassVar

import pytest
from attrs import fields_dict

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
from . import inputs
from .base import CANARY, ProviderContract, concurrently
from .guard import is_overridden
from .inputs import Input
from .outcomes import must_raise, value_or_error

_ODD_QUERIES = ("東京", "c++ & <b>", "a" * 400, '"quoted" -minus site:x.example', "x\ty", "👩‍👩‍👧", "%00")

# What services put around the words they found, and what they write for the rest.
_MARKUP = re.compile(r"&(?:amp|quot|apos|nbsp|#\d+|#x[0-9a-f]+);|</?(?:b|em|strong|mark)>", re.IGNORECASE)


def missing_base_url(contract: Any, declared: Provider[Any]) -> Iterator[str]:
    """Why the service that ``contract`` plays would never be asked, if that is so."""
    name = contract.base_url_setting
    if declared.settings is None or name not in fields_dict(declared.settings):
        yield (
            f"base_url_setting is {name!r}, which is no setting of {declared.name}: the service is played on "
            "loopback, so the provider must take its address from a field of Provider.settings"
        )


class SearchEngineContract(ProviderContract):
    """For an engine that asks an HTTP service, set ``reply`` to a recorded answer with at least two hits.

    The service is then played on loopback, its address given as the setting ``base_url_setting``.
    For any other engine leave ``reply`` as it is and override the fixture ``subject`` or
    ``context`` so that ``query`` finds at least two hits; the tests of the wire are skipped.
    """

    stage = "search"
    protocol = SearchEngine
    traits_type = SearchTraits

    INPUTS: ClassVar[Mapping[str, Input]] = {
        "query": inputs.TEXT,
        "reply": inputs.BODY,
        "empty_reply": inputs.BODY,
        "base_url_setting": inputs.BASE_URL_SETTING,
        "base_url_path": inputs.BASE_URL_PATH,
    }

    query: ClassVar[str] = "lighthouse"
    reply: ClassVar[Any] = None
    """The body of the service's answer: bytes, text, or JSON as Python data."""
    empty_reply: ClassVar[Any] = None
    """The body of its answer when nothing was found."""
    base_url_setting: ClassVar[str] = "base_url"
    base_url_path: ClassVar[str] = ""
    """What follows the host in the base URL (``/v1``)."""

    def input_problems(self) -> Iterator[str]:
        found = list(super().input_problems())
        yield from found
        if found:
            return
        declared = self.find_provider()
        own_input = any(is_overridden(type(self), name) for name in ("subject", "context", "service"))
        if self.reply is not None:
            yield from missing_base_url(self, declared)
        elif not own_input and getattr(declared.traits, "network", True):
            yield (
                "reply is not set: set it to a recorded answer of the service with at least two hits. "
                "For an engine that asks no HTTP service, declare SearchTraits(network=False), or "
                "override the fixture subject or context so that query finds two hits"
            )

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
        assert len(found) >= 2, (
            f"{len(found)} hits for query {self.query!r}: reply, or what subject searches, must hold two"
        )
        for hit in found:
            assert isinstance(hit, SearchHit), f"search returned a {type(hit).__name__} among its hits"
        schemes = self._own_schemes()
        kept = check_hits(found, request, self.provider, schemes)
        lost = [hit.url for hit in found if hit.url not in {hit.url for hit in kept}]
        assert len(kept) == len(found), (
            f"some hits have no usable URL ({lost!r:.200}), or one that came before: leave them out"
        )
        untitled = [hit.url for hit in kept if not hit.title.strip()]
        assert not untitled, f"hits without a title: {', '.join(untitled)}"

    def _own_schemes(self) -> tuple[str, ...]:
        hook = getattr(self.loaded_plugin(), "webfetch_fetchers", None)
        return tuple(s for p in (hook() if hook else ()) for s in getattr(p.traits, "schemes", ()))

    def test_keeps_to_the_limit(self, subject: Any, context: FakeContext) -> None:
        for limit in (1, 2):
            found = subject.search(self._request(context, limit=limit))
            assert len(found) <= limit, f"{len(found)} hits for request.limit = {limit}"

    def test_text_is_plain(self, subject: Any, context: FakeContext) -> None:
        for hit in subject.search(self._request(context)):
            for text in (hit.title, hit.snippet):
                assert isinstance(text, str), f"title and snippet are text, not {text!r:.80}"
                assert not _MARKUP.search(text), (
                    f"title and snippet are plain text: use plain_text of webfetch_core.api on {text!r:.200}"
                )

    def test_nothing_found_is_an_empty_sequence(
        self, subject: Any, context: FakeContext, wire: LoopbackService
    ) -> None:
        if self.empty_reply is None:
            pytest.skip("empty_reply is not set")
        wire.answer(self.empty_reply)
        found = list(subject.search(self._request(context)))
        assert not found, f"empty_reply gave {len(found)} hits: {found!r:.200}"

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
        must_raise(kinds, partial(subject.search, self._request(context)), f"for status {status}")

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
        search = partial(subject.search, self._request(context))
        must_raise(ProviderError, search, f"for a broken answer, {body!r}", "BadResponse")

    def test_keeps_to_the_deadline(self, subject: Any, context: FakeContext, wire: LoopbackService) -> None:
        wire.answer(hang=True)
        started = monotonic()
        search = partial(subject.search, self._request(context, seconds=0.3))
        must_raise(ProviderError, search, "for a service that never answers", "TimedOut")
        took = monotonic() - started
        assert took < 2.0, f"took {took:.1f} s for a deadline of 0.3 s: pass deadline=request.deadline on"

    def test_no_secret_in_errors(self, subject: Any, context: FakeContext, wire: LoopbackService) -> None:
        if not self._keys():
            pytest.skip("this engine has no key")
        for body, status in (
            ({"error": f"key {CANARY} is wrong"}, 401),
            (f"oops {CANARY}", 500),
            (f"not JSON {CANARY}", 200),
        ):
            wire.answer(body, status=status, content_type="application/json")
            search = partial(subject.search, self._request(context))
            error = must_raise(WebfetchError, search, f"for status {status}, {body!r:.40}", "BadResponse")
            told = "".join(traceback.format_exception_only(error))
            assert CANARY not in told, f"the key shows in {told!r}"

    def test_any_query_gives_hits_or_a_clear_error(self, subject: Any, context: FakeContext) -> None:
        for query in _ODD_QUERIES:
            search = partial(subject.search, self._request(context, query=query))
            found = value_or_error(search, f"for the query {query!r:.40}", "raise BadQuery, or return hits")
            assert found is None or isinstance(found, Sequence), f"it returned a {type(found).__name__}"

    def test_concurrent_calls_agree(
        self, subject: Any, context: FakeContext, declared: Provider[Any]
    ) -> None:
        def work() -> list[str]:
            return [hit.url for hit in subject.search(self._request(context))]

        alone = work()
        assert all(found == alone for found in concurrently(min(4, declared.max_concurrency), work))
