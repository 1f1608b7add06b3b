"""The engine: one HTTP call, and one pure reading of its answer."""

from __future__ import annotations

from typing import Any

from webfetch_core.api import (
    BadResponse,
    Freshness,
    PluginContext,
    ProviderError,
    QuotaExceeded,
    SearchHit,
    SearchRequest,
    error_json,
    rows,
    text_at,
    with_sites,
)

from .settings import GazetteSettings

SINCE = {Freshness.REALTIME: "1d", Freshness.RECENT: "30d"}
"""The service's own words for how old an article may be; an answer that is stable may be of any age."""


class Gazette:
    """Articles of the archive. Holds no state, so any number of threads may call it."""

    def __init__(self, settings: GazetteSettings, context: PluginContext) -> None:
        self._settings = settings
        self._http = context.http
        self._key = context.environ["GAZETTE_API_KEY"]

    def search(self, request: SearchRequest) -> list[SearchHit]:
        """See ``webfetch_core.api.SearchEngine``."""
        asked = {
            "q": with_sites(request.query, request.include_domains, request.exclude_domains, limit=200),
            "size": request.limit,
            "edition": self._settings.edition,
            "since": SINCE.get(request.freshness) if request.freshness else None,  # None is not sent
        }
        try:
            reply = self._http.get(
                f"{self._settings.base_url}/search",
                params=asked,
                headers={"X-Gazette-Key": self._key},
                deadline=request.deadline,
            )
        except ProviderError as exc:
            # This service says 403 for a key that is good and used up; the core cannot know.
            if exc.status == 403 and error_json(exc).get("code") == "out_of_credit":
                raise QuotaExceeded("the month's searches are used up", status=403) from exc
            raise
        return parse(reply.json())[: request.limit]


def parse(data: Any) -> list[SearchHit]:
    """The hits in an answer of the service.

    Raises:
        BadResponse: it is not one of its answers; an empty list would mean that nothing was found.
    """
    if not isinstance(data, dict) or not isinstance(data.get("articles"), list):
        raise BadResponse("the archive's answer has no list of articles")
    return [
        SearchHit(
            url=row["link"],  # as it is: text_at would take &copy= for an entity
            title=text_at(row, "headline") or row["link"],
            snippet=text_at(row, "summary"),
            published=text_at(row, "printed") or None,
            extra={"edition": text_at(row, "edition")},
        )
        for row in rows(data, "articles")
        if isinstance(row.get("link"), str)
    ]
