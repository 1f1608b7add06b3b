"""Giving work up before its deadline: the token that says so, and waits that end when it does.

A token reaches what is under way in two ways. A ``Deadline`` carries it through the pipeline, over all the
threads of a request. In the thread that a caller or a provider is called in it is the one that applies, so
that whatever is asked for there belongs to the same request: a plugin's own calls of other providers, or a
front end's ranking and writing after its search.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, nullcontext, suppress
from contextvars import ContextVar
from typing import Any

from ..errors import Cancelled, TimedOut

_applies: ContextVar[CancelToken | None] = ContextVar("webfetch_cancel", default=None)


class _Alarm:
    """An event for one who waits. Other than ``threading.Event`` it has no lock that a signal handler could
    find taken by the thread that it interrupted."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lock.acquire()

    def set(self) -> None:
        with suppress(RuntimeError):  # it is set
            self._lock.release()

    def wait(self, timeout: float | None) -> None:
        self._lock.acquire(timeout=-1 if timeout is None else max(timeout, 0.0))


class CancelToken:
    """Ends work that nobody wants any more. Thread-safe, and for one use: it stays cancelled. A signal
    handler may cancel as well as another thread.

    Give it to :meth:`Webfetch.search`, :meth:`Webfetch.fetch` or :meth:`ToolBox.handle`, and call
    :meth:`cancel` in another thread. What waits then ends at once, nothing more is begun, and requests under
    way through ``context.http`` are cut. What else a plugin has begun is left behind, and ends by itself.
    """

    def __init__(self) -> None:
        self._cancelled = False
        # No lock: every step is one of the interpreter's, so a signal handler may cancel, too.
        self._wakes: dict[object, Callable[[], object]] = {}

    @property
    def cancelled(self) -> bool:
        """Whether it was cancelled."""
        return self._cancelled

    def cancel(self) -> None:
        """Cancel; returns at once. A second time does nothing, and so does one after the work is done,
        except to pages that still load behind the search for the cache: they are dropped."""
        self._cancelled = True
        for wake in self._wakes.copy().values():
            wake()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until it is cancelled, for at most ``timeout`` seconds; say whether it is."""
        alarm = _Alarm()
        with self.listening(alarm.set):
            alarm.wait(timeout)
        return self._cancelled

    def raise_if_cancelled(self) -> None:
        """Raises Cancelled when it was cancelled."""
        if self._cancelled:
            raise Cancelled("the caller cancelled it")

    @contextmanager
    def listening(self, wake: Callable[[], object]) -> Iterator[None]:
        """Call ``wake`` in the thread that cancels, at once where that has happened. It must be short, and
        bear being called twice."""
        key = object()
        self._wakes[key] = wake
        try:
            if self._cancelled:  # perhaps in this very moment, by one who has not seen this listener
                wake()
            yield
        finally:
            self._wakes.pop(key, None)

    @contextmanager
    def applied(self) -> Iterator[CancelToken]:
        """Within, it ends everything that this thread asks of a ``Webfetch``: ranking, compressing and
        matching as well, which take no token of their own."""
        with applying(self):
            yield self


def current() -> CancelToken | None:
    """The token that applies in this thread."""
    return _applies.get()


@contextmanager
def applying(token: CancelToken | None) -> Iterator[None]:
    """Have ``token`` apply in this thread; None ends what applied, for work that is everybody's."""
    before = _applies.set(token)
    try:
        yield
    finally:
        _applies.reset(before)


@contextmanager
def applying_given(token: CancelToken | None) -> Iterator[None]:
    """As :func:`applying`, but None leaves what applies.

    Raises:
        Cancelled: what applies then was cancelled before anything was begun.
    """
    with applying(_applies.get() if token is None else token):
        raise_if_cancelled()
        yield


def is_cancelled() -> bool:
    """Whether the token that applies in this thread was cancelled."""
    token = _applies.get()
    return token is not None and token.cancelled


def raise_if_cancelled() -> None:
    """Raises Cancelled when the token that applies in this thread was cancelled."""
    token = _applies.get()
    if token is not None:
        token.raise_if_cancelled()


def require_wanted() -> None:
    """Nothing is sent for a caller who has cancelled.

    Raises:
        TimedOut: of kind ``cancelled``. Plugins meet it as a deadline that came early, which they know to say
            nothing of the other side, and not to be remembered.
    """
    if is_cancelled():
        raise given_up()


def given_up() -> TimedOut:
    """What :func:`require_wanted` raises."""
    return TimedOut("the caller cancelled it", kind="cancelled")


# ---- waits ---------------------------------------------------------------------------------------


def pause(seconds: float) -> None:
    """Sleep, unless the token that applies is cancelled."""
    token = _applies.get()
    if token is None:
        time.sleep(seconds)
    else:
        token.wait(seconds)


def is_done(future: Future[Any], timeout: float | None, token: CancelToken | None) -> bool:
    """Wait for ``future``; say whether it is done. ``token`` ends the wait."""
    if not future.done():
        alarm = _Alarm()
        future.add_done_callback(lambda _: alarm.set())
        with token.listening(alarm.set) if token is not None else nullcontext():
            alarm.wait(timeout)
    return future.done()


class Slots:
    """A semaphore; a token ends the wait for it."""

    def __init__(self, free: int) -> None:
        self._free = free
        self._changed = threading.Condition()

    def acquire(self, timeout: float | None = None, token: CancelToken | None = None) -> bool:
        """Take a slot within ``timeout`` seconds; False when there was none, or ``token`` was cancelled."""
        with self._changed:
            if token is None:
                self._changed.wait_for(lambda: self._free > 0, timeout)
            else:
                with token.listening(self._wake):
                    self._changed.wait_for(lambda: self._free > 0 or token.cancelled, timeout)
                if token.cancelled:
                    self._changed.notify()  # a slot that became free for this one is another's
                    return False
            if self._free < 1:
                return False
            self._free -= 1
            return True

    def release(self) -> None:
        """Give a slot back."""
        with self._changed:
            self._free += 1
            self._changed.notify()

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify_all()
