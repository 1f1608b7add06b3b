"""The search engine: one GET, one reading of the reply."""

from __future__ import annotations

from webfetch_core.api import (
    AuthFailed,
    BadQuery,
    NotConfigured,
    PluginContext,
    ProviderError,
    SearchHit,
    SearchRequest,
    WebfetchError,
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
        key = usable_key(self._context.environ.get(KEY, ""))
        fields = search_fields(request, self._settings)
        found = self._asked(fields, key, request.deadline)
        if isinstance(found, BadQuery):
            self._context.log.info("request.refused", sent=fields, reason=found.message)
        # Raised here, and not where it was caught: a chained error would show what it was made of.
        if isinstance(found, WebfetchError):
            raise found
        return found[: request.limit]

    def _asked(
        self, fields: dict[str, str], key: str, deadline: float | None
    ) -> list[SearchHit] | WebfetchError:
        headers = {
            "Accept": "application/json",
            "Accept-Language": accept_language(fields.get("language", "")),
            **self._key_header(key),
        }
        try:
            reply = self._context.http.get(self._url, params=fields, headers=headers, deadline=deadline)
            return hits_of(reply.json(), key)
        except ProviderError as exc:
            return judged(exc, key)
        except WebfetchError as exc:
            return exc

    def _key_header(self, key: str) -> dict[str, str]:
        name = self._settings.api_key_header
        if not key:
            return {}
        return {name: f"Bearer {key}" if name.lower() == "authorization" else key}


def usable_key(value: str) -> str:
    """The key without blanks around it; empty for none.

    Raises:
        AuthFailed: it cannot be sent in a header.
    """
    key = value.strip()
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise AuthFailed(
            f"{KEY} holds characters that no key has, such as a line break", fix="copy the key once more"
        )
    return key
