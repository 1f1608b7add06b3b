"""How long a search waits for pages once there is something to show. Pure."""

from __future__ import annotations

from attrs import define

AFTER_PAGE_S = 1.2
"""How long after the first page the others are waited for."""
AFTER_HITS_S = 1.3
"""How long after the first hits, where the first page was slow itself."""
GRACE_S = 0.3
"""What the others get in any case after a first page that came late."""
AFTER_MOST_S = 0.1
"""What the last few get once most are there: pages that come at the same time come together."""


@define
class Window:
    """When to go on with what is there: never while no page is, then as soon as one of its clocks
    has run out. Instants are those of the host's monotonic clock."""

    hits_at: float | None = None
    page_at: float | None = None
    most_at: float | None = None

    def hits_came(self, now: float) -> None:
        """The first hits are there: pages are being fetched from now on."""
        if self.hits_at is None:
            self.hits_at = now

    def page_came(self, now: float) -> None:
        """A page is there."""
        if self.page_at is None:
            self.page_at = now

    def most_came(self, now: float) -> None:
        """Most of the wanted pages are there, the best ranked among them."""
        if self.most_at is None:
            self.most_at = now

    def restart(self, now: float) -> None:
        """The first answer from the web gets its pages the time that the first hits had: a local
        index that answered at once must not shut the web out."""
        self.hits_at, self.most_at = now, None
        if self.page_at is not None:
            self.page_at = now

    def ends_at(self) -> float | None:
        """The instant at which the search goes on, or None while there is nothing to go on with."""
        if self.page_at is None or self.hits_at is None:
            return None
        end = max(min(self.page_at + AFTER_PAGE_S, self.hits_at + AFTER_HITS_S), self.page_at + GRACE_S)
        return end if self.most_at is None else min(end, self.most_at + AFTER_MOST_S)
