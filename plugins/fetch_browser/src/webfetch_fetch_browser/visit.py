"""One page in one tab: gone to, waited for, and written down."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from attrs import evolve, frozen

from webfetch_core.api import PageError, ProxyLease, Refused, TimedOut, Unavailable, WebfetchError

from .documents import has_viewer, load_again
from .launched import TabGone
from .scripts import LOOK, OUTLINE, SERIALISE
from .settling import PATIENT_S, Seen, Settling
from .verdict import Visit, from_navigation, is_html
from .walls import Outline, is_wall
from .world import ANSWER_S, Elsewhere, Unresponsive, World

if TYPE_CHECKING:
    from playwright.async_api import CDPSession, Page, Request, Response, Route

LOOK_EVERY_S = 0.1
WRITE_S = 0.4
"""What writing the page down is allowed, at least, before the deadline: waiting ends that much earlier."""

WALL_LOOK_S = 0.5
"""How often a wall is looked at again, in case it gives way."""

MAX_HOPS = 20

_UNSEEN = frozenset({"image", "media", "font", "texttrack", "ping", "cspviolationreport", "manifest"})
"""What no text depends on."""
_AWAITED = frozenset({"document", "script", "xhr", "fetch"})


@frozen(kw_only=True)
class Order:
    """What a visit is asked. ``ends_at`` is an instant of the event loop's clock."""

    url: str
    lease: ProxyLease
    ends_at: float
    settle_s: float
    max_bytes: int


