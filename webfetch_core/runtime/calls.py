"""Calling a provider: in its own thread, under its slots, its breaker and a deadline.

Whatever a provider does, a call returns by its deadline with a value that keeps the stage's
contract or with a WebfetchError that says what happened. A call that is left behind keeps its
slot, so a provider that hangs can exhaust only itself.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from ..errors import (
    Benched,
    Busy,
    Cancelled,
    ContractViolation,
    NotConfigured,
    ProviderError,
    TimedOut,
    WebfetchError,
    cool_down_s,
    counts_against_breaker,
    tellable,
)
from ..log import get_logger
from ..providers import Clock, PluginContext
from ..registry.catalog import Entry
from ..registry.manager import describe
from .breaker import Breaker
from .cancelling import Slots, applying, is_done
from .deadline import Deadline
from .emitter import Scope
from .redaction import strike

_log = get_logger("calls")
T = TypeVar("T")
_NEVER_BEGUN = (Benched, NotConfigured)


class Handle:
    """A provider at run time: built on first use, once."""

    def __init__(
        self,
        entry: Entry,
        make_context: Callable[[Entry], PluginContext],
        clock: Clock,
        secrets: tuple[str, ...] = (),
    ) -> None:
        self.entry = entry
        self.secrets = secrets
        """What no error of it may show: services echo the key that they refuse."""
        self.breaker = Breaker(clock)
        self.off_reason = ""
        """Why it declined when it was built; empty otherwise."""
        self.slots = Slots(entry.provider.max_concurrency)
        self._make_context = make_context
        self._building = Slots(1)
        self._built: Any = None
        self.closed = False
        """Whether the host has closed: nothing is built any more."""

    @property
    def stage(self) -> str:
        return self.entry.stage

    @property
    def name(self) -> str:
        return self.entry.name

    @property
    def built(self) -> Any:
        """The object, or None when it was not built yet."""
        return self._built

    def instance(self, deadline: Deadline) -> Any:
        """The provider's object, built now if need be.

        Raises:
            NotConfigured: it declines.
            TimedOut: another thread is still building it at the deadline.
            Cancelled: the host is closed, or the caller cancelled while another thread built it.
        """
        built = self._built
        if built is not None and not self.closed:
            return built
        if not self._building.acquire(deadline.remaining(), deadline.token):
            deadline.raise_if_cancelled()
            raise TimedOut(f"{self.name} is still starting")
        try:
            if self._built is None and not self.closed:
                with applying(None):  # it is built for everybody, whoever asked first
                    self._built = self._build()
            built = self._built
        finally:
            self._building.release()
        if self.closed:  # perhaps while it was being built: nobody else will close it then
            self.close()
            raise Cancelled(f"{self.name} was closed with its host")
        return built

    def _build(self) -> Any:
        if self.off_reason:
            raise NotConfigured(self.off_reason)
        try:
            built = self.entry.provider.build(self.entry.settings, self._make_context(self.entry))
        except NotConfigured as exc:
            self.off_reason = strike(str(exc), self.secrets)  # shown by status, in every later error
            raise
        if built is None:
            raise ContractViolation(f"{self.name}: build returned None")
        return built

    def close(self) -> None:
        """Let the object release what it holds, if it was built and wants to. It is not built again."""
        self.closed = True
        built, self._built = self._built, None
        closing = getattr(built, "close", None)
        if callable(closing):
            closing()


def _same(value: Any) -> Any:
    return value


def _one(_: Any) -> int:
    return 1


def _is_sound(error: WebfetchError) -> bool:
    """Whether a subclass of a plugin's left it what all errors of ours have."""
    try:
        return all(type(text) is str for text in (str(error), error.message, error.kind, error.fix))
    except BaseException:
        return False


def _without(secrets: tuple[str, ...], error: WebfetchError) -> WebfetchError:
    if secrets:
        error.message, error.fix = strike(error.message, secrets), strike(error.fix, secrets)
        error.args = (error.message,)
    return error


