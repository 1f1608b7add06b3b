"""A store that never stops a search: not by raising, not by hanging, not by what it returns."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from ..errors import tellable
from ..forks import PerProcess
from ..stages import Cache
from .patience import Overdue, Patience

T = TypeVar("T")

OnError = Callable[[str], None]

WAIT_S = 0.2
"""How long a look into the cache may take; beyond it, it is a miss. A write goes on behind."""
WRITE_S = 5.0
"""How long a write may take before the store counts as one that hangs: durable ones wait for a disk
and for each other."""
SETTLE_S = 2.0
"""How long closing waits for writes that are under way."""


class _Writes:
    """The writes behind of one process."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.one = threading.Lock()
        self.waiting: set[tuple[str, bytes]] = set()


class TolerantStore:
    """A Cache that never raises: a failed read is a miss, a failed write is dropped.

    While a call to the store hangs, the store is an empty one and ``trouble`` says so.

    Args:
        cache: the store, or how to get it at the time of each use; None stands for one that is
            always empty.
        on_error: told the reason, once for each kind of fault.
        wait_s: how long a call may take; None calls the store in the calling thread, without limit.
    """

    def __init__(
        self,
        cache: Cache | Callable[[], Cache | None] | None,
        on_error: OnError | None = None,
        *,
        wait_s: float | None = None,
    ) -> None:
        self._find = cache if callable(cache) else lambda: cache
        self._on_error = on_error
        self._told: set[tuple[str, str]] = set()
        self._writes = PerProcess(_Writes)
        self._wait_s = wait_s
        self._patience = Patience()

    @classmethod
    def over(cls, cache: Cache | TolerantStore | None, on_error: OnError | None = None) -> TolerantStore:
        """Return ``cache`` if it is one already, so that several policies report a fault once."""
        return cache if isinstance(cache, cls) else cls(cache, on_error)  # type: ignore[arg-type]

    @property
    def trouble(self) -> str:
        """What is wrong with the store at this moment; empty while it answers."""
        return "the cache does not answer: going on without it" if self._patience.overdue else ""

    def settle(self) -> None:
        """Let writes that are under way end, for a moment."""
        if not self.trouble:
            self._patience.settle(SETTLE_S)

    def get(self, space: str, key: bytes) -> bytes | None:
        value = self._do("read", lambda cache: _bytes(cache.get(space, key)), None)
        return value if isinstance(value, bytes) else None

    def put(self, space: str, key: bytes, value: bytes) -> bool:
        """Store; say whether it worked."""
        return bool(self._do("write", lambda cache: _put(cache, space, key, value), False))

    def put_behind(self, space: str, key: bytes, value: Callable[[], bytes]) -> None:
        """Store what ``value`` returns when its turn comes, without waiting for it. One write runs at
        a time and one more waits, so that the last value to be stored is the last one there was."""
        writes = self._writes()
        with writes.lock:
            if (space, key) in writes.waiting:
                return
            writes.waiting.add((space, key))

        def turn() -> None:
            with writes.lock:
                writes.waiting.discard((space, key))

        def work(cache: Cache) -> None:
            with writes.one:
                turn()
                try:
                    _put(cache, space, key, value())
                except BaseException as exc:  # nobody waits for it
                    self._tell("write", exc)

        if not self._do("write", work, False, behind=True):
            turn()

    def delete(self, space: str, key: bytes) -> bool:
        return bool(self._do("write", lambda cache: bool(cache.delete(space, key)), False))

    def within(self, work: Callable[[Cache], T], otherwise: T, wait_s: float) -> T:
        """Return what reading by ``work(cache)`` gives; ``otherwise`` where it fails or takes longer than
        ``wait_s``. It goes on then, and nobody reads what it returns."""
        value: T = self._do("read", work, otherwise, wait_s=wait_s)
        return value

    def scan(self, space: str) -> Iterator[tuple[bytes, bytes]]:
        """The rows of a space, without a limit: for those who look after the store."""
        cache = self._find()
        if cache is None:
            return
        try:
            yield from cache.scan(space)
        except GeneratorExit:  # the reader had enough
            raise
        except BaseException as exc:
            self._tell("read", exc)

    def _do(
        self,
        what: str,
        work: Callable[[Cache], Any],
        otherwise: Any,
        *,
        behind: bool = False,
        wait_s: float | None = None,
    ) -> Any:
        """The value of ``work``, or ``otherwise``; with ``behind`` whether it was started."""
        cache = self._find()
        if cache is None:
            return otherwise
        try:
            if self._wait_s is None:
                return work(cache)
            if self._patience.overdue:
                return otherwise
            wait_s = self._wait_s if wait_s is None else wait_s
            due_s = max(WRITE_S, wait_s) if what == "write" or wait_s > self._wait_s else wait_s
            return self._patience.do(lambda: work(cache), 0.0 if behind else wait_s, due_s=due_s)
        except Overdue as exc:
            if behind:
                return True
            if what == "read":
                self._tell(what, exc)
            return otherwise
        except KeyboardInterrupt:
            raise
        except BaseException as exc:  # SystemExit and the like: a store must not end the host
            self._tell(what, exc)
            return otherwise

    def _tell(self, what: str, exc: BaseException) -> None:
        kind = (what, type(exc).__name__)
        with self._writes().lock:
            if kind in self._told:
                return
            self._told.add(kind)
        if self._on_error is not None:
            self._on_error(f"the cache could not {what}: {_reason(exc)}")


def _reason(exc: BaseException) -> str:
    if isinstance(exc, Overdue):
        return "it does not answer"
    try:
        return tellable(exc) or type(exc).__name__
    except BaseException:  # an exception may fail to print itself, in any way
        return type(exc).__name__


def _bytes(value: Any) -> bytes | None:
    if value is None or type(value) is bytes:
        return value
    raise TypeError(f"get returned {type(value).__name__} where bytes or None belong")


def _put(cache: Cache, space: str, key: bytes, value: bytes) -> bool:
    cache.put(space, key, value)
    return True
