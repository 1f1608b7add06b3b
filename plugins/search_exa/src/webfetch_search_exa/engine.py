"""The search engine: one post, one reading of the reply."""

from __future__ import annotations

from typing import Any

from webfetch_core.api import (
    BadQuery,
    PluginContext,
    ProviderError,
    SearchHit,
    SearchRequest,
    api_key,
    without_secret,
)

from .request import endpoint, search_body
from .settings import ExaSettings
from .verdict import KEY, hits_of, judged


class ExaEngine:
    """Exa. Thread-safe: calls share nothing but the HTTP client."""

    def __init__(self, settings: ExaSettings, context: PluginContext) -> None:
        self._settings = settings
        self._context = context
        self._url = endpoint(settings.base_url)

    def search(self, request: SearchRequest) -> list[SearchHit]:
        """See :class:`webfetch_core.api.SearchEngine`."""
        if not request.query.strip():
            raise BadQuery("the query is empty", fix="ask for something")
        key = api_key(self._context.environ, KEY)
        body = search_body(request, self._settings, self._context.clock.time())
        try:
            return self._asked(body, key, request.deadline)[: request.limit]
        except BadQuery:
            self._context.log.warning("request.refused", sent=without_secret(body, key))
            raise

    def _asked(self, body: dict[str, Any], key: str, deadline: float | None) -> list[SearchHit]:
        try:
            reply = self._context.http.post(
                self._url, json=body, headers={"x-api-key": key}, deadline=deadline
            )
            data = reply.json()
        except ProviderError as exc:
            raise judged(exc, key) from None  # what it was made of has a body, which may repeat the key
        return hits_of(data, key)
