"""What a search has gathered: its hits, and of each page what became of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import define, frozen

from ..errors import WebfetchError
from ..models import Chunk, Document, FailedUrl, SearchHit


@define(slots=True)
class PageState:
    """A page under way: what became of it, or nothing yet."""

    hit: SearchHit
    started: float
    document: Document | None = None
    chunks: Sequence[Chunk] = ()
    error: WebfetchError | None = None

    @property
    def settled(self) -> bool:
        return self.document is not None or self.error is not None


@frozen(kw_only=True)
class Gathered:
    """What had arrived when it was enough."""

    hits: tuple[SearchHit, ...]
    pages: Mapping[str, PageState]
    """By canonical URL."""
    failures: Mapping[str, WebfetchError]
    answered: bool = True
    """Whether any engine did."""
    pending_engines: tuple[str, ...] = ()
    partial: bool = False

    def texts(self) -> dict[str, str]:
        """The text of every page that arrived, by the URL of its hit."""
        return {s.hit.url: s.document.text for s in self.pages.values() if s.document is not None}

    def failed_urls(self) -> tuple[FailedUrl, ...]:
        """Pages that gave nothing, by rank of their hits; those still loading are ``pending``."""
        rows = []
        for state in sorted(self.pages.values(), key=lambda s: s.hit.rank):
            if state.error is not None:
                rows.append(FailedUrl(url=state.hit.url, kind=state.error.kind, reason=str(state.error)))
            elif not state.settled:
                rows.append(
                    FailedUrl(
                        url=state.hit.url,
                        kind="pending",
                        reason="still loading; it goes on into the page cache",
                    )
                )
        return tuple(rows)