class Visitor:
    """Visits one URL in an empty page of a context of its own, which the caller closes."""

    def __init__(self, page: Page, session: CDPSession, order: Order) -> None:
        self._page = page
        self._session = session
        self._order = order
        self._loop = asyncio.get_running_loop()
        self._under_way: dict[Request, float] = {}
        self._navigations: list[Request] = []
        self._reply: Response | None = None
        self._shown: Response | None = None  # the reply before it, whose document stays if this one is none
        self._cut = False  # whether the reply broke off
        self._crash: asyncio.Future[None] = self._loop.create_future()

    async def run(self) -> Visit:
        """Return what is there.

        Raises:
            WebfetchError: the page cannot be loaded, is refused, crashed, or does not answer.
        """
        page = self._page
        await page.context.route("**/*", self._route)
        page.on("request", self._requested)
        page.on("response", self._replied)
        page.on("requestfinished", self._ended)
        page.on("requestfailed", self._failed)
        page.on("crash", self._on_crash)
        page.context.on("page", self._on_popup)
        await self._go(page)
        if self._reply is not None and not is_html(await self._reply.all_headers()):
            return await self._document()
        world = World(self._session)
        await self._settle(world)
        visit = await self._described(world)
        visit = await self._past_the_wall(world, visit)
        await self._judge_hops()
        return visit

    # ---- going there ----

    async def _go(self, page: Page) -> None:
        from playwright.async_api import Error

        try:
            await page.goto(self._order.url, wait_until="commit", timeout=self._left() * 1000)
        except Error as exc:
            # Redirected by a script before it had come in: what it is on its way to is what counts.
            if "interrupted by another navigation" in exc.message:
                return
            if "ERR_ABORTED" in exc.message:  # told before the crash that may have caused it
                await asyncio.wait({self._crash}, timeout=0.5)
            if self._crash.done() and self._reply is None:
                raise TabGone("the tab crashed before the page came in") from None
            self._raise_if_crashed()
            if "has been closed" in exc.message:
                raise  # no failure of the page's
            reached = self._navigations[-1].url if self._navigations else self._order.url
            if "imeout" in exc.message:
                raise TimedOut(f"{urlsplit(reached).hostname} did not answer in time") from None
            if self._reply is not None and self._reply.status in (204, 205):
                raise PageError("the page is empty", kind="empty") from None
            raise from_navigation(exc.message, reached, self._order.lease.failures()) from None

    async def _route(self, route: Route) -> None:
        """Let a request through, or not. The proxy judges where it leads; this judges what it is."""
        from playwright.async_api import Error

        request = route.request
        scheme = request.url.partition(":")[0].lower()
        with suppress(Error):  # the page was closed meanwhile
            if request.resource_type in _UNSEEN or not self._is_ours(request):
                await route.abort("blockedbyclient")
            elif scheme in ("data", "blob", "about"):
                await route.continue_()
            elif not await self._is_permitted(request.url):
                await route.abort("accessdenied")
            elif request.resource_type == "stylesheet":
                # Not loaded, but there: scripts wait for their sheets, and fail when one fails.
                headers = {"access-control-allow-origin": "*", "content-type": "text/css"}
                await route.fulfill(status=200, headers=headers, body="")
            else:
                await route.continue_()

    async def _is_permitted(self, url: str) -> bool:
        try:
            await self._loop.run_in_executor(None, self._order.lease.permit, url)
        except Refused:
            return False
        return True

    def _requested(self, request: Request) -> None:
        if request.resource_type in _AWAITED:
            self._under_way[request] = self._loop.time()
        if request.is_navigation_request() and self._is_main(request):
            self._navigations.append(request)

    def _ended(self, request: Request) -> None:
        self._under_way.pop(request, None)

    def _failed(self, request: Request) -> None:
        self._ended(request)
        if self._reply is None or request != self._reply.request:
            return
        if self._shown is not None and (request.failure or "").endswith("ERR_ABORTED"):
            self._reply, self._shown = self._shown, None  # a file, or 204: the page stays where it was
        else:
            self._cut = True

    def _replied(self, response: Response) -> None:
        if response.request.is_navigation_request() and self._is_main(response.request):
            before = self._reply
            if before is not None and not self._cut and before.status // 100 != 3:
                self._shown = before
            self._reply, self._cut = response, False

    def _is_ours(self, request: Request) -> bool:
        """Whether the page asks, rather than a window that it opened."""
        from playwright.async_api import Error

        try:
            return request.frame.page == self._page
        except Error:  # a window that is only just coming to be
            return False

    def _is_main(self, request: Request) -> bool:
        from playwright.async_api import Error

        try:
            return request.frame == self._page.main_frame
        except Error:
            return False

    def _on_crash(self, _: Page) -> None:
        if not self._crash.done():
            self._crash.set_result(None)

    def _on_popup(self, page: Page) -> None:
        if page is not self._page:
            self._popup = asyncio.ensure_future(page.close())

    def _raise_if_crashed(self) -> None:
        if self._crash.done():
            raise Unavailable("the page crashed its tab")

    # ---- waiting for it ----

    def _left(self) -> float:
        return max(self._order.ends_at - self._loop.time(), 0.001)

    async def _look(self, world: World, expression: str) -> Any:
        return await self._answered(world.read(expression), min(ANSWER_S + 0.5, self._left()))

    async def _answered(self, question: Coroutine[Any, Any, Any], patience: float) -> Any:
        """What the page answers. One that has crashed, or runs on and on, never answers."""
        reading = asyncio.ensure_future(question)
        try:
            await asyncio.wait({reading, self._crash}, timeout=patience, return_when=asyncio.FIRST_COMPLETED)
            self._raise_if_crashed()
            if not reading.done():
                raise Unresponsive
            return reading.result()
        finally:
            reading.cancel()

    async def _settle(self, world: World) -> None:
        """Wait until the text rests, within the patience of the settings and the deadline."""
        settling = Settling()
        until = min(self._loop.time() + self._order.settle_s, self._order.ends_at - WRITE_S)
        navigations = len(self._navigations)
        while True:
            try:
                looked = await self._look(world, LOOK)
            except Elsewhere:
                settling.moved()
            else:
                now = self._loop.time()
                waiting = sum(now - since < PATIENT_S for since in self._under_way.values())
                seen = Seen(looked["loaded"], looked["chars"], looked["elements"], waiting)
                if len(self._navigations) != navigations:
                    navigations = len(self._navigations)
                    settling.moved()
                if settling.rests(now, seen):
                    return
            if len(self._navigations) > MAX_HOPS:
                raise TimedOut("the page goes on from address to address")
            if self._loop.time() + LOOK_EVERY_S >= until:
                return
            await asyncio.sleep(LOOK_EVERY_S)

    async def _past_the_wall(self, world: World, visit: Visit) -> Visit:
        """A challenge that solves itself is given the time that there is."""
        while visit.outline is not None and is_wall(visit.outline, visit.headers):
            if self._left() < WALL_LOOK_S + WRITE_S:
                return visit
            seen = len(self._navigations)
            await asyncio.sleep(WALL_LOOK_S)
            if len(self._navigations) != seen:
                await self._settle(world)
            visit = await self._described(world)
        return visit

    # ---- writing it down ----

    async def _described(self, world: World) -> Visit:
        while True:
            try:
                shown = await self._look(world, OUTLINE)
                written = await self._look(world, SERIALISE % self._order.max_bytes)
                break
            except Elsewhere:
                if self._left() < LOOK_EVERY_S:
                    raise TimedOut("the page did not come to rest in time") from None
                await asyncio.sleep(LOOK_EVERY_S)
        outline = Outline(**{name: shown[name] for name in ("title", "heading", "text", "chars", "marks")})
        there = await self._there()
        html = written["html"] if outline.chars or "json" in written["html"] else ""
        return evolve(there, html=html, size=int(written["size"]), outline=outline)

    async def _document(self) -> Visit:
        """A document that the browser would only show: its bytes are what is wanted."""
        from playwright.async_api import Error

        assert self._reply is not None
        there = await self._there()
        try:
            if has_viewer(there.headers) and there.status < 300:
                size, body = await self._answered(
                    load_again(self._session, self._order.max_bytes), self._left()
                )
            else:
                body = await asyncio.wait_for(self._reply.body(), self._left())
                size = len(body)
        except (TimeoutError, Unresponsive, Error):
            raise TimedOut("the document did not come in time") from None
        await self._judge_hops()
        return evolve(there, body=body, size=size)

    async def _there(self) -> Visit:
        reply, url = self._reply, self._page.url
        headers = await reply.all_headers() if reply is not None else {}
        if reply is not None and urlsplit(url)[:2] != urlsplit(reply.url)[:2]:
            url = reply.url  # about:blank, blob: and the like are no addresses
        return Visit(
            url=url.partition("#")[0],
            status=reply.status if reply is not None else 0,
            headers=headers,
            complete=not self._cut,
            hops=max(len(self._navigations) - 1, 0),
        )

    async def _judge_hops(self) -> None:
        """The vetoes judge whole addresses, which the proxy does not see inside TLS: also those of hops."""
        for url in dict.fromkeys([*(r.url for r in self._navigations), self._page.url]):
            if url.startswith(("http:", "https:")):
                await self._loop.run_in_executor(None, self._order.lease.permit, url)


__all__ = ["Order", "Unresponsive", "Visitor", "WebfetchError"]
