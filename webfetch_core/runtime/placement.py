"""Where a page is extracted: in this process, or in a worker that can be ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import TimedOut, WebfetchError
from ..models import Document, Page
from ..providers import ExtractTraits
from ..registry.manager import describe
from .cancelling import is_done
from .deadline import Deadline
from .emitter import Scope
from .extraction import extract_by, fitting, media_type

if TYPE_CHECKING:
    from .host import Host

IN_PROCESS_BYTES = 16_384
"""Pages up to this size are extracted in this process: a hand-over costs more than they do."""

ALONE_BYTES = 524_288
"""Up to this size a page that is asked for alone is extracted here, too: starting a worker takes longer
than most pages. Beyond it, what cannot be ended must not be begun here."""

_LIGHT = frozenset({"text/plain", "text/markdown"})
"""Types that are text already: nothing is parsed, so nothing is worth a hand-over."""


def extract_placed(
    host: Host, page: Page, *, scope: Scope, deadline: Deadline, alone: bool = False
) -> Document | None:
    """Return what the extractors of ``host`` make of ``page``.

    A type whose extractor asks for it (``ExtractTraits.isolate``) is always given to a worker, others by
    their size; ``alone`` spares a page that nothing waits behind the start of a worker. Without workers
    (``extract_workers = 0``, or plugins that exist in this process alone) everything is extracted here.

    Raises:
        WebfetchError: as ``extract_by``; TimedOut when no time was left or it took too long; Cancelled by the
            caller.
    """
    limit = ALONE_BYTES if alone or media_type(page.content_type) in _LIGHT else IN_PROCESS_BYTES
    handed_over = len(page.body) > limit or is_isolated(host, page.content_type)
    workers = host.workers() if handed_over else None
    if workers is None:
        return extract_by(host.handles("extract"), page, caller=host.caller, scope=scope, deadline=deadline)
    started = host.clock.monotonic()
    outcome, reason, count = "ok", "", 0
    try:
        deadline.raise_if_cancelled()
        left = deadline.remaining()
        if left <= 0:
            raise TimedOut("no time was left to extract it")
        future = workers.submit(page, left, until=deadline.at)
        is_done(future, left + 0.1, deadline.token)
        try:
            document = future.result(timeout=0)
        except TimeoutError:  # it may be the page's own time, or all of it spent in the queue
            future.cancel()
            deadline.raise_if_cancelled()
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
            elapsed_s=host.clock.monotonic() - started,
        )


def is_isolated(host: Host, content_type: str) -> bool:
    """Whether an extractor that takes this type must not run in the host's own process."""
    for handle in fitting(host.handles("extract"), content_type):
        traits = handle.entry.provider.traits
        if isinstance(traits, ExtractTraits) and traits.isolate:
            return True
    return False
