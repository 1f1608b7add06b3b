"""The search engine: one POST, one reading of the answer."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from webfetch_core.api import (
    BadQuery,
    Blocked,
    PluginContext,
    ProviderError,
    SearchHit,
    SearchRequest,
    api_key,
    error_json,
    without_secret,
)

from .parse import parse
from .refusal import FIX_KEY, KEY, refusal
from .request import body_of, endpoint
from .settings import SerperSettings


class SerperEngine:
    """Google by Serper. Thread-safe: it holds no state."""

    def __init__(self, settings: SerperSettings, context: PluginContext) -> None:
        self._settings = settings
        self._context = context
        self._http = context.http  # one for all threads: it paces their calls
        self._url = endpoint(settings.base_url)

    def search(self, request: SearchRequest) -> list[SearchHit]:
        """See :class:`webfetch_core.api.SearchEngine`."""
        if not request.query.strip():
            raise BadQuery("the query is empty", fix="ask for something")
        key = api_key(self._context.environ, KEY, fix=FIX_KEY)
        sent = body_of(request, self._settings)
        data = self._ask(sent, key, request.deadline)
        now = datetime.fromtimestamp(self._context.clock.time(), UTC)
        return parse(data, now=now)[: request.limit]

    def _ask(self, sent: Mapping[str, Any], key: str, deadline: float | None) -> Any:
        failed: ProviderError | None = None
        try:
            reply = self._http.post(self._url, json=dict(sent), headers={"X-API-KEY": key}, deadline=deadline)
            status, data, wait = reply.status, reply.json(), None
        except Blocked:
            raise
        except ProviderError as exc:
            if exc.status is None or exc.status < 300:
                raise  # no answer, or one that is no JSON
            failed, status, data, wait = exc, exc.status, error_json(exc), exc.retry_after_s
        error = refusal(status, without_secret(data, key), retry_after_s=wait)
        if isinstance(error, BadQuery):
            self._context.log.warning("request.refused", status=status, sent=without_secret(sent, key))
        if error is not None:
            raise error
        if failed is not None:
            raise failed
        return data
