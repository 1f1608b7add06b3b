"""The search engine: one POST, one reading of the answer."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from webfetch_core.api import (
    AuthFailed,
    BadQuery,
    Blocked,
    NotConfigured,
    PluginContext,
    ProviderError,
    SearchHit,
    SearchRequest,
    error_json,
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
        key = key_of(self._context.environ)
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
        error = refusal(status, hide(data, key), retry_after_s=wait)
        if isinstance(error, BadQuery):
            self._context.log.warning("request.refused", status=status, sent=hide(sent, key))
        if error is not None:
            raise error
        if failed is not None:
            raise failed
        return data


def key_of(environ: Mapping[str, str]) -> str:
    """The key, fit for a header.

    Raises:
        NotConfigured: it is not set.
        AuthFailed: it has characters that no key has; they are not shown.
    """
    key = environ.get(KEY, "").strip()
    if not key:
        raise NotConfigured(f"{KEY} is not set", fix=FIX_KEY)
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise AuthFailed(
            f"{KEY} has characters that no key has: a blank, a line break or an accent", fix=FIX_KEY
        )
    return key


def hide(data: Any, key: str) -> Any:
    """``data`` with the key struck out of every text in it: services echo what they refuse."""
    if isinstance(data, str):
        return data.replace(key, "***") if len(key) >= 4 else data
    if isinstance(data, Mapping):
        return {name: hide(value, key) for name, value in data.items()}
    if isinstance(data, list):
        return [hide(value, key) for value in data]
    return data
