"""The search engine: one GET, one reading of the reply."""

from __future__ import annotations

from webfetch_core.api import (
    BadQuery,
    NotConfigured,
    PluginContext,
    ProviderError,
    SearchHit,
    SearchRequest,
    api_key,
    without_secret,
)

from .request import accept_language, endpoint, plain_query, search_fields
from .settings import SearxngSettings
from .verdict import KEY, hits_of, judged


class SearxngEngine:
    """One SearXNG instance. Thread-safe: calls share nothing but the HTTP client.

    Raises:
        NotConfigured: no instance is named; there is none to fall back on.
    """

    def __init__(self, settings: SearxngSettings, context: PluginContext) -> None:
        if not settings.base_url:
            raise NotConfigured(
                "no SearXNG instance is named",
                fix="set plugins.search_searxng.base_url to your instance, with json in its search.formats",
            )
        self._settings = settings
        self._context = context
        self._url = endpoint(settings.base_url)

    def search(self, request: SearchRequest) -> list[SearchHit]:
        """See :class:`webfetch_core.api.SearchEngine`."""
        if not plain_query(request.query):
            raise BadQuery("the query is empty", fix="ask for something")
        key = api_key(self._context.environ, KEY, optional=True)
        fields = search_fields(request, self._settings)
        try:
            return self._asked(fields, key, request.deadline)[: request.limit]
        except BadQuery:
            self._context.log.warning("request.refused", sent=without_secret(fields, key))
            raise

    def _asked(self, fields: dict[str, str], key: str, deadline: float | None) -> list[SearchHit]:
        headers = {
            "Accept": "application/json",
            "Accept-Language": accept_language(fields.get("language", "")),
            **self._key_header(key),
        }
        try:
            reply = self._context.http.get(self._url, params=fields, headers=headers, deadline=deadline)
            data = reply.json()
        except ProviderError as exc:
            raise judged(exc, key) from None  # what it was made of has a body, which may repeat the key
        return hits_of(data, key)

    def _key_header(self, key: str) -> dict[str, str]:
        name = self._settings.api_key_header
        if not key:
            return {}
        return {name: f"Bearer {key}" if name.lower() == "authorization" else key}
