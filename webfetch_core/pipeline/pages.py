"""From a URL to a document: failure memory, page cache, fetchers, extractors, and back into the cache."""

from __future__ import annotations

from functools import partial
from urllib.parse import urlsplit

from attrs import frozen

from ..errors import NotConfigured, PageError, Refused, TimedOut, WebfetchError
from ..models import Document, FetchRequest, Freshness, Page
from ..registry.manager import describe
from ..runtime.deadline import Deadline
from ..runtime.emitter import Scope
from ..runtime.extraction import extract_by, media_type
from ..runtime.host import Host, permission_mark
from ..runtime.replies import check_page
from ..stages import Fetcher
from .caching import CachedDocument, NegativeCache, PageCache, TolerantStore, lifetime
from .urls import canonical

HURRIED = 0.9
"""Share of the usual time below which a page was not given a fair chance."""

IN_PROCESS_BYTES = 16_384
"""Pages up to this size are extracted in this process: a hand-over costs more than they do."""


_LIGHT = frozenset({"text/plain", "text/markdown"})
"""Types that are text already: nothing is parsed, so nothing is worth a hand-over."""

ALONE_BYTES = 524_288
"""Up to this size a page that is asked for alone is extracted here, too: starting a worker takes longer
than most pages. Beyond it, what cannot be ended must not be begun here."""


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
            page, document = self._fetch_and_extract(url, policy, scope, deadline)
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

    def _fetch_and_extract(
        self, url: str, policy: PagePolicy, scope: Scope, deadline: Deadline
    ) -> tuple[Page, Document]:
        """Try the fetchers in order; a later one is a rescue for walls and for pages without text."""
        scheme = urlsplit(url).scheme
        handles = self._host.fetchers(scheme)
        if not handles and scheme in ("http", "https"):
            raise NotConfigured("no fetcher is in use", fix="pip install webfetch-fetch-http")
        if not handles:
            raise Refused(f"no fetcher in use serves {scheme or 'relative'} URLs")
        request = FetchRequest(url=url, deadline=deadline.at, purpose=policy.purpose)
        failure: WebfetchError | None = None
        for handle in handles:
            try:
                page: Page = self._host.caller.call(
                    handle,
                    partial(self._fetch, request),
                    scope=scope,
                    deadline=deadline,
                    target=url,
                    check=check_page,
                    count=lambda p: len(p.body),
                )
                document = self._extract(page, policy, scope, deadline)
                if document is not None:
                    return page, document
                failure = PageError("nothing readable was found in it")
            except WebfetchError as exc:
                failure = exc if failure is None or exc.kind not in _SAYS_NOTHING else failure
                if exc.kind in _NO_RESCUE:
                    break
        assert failure is not None
        raise failure

    def _fetch(self, request: FetchRequest, fetcher: Fetcher) -> Page:
        """Inside the call, so that a veto that hangs cannot pass the deadline.

        The guard asks the vetoes too, at every hop; a fetcher with a way of its own does not.
        """
        if (reason := self._host.veto(request.url)) is not None:
            raise Refused(f"vetoed: {reason}")
        return fetcher.fetch(request)

    def _extract(self, page: Page, policy: PagePolicy, scope: Scope, deadline: Deadline) -> Document | None:
        workers = None
        light = policy.in_process or media_type(page.content_type) in _LIGHT
        if len(page.body) > (ALONE_BYTES if light else IN_PROCESS_BYTES):
            workers = self._host.workers()
        if workers is None:
            return extract_by(
                self._host.handles("extract"), page, caller=self._host.caller, scope=scope, deadline=deadline
            )
        started = self._host.clock.monotonic()
        outcome, reason, count = "ok", "", 0
        try:
            left = deadline.remaining()
            if left <= 0:
                raise TimedOut("no time was left to extract it")
            future = workers.submit(page, left)
            try:
                document = future.result(timeout=left + 0.1)
            except TimeoutError:  # it may be the page's own time, or all of it spent in the queue
                future.cancel()
                raise TimedOut("the extraction workers were busy or slow") from None
            count = len(document.text) if document else 0
            outcome = "ok" if document else "empty"
            return document
        except BaseException as exc:
            outcome, reason = getattr(exc, "kind", "plugin_error"), describe(exc)
            if isinstance(exc, WebfetchError):
                reason = str(exc)
            raise
        finally:
            scope.emit(
                "call.finished",
                stage="extract",
                provider="workers",
                target=page.url,
                outcome=outcome,
                reason=reason,
                count=count,
                elapsed_s=self._host.clock.monotonic() - started,
            )


_OF_THE_PAGE = {"not_found", "too_large", "unsupported_type", "encrypted", "no_text_layer", "redirect_loop"}
_NO_RESCUE = frozenset({"refused", "cancelled", "timeout", "unavailable", *_OF_THE_PAGE})
"""Kinds of failure that another fetcher would only repeat."""

_SAYS_NOTHING = frozenset({"not_configured", "benched", "busy"})
"""Kinds that say nothing of the page: the reason of a fetcher that did try is the one to tell."""
