"""Telling what went wrong: one message, the fix, and no traceback unless it is asked for."""

from __future__ import annotations

import traceback
from typing import TextIO

from ..errors import AllEnginesFailed, Cancelled, WebfetchError
from .output import Streams, one_line, put
from .parser import UsageFault


class PluginFault(Exception):
    """A command of a plugin failed in a way that it did not foresee; the cause is chained."""


def tell(exc: BaseException, code: int, out: TextIO, err: TextIO, *, json: bool, debug: bool) -> None:
    """Write ``exc`` to ``err``; with ``json`` as an object to ``out`` too."""
    if isinstance(exc, BrokenPipeError):
        return
    if debug:
        err.write("".join(traceback.format_exception(exc)))
    if isinstance(exc, KeyboardInterrupt) or (isinstance(exc, Cancelled) and not debug):
        put(err, "webfetch: interrupted")
        return
    if isinstance(exc, UsageFault) and exc.usage:
        put(err, exc.usage.rstrip())
    message, fix = describe(exc)
    put(err, f"webfetch: {message}")
    if isinstance(exc, AllEnginesFailed):
        for attempt in exc.attempts:
            put(err, f"  {attempt.provider}: {attempt.outcome}: {one_line(attempt.reason)}")
    if fix:
        put(err, f"fix: {fix}")
    if json:
        Streams(out=out, err=err).json(error_data(exc, code))


def describe(exc: BaseException) -> tuple[str, str]:
    """The message of an error, and its fix or an empty string."""
    if isinstance(exc, AllEnginesFailed) and exc.attempts:
        # The engines follow, one a line: the message need not list them as well.
        return one_line(exc.message.partition(": ")[0]), exc.fix
    if isinstance(exc, (WebfetchError, UsageFault)):
        return one_line(exc.message), one_line(exc.fix)
    if isinstance(exc, PluginFault):
        return one_line(str(exc)), "report it to the plugin's authors; --debug shows the traceback"
    detail = one_line(str(exc))
    told = f"{type(exc).__name__}: {detail}" if detail else type(exc).__name__
    return f"internal fault: {told} (run with --debug for the traceback)", ""


def error_data(exc: BaseException, code: int) -> dict[str, object]:
    """The JSON form of an error."""
    from ..wire import to_plain

    message, fix = describe(exc)
    kind = exc.kind if isinstance(exc, (WebfetchError, UsageFault)) else "fault"
    error: dict[str, object] = {"kind": kind, "message": message, "fix": fix, "exit_code": code}
    if isinstance(exc, AllEnginesFailed):
        error["attempts"] = [to_plain(attempt) for attempt in exc.attempts]
    return {"error": error}
