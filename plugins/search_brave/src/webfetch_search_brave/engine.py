"""The search engine: one GET, one reading of the answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from webfetch_core.api import (
    BadQuery,
    BadResponse,
    HttpReply,
    PluginContext,
    RateLimited,
    SearchHit,
    SearchRequest,
    api_key,
    without_secret,
)

from .parse import parse
from .rates import calls_per_s, tiers
from .refusal import FIX_KEY, KEY, refusal
from .request import endpoint, params_of
from .settings import BraveSettings

PATIENCE_S = 2.0
"""The longest pause after which a call is made again: that of a plan of one call a second."""


class BraveEngine:
    """Brave Search. Thread-safe: it holds no state but the pace of ``context.http``."""

    def __init__(
        self,
        settings: BraveSettings,
        context: PluginContext,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._settings = settings
        self._context = context
        self._http = context.http  # one for all threads: it paces their calls
        self._sleep = sleep
        self._url = endpoint(settings.base_url)

    def search(self, request: SearchRequest) -> list[SearchHit]:
        """See :class:`webfetch_core.api.SearchEngine`.

        A call that came too early for a plan of so many a second is made once more, if there is time:
        however well calls are spaced here, they may arrive closer together. Refused calls cost nothing.
        """
        if not request.query.strip():
            raise BadQuery("the query is empty", fix="ask for something")
        key = api_key(self._context.environ, KEY, fix=FIX_KEY)
        params = params_of(request, self._settings)
        try:
            data = self._ask(params, key, request.deadline)
        except RateLimited as exc:
            pause, deadline = exc.retry_after_s, request.deadline
            if pause is None or not 0 < pause <= PATIENCE_S:
                raise
            if deadline is not None and self._context.clock.monotonic() + pause >= deadline:
                raise
            self._sleep(pause)
            data = self._ask(params, key, deadline)
        return parse(data, extra_snippets=self._settings.extra_snippets)[: request.limit]

    def _ask(self, params: Mapping[str, Any], key: str, deadline: float | None) -> Any:
        """Make one call; return the JSON of an answer that is no refusal."""
        reply = self._http.get(
            self._url,
            params=params,
            headers={"Accept": "application/json", "X-Subscription-Token": key},
            deadline=deadline,
            raise_for_status=False,  # the headers of a refusal say how long to wait
        )
        self._keep_to_the_plan(reply)
        data, unread = self._read(reply)
        now = self._context.clock.time()
        error = refusal(reply.status, reply.headers, without_secret(data, key), now=now, unread=unread)
        if isinstance(error, BadQuery):
            self._context.log.warning(
                "request.refused", status=reply.status, sent=without_secret(params, key)
            )
        if error is not None:
            raise error
        return data

    def _keep_to_the_plan(self, reply: HttpReply) -> None:
        if self._settings.calls_per_s is None and (pace := calls_per_s(tiers(reply.headers))):
            self._http.pace(pace)

    @staticmethod
    def _read(reply: HttpReply) -> tuple[Any, str]:
        """The body's JSON, or what is to be said of one that has none."""
        try:
            return reply.json(), ""
        except BadResponse as exc:
            if reply.status < 300:
                raise
            return None, exc.message
