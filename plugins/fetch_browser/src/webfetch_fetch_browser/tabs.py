"""The thread that owns the browser: an event loop in which a few tabs work at a time."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import CancelledError as FutureCancelled
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from webfetch_core.api import NotConfigured, TimedOut, Unavailable

from .launched import BrowserGone, DriverGone, Launched, Room
from .processes import children, kill_group, process_of

if TYPE_CHECKING:
    from playwright.async_api import Browser, Playwright

T = TypeVar("T")
Work = Callable[["Browser", "Room"], Awaitable[T]]

START_S = 20.0
"""What starting the driver or the browser may take; a first start on a busy machine takes seconds."""

CLOSE_TAB_S = 2.0
"""What closing a tab may take before the browser is ended with it."""

CLOSE_S = 1.5
"""What closing everything may take before it is killed."""

OVERDUE_S = 1.0
"""How late the thread may be before it is given up, with all that it started."""


class BrowserThread:
    """Runs work with a browser in one thread of its own; the browser starts with the first.

    Not restarted when it had to be killed: make a new one.
    """

    def __init__(
        self,
        launch: Callable[[Playwright], Awaitable[Browser]],
        furnish: Callable[[Browser], Awaitable[Room]],
        log: Any,
        *,
        tabs: int,
        visits_per_browser: int,
        idle_s: float,
    ) -> None:
        """Start the thread.

        Args:
            launch: starts a browser.
            furnish: makes a room in it.
            log: a structlog logger.
            tabs: how many pieces of work run at a time.
            visits_per_browser: after so many a new browser takes over.
            idle_s: a browser without work is ended after so long.
        """
        self._launch = launch
        self._furnish = furnish
        self._log = log
        self._visits_per_browser = visits_per_browser
        self._idle_s = idle_s
        self._loop = asyncio.new_event_loop()
        self._loop.set_exception_handler(self._on_loop_error)
        self._slots = asyncio.Semaphore(tabs)
        self._starting: asyncio.Task[Launched] | None = None
        self._driver: Playwright | None = None
        self._current: Launched | None = None
        self._browsers: set[Launched] = set()
        self._background: set[asyncio.Task[Any]] = set()
        self._idle: asyncio.TimerHandle | None = None
        self._driver_pids: set[int] = set()
        self.pid = os.getpid()
        self.dead = False
        """Whether it was given up."""
        self._thread = threading.Thread(target=self._run, name="webfetch-browser", daemon=True)
        self._thread.start()

    # ---- from any thread --------------------------------------------------------------------------

    def do(self, work: Work[T], seconds: float) -> T:
        """Run ``work(browser, room)`` in the thread and return what it returns, in ``seconds`` at most.

        Raises:
            TimedOut: it was not done, or had not even begun.
            NotConfigured: the browser cannot be started at all.
            BrowserGone: the browser ended meanwhile.
        """
        if self.dead:
            raise BrowserGone("the browser was ended")
        future: Future[T] = asyncio.run_coroutine_threadsafe(self._job(work, seconds), self._loop)
        try:
            return future.result(seconds + OVERDUE_S)
        except FutureCancelled:
            raise BrowserGone("the browser was ended while the page was loaded") from None
        except FutureTimeout:
            if future.done():
                raise TimedOut("the page was not loaded in time") from None
            future.cancel()
            self.kill()  # the loop does not turn, or the driver keeps it from turning
            raise TimedOut("the browser did not answer in time, and was ended") from None

    def close(self, seconds: float = CLOSE_S) -> None:
        """End the browser, the driver and the thread; by force what does not end in ``seconds``."""
        if not self.dead and self._thread.is_alive():
            closing = asyncio.run_coroutine_threadsafe(self._close(), self._loop)
            with suppress(Exception):
                closing.result(seconds)
        self.kill()
        self._thread.join(1.0)

    def kill(self) -> None:
        """End all processes at once. Safe from any thread."""
        self.dead = True
        for launched in list(self._browsers):
            kill_group(launched.group)
        for pid in list(self._driver_pids):
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._loop.stop)

    # ---- in the thread ----------------------------------------------------------------------------

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
        finally:
            for task in asyncio.all_tasks(self._loop):
                task.cancel()
            with suppress(Exception):
                self._loop.run_until_complete(asyncio.sleep(0.05))
            with suppress(Exception):
                self._loop.run_until_complete(self._loop.shutdown_default_executor())
            self._loop.close()

    async def _job(self, work: Work[T], seconds: float) -> T:
        ends_at = self._loop.time() + seconds
        try:
            async with asyncio.timeout_at(ends_at):
                await self._slots.acquire()
        except TimeoutError:
            raise TimedOut(f"no tab was free in {seconds:.1f} s") from None
        launched: Launched | None = None
        room: Room | None = None
        try:
            async with asyncio.timeout_at(ends_at):
                launched = await self._browser()
                launched.active += 1
                launched.visits += 1
                room = await self._room(launched)
                return await work(launched.browser, room)
        except TimeoutError:
            raise TimedOut("the page was not loaded in time") from None
        except Exception as exc:
            connected = launched is None or launched.browser.is_connected()
            if connected and isinstance(exc, DriverGone):
                self.kill()
            if not connected or isinstance(exc, DriverGone):
                raise BrowserGone("the browser ended while the page was loaded") from exc
            raise
        finally:
            # Behind the caller's back: it must not wait for the cleaning.
            self._in_background(self._clean_up(launched, room))

    async def _clean_up(self, launched: Launched | None, room: Room | None) -> None:
        try:
            if launched is not None and room is not None:
                await self._vacate(launched, room)
        finally:
            self._slots.release()
            if launched is not None:
                launched.active -= 1
                if launched.visits >= self._visits_per_browser:
                    launched.retired = True
                if launched.active == 0 and not launched.alive:
                    self._in_background(self._end(launched))
                elif launched.alive and launched.spare is None and not launched.furnishing:
                    self._in_background(self._make_ready(launched))
                self._rest_later()

    # ---- rooms ----

    async def _room(self, launched: Launched) -> Room:
        ready, launched.spare = launched.spare, None
        if ready is not None and ready.usable:
            return ready
        if ready is not None:
            self._in_background(self._vacate(launched, ready))
        making = self._in_background(self._furnish(launched.browser))
        try:
            made: Room = await asyncio.shield(making)
        except asyncio.CancelledError:  # no time is left for this piece of work: it is the next one's
            making.add_done_callback(partial(self._keep, launched))
            raise
        return made

    async def _make_ready(self, launched: Launched) -> None:
        launched.furnishing = True
        try:
            made = self._in_background(self._furnish(launched.browser))
            await asyncio.wait({made}, timeout=START_S)
            self._keep(launched, made)
        finally:
            launched.furnishing = False

    def _keep(self, launched: Launched, making: asyncio.Task[Room]) -> None:
        if not making.done() or making.cancelled() or making.exception() is not None:
            making.cancel()
        elif launched.alive and launched.spare is None:
            launched.spare = making.result()
        else:
            self._in_background(self._vacate(launched, making.result()))

    async def _vacate(self, launched: Launched, room: Room) -> None:
        room.release()
        if not launched.browser.is_connected():
            return
        try:
            await asyncio.wait_for(room.context.close(), CLOSE_TAB_S)
        except Exception:
            if launched.browser.is_connected():
                self._log.info("browser.ended", reason="a tab could not be closed")
                await self._end(launched, force=True)

    # ---- the browser ----

    async def _browser(self) -> Launched:
        if self._idle is not None:
            self._idle.cancel()
        if self._current is not None and self._current.alive:
            return self._current
        if self._starting is None or self._starting.done():
            if self._current is not None and self._current.active == 0:
                self._in_background(self._end(self._current))
            self._starting = self._in_background(self._start())
        # Shielded: who has no more time must not leave half a browser behind; it is the next one's.
        return await asyncio.shield(self._starting)

    async def _start(self) -> Launched:
        if self._driver is None:
            self._driver = await asyncio.wait_for(self._start_driver(), START_S)
        try:
            browser = await asyncio.wait_for(self._launch(self._driver), START_S)
        except TimeoutError:
            self.kill()
            raise Unavailable("the browser did not start in time") from None
        except DriverGone:
            self.kill()
            raise BrowserGone("the browser's driver ended") from None
        launched = Launched(browser, await process_of(browser))
        self._browsers.add(launched)
        self._current = launched
        self._log.debug("browser.started", version=browser.version)
        return launched

    async def _start_driver(self) -> Playwright:
        from playwright.async_api import async_playwright

        before = children()
        try:
            return await async_playwright().start()
        except OSError as exc:
            raise NotConfigured(f"playwright's driver does not start: {exc}") from exc
        finally:
            self._driver_pids |= children() - before

    async def _end(self, launched: Launched, *, force: bool = False) -> None:
        launched.retired = True
        if launched.spare is not None:
            launched.spare.release()
            launched.spare = None
        if not force:
            with suppress(Exception):
                await asyncio.wait_for(launched.browser.close(), CLOSE_TAB_S)
        if launched.browser.is_connected():
            kill_group(launched.group)
            with suppress(Exception):
                await asyncio.wait_for(launched.browser.close(), CLOSE_TAB_S)
        self._browsers.discard(launched)
        if launched.browser.is_connected():  # it is dead: the driver would know if it were well
            self._log.warning("browser.given_up", reason="the driver does not answer")
            self.kill()

    def _rest_later(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
        self._idle = self._loop.call_later(self._idle_s, self._rest)

    def _rest(self) -> None:
        if self._current is not None and self._current.active == 0:
            launched, self._current = self._current, None
            self._in_background(self._end(launched))

    async def _close(self) -> None:
        for launched in list(self._browsers):
            launched.retired = True
        await asyncio.gather(*(self._end(launched) for launched in list(self._browsers)))
        if self._driver is not None:
            await self._driver.stop()
            self._driver_pids.clear()

    def _in_background(self, work: Any) -> asyncio.Task[Any]:
        task = self._loop.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._finished)
        return task

    def _finished(self, task: asyncio.Task[Any]) -> None:
        self._background.discard(task)
        if not task.cancelled():
            task.exception()  # it was somebody's to see; here it is marked as seen

    def _on_loop_error(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Calls that were given up end in errors that nobody waits for any more."""
        self._log.debug("browser.late_error", error=repr(context.get("exception") or context.get("message")))
