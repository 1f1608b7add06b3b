"""One line on the terminal that says what a search is doing, and is gone when it is done."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import TYPE_CHECKING, TextIO

from ..events import Event
from .output import cut, is_unicode, one_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..app import Webfetch

_CLEAR = "\r\x1b[2K"


class Board:
    """What is known of a search under way, told by its events; :meth:`line` says it in one line."""

    def __init__(self) -> None:
        self.engines: dict[str, str] = {}
        self.pages: dict[str, bool] = {}
        self.now = ""

    def note(self, event: Event) -> None:
        """Take in one event."""
        if event.name == "call.started":
            if event.stage == "search":
                self.engines.setdefault(event.provider, "...")
            elif event.stage == "fetch":
                self.pages.setdefault(event.target, False)
            elif event.stage in ("rank", "compress"):
                self.now = {"rank": "ranking", "compress": "compressing"}[event.stage]
        elif event.name == "call.finished" and event.stage == "search":
            told = str(event.count) if event.outcome in ("ok", "empty") else event.outcome
            self.engines[event.provider] = told
        elif event.name == "call.finished" and event.stage == "fetch":
            self.pages[event.target] = True
        elif event.name == "cache.hit":
            self.now = f"from the cache ({event.data.get('kind', '')})"

    def line(self) -> str:
        """``search: ddg 10, local ... | pages: 3 of 7 | ranking``."""
        parts = []
        if self.engines:
            parts.append("search: " + ", ".join(f"{n} {told}" for n, told in self.engines.items()))
        if self.pages:
            parts.append(f"pages: {sum(self.pages.values())} of {len(self.pages)}")
        if self.now:
            parts.append(self.now)
        return " | ".join(parts)


class Progress:
    """Shows a :class:`Board` on ``stream`` while the block runs. Events come from many threads."""

    def __init__(self, wf: Webfetch, stream: TextIO, width: int) -> None:
        self._wf = wf
        self._stream = stream
        self._width = width
        self._board = Board()
        self._lock = threading.Lock()
        self._shown = ""
        self._done = False
        self._end: Callable[[], None] | None = None

    def __enter__(self) -> Progress:
        self._end = self._wf.subscribe(self._take)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._end is not None:
            self._end()
        with self._lock:
            self._done = True
            if self._shown:
                self._stream.write(_CLEAR)
                self._stream.flush()

    def _take(self, event: Event) -> None:
        with self._lock:
            if self._done:
                return
            self._board.note(event)
            line = cut(one_line(self._board.line()), self._width - 1, unicode=is_unicode(self._stream))
            if line != self._shown:
                self._shown = line
                self._stream.write(_CLEAR + line)
                self._stream.flush()
