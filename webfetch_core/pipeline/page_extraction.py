"""Where a page is extracted: in this process, or in a worker that can be ended."""

from __future__ import annotations

from ..errors import TimedOut, WebfetchError
from ..models import Document, Page
from ..registry.manager import describe
from ..runtime.deadline import Deadline
from ..runtime.emitter import Scope
from ..runtime.extraction import extract_by, media_type
from ..runtime.host import Host

IN_PROCESS_BYTES = 16_384
"""Pages up to this size are extracted in this process: a hand-over costs more than they do."""

_LIGHT = frozenset({"text/plain", "text/markdown"})
"""Types that are text already: nothing is parsed, so nothing is worth a hand-over."""

ALONE_BYTES = 524_288
"""Up to this size a page that is asked for alone is extracted here, too: starting a worker takes longer
than most pages. Beyond it, what cannot be ended must not be begun here."""


class PageExtraction:
    """Extracts pages for one ``Webfetch``. Thread-safe."""

    def __init__(self, host: Host) -> None:
        self._host = host

    def extract(
        self, page: Page, *, scope: Scope, deadline: Deadline, in_process: bool = False
    ) -> Document | None:
        """Return what the extractors make of ``page``. ``in_process`` spares a page that is asked for
        alone the start of a worker.

        Raises:
            WebfetchError: as ``extract_by``; TimedOut when no time was left or it took too long.
        """
        workers = None
        light = in_process or media_type(page.content_type) in _LIGHT
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
