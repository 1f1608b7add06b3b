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
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from webfetch_core.api import NotConfigured, TimedOut, Unavailable

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, Playwright

T = TypeVar("T")
Work = Callable[["Browser", "Tab"], Awaitable[T]]

START_S = 20.0
"""What starting the driver or the browser may take; a first start on a busy machine takes seconds."""

CLOSE_TAB_S = 2.0
"""What closing a tab may take before the browser is ended with it."""

CLOSE_S = 1.5
"""What closing everything may take before it is killed."""

OVERDUE_S = 1.0
"""How late the thread may be before it is given up, with all that it started."""


class BrowserGone(Unavailable):
    """The browser ended while a page was being loaded: it crashed, or another page had to be ended so."""


class DriverGone(Exception):
    """The driver has ended: nothing can be started with it."""


class Tab:
    """What a piece of work opened; closed behind it."""

    def __init__(self) -> None:
        self.context: BrowserContext | None = None


class Launched:
    """A running browser. ``group`` is its process, and the leader of its process group."""

    def __init__(self, browser: Browser, group: int | None) -> None:
        self.browser = browser
        self.group = group
        self.visits = 0
        self.active = 0
        self.retired = False

    @property
    def alive(self) -> bool:
        return self.browser.is_connected() and not self.retired


class BrowserThread:
    """Runs work with a browser in one thread of its own; the browser starts with the first.

    Not restarted when it had to be killed: make a new one.
    """

    def __init__(
        self,
        launch: Callable[[Playwright], Awaitable[Browser]],
        log: Any,
        *,
        tabs: int,
        visits_per_browser: int,
        idle_s: float,
    ) -> None:
        """Start the thread.

        Args:
            launch: starts a browser.
            log: a structlog logger.
            tabs: how many pieces of work run at a time.
            visits_per_browser: after so many a new browser takes over.
            idle_s: a browser without work is ended after so long.
        """
        self._launch = launch
        self._log = log
        self._visits_per_browser = visits_per_browser
        self._idle_s = idle_s
        self._loop = asyncio.new_event_loop()
        self._loop.set_exception_handler(self._on_loop_error)
        self._slots = asyncio.Semaphore(tabs)
        self._starting = asyncio.Lock()
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
        """Run ``work(browser, tab)`` in the thread and return what it returns, in ``seconds`` at most.

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
            _kill_group(launched.group)
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
        tab = Tab()
        try:
            async with asyncio.timeout_at(ends_at):
                await self._slots.acquire()
        except TimeoutError:
            raise TimedOut(f"no tab was free in {seconds:.1f} s") from None
        launched: Launched | None = None
        try:
            async with asyncio.timeout_at(ends_at):
                launched = await self._browser()
                launched.active += 1
                launched.visits += 1
                return await work(launched.browser, tab)
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
            self._in_background(self._clean_up(launched, tab))

    async def _clean_up(self, launched: Launched | None, tab: Tab) -> None:
        try:
            if launched is not None and launched.browser.is_connected():
                closed = tab.context is None
                if tab.context is not None:
                    with suppress(Exception):
                        await asyncio.wait_for(tab.context.close(), CLOSE_TAB_S)
                        closed = True
                if not closed:
                    self._log.info("browser.ended", reason="a tab could not be closed")
                    await self._end(launched, force=True)
        finally:
            self._slots.release()
            if launched is not None:
                launched.active -= 1
                if launched.visits >= self._visits_per_browser:
                    launched.retired = True
                if launched.active == 0 and not launched.alive:
                    self._in_background(self._end(launched))
                self._rest_later()

    async def _browser(self) -> Launched:
        async with self._starting:
            if self._idle is not None:
                self._idle.cancel()
            if self._current is not None and self._current.alive:
                return self._current
            if self._current is not None and self._current.active == 0:
                self._in_background(self._end(self._current))
            # Shielded: a fetch that has no more time must not leave half a browser behind.
            started: Launched = await asyncio.shield(self._in_background(self._start()))
            return started

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
        launched = Launched(browser, await _process_of(browser))
        self._browsers.add(launched)
        self._current = launched
        self._log.debug("browser.started", version=browser.version)
        return launched

    async def _start_driver(self) -> Playwright:
        from playwright.async_api import async_playwright

        before = _children()
        try:
            return await async_playwright().start()
        except OSError as exc:
            raise NotConfigured(f"playwright's driver does not start: {exc}") from exc
        finally:
            self._driver_pids |= _children() - before

    async def _end(self, launched: Launched, *, force: bool = False) -> None:
        launched.retired = True
        if not force:
            with suppress(Exception):
                await asyncio.wait_for(launched.browser.close(), CLOSE_TAB_S)
        if launched.browser.is_connected():
            _kill_group(launched.group)
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


async def _process_of(browser: Browser) -> int | None:
    """The browser's process id, from itself."""
    with suppress(Exception):
        session = await browser.new_browser_cdp_session()
        info = await session.send("SystemInfo.getProcessInfo")
        await session.detach()
        return next(int(p["id"]) for p in info["processInfo"] if p["type"] == "browser")
    return None


def _kill_group(pid: int | None) -> None:
    """Kill a browser with all of its children: the driver starts it as the leader of a group."""
    if pid is None:
        return
    with suppress(OSError):
        if hasattr(os, "killpg"):
            group = os.getpgid(pid)
            if group != os.getpgid(0):
                os.killpg(group, signal.SIGKILL)
                return
        os.kill(pid, signal.SIGTERM if os.name == "nt" else signal.SIGKILL)


def _children() -> set[int]:
    """Processes that this very thread has started; empty where the system does not say."""
    try:
        tasks = Path(f"/proc/self/task/{threading.get_native_id()}/children").read_text(encoding="ascii")
    except OSError:
        return set()
    return {int(pid) for pid in tasks.split()}
