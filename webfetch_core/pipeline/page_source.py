"""From a URL to a page and its document, without any cache: fetchers in order, then the extractors.

The first fetcher serves most pages. A later one is a rescue: for a wall, for a page with nothing
readable, and, where it runs scripts, for a thin page, of which the richer reading is taken.
"""

from __future__ import annotations

from functools import partial
from urllib.parse import urlsplit

from attrs import evolve, frozen

from ..errors import (
    BadResponse,
    NotConfigured,
    PageError,
    ProviderError,
    Refused,
    TimedOut,
    Unavailable,
    WebfetchError,
)
from ..models import Document, ExtractionStep, FetchRequest, Page
from ..providers import FetchTraits
from ..runtime.calls import Handle
from ..runtime.deadline import Deadline
from ..runtime.emitter import Scope
from ..runtime.host import Host
from ..runtime.replies import check_page
from ..stages import Fetcher
from .page_extraction import PageExtraction
from .thinness import calls_for_scripts, is_rendered, is_richer

NOT_MODIFIED = 304

RESCUE_S = 1.5
"""With less time left no page is rendered: a browser needs about that, and more when it has to be started."""

RESERVE_S = 0.25
"""What rendering leaves of the deadline, for the page that is there already to be handed on."""

THIN = "thin"
"""Flag of a document whose page would have more to say if its scripts were run."""

_OF_THE_PAGE = {"not_found", "too_large", "unsupported_type", "encrypted", "no_text_layer", "redirect_loop"}
_NO_RESCUE = frozenset({"refused", "cancelled", "timeout", "unavailable", *_OF_THE_PAGE})
"""Kinds of failure that another fetcher would only repeat."""

_NO_RENDERING = frozenset({"login", "paywall", "consent"})
"""Kinds that running the page's scripts does not change: somebody would have to answer."""

_SAYS_NOTHING = frozenset({"not_configured", "benched", "busy"})
"""Kinds that say nothing of the page: the reason of a fetcher that did try is the one to tell."""

_OF_THE_RESCUE = _SAYS_NOTHING | {"timeout", "unavailable", "cancelled", "plugin_error"}
"""Kinds that, of a fetcher that comes to the rescue, say less than what it was called for."""


@frozen
class _Thin:
    """A page that was had, and why it may not be all."""

    page: Page
    document: Document | None
    reason: str


_NOT_RENDERED = _OF_THE_RESCUE - {"not_configured"}
"""Kinds that say that rendering was not had this time, and may be the next."""


class _Unreadable(Exception):
    """A file that came, and of which no extractor could make anything: no scripts would change it."""

    def __init__(self, error: WebfetchError) -> None:
        super().__init__(str(error))
        self.error = error


