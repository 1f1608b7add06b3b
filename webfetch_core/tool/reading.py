"""``fetch_url``: a page in parts, or the passages of it that are about something."""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from attrs import frozen

from ..errors import BadQuery
from ..forks import PerProcess
from ..models import SCHEMA_VERSION, Chunk, Document
from ..pipeline.chunking import chunk
from ..pipeline.ranking import RankStage, passage_of
from ..pipeline.request import checked_query
from ..pipeline.selection import select
from .parts import part, passages
from .schema import MAX_URL_CHARS

if TYPE_CHECKING:
    from ..app import Webfetch

KEPT_PAGES = 8
KEPT_S = 900.0
"""So many pages are remembered for so long, that the parts of one reading are of one text: the page cache
may be missing, and a page that is renewed between two parts would shift what ``start`` means."""
MAX_PASSAGES = 8
RANK_S = 4.0
"""How long ranking the passages of a page may take. What was not read by then, quicker rankers judge."""
_NO_RANKER = "[note: query was ignored: no ranker is in use]"
_BARE = re.compile(r"[\w-]+(?:\.[\w-]+)+(?::\d+)?(?:[/?#]\S*)?\Z")


@frozen(kw_only=True)
class Reading:
    """What was read, as text and as data."""

    text: str
    plain: dict[str, Any]


class PageReader:
    """Reads pages for one ``Webfetch``. Thread-safe."""

    def __init__(self, wf: Webfetch) -> None:
        self._wf = wf
        self._kept: OrderedDict[str, tuple[float, Document]] = OrderedDict()
        self._lock = PerProcess(threading.Lock)

    def read(
        self, url: str, *, start: int, query: str | None, room: int, deadline_s: float | None
    ) -> Reading:
        """The part of a page from ``start`` on, or its passages about ``query``, in ``room`` characters.

        Raises:
            BadQuery: ``url`` is no address, or ``start`` is past the end.
            WebfetchError: the page could not be had; ``kind`` says what happened.
        """
        address = checked_address(url)
        about = checked_query(query) if query is not None else ""
        document = self._document(address, again=start > 0, deadline_s=deadline_s)
        if start and start >= len(document.text):
            raise BadQuery(
                f"start={start} is past the end: the page has {len(document.text)} characters",
                fix="call fetch_url without start for its beginning",
            )
        facts = {
            "schema_version": SCHEMA_VERSION,
            "url": document.url,
            "title": document.title,
            "published": document.published,
            "flags": list(document.flags),
            "total_chars": len(document.text),
        }
        excerpts = self._about(document, about, room, deadline_s) if about else None
        if excerpts is not None:
            return Reading(
                text=passages(document, excerpts, about, room),
                plain=facts | {"passages": [_passage(e) for e in sorted(excerpts, key=lambda e: e.start)]},
            )
        note = f"\n{_NO_RANKER}" if about else ""
        found = part(document, start, room - len(note))
        text = document.text[found.start : found.stop]
        return Reading(
            text=found.text + note,
            plain=facts | {"text": text, "start": found.start, "next_start": found.next_start},
        )

    def _document(self, url: str, *, again: bool, deadline_s: float | None) -> Document:
        """The page; ``again`` takes the one that was read before, where it is remembered."""
        now = self._wf.host.clock.monotonic()
        if again:
            with self._lock():
                at, kept = self._kept.get(url, (0.0, None))
            if kept is not None and now - at < KEPT_S and not self._wf.host.closed:
                return kept
        document = self._wf.fetch(url, deadline_s=deadline_s)
        with self._lock():
            self._kept[url] = (now, document)
            self._kept.move_to_end(url)
            while len(self._kept) > KEPT_PAGES:
                self._kept.popitem(last=False)
        return document

    def _about(
        self, document: Document, query: str, room: int, deadline_s: float | None
    ) -> Sequence[Chunk] | None:
        """The excerpts that a search would show of this page if it were the only one, best first; none
        where no passage has to do with the query. None where nothing can rank."""
        settings, host = self._wf.settings, self._wf.host
        chunks = chunk(document, chars=settings.chunk.chars, overlap=settings.chunk.overlap)
        seconds = min(settings.deadline_s, RANK_S if deadline_s is None else deadline_s)
        # Not Webfetch.rank, which returns all passages and does not say that none is related.
        ranking = RankStage(host).rank(
            query,
            [passage_of(one) for one in chunks],
            scope=host.scope("fetch"),
            deadline=host.deadline(seconds),
            patience_s=seconds,
        )
        lexical = host.ranker("lexical")
        by_order = ranking.ran == ("lexical",) and lexical is not None and lexical.entry.plugin == "builtin"
        if not ranking.ran or by_order:
            return None
        if not ranking.relevant:
            return ()
        return select(
            [scored.index for scored in ranking.scored],
            chunks,
            {document.url: document.text},
            keep=MAX_PASSAGES,
            per_source=MAX_PASSAGES,
            near_duplicate=settings.ranking.near_duplicate,
            context=1,
            # Several places of the page tell more than one at length.
            max_chars=min(settings.ranking.excerpt_chars, max(room // 4, settings.chunk.chars)),
        )


def checked_address(url: str) -> str:
    """The address in what a model gave: without what it is quoted in, with the scheme that was left out.

    Raises:
        BadQuery: it is none.
    """
    address = url.strip().strip("<>\"'` ")
    if "://" not in address and not address.startswith("local:") and _BARE.match(address):
        address = f"https://{address}"
    if ("://" not in address and not address.startswith("local:")) or any(c.isspace() for c in address):
        raise BadQuery(
            "url is not the address of a page", fix="give the whole address, as in https://example.org/page"
        )
    if len(address) > MAX_URL_CHARS:
        raise BadQuery(f"url has {len(address)} characters, more than {MAX_URL_CHARS:,}")
    return address


def _passage(excerpt: Chunk) -> dict[str, Any]:
    return {
        "text": excerpt.text,
        "start": excerpt.start,
        "end": excerpt.end,
        "heading_path": list(excerpt.heading_path),
    }
