"""When a page has come to rest: its text is what counts, not the network, which may never be silent. Pure."""

from __future__ import annotations

from attrs import define, frozen

QUIET_S = 0.4
"""Rest that is enough for a page with text, loaded, that waits for nothing."""

QUIET_WAITING_S = 1.2
"""The same while it still waits for scripts or data: it may be polling, or about to fill in."""

QUIET_THIN_S = 1.0
QUIET_THIN_WAITING_S = 2.5
"""The same for a page with hardly any text: "Loading..." is at rest, too."""

QUIET_LOADING_S = 2.0
"""The same while its markup is still coming in: a script that never arrives holds that up for ever."""

THIN_CHARS = 300
PATIENT_S = 3.0
"""A request that takes longer is not waited for: long polls and streams never end."""


@frozen
class Seen:
    """One look at a page: ``loaded`` once its markup is read, ``chars`` of visible text, ``elements``,
    and how many requests of scripts and data are under way."""

    loaded: bool
    chars: int
    elements: int
    waiting: int


@define
class Settling:
    """Takes looks at a page and says when it has come to rest."""

    _last: tuple[int, int] | None = None
    _since: float = 0.0

    def rests(self, now: float, seen: Seen) -> bool:
        """Whether the page has been the same for long enough; ``now`` in seconds, never less than before."""
        shown = (seen.chars, seen.elements)
        if self._last is None or not _alike(shown, self._last):
            self._last, self._since = shown, now
        return now - self._since >= _needed(seen)

    def moved(self) -> None:
        """It has gone elsewhere: what was seen so far is another page's."""
        self._last = None


def _alike(one: tuple[int, int], other: tuple[int, int]) -> bool:
    """A clock, a counter or a rotating banner is no new text."""
    return all(abs(a - b) <= max(2, 0.01 * b) for a, b in zip(one, other, strict=True))


def _needed(seen: Seen) -> float:
    if not seen.loaded:
        return QUIET_LOADING_S
    if seen.chars < THIN_CHARS:
        return QUIET_THIN_WAITING_S if seen.waiting else QUIET_THIN_S
    return QUIET_WAITING_S if seen.waiting else QUIET_S
