"""From a URL to a document: failure memory, page cache, fetchers, extractors, and back into the cache."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from urllib.parse import urlsplit

from attrs import evolve, frozen

from ..errors import BadResponse, Cancelled, PageError, ProviderError, Refused, WebfetchError
from ..events import Event
from ..models import Document, FetchRequest, Freshness, Page
from ..runtime.deadline import Deadline
from ..runtime.emitter import Scope
from ..runtime.host import Host, permission_mark
from .counters import Counters
from .lifetimes import lifetime
from .negative_cache import NegativeCache
from .page_cache import CachedDocument, PageCache
from .page_source import THIN, PageSource, renders_js
from .receipts import tally_page
from .tolerant_store import TolerantStore
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


STALE = "stale"
"""Flag of a document from the cache that is older than the query wants, since its site gave no answer."""

_STALE_IF = frozenset({"unavailable", "timeout", "bad_response", "rate_limited", "busy", "benched"})
"""Kinds of failure that say nothing of the page itself: an old copy is better than none (RFC 5861)."""


def _conditional(request: FetchRequest, cached: CachedDocument | None) -> FetchRequest:
    """``request``, on the condition that the page has changed since it was cached."""
    if cached is None or not (cached.etag or cached.last_modified):
        return request
    return evolve(
        request,
        etag=cached.etag,
        last_modified=cached.last_modified,
        validated_url=cached.final_url or request.url,
    )


def oldest_s(urls: Iterable[str], events: Iterable[Event]) -> float:
    """How old the oldest of some pages was when it was loaded; ``events`` are those of the request."""
    ages = {event.target: event.data.get("age_s", 0.0) for event in events if event.name == "page.cached"}
    return max((float(ages.get(url, 0.0)) for url in urls), default=0.0)


class PageLoader:
    """Loads pages for one ``Webfetch``. Thread-safe; called in threads that may be left behind."""

    def __init__(self, host: Host, store: TolerantStore, counters: Counters | None = None) -> None:
        self._host = host
        self._store = store
        self._counters = counters or Counters(None)
        self._source = PageSource(host)
        ttl = host.settings.ttl
        self._pages = PageCache(store, host.clock, ttl)
        self._failures = NegativeCache(store, host.clock, ttl, means=self._means)

    def load(self, url: str, policy: PagePolicy, *, scope: Scope, deadline: Deadline) -> Document:
        """Return the document behind ``url``, by ``deadline``.

        A cached page that is too old for the query is asked for on condition that it has changed; one
        that cannot be had now is answered by its cached form while that is not too old by far, flagged
        ``stale``.

        Raises:
            Cancelled: the caller has cancelled; nothing is remembered of the page.
            WebfetchError: why there is none.
        """
        try:
            web = urlsplit(url).scheme in ("http", "https")
            key = canonical(url)
        except ValueError as exc:
            raise Refused("the URL cannot be parsed") from exc
        cached = self._permitted(key) if web and not policy.force_fresh else None
        if web and not policy.force_fresh:
            self.tell_of_trouble(scope)
        if cached is not None and self._young(cached, policy):
            told = {"age_s": cached.age_s}
            scope.emit("page.cached", stage="fetch", target=url, outcome="hit", elapsed_s=0.0, data=told)
            self._counters.note(tally_page("cached", cached.document))
            return cached.document
        try:
            deadline.raise_if_cancelled()
            return self._fetch(url, key, policy, cached, web=web, scope=scope, deadline=deadline)
        except Cancelled:
            raise  # that says nothing of the page
        except WebfetchError as exc:
            if cached is None or exc.kind not in _STALE_IF or not self._passable(cached, policy):
                self._counters.note(tally_page("failed"))
                raise
            told = {"age_s": cached.age_s}
            scope.emit(
                "page.cached", stage="fetch", target=url, outcome="stale", reason=exc.message, data=told
            )
            self._counters.note(tally_page("cached", cached.document))
            return evolve(cached.document, flags=(*cached.document.flags, STALE))

    def _fetch(
        self,
        url: str,
        key: str,
        policy: PagePolicy,
        cached: CachedDocument | None,
        *,
        web: bool,
        scope: Scope,
        deadline: Deadline,
    ) -> Document:
        if policy.cache_only and web:
            raise PageError("it is not in the page cache, and this search may not use the network")
        if web and (failed := self._failures.recall(key, force_fresh=policy.force_fresh)) is not None:
            raise PageError(f"failed a moment ago: {failed.reason}", kind=failed.kind)
        # A page that was given less time than usual and did not make it is not to blame.
        hurried = deadline.remaining() < HURRIED * self._host.settings.fetch_timeout_s
        plain = FetchRequest(url=url, deadline=deadline.at, purpose=policy.purpose)
        request = _conditional(plain, cached)
        get = partial(self._source.get, scope=scope, deadline=deadline, in_process=policy.in_process)
        try:
            page, document = get(request)
            if document is None and (renewed := self._renewed(key, page)) is not None:
                scope.emit("page.cached", stage="fetch", target=url, outcome="renewed")
                self._counters.note(tally_page("renewed", renewed))
                return renewed
            if document is None:  # it vanished from the cache meanwhile: what was confirmed is not there
                page, document = get(plain)
            if document is None:
                raise BadResponse("answered 304 to a request without conditions")
        except WebfetchError as exc:
            deadline.raise_if_cancelled()  # whatever failed may have failed of that
            if web and not (hurried and exc.kind == "timeout"):
                wait_s = exc.retry_after_s if isinstance(exc, ProviderError) else None
                self._failures.remember(key, exc.kind, exc.message, at_most_s=wait_s)
            raise
        if page.flags:
            document = evolve(document, flags=tuple(dict.fromkeys((*document.flags, *page.flags))))
        if web and not self._host.closed:
            self._failures.forget(key)
            if self._is_whole(page, document) and self._pages.put(
                key,
                document,
                final_url=page.final_url,
                validators=self._validators(page),
                permission=self._host.permission_for(url) or self._host.permission_for(page.final_url or url),
            ):
                scope.emit("page.cached", stage="fetch", target=url, outcome="stored")
        self._counters.note(tally_page("fetched", document))
        return document

    def _is_whole(self, page: Page, document: Document) -> bool:
        """Whether a page is to be kept. Half a page is better than none now, and so is one that a browser
        in use did not get to render, but the next reader shall have another try."""
        if "truncated" in page.flags:
            return False
        return THIN not in document.flags or not any(map(renders_js, self._host.handles("fetch")))

    def _renewed(self, key: str, page: Page) -> Document | None:
        """The cached document, its age counted from now; None when the row is not there any more."""
        current = self._permitted(key)
        if current is None:
            return None
        if not self._host.closed:
            self._failures.forget(key)
            self._pages.renew(key, current, validators=page.headers)
        return current.document

    def _validators(self, page: Page) -> Mapping[str, str]:
        """What the page can be asked for again by. Those of a rendered page are its shell's: none."""
        rendered = any(
            handle.name == page.fetched_by and renders_js(handle) for handle in self._host.handles("fetch")
        )
        return {} if rendered else page.headers

    def _permitted(self, key: str) -> CachedDocument | None:
        """The cached page, unless it is of a host that is forbidden by now."""
        cached = self._pages.get(key)
        if cached is None or not cached.permission:
            return cached
        return cached if cached.permission == permission_mark(self._host.settings.net) else None

    def _young(self, cached: CachedDocument, policy: PagePolicy) -> bool:
        """Whether a cached page may answer without a question to its site."""
        return policy.cache_only or cached.age_s < lifetime(policy.freshness, self._host.settings.ttl)

    def _passable(self, cached: CachedDocument, policy: PagePolicy) -> bool:
        """Whether a cached page may answer when its site does not: within the time that a stale search
        result is served for."""
        ttl = self._host.settings.ttl
        return cached.age_s < ttl.stale_factor * lifetime(policy.freshness, ttl)

    def _means(self) -> str:
        handles = (*self._host.handles("fetch"), *self._host.handles("extract"))
        return " ".join(f"{handle.stage}:{handle.name}" for handle in handles)

    def tell_of_trouble(self, scope: Scope) -> None:
        """Once a request: what a cache that hangs did to it."""
        trouble = self._store.trouble
        if not trouble or any(e.stage == "cache" and e.outcome == "timeout" for e in scope.events()):
            return
        name = next((h.name for h in self._host.handles("cache")), "")
        scope.emit("call.finished", stage="cache", provider=name, outcome="timeout", reason=trouble)