class PageSource:
    """Fetches and extracts for one ``Webfetch``. Thread-safe; called in threads that may be left behind."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._extraction = PageExtraction(host)

    def get(
        self, request: FetchRequest, *, scope: Scope, deadline: Deadline, in_process: bool = False
    ) -> tuple[Page, Document | None]:
        """Try the fetchers in order; a later one is a rescue for walls, and for pages with little text.

        The document is None for a page of status 304 alone: one that has not changed since the caller
        got the validators of ``request``.
        """
        scheme = urlsplit(request.url).scheme
        handles = self._host.fetchers(scheme)
        if not handles and scheme in ("http", "https"):
            raise NotConfigured("no fetcher is in use", fix="pip install webfetch-fetch-http")
        if not handles:
            raise Refused(f"no fetcher in use serves {scheme or 'relative'} URLs")
        failure: WebfetchError | None = None
        thin: _Thin | None = None
        bare = False  # nothing was in it, and there are no scripts that might bring anything
        for handle in handles:
            deadline.raise_if_cancelled()
            renders = renders_js(handle)
            if thin is not None and not renders:
                continue
            if failure is not None and not _may_rescue(failure, renders):
                continue
            if renders and bare:
                continue
            rescue = renders and (thin is not None or failure is not None)
            if rescue and deadline.remaining() < RESCUE_S:
                if thin is not None:
                    thin = evolve(thin, reason=f"{thin.reason}; no time was left to render it")
                    failure = TimedOut("no time was left to render it")
                continue
            limit = deadline.within(deadline.remaining() - RESERVE_S) if thin is not None else deadline
            try:
                page, document = self._one(
                    handle, request, scope=scope, deadline=limit, in_process=in_process
                )
            except (WebfetchError, _Unreadable) as exc:
                deadline.raise_if_cancelled()
                bare = bare or isinstance(exc, _Unreadable)
                error = exc.error if isinstance(exc, _Unreadable) else exc
                failure = _telling(failure, error)
                if thin is not None:
                    thin = evolve(thin, reason=f"{thin.reason}; {handle.name}: {error.kind}")
                elif error.kind in _NO_RESCUE:
                    break
                continue
            if page.status == NOT_MODIFIED:
                return page, None
            if thin is not None:
                return _chosen(thin, page, document, handle.name)
            reason = "" if renders else calls_for_scripts(page, document)
            if reason:
                thin = _Thin(page, document, reason)
            elif document is not None:
                return page, _rescued(document, handle.name, failure) if failure is not None else document
            else:
                failure, bare = PageError("nothing readable was found in it"), not renders
        if thin is not None and thin.document is not None:
            return thin.page, _flagged(thin.document, thin.reason)
        if failure is None or (thin is not None and failure.kind in _OF_THE_RESCUE):
            why = f": {thin.reason}" if thin is not None else ""
            if failure is not None and failure.kind in _NOT_RENDERED:  # not the page's fault: kept apart
                raise Unavailable(f"nothing readable was found in it{why}", kind=failure.kind)
            failure = PageError(f"nothing readable was found in it{why}", fix=_BROWSER_FIX if why else "")
        raise failure

    def _one(
        self, handle: Handle, request: FetchRequest, *, scope: Scope, deadline: Deadline, in_process: bool
    ) -> tuple[Page, Document | None]:
        page: Page = self._host.caller.call(
            handle,
            partial(self._fetch, request),
            scope=scope,
            deadline=deadline,
            target=request.url,
            check=check_page,
            count=lambda p: len(p.body) or int(p.status == NOT_MODIFIED),
        )
        if page.status == NOT_MODIFIED:
            if request.etag or request.last_modified:
                return page, None
            raise BadResponse("answered that the page has not changed to who has no copy of it")
        try:
            document = self._extraction.extract(page, scope=scope, deadline=deadline, in_process=in_process)
        except WebfetchError as exc:
            if is_rendered(page):
                raise
            raise _Unreadable(exc) from exc
        return page, document

    def _fetch(self, request: FetchRequest, fetcher: Fetcher) -> Page:
        """Inside the call, so that a veto that hangs cannot pass the deadline.

        The guard asks the vetoes too, at every hop; a fetcher with a way of its own does not.
        """
        if (reason := self._host.veto(request.url)) is not None:
            raise Refused(f"vetoed: {reason}")
        return fetcher.fetch(request)


_BROWSER_FIX = "pip install webfetch-fetch-browser, which runs a page's scripts"


def renders_js(handle: Handle) -> bool:
    """Whether a fetcher runs the scripts of a page."""
    traits = handle.entry.provider.traits
    return isinstance(traits, FetchTraits) and traits.renders_js


def _may_rescue(failure: WebfetchError, renders: bool) -> bool:
    """Whether another fetcher could do better. Who is told when to come back comes back then."""
    if isinstance(failure, ProviderError) and failure.kind == "rate_limited" and failure.retry_after_s:
        return False
    return not (renders and failure.kind in _NO_RENDERING)


def _telling(first: WebfetchError | None, then: WebfetchError) -> WebfetchError:
    """Of two failures, the one that says more of the page."""
    if first is None or first.kind in _SAYS_NOTHING:
        return then
    return first if then.kind in _OF_THE_RESCUE else then


def _chosen(thin: _Thin, page: Page, document: Document | None, name: str) -> tuple[Page, Document]:
    """The richer of two readings, with a step that says what rendering came to."""
    if document is not None and is_richer(document, thin.document):
        return page, _noted(document, name, won=True, reason=f"{thin.reason}; rendered, it has more")
    if thin.document is not None:
        words = len(document.text.split()) if document else 0
        told = f"{thin.reason}; rendered, it has no more"
        return thin.page, _noted(thin.document, name, won=False, reason=told, words=words)
    raise PageError("nothing readable was found in it, also after its scripts had run")


def _rescued(document: Document, name: str, failure: WebfetchError) -> Document:
    return _noted(document, name, won=True, reason=f"the fetcher before it: {failure.kind}")


def _noted(document: Document, name: str, *, won: bool, reason: str, words: int | None = None) -> Document:
    count = len(document.text.split()) if words is None else words
    return evolve(
        document, steps=(*document.steps, ExtractionStep(name=name, words=count, won=won, reason=reason))
    )


def _flagged(document: Document, reason: str) -> Document:
    noted = _noted(document, "rendering", won=False, reason=reason, words=0)
    return evolve(noted, flags=tuple(dict.fromkeys((*document.flags, THIN))))
