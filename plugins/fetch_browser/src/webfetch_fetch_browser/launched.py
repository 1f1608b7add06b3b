"""A running browser, and where work is done in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from webfetch_core.api import NotConfigured, Unavailable

from .chromium import FIX

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext


class BrowserGone(Unavailable):
    """The browser ended while a page was being loaded: it crashed, or another page had to be ended so."""


class TabGone(Unavailable):
    """The tab crashed before anything of the page had come in: the page is not to blame."""


class DriverGone(Exception):
    """The driver has ended: nothing can be started with it."""


class Room(Protocol):
    """Where a piece of work is done: a context of its own. Made ahead, used once, closed behind it."""

    context: BrowserContext

    @property
    def usable(self) -> bool:
        """Whether it is as good as when it was made."""
        ...

    def release(self) -> None:
        """Let go of what is not the browser's. At once, and again without effect."""
        ...


class Launched:
    """A running browser. ``group`` is its process, and the leader of its process group."""

    def __init__(self, browser: Browser, group: int | None) -> None:
        self.browser = browser
        self.group = group
        self.visits = 0
        self.active = 0
        self.retired = False
        self.spare: Room | None = None
        """A room for the next piece of work: making one takes longer than most pages do."""
        self.furnishing = False

    @property
    def alive(self) -> bool:
        return self.browser.is_connected() and not self.retired


_CHECK_IT = (
    "see whether `chromium --headless --dump-dom about:blank` works on this machine; "
    "plugins.fetch_browser.executable_path names another program"
)


def cannot_start(message: str) -> Exception:
    """The reason, and what to do about it, out of what the driver prints."""
    if "sandbox" in message.lower() and ("usable" in message or "namespace" in message):
        return NotConfigured(
            "the browser's sandbox cannot be used on this machine",
            fix='allow user namespaces, or set plugins.fetch_browser.sandbox = "off"',
        )
    if "Browser logs:" in message:
        return Unavailable("what should be the browser ended as soon as it was started", fix=_CHECK_IT)
    if "has been closed" in message or "Connection closed" in message:
        return DriverGone(message)
    if "Executable doesn't exist" in message:
        return NotConfigured("the browser is gone", fix=FIX)
    return Unavailable(f"the browser does not start: {first_line(message)}", fix=_CHECK_IT)


def first_line(message: str) -> str:
    """What a driver's message says, without its logs."""
    return next((line.strip()[:200] for line in message.splitlines() if line.strip()), "")
