"""Whether a newer version is out. Asked only where the settings say so, and once a process."""

from __future__ import annotations

import re
import threading

from attrs import frozen

from ..errors import WebfetchError
from ..forks import PerProcess
from ..providers import Http
from .cancelling import applying

URL = "https://pypi.org/pypi/webfetch-core/json"
UPDATE_CHECK_S = 2.0
"""How long the package index is waited for."""

_VERSION = re.compile(r"(\d{1,9})\.(\d{1,9})(?:\.(\d{1,9}))?(?:\.post\d{1,9})?\Z")


@frozen(kw_only=True)
class Latest:
    """The newest version that the index has, or why that is not known."""

    version: str = ""
    problem: str = ""


class UpdateCheck:
    """Asks once and keeps the answer, also when there was none. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._answer: Latest | None = None

    def latest(self, http: Http, deadline: float, url: str = URL) -> Latest:
        """Return the newest version; never raises. ``deadline`` is an instant of the monotonic clock."""
        with self._lock:
            if self._answer is None:
                with applying(None):  # it is kept for everybody, whoever asked first
                    self._answer = _ask(http, deadline, url)
            return self._answer


process_wide = PerProcess(UpdateCheck)


def _ask(http: Http, deadline: float, url: str) -> Latest:
    try:
        version = http.get(url, deadline=deadline).json()["info"]["version"]
    except WebfetchError as exc:
        return Latest(problem=f"{exc.kind}: {exc.message}")
    except (KeyError, TypeError):
        version = None
    if not isinstance(version, str) or not _VERSION.match(version):
        return Latest(problem="bad_response: the index does not say which version is the newest")
    return Latest(version=version)


def is_newer(version: str, mine: str) -> bool:
    """Whether ``version`` is a later release than ``mine``; False for what is not written like one."""
    theirs, own = _VERSION.match(version), re.match(r"(\d+)\.(\d+)(?:\.(\d+))?", mine)
    if theirs is None or own is None:
        return False
    return [int(n or 0) for n in theirs.groups()] > [int(n or 0) for n in own.groups()]
