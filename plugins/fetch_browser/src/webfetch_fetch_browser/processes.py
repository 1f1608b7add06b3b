"""The processes behind a browser, for when asking it to end is not enough."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.async_api import Browser


async def process_of(browser: Browser) -> int | None:
    """The browser's process id, from itself."""
    with suppress(Exception):
        session = await browser.new_browser_cdp_session()
        info = await session.send("SystemInfo.getProcessInfo")
        await session.detach()
        return next(int(p["id"]) for p in info["processInfo"] if p["type"] == "browser")
    return None


def kill_group(pid: int | None) -> None:
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


def children() -> set[int]:
    """Processes that this very thread has started; empty where the system does not say."""
    try:
        tasks = Path(f"/proc/self/task/{threading.get_native_id()}/children").read_text(encoding="ascii")
    except OSError:
        return set()
    return {int(pid) for pid in tasks.split()}
