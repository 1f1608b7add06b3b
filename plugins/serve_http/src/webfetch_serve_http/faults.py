"""What goes wrong, as a status and a few words. Pure: no secret, path or traceback comes through here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from webfetch_core import AllEnginesFailed, BadQuery, ConfigError, WebfetchError
from webfetch_core.api import ProviderError, RateLimited, Refused, TimedOut, without_paths

MAX_MESSAGE_CHARS = 500
MAX_ATTEMPTS = 16


class Fault(Exception):
    """A request that gets no answer: its status, one word for its kind, what to tell, what to do.

    Args:
        retry_after_s: when to come back; it becomes ``Retry-After``.
        attempts: what each engine came to, where no engine answered.
    """

    def __init__(
        self,
        status: int,
        kind: str,
        message: str,
        *,
        fix: str = "",
        retry_after_s: float | None = None,
        attempts: tuple[Mapping[str, str], ...] = (),
    ) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.message = message
        self.fix = fix
        self.retry_after_s = retry_after_s
        self.attempts = attempts

    @property
    def headers(self) -> dict[str, str]:
        """``Retry-After`` in whole seconds, never 0, where there is something to wait for."""
        if self.retry_after_s is None:
            return {}
        return {"Retry-After": str(max(1, round(self.retry_after_s)))}

    @property
    def told(self) -> str:
        """Message and fix as one text."""
        return f"{self.message} ({self.fix})" if self.fix else self.message


def bad_request(message: str, *, fix: str = "") -> Fault:
    """The input cannot be taken as it stands."""
    return Fault(400, "bad_request", message, fix=fix)


def overloaded(retry_after_s: float = 2.0) -> Fault:
    """Everything is busy and the queue is full, or the time was up while waiting in it."""
    return Fault(429, "busy", "all workers are busy and the queue is full", retry_after_s=retry_after_s)


def out_of_time() -> Fault:
    """The work did not end within its deadline and the grace after it."""
    return Fault(504, "timeout", "the deadline passed before there was anything to answer")


def fault_of(exc: BaseException) -> Fault:
    """The fault that ``exc`` is. Nothing is told of one that is none of ours: it may hold anything."""
    if isinstance(exc, Fault):
        return exc
    if not isinstance(exc, WebfetchError):
        return Fault(500, "fault", "an internal fault", fix="the log of the server says more")
    retry: float | None = None
    if isinstance(exc, AllEnginesFailed):
        status, retry = 503, 30.0
    elif isinstance(exc, BadQuery):
        status = 400
    elif isinstance(exc, Refused):
        status = 403
    elif isinstance(exc, TimedOut):
        status = 504
    elif isinstance(exc, ConfigError):
        status = 500
    elif isinstance(exc, RateLimited):
        status, retry = 503, exc.retry_after_s or 60.0
    elif isinstance(exc, ProviderError):
        # A page that was reached and holds nothing to read is the request's own trouble, not a gateway's.
        status = 404 if exc.kind == "not_found" else 502 if exc.kind in _OF_THE_OTHER_SIDE else 422
    else:
        status = {"cancelled": 503, "not_configured": 503, "cache_error": 500}.get(exc.kind, 500)
        retry = 5.0 if exc.kind == "cancelled" else None
    attempts: tuple[Mapping[str, str], ...] = ()
    message = exc.message
    if isinstance(exc, AllEnginesFailed) and exc.attempts:
        message = message.partition(": ")[0]  # the engines follow, each with its own reason
        attempts = tuple(
            {
                "provider": clean(a.provider, 60),
                "outcome": clean(a.outcome, 40),
                "reason": clean(a.reason, 200),
            }
            for a in exc.attempts[:MAX_ATTEMPTS]
        )
    return Fault(
        status,
        clean(exc.kind, 40),
        clean(message),
        fix=clean(exc.fix),
        retry_after_s=retry,
        attempts=attempts,
    )


_OF_THE_OTHER_SIDE = frozenset({"unavailable", "bad_response", "plugin_error", "busy", "benched"})


def clean(text: str, limit: int = MAX_MESSAGE_CHARS) -> str:
    """``text`` on one line, without paths of this machine, at most ``limit`` characters."""
    flat = " ".join(without_paths(text).split())
    return flat if len(flat) <= limit else flat[: limit - 1].rstrip() + "…"


def plain(fault: Fault) -> dict[str, Any]:
    """The fault in the native shape."""
    told: dict[str, Any] = {"kind": fault.kind, "message": fault.message}
    if fault.fix:
        told["fix"] = fault.fix
    if fault.retry_after_s is not None:
        told["retry_after_s"] = max(1, round(fault.retry_after_s))
    if fault.attempts:
        told["attempts"] = [dict(attempt) for attempt in fault.attempts]
    return {"error": told}
