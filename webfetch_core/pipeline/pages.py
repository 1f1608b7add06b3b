"""From a URL to a document: failure memory, page cache, fetchers, extractors, and back into the cache."""

from __future__ import annotations

from urllib.parse import urlsplit

from attrs import frozen

from ..errors import PageError, WebfetchError
from ..models import Document, FetchRequest, Freshness
from ..runtime.deadline import Deadline
from ..runtime.emitter import Scope
from ..runtime.host import Host, permission_mark
from .caching import CachedDocument, NegativeCache, PageCache, TolerantStore, lifetime
from .page_source import PageSource
from .urls import canonical

HURRIED = 0.9
"""Share of the usual time below which a page was not given a fair chance."""


@frozen(kw_only=True)
class PagePolicy:
    """How pages are to be had. ``freshness`` bounds the age of a cached page."""

    purpose: str = "search"
    force_fresh: bool = False
    cache_only: bool = False
    freshness: Freshness = Freshness.STABLE
    in_process: bool = False


class PageLoader:
    """Loads pages for one ``Webfetch``. Thread-safe; called in threads that may be left behind."""

    def __init__(self, host: Host, store: TolerantStore) -> None:
        self._host = host
        self._store = store
        self._source = PageSource(host)
        ttl = host.settings.ttl
        self._pages = PageCache(store, host.clock, ttl)
        self._failures = NegativeCache(store, host.clock, ttl)

    def load(self, url: str, policy: PagePolicy, *, scope: Scope, deadline: Deadline) -> Document:
        """Return the document behind ``url``, by ``deadline``.

        Raises:
            WebfetchError: why there is none.
        """
        web = urlsplit(url).scheme in ("http", "https")
        key = canonical(url)
        if web and not policy.force_fresh:
            cached = self._pages.get(key)
            self.tell_of_trouble(scope)
            if cached is not None and self._serves(cached, policy):
                scope.emit("page.cached", stage="fetch", target=url, outcome="hit", elapsed_s=0.0)
                return cached.document
        if policy.cache_only and web:
            raise PageError("it is not in the page cache, and this search may not use the network")
        if web and (failed := self._failures.recall(key, force_fresh=policy.force_fresh)) is not None:
            raise PageError(f"failed a moment ago: {failed.reason}", kind=failed.kind)
        # A page that was given less time than usual and did not make it is not to blame.
        hurried = deadline.remaining() < HURRIED * self._host.settings.fetch_timeout_s
        try:
            request = FetchRequest(url=url, deadline=deadline.at, purpose=policy.purpose)
            page, document = self._source.get(
                request, scope=scope, deadline=deadline, in_process=policy.in_process
            )
        except WebfetchError as exc:
            if web and not (hurried and exc.kind == "timeout"):
                self._failures.remember(key, exc.kind, exc.message)
            raise
        if web and not self._host.closed:
            self._failures.forget(key)
            if self._pages.put(
                key,
                document,
                final_url=page.final_url,
                validators=page.headers,
                permission=self._host.permission_for(url) or self._host.permission_for(page.final_url or url),
            ):
                scope.emit("page.cached", stage="fetch", target=url, outcome="stored")
        return document

    def _serves(self, cached: CachedDocument, policy: PagePolicy) -> bool:
        """Whether a cached page may answer: young enough, and not of a host that is forbidden by now."""
        if cached.permission and cached.permission != permission_mark(self._host.settings.net):
            return False
        return policy.cache_only or cached.age_s < lifetime(policy.freshness, self._host.settings.ttl)

    def tell_of_trouble(self, scope: Scope) -> None:
        """Once a request: what a cache that hangs did to it."""
        trouble = self._store.trouble
        if not trouble or any(e.stage == "cache" and e.outcome == "timeout" for e in scope.events()):
            return
        name = next((h.name for h in self._host.handles("cache")), "")
        scope.emit("call.finished", stage="cache", provider=name, outcome="timeout", reason=trouble)
