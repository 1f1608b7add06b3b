"""The search engine: one form post, one reading of the reply."""

from __future__ import annotations

from urllib.parse import urlsplit

from webfetch_core.api import BadQuery, Clock, SearchHit, SearchRequest, TimedOut

from .request import accept_language, allowed, form_fields
from .settings import DdgSettings
from .transport import DdgTransport
from .verdict import hits_of


class DdgEngine:
    """DuckDuckGo. Thread-safe: calls share nothing but the transport's connection pool."""

    def __init__(self, settings: DdgSettings, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self._transport = DdgTransport(settings.base_url, settings.proxy, settings.timeout_s)

    def search(self, request: SearchRequest) -> list[SearchHit]:
        """See :class:`webfetch_core.api.SearchEngine`."""
        fields = form_fields(request, self._settings.region)
        if not request.query.strip() or not fields["q"]:
            raise BadQuery("the query is empty", fix="ask for something")
        timeout_s = self._settings.timeout_s
        if request.deadline is not None:
            timeout_s = min(timeout_s, request.deadline - self._clock.monotonic())
        if timeout_s <= 0:
            raise TimedOut("no time was left to ask DuckDuckGo")
        reply = self._transport.send(fields, self._headers(fields["kl"]), timeout_s)
        hits = hits_of(reply, now=self._clock.time())
        kept = [h for h in hits if allowed(h.url, request.include_domains, request.exclude_domains)]
        return kept[: request.limit]

    def _headers(self, region: str) -> dict[str, str]:
        """What a browser sends when the form is posted from its own page."""
        parts = urlsplit(self._settings.base_url)
        origin = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
        return {
            "Accept-Language": accept_language(region),
            "Origin": origin,
            "Referer": f"{origin}/",
            "Sec-Fetch-Site": "same-origin",
        }
