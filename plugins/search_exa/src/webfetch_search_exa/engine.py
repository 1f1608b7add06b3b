"""The search engine: one post, one reading of the reply."""

from __future__ import annotations

from typing import Any

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
        key = usable_key(self._context.environ.get(KEY, ""))
        body = search_body(request, self._settings, self._context.clock.time())
        found = self._asked(body, key, request.deadline)
        if isinstance(found, BadQuery):
            self._context.log.info("request.refused", sent=body, reason=found.message)
        # Raised here, and not where it was caught: a chained error would show what it was made of.
        if isinstance(found, WebfetchError):
            raise found
        return found[: request.limit]

    def _asked(
        self, body: dict[str, Any], key: str, deadline: float | None
    ) -> list[SearchHit] | WebfetchError:
        try:
            reply = self._context.http.post(
                self._url, json=body, headers={"x-api-key": key}, deadline=deadline
            )
            return hits_of(reply.json(), key)
        except ProviderError as exc:
            return judged(exc, key)
        except WebfetchError as exc:
            return exc


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
