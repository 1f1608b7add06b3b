"""From a URL to a page and its document, without any cache: fetchers in order, then the extractors."""

from __future__ import annotations

from functools import partial
from urllib.parse import urlsplit

from ..errors import BadResponse, NotConfigured, PageError, Refused, WebfetchError
from ..models import Document, FetchRequest, Page
from ..runtime.deadline import Deadline
from ..runtime.emitter import Scope
from ..runtime.host import Host
from ..runtime.replies import check_page
from ..stages import Fetcher
from .page_extraction import PageExtraction

NOT_MODIFIED = 304


class PageSource:
    """Fetches and extracts for one ``Webfetch``. Thread-safe; called in threads that may be left behind."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._extraction = PageExtraction(host)

    def get(
        self, request: FetchRequest, *, scope: Scope, deadline: Deadline, in_process: bool = False
    ) -> tuple[Page, Document | None]:
        """Try the fetchers in order; a later one is a rescue for walls and for pages without text.

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
        for handle in handles:
            try:
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
                document = self._extraction.extract(
                    page, scope=scope, deadline=deadline, in_process=in_process
                )
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


_OF_THE_PAGE = {"not_found", "too_large", "unsupported_type", "encrypted", "no_text_layer", "redirect_loop"}
_NO_RESCUE = frozenset({"refused", "cancelled", "timeout", "unavailable", *_OF_THE_PAGE})
"""Kinds of failure that another fetcher would only repeat."""

_SAYS_NOTHING = frozenset({"not_configured", "benched", "busy"})
"""Kinds that say nothing of the page: the reason of a fetcher that did try is the one to tell."""
