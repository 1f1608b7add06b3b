"""Contract of language models."""

from __future__ import annotations

import json
import traceback
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import pytest

from ...errors import ProviderError, WebfetchError
from ...providers import Provider
from ...stages import LLM
from ..context import FakeContext, loopback_http
from ..service import LoopbackService
from . import inputs
from .base import CANARY, ProviderContract
from .inputs import Input
from .outcomes import must_raise
from .search import missing_base_url

_MESSAGES = ({"role": "user", "content": "How high is the lighthouse? It is 41 metres high."},)
_SCHEMA = {"type": "object", "properties": {"height": {"type": "string"}}, "required": ["height"]}


class LLMContract(ProviderContract):
    """Set ``reply`` to a recorded answer of the service and ``expected`` to the JSON in it."""

    stage = "llm"
    protocol = LLM

    INPUTS: ClassVar[Mapping[str, Input]] = {
        "reply": Input(
            inputs.BODY.must, inputs.BODY.holds, "a recorded answer of the service, the body as Python data"
        ),
        "expected": Input("what JSON can hold", inputs.is_json, "the JSON that complete returns for reply"),
        "base_url_setting": inputs.BASE_URL_SETTING,
        "base_url_path": inputs.BASE_URL_PATH,
    }

    reply: ClassVar[Any] = None
    expected: ClassVar[Any] = None
    base_url_setting: ClassVar[str] = "base_url"
    base_url_path: ClassVar[str] = ""

    def input_problems(self) -> Iterator[str]:
        found = list(super().input_problems())
        yield from found or missing_base_url(self, self.find_provider())

    @pytest.fixture
    def service(self) -> Iterator[LoopbackService]:
        """The played service."""
        with LoopbackService(self.reply) as service:
            yield service

    @pytest.fixture
    def context(self, tmp_path: Path, service: LoopbackService) -> Iterator[FakeContext]:
        context = self.make_context(tmp_path)
        address = (service.host, service.port)
        with loopback_http(context.clock, trusted=[address], secrets=self._keys()) as http:
            yield context.having(http=http)

    @pytest.fixture
    def subject(
        self, declared: Provider[Any], context: FakeContext, service: LoopbackService
    ) -> Iterator[Any]:
        address = {self.base_url_setting: service.base_url + self.base_url_path}
        built = self.build(declared, context, **address)
        yield built
        self._close(built)

    def test_completes_with_json(self, subject: Any) -> None:
        answer = subject.complete(_MESSAGES, _SCHEMA)
        json.dumps(answer)
        assert answer == self.expected, f"complete returned {answer!r:.200} for reply"

    def test_messages_are_sent(self, subject: Any, service: LoopbackService) -> None:
        subject.complete(_MESSAGES, _SCHEMA)
        assert b"How high is the lighthouse" in service.requests[-1].body

    @pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 429, 500, 503])
    def test_error_statuses_raise(self, subject: Any, service: LoopbackService, status: int) -> None:
        service.answer({"error": {"message": f"no {CANARY}"}}, status=status)
        error = must_raise(
            ProviderError, partial(subject.complete, _MESSAGES, _SCHEMA), f"for status {status}",
            "AuthFailed, QuotaExceeded, RateLimited, BadResponse or Unavailable",
        )  # fmt: skip
        told = "".join(traceback.format_exception_only(error))
        assert CANARY not in told, f"the key shows in {told!r}"

    @pytest.mark.parametrize("body", [b"", b"null", b"{", b"<html>sign in</html>"])
    def test_a_broken_answer_raises(self, subject: Any, service: LoopbackService, body: bytes) -> None:
        service.answer(body, content_type="application/json")
        complete = partial(subject.complete, _MESSAGES, _SCHEMA)
        must_raise(WebfetchError, complete, f"for a broken answer, {body!r}", "BadResponse")
