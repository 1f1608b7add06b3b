"""The search engine: one post, one reading of the reply."""

from __future__ import annotations

from typing import Any

from webfetch_core.api import (
    AuthFailed,
    BadQuery,
    BadResponse,
    NotConfigured,
    PluginContext,
    SearchHit,
    SearchRequest,
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
        key = usable_key(self._context.environ.get(KEY, ""))
        body = search_body(request, self._settings)
        try:
            return self._asked(body, key, request.deadline)[: request.limit]
        except BadQuery as exc:
            self._context.log.info("request.refused", sent=body, reason=exc.message)
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


def usable_key(value: str) -> str:
    """The key without blanks around it.

    Raises:
        NotConfigured: there is none.
        AuthFailed: it cannot be sent in a header.
    """
    key = value.strip()
    if not key:
        raise NotConfigured(f"{KEY} is not set", fix="set it to the key of your account")
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise AuthFailed(
            f"{KEY} holds characters that no key has, such as a line break", fix="copy the key once more"
        )
    return key
