"""A time limit for what plugins do while they are loaded and asked."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any


class TookTooLong(Exception):
    """The limit passed; the work goes on in its daemon thread and is ignored."""


def within(seconds: float, work: Callable[[], Any], name: str) -> Any:
    """Run ``work`` in a daemon thread and return what it returns or raise what it raises.

    A thread, since an import or a hook that hangs cannot be stopped in any other way. SystemExit
    and the like arrive as they are; the caller decides. A real Ctrl-C reaches the main thread
    alone, so a KeyboardInterrupt of the work is its own doing and arrives as a RuntimeError.
    """
    outcome: dict[str, Any] = {}

    def body() -> None:
        try:
            outcome["value"] = work()
        except BaseException as exc:
            outcome["error"] = exc

    thread = threading.Thread(target=body, name=f"webfetch-{name}", daemon=True)
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        raise TookTooLong(f"did not finish within {seconds:g} s")
    if isinstance(outcome.get("error"), KeyboardInterrupt):
        raise RuntimeError("it raised KeyboardInterrupt") from outcome["error"]
    if "error" in outcome:
        raise outcome["error"]
    return outcome["value"]
