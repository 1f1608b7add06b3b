"""The search engine: one post, one reading of the reply."""

from __future__ import annotations

from typing import Any

from webfetch_core.api import (
    BadQuery,
    BadResponse,
    PluginContext,
    SearchHit,
    SearchRequest,
    api_key,
    without_secret,
)

from .request import endpoint, search_body
from .settings import PerplexitySettings
from .verdict import KEY, body_of, hits_of, refusal


class PerplexityEngine:
    """Perplexity's Search API. Thread-safe: calls share nothing but the HTTP client."""

    def __init__(self, settings: PerplexitySettings, context: PluginContext) -> None:
        self._settings = settings
        self._context = context
        self._url = endpoint(settings.base_url)

    def search(self, request: SearchRequest) -> list[SearchHit]:
        """See :class:`webfetch_core.api.SearchEngine`."""
        if not request.query.strip():
            raise BadQuery("the query is empty", fix="ask for something")
        key = api_key(self._context.environ, KEY)
        body = search_body(request, self._settings)
        try:
            return self._asked(body, key, request.deadline)[: request.limit]
        except BadQuery:
            self._context.log.warning("request.refused", sent=without_secret(body, key))
            raise

    def _asked(self, body: dict[str, Any], key: str, deadline: float | None) -> list[SearchHit]:
        # Statuses are judged here: Perplexity says in a header of its own when to come back.
        reply = self._context.http.post(
            self._url,
            json=body,
            headers={"Authorization": f"Bearer {key}"},
            deadline=deadline,
            raise_for_status=False,
        )
        if reply.status >= 300:
            raise refusal(reply, key, self._context.clock.time())
        data, unread = body_of(reply)
        if unread:
            raise BadResponse(unread, status=reply.status)
        return hits_of(data, key)