class Caller:
    """Makes the calls of one ``Webfetch``."""

    def __init__(self, clock: Clock, *, strict: bool = False) -> None:
        self._clock = clock
        self._strict = strict
        self._lock = threading.Lock()
        self._abandoned = 0

    @property
    def abandoned(self) -> int:
        """Calls that were left behind and still run."""
        with self._lock:
            return self._abandoned

    def call(
        self,
        handle: Handle,
        work: Callable[[Any], T],
        *,
        scope: Scope,
        deadline: Deadline,
        target: str = "",
        check: Callable[[Any], Any] = _same,
        count: Callable[[Any], int] = _one,
        note: str = "",
        detached: bool = True,
    ) -> Any:
        """Run ``work(instance)`` and return ``check(value)`` by ``deadline`` or the provider's limit.

        Args:
            check: validates the reply; what it raises is the provider's fault.
            count: what the attempt counts (hits, bytes, passages).
            note: what the attempt of a call that succeeds says besides.
            detached: False runs in the calling thread, for calls that cannot hang and must be
                quick, or whose caller is itself in a thread that may be left behind.

        Raises:
            Cancelled: the caller has cancelled. A call that was not begun by then leaves no trace; one that
                was is an attempt, and says nothing of the provider.
            WebfetchError: what happened, after it was recorded as an attempt.
        """
        deadline.raise_if_cancelled()
        limit = deadline.within(handle.entry.provider.timeout_s)
        started = self._clock.monotonic()
        about = {"stage": handle.stage, "provider": handle.name, "target": target}
        scope.emit("call.started", **about)
        try:
            # Checked where it was made: a lazy reply does its work, or hangs, while it is read.
            value = self._guarded(handle, lambda instance: check(work(instance)), limit, detached)
        except BaseException as exc:
            if deadline.cancelled and isinstance(exc, Exception) and not isinstance(exc, _NEVER_BEGUN):
                exc = Cancelled(f"{handle.name}: the caller cancelled it")  # whatever it took that for
            error = _without(handle.secrets, self._translate(handle, exc))
            self._judge(handle, error, exc, scope)
            scope.emit(
                "call.finished",
                **about,
                outcome=error.kind,
                reason=tellable(error),
                elapsed_s=self._clock.monotonic() - started,
            )
            if self._strict and not isinstance(exc, WebfetchError):
                raise
            raise error from (None if error is exc else exc)
        counted = count(value)
        if not counted and handle.stage == "search":
            # It may be a silent block: whoever sees its peers judges that, if anybody still waits for it.
            handle.breaker.record_neutral()
        elif handle.breaker.record_success():
            scope.emit("breaker.closed", stage=handle.stage, provider=handle.name)
        scope.emit(
            "call.finished",
            **about,
            outcome="ok" if counted else "empty",
            reason=note,
            elapsed_s=self._clock.monotonic() - started,
            count=counted,
            cost_usd=getattr(handle.entry.provider.traits, "usd_per_1k", 0.0) / 1000,
        )
        return value

    # ---- the call itself ------------------------------------------------------------------------

    def _guarded(self, handle: Handle, work: Callable[[Any], T], limit: Deadline, detached: bool) -> T:
        if handle.off_reason:
            raise NotConfigured(handle.off_reason)
        if not handle.breaker.admit():
            raise Benched(f"{handle.name}: {handle.breaker.reason}")
        if not handle.slots.acquire(limit.remaining(), limit.token):
            raise Busy(
                f"{handle.name}: all {handle.entry.provider.max_concurrency} slots are taken by earlier calls"
            )
        if not detached:
            try:
                with applying(limit.token):
                    return work(handle.instance(limit))
            finally:
                handle.slots.release()
        return self._detached(handle, work, limit)

    def _detached(self, handle: Handle, work: Callable[[Any], T], limit: Deadline) -> T:
        future: Future[T] = Future()
        left_behind = threading.Event()

        def body() -> None:
            try:
                with applying(limit.token):
                    result = work(handle.instance(limit))
            except BaseException as exc:
                self._after(handle, left_behind, exc)
                # Ctrl-C reaches the main thread alone: in this one it is the plugin's own doing.
                own = isinstance(exc, KeyboardInterrupt)
                future.set_exception(self._fault(handle, exc) if own else exc)
            else:
                self._after(handle, left_behind, None)
                future.set_result(result)

        thread = threading.Thread(target=body, name=f"webfetch-{handle.stage}-{handle.name}", daemon=True)
        try:
            thread.start()
        except BaseException:
            handle.slots.release()
            raise
        if is_done(future, limit.remaining(), limit.token):
            return future.result()
        with self._lock:
            self._abandoned += 1
        left_behind.set()
        raise TimedOut(f"{handle.name} did not answer in time")

    def _after(self, handle: Handle, left_behind: threading.Event, exc: BaseException | None) -> None:
        handle.slots.release()
        if left_behind.is_set():
            with self._lock:
                self._abandoned -= 1
            # Too late for its caller, but still news of the provider: it asks to be left alone.
            # A page that does so says nothing of the fetcher.
            if exc is None or not counts_against_breaker(handle.stage, exc):
                return
            if (wait := cool_down_s(exc)) is not None:
                handle.breaker.record_failure(str(exc), retry_after_s=wait)

    # ---- what became of it ----------------------------------------------------------------------

    def _translate(self, handle: Handle, exc: BaseException) -> WebfetchError:
        if isinstance(exc, WebfetchError):
            return exc if _is_sound(exc) else self._fault(handle, exc)
        if isinstance(exc, KeyboardInterrupt) and threading.current_thread() is threading.main_thread():
            raise exc
        if isinstance(exc, TimeoutError):
            return TimedOut(f"{handle.name}: {describe(exc)}")
        return self._fault(handle, exc)

    def _fault(self, handle: Handle, exc: BaseException) -> ProviderError:
        """An exception that no plugin should raise, as an error that names the plugin."""
        _log.warning(
            "provider.raised",
            stage=handle.stage,
            provider=handle.name,
            plugin=handle.entry.plugin,
            dist=handle.entry.dist,
            version=handle.entry.version,
            exc_info=exc,
        )
        origin = " ".join(x for x in (handle.entry.dist or handle.entry.plugin, handle.entry.version) if x)
        return ProviderError(f"{handle.name} ({origin}) raised {describe(exc)}")

    def _judge(self, handle: Handle, error: WebfetchError, exc: BaseException, scope: Scope) -> None:
        if isinstance(error, (Benched, Busy)) or handle.off_reason:
            if isinstance(error, Busy):
                handle.breaker.record_neutral()
            return
        if not counts_against_breaker(handle.stage, error if isinstance(exc, WebfetchError) else exc):
            handle.breaker.record_neutral()
            return
        if handle.breaker.record_failure(str(error), retry_after_s=cool_down_s(error)):
            scope.emit(
                "breaker.opened", stage=handle.stage, provider=handle.name, reason=handle.breaker.reason
            )
