"""The fetcher: asks the browser's thread for a page, and judges what it got."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from webfetch_core.api import (
    Clock,
    FetchRequest,
    Http,
    NotConfigured,
    Page,
    ProxyFailure,
    ProxyLease,
    TimedOut,
    Unavailable,
)

from . import chromium
from .launched import BrowserGone, DriverGone, Room, TabGone, cannot_start, first_line
from .settings import FetchBrowserSettings
from .switches import SWITCHES, browser_environment, plain_agent, wants_sandbox
from .tabs import START_S, BrowserThread
from .verdict import Visit, fault
from .visit import Order, Unresponsive, Visitor

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, CDPSession, Playwright
    from playwright.async_api import Page as TabPage

DEFAULT_S = 30.0
"""What a page without a deadline may take."""

LEAST_S = 0.3
"""With less left, nothing is begun."""


class Furnished:
    """A context with an empty page, a way to our scripts in it, and a lease of the way out."""

    def __init__(
        self, context: BrowserContext, page: TabPage, session: CDPSession, lease: ProxyLease
    ) -> None:
        self.context = context
        self.page = page
        self.session = session
        self.lease = lease
        self._crashed = False
        page.on("crash", self._on_crash)

    def _on_crash(self, _: TabPage) -> None:
        self._crashed = True

    @property
    def usable(self) -> bool:
        """Whether the page is there and was not crashed, by the kernel for want of memory, say."""
        return not self._crashed and not self.page.is_closed()

    def release(self) -> None:
        """End the lease, and with it every connection that the page still has."""
        self.lease.close()


class BrowserFetcher:
    """Renders pages in one long-lived browser, each in a context of its own. Thread-safe."""

    def __init__(
        self, settings: FetchBrowserSettings, http: Http, clock: Clock, environ: Mapping[str, str], log: Any
    ) -> None:
        """Find the browser; it is started by the first fetch.

        Raises:
            NotConfigured: there is none.
        """
        found = chromium.find(settings.executable_path, environ)
        if found is None:
            raise NotConfigured("no Chromium was found", fix=chromium.FIX)
        self._program = found or None
        self._settings = settings
        self._http = http
        self._clock = clock
        self._environ = environ
        self._log = log
        self._lock = threading.Lock()
        self._thread: BrowserThread | None = None
        self._closed = False
        self._agent = settings.user_agent

    def fetch(self, request: FetchRequest) -> Page:
        """Return the page as it stands after its scripts have run: one UTF-8 document, status 200.

        A document that is no HTML is returned as it was sent.

        Raises:
            Refused: by the guard or a veto, for the URL or for where it leads.
            Blocked, RateLimited: a wall that did not give way.
            PageError: not_found, login, paywall, empty, too_large, redirect_loop, unsupported_type.
            Unavailable, TimedOut, BadResponse: the site, or the browser, failed.
            NotConfigured: the browser cannot be started.
        """
        started = self._clock.monotonic()
        deadline = started + DEFAULT_S if request.deadline is None else request.deadline
        with self._http.guard_proxy() as lease:  # before a browser is started for nothing
            lease.permit(request.url)
        try:
            visit, failures = self._visited(request.url, deadline)
        except Exception:
            if self._closed:  # whatever it looked like to the page
                raise Unavailable("the browser was closed while the page was loaded") from None
            raise
        error = fault(visit, failures, max_bytes=self._settings.max_bytes, now=self._clock.time())
        if error is not None:
            raise error
        html = visit.is_html
        kind = "text/html; charset=utf-8" if html else visit.headers.get("content-type", "text/plain")
        return Page(
            url=request.url,
            final_url=visit.url,
            status=visit.status or 200,
            headers={**visit.headers, "content-type": kind},
            content_type=kind,
            body=visit.html.encode("utf-8", "replace") if html else visit.body,
            fetched_by="browser",
            elapsed_s=self._clock.monotonic() - started,
            redirects=visit.hops,
        )

    def warm_up(self) -> None:
        """Start the browser ahead of traffic."""

        async def nothing(browser: Browser, room: Room) -> None:
            return None

        self._owner().do(nothing, START_S)

    def close(self) -> None:
        """End the browser and its thread."""
        with self._lock:
            self._closed = True
            thread, self._thread = self._thread, None
        if thread is not None and thread.pid == os.getpid():
            thread.close()

    # ---- the browser's thread ----

    def _visited(self, url: str, deadline: float) -> tuple[Visit, Sequence[ProxyFailure]]:
        try:
            return self._visit(url, deadline)
        except (BrowserGone, TabGone):  # another page may have taken it along: once more, with a new one
            return self._visit(url, deadline)
        except Unresponsive:
            raise TimedOut("the page's scripts do not let it answer") from None

    def _visit(self, url: str, deadline: float) -> tuple[Visit, Sequence[ProxyFailure]]:
        left = deadline - self._clock.monotonic()
        if left < LEAST_S:
            raise TimedOut("no time was left to render it")

        async def work(browser: Browser, room: Room) -> tuple[Visit, Sequence[ProxyFailure]]:
            import asyncio

            from playwright.async_api import Error

            assert isinstance(room, Furnished)
            order = Order(
                url=url,
                lease=room.lease,
                ends_at=asyncio.get_running_loop().time() + deadline - self._clock.monotonic(),
                settle_s=self._settings.settle_s,
                max_bytes=self._settings.max_bytes,
            )
            try:
                visit = await Visitor(room.page, room.session, order).run()
                return visit, room.lease.failures()
            except Error as exc:
                if not browser.is_connected():
                    raise
                if "has been closed" in exc.message and not room.page.is_closed():
                    raise DriverGone(exc.message) from exc
                raise Unavailable(
                    f"the browser could not finish the page: {first_line(exc.message)}"
                ) from exc
            finally:
                room.release()  # whatever the page still loads ends here

        return self._owner().do(work, left)

    async def _furnish(self, browser: Browser) -> Room:
        """A context with an empty page, and its own way out."""
        from playwright.async_api import Error

        if not self._agent:
            self._agent = plain_agent(browser.version, "")
        lease = self._http.guard_proxy(max_bytes=self._settings.max_load_bytes)
        try:
            context = await browser.new_context(**self._context_options(lease))
        except Error as exc:
            lease.close()
            raise DriverGone(exc.message) from exc
        try:
            page = await context.new_page()
            return Furnished(context, page, await context.new_cdp_session(page), lease)
        except BaseException as exc:
            lease.close()
            with suppress(Exception):
                await context.close()
            if isinstance(exc, Error):
                raise BrowserGone("the browser ended before the page was begun") from exc
            raise

    def _context_options(self, lease: ProxyLease) -> dict[str, Any]:
        """A context is one page's: its cookies, its permissions (none), its credentials for the way out."""
        address = lease.address
        return {
            "proxy": {
                "server": address.server,
                "username": address.username,
                "password": address.password,
                "bypass": "<-loopback>",
            },
            "user_agent": self._agent,
            "locale": self._settings.locale,
            "viewport": {"width": 1280, "height": 1600},
            "accept_downloads": False,
            "service_workers": "block",
            "permissions": [],
        }

    def _owner(self) -> BrowserThread:
        with self._lock:
            if self._closed:
                raise Unavailable("the browser is closed")
            thread = self._thread
            if thread is None or thread.dead or thread.pid != os.getpid():
                with self._http.guard_proxy() as lease:
                    server = lease.address.server
                thread = self._thread = BrowserThread(
                    self._launcher(server),
                    self._furnish,
                    self._log,
                    tabs=self._settings.tabs,
                    visits_per_browser=self._settings.pages_per_browser,
                    idle_s=self._settings.idle_s,
                )
            return thread

    def _launcher(self, server: str) -> Any:
        settings = self._settings
        sandbox = wants_sandbox(settings.sandbox, os.geteuid() if hasattr(os, "geteuid") else None)

        async def launch(driver: Playwright) -> Browser:
            from playwright.async_api import Error

            try:
                return await driver.chromium.launch(
                    executable_path=self._program,
                    headless=True,
                    args=list(SWITCHES),
                    chromium_sandbox=sandbox,
                    # What is nobody's page has no credentials, and so no way out.
                    proxy={"server": server, "bypass": "<-loopback>"},
                    handle_sigint=False,
                    handle_sigterm=False,
                    handle_sighup=False,
                    timeout=START_S * 1000,
                    env=dict(browser_environment(self._environ)),
                )
            except Error as exc:
                raise cannot_start(exc.message) from None

        return launch
