"""The one lazy default: a ``Webfetch`` of this process, for whoever wants a function and nothing else."""

from __future__ import annotations

import atexit
import os
import threading
from typing import TYPE_CHECKING

from ..forks import PerProcess
from .failures import failure_of
from .schema import WEB_SEARCH
from .toolbox import ToolBox

if TYPE_CHECKING:
    from ..app import Webfetch

_LOCK = PerProcess(threading.Lock)
# By process: a forked child makes its own, and leaves that of its parent to its parent.
_BOXES: dict[int, ToolBox] = {}


def handle_web_search(given: object = None, wf: Webfetch | None = None) -> str:
    """Do a ``web_search`` and return its text. Never raises, but for KeyboardInterrupt.

    Args:
        given: the tool's input: an object with ``query``, or its JSON text.
        wf: what does the work; by default one that is made at the first call, with the settings of
            ``Settings.load()`` and all installed plugins, shared by all threads of this process and closed
            at its end. A forked child makes its own.
    """
    try:
        box = _default() if wf is None else ToolBox(wf)
    except KeyboardInterrupt:
        raise
    except BaseException as exc:  # a setting is wrong, as a rule; the next call tries again
        return "\n".join(failure_of(WEB_SEARCH.name, exc).lines)
    return box.handle(WEB_SEARCH.name, given)


def _default() -> ToolBox:
    with _LOCK():
        pid = os.getpid()
        if pid not in _BOXES:
            from ..app import Webfetch

            wf = Webfetch()
            _BOXES[pid] = ToolBox(wf)
            atexit.register(_close, pid, wf)
        return _BOXES[pid]


def _close(pid: int, wf: Webfetch) -> None:
    if os.getpid() == pid:
        wf.close()
