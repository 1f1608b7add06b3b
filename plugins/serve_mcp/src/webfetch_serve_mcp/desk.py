"""Where calls are done: a ``Webfetch`` that opens behind, a thread a call, and answers in time.

Threads are daemons of their own: a call that its client has given up is cancelled, so that its thread ends
soon; until then, or where it is stuck in somebody's code, it keeps nobody and no exit waiting.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import anyio

from webfetch_core import TOOLS, CancelToken, Tool, ToolBox, ToolOutcome, WebfetchError
from webfetch_core.api import without_paths

from .answers import TEXT_TOKENS, failed, tokens
from .progress import Watcher, Watchers
from .settings import McpSettings

if TYPE_CHECKING:
    from webfetch_core import Webfetch

_log = logging.getLogger("webfetch.serve_mcp")

CLOSE_S = 4.0
"""How long closing may take. After that the process ends without."""
LEFT_BEHIND = 4
"""So many times ``parallel`` threads may run, those of given-up calls that do not end among them."""
_SMALLEST_S = 0.5


class Desk:
    """Does the calls of one server.

    Args:
        opener: makes the ``Webfetch``; called once, in a thread, when :meth:`begin` or the first call asks.
        note: tells the person who runs the server.
        owned: whether the ``Webfetch`` is the desk's to close.
    """

    def __init__(
        self,
        opener: Callable[[], Webfetch],
        settings: McpSettings,
        *,
        note: Callable[[str], None] = _log.warning,
        owned: bool = True,
    ) -> None:
        self._opener = opener
        self._settings = settings
        self._note = note
        self._owned = owned
        self._lock = threading.Lock()
        self._box: Future[ToolBox] | None = None
        self._wf: Webfetch | None = None
        self._closed = False
        self._running = 0
        self._waiting = 0
        self._slots = anyio.Semaphore(settings.parallel)
        self._told = tuple(tool.name for tool in TOOLS)
        self._watchers = Watchers()
        self.on_change: Callable[[], None] = lambda: None
        """Called, in any thread, when other tools can work than :meth:`tools` last said."""

    # ---- opening and closing ---------------------------------------------------------------------

    def begin(self) -> Future[ToolBox]:
        """Open the ``Webfetch`` behind, unless it is open or being opened. What failed is tried again."""
        with self._lock:
            box = self._box
            if box is not None and not (box.done() and box.exception() is not None):
                return box
            self._box = box = Future()
        threading.Thread(target=self._open, args=(box,), name="webfetch-mcp-open", daemon=True).start()
        return box

    def _open(self, box: Future[ToolBox]) -> None:
        try:
            wf = self._opener()
        except BaseException as exc:
            if isinstance(exc, WebfetchError):
                self._note(f"webfetch: {exc.message}" + (f" (fix: {exc.fix})" if exc.fix else ""))
            else:
                self._note(f"webfetch: it cannot be opened: {type(exc).__name__}: {exc}")
            box.set_exception(exc)
            return
        with self._lock:
            self._wf, closed = wf, self._closed
        if closed:
            self._close(wf)
        else:
            wf.subscribe(self._watchers.take)
        box.set_result(ToolBox(wf, deadline_s=self._settings.deadline_s))
        self._look()

    def close(self) -> None:
        """End what runs and close the ``Webfetch``, in a few seconds at most."""
        with self._lock:
            self._closed = True
            wf, self._wf = self._wf, None
        if wf is not None:
            closing = threading.Thread(target=self._close, args=(wf,), name="webfetch-mcp-close", daemon=True)
            closing.start()
            closing.join(CLOSE_S)

    def _close(self, wf: Webfetch) -> None:
        if self._owned:
            with suppress(Exception):
                wf.close()

    # ---- what there is ---------------------------------------------------------------------------

    def tools(self) -> tuple[Tool, ...]:
        """The tools that can work; before the ``Webfetch`` is open, all that may turn out to."""
        tools = self._able()
        self._told = tuple(tool.name for tool in tools)
        return tools

    def _able(self) -> tuple[Tool, ...]:
        box = self._box
        if box is None or not box.done() or box.exception() is not None:
            return TOOLS
        return box.result().tools()

    def _look(self) -> None:
        if tuple(tool.name for tool in self._able()) != self._told:
            self.on_change()

    # ---- calls -----------------------------------------------------------------------------------

    async def call(
        self, name: str, arguments: Mapping[str, Any] | None, watcher: Watcher | None = None
    ) -> ToolOutcome:
        """Do a call; answered in ``settings.answer_s``, whatever happens. Being cancelled frees its place at
        once and cancels the work; its thread ends soon after, and so it does when the time is up."""
        began = time.monotonic()
        if self._waiting >= self._settings.queue + self._settings.parallel or self._crowded():
            return _busy(name)
        self._waiting += 1
        try:
            with anyio.move_on_after(self._settings.answer_s):
                async with self._slots:
                    return await self._in_thread(name, arguments, watcher, began)
        finally:
            self._waiting -= 1
        return _outcome(
            failed(
                name,
                "timeout",
                f"no answer within {self._settings.answer_s:g} seconds",
                "Call again once: what was found until now may be kept. Else ask for less.",
            )
        )

    def _crowded(self) -> bool:
        with self._lock:
            return self._running >= LEFT_BEHIND * self._settings.parallel

    async def _in_thread(
        self, name: str, arguments: Mapping[str, Any] | None, watcher: Watcher | None, began: float
    ) -> ToolOutcome:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[ToolOutcome] = loop.create_future()
        given_up = CancelToken()

        def settle(outcome: ToolOutcome) -> None:
            if not answer.done():
                answer.set_result(outcome)

        def work() -> None:
            try:
                with given_up.applied():
                    outcome = self._work(name, arguments, watcher, began)
            except BaseException as exc:  # ToolBox does not raise; what does is ours
                _log.error("call of %s failed", name, exc_info=exc)
                outcome = _outcome(failed(name, "fault", "an internal fault", "Call again once."))
            finally:
                with self._lock:
                    self._running -= 1
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(settle, outcome)

        with self._lock:
            self._running += 1
        try:
            threading.Thread(target=work, name=f"webfetch-mcp-{name}", daemon=True).start()
        except RuntimeError:  # the system has no thread left
            with self._lock:
                self._running -= 1
            return _busy(name)
        try:
            return await answer
        except asyncio.CancelledError:  # the client gave it up, or the time for its answer is over
            given_up.cancel()
            raise

    def _work(
        self, name: str, arguments: Mapping[str, Any] | None, watcher: Watcher | None, began: float
    ) -> ToolOutcome:
        try:
            box = self.begin().result(self._left(began))
        except TimeoutError:
            advice = "Call again in a few seconds."
            return _outcome(failed(name, "busy", "webfetch is still being started", advice))
        except WebfetchError as exc:
            return _outcome(_unopened(name, exc.message, exc.fix))
        except BaseException as exc:
            return _outcome(_unopened(name, type(exc).__name__, ""))
        with self._watchers.watching(watcher):
            outcome = self._fitting(box, name, arguments, began)
        self._look()
        return outcome

    def _fitting(
        self, box: ToolBox, name: str, arguments: Mapping[str, Any] | None, began: float
    ) -> ToolOutcome:
        """The outcome of a call. A part of a page that is more tokens than clients take, as one in Chinese
        may be, is read again in a smaller part: its last line then says where the next one begins."""
        outcome = box.call(name, arguments, deadline_s=self._left(began))
        for _ in range(3):
            count = tokens(outcome.text)
            if name != "fetch_url" or count <= TEXT_TOKENS:
                break
            fewer = int(len(outcome.text) / 4 * TEXT_TOKENS / count * 0.95)
            outcome = box.call(name, {**(arguments or {}), "max_tokens": fewer}, deadline_s=self._left(began))
        return outcome

    def _left(self, began: float) -> float:
        return max(_SMALLEST_S, self._settings.deadline_s - (time.monotonic() - began))


def _outcome(told: tuple[str, dict[str, Any]]) -> ToolOutcome:
    text, data = told
    return ToolOutcome(text=text, structured=data, is_error=True)


def _busy(name: str) -> ToolOutcome:
    return _outcome(
        failed(
            name,
            "busy",
            "too many calls at the same time",
            "Wait for a few seconds and call again, one at a time.",
        )
    )


def _unopened(name: str, message: str, fix: str) -> tuple[str, dict[str, Any]]:
    return failed(
        name,
        "config",
        f"webfetch cannot be opened: {without_paths(message)}",
        "Tell the user, who may be able to mend it, and go on without this tool.",
        without_paths(fix),
    )
