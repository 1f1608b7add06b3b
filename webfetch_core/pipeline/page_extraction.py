"""The pipeline's way to the extractors: in this process or in a worker, as the page calls for."""

from __future__ import annotations

from ..models import Document, Page
from ..runtime.deadline import Deadline
from ..runtime.emitter import Scope
from ..runtime.host import Host
from ..runtime.placement import ALONE_BYTES, IN_PROCESS_BYTES, extract_placed

__all__ = ["ALONE_BYTES", "IN_PROCESS_BYTES", "PageExtraction"]


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
            WebfetchError: as ``extract_placed``.
        """
        return extract_placed(self._host, page, scope=scope, deadline=deadline, alone=in_process)
