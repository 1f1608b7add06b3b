"""What went wrong, as a text for a model: what happened, what it can do, and what the user can.

No secret, no path of this machine and no traceback gets into it, whatever a plugin's error says.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from attrs import frozen

from ..errors import AllEnginesFailed, ProviderError, WebfetchError
from ..masking import without_paths
from ..models import Attempt
from ..pipeline.lookalikes import defused
from ..pipeline.render import one_line
from ..runtime.redaction import redact
from ..runtime.replies import visible

MAX_FAILURE_CHARS = 2_000
_MAX_ATTEMPTS = 8
_MAX_REASON = 200
_MAX_MESSAGE = 500

_OTHER_SOURCE = "Use another source: another page of the results, or a new search."
_TELL = "Tell the user, who may be able to mend it, and go on without this tool."
_NOT_FOUND_NOW = (
    "Nothing was found out: say so, and do not present what you remember as if you had found it now."
)

ADVICE = {
    # of the whole call
    "error": "Call again once; if it fails again, go on without it and say so.",
    "fault": "Something broke in webfetch. Call again once; if it fails again, go on without it and say so.",
    "unknown_tool": "Call one of the tools that there are.",
    "bad_query": "Correct the input and call again.",
    "config": f"A setting is wrong. {_TELL}",
    "not_configured": f"Something that this needs is not installed or not set up. {_TELL}",
    "no_engine": f"No search was made. {_NOT_FOUND_NOW} Tell the user why; a few minutes later it may work.",
    "cache_error": "Nothing was kept. Answer without it; searching goes on working.",
    "cancelled": "The call was taken back, or webfetch is being shut down: do not call again by yourself.",
    # of an engine, a page's site, or whatever does the work
    "refused": f"This address is not fetched, however often it is asked for. {_OTHER_SOURCE}",
    "plugin_error": f"A part of webfetch failed at this. {_OTHER_SOURCE}",
    "unavailable": f"The other side does not answer at present. {_OTHER_SOURCE}",
    "timeout": f"It took too long. Call again once; it may be there by then. Else: {_OTHER_SOURCE}",
    "busy": "Too many calls at the same time. Wait for a few seconds and call again, one at a time.",
    "benched": f"It failed several times and is left alone for some minutes. {_OTHER_SOURCE}",
    "blocked": f"The site keeps programs out; asking again does not help. {_OTHER_SOURCE}",
    "rate_limited": f"Asked too often. Wait as long as it says, or a minute. {_OTHER_SOURCE}",
    "quota": f"The plan of a key is used up. {_NOT_FOUND_NOW} {_TELL}",
    "auth": f"A key is missing or wrong. {_NOT_FOUND_NOW} {_TELL}",
    "bad_response": f"The answer could not be understood. {_OTHER_SOURCE}",
    # of a page
    "not_found": "There is no such page. Look at the address for a mistake, or search for the page.",
    "login": f"The page is for those who log in. {_OTHER_SOURCE}",
    "consent": f"The page shows nothing before somebody consents to something. {_OTHER_SOURCE}",
    "paywall": f"The page is for those who pay. {_OTHER_SOURCE}",
    "empty": f"The page has no text that can be read. {_OTHER_SOURCE}",
    "too_large": f"The page is too large. {_OTHER_SOURCE}",
    "bad_encoding": f"The text of the page is damaged. {_OTHER_SOURCE}",
    "unsupported_type": f"It is no kind of file that can be read here. {_OTHER_SOURCE}",
    "redirect_loop": f"The address leads in a circle. {_OTHER_SOURCE}",
    "encrypted": f"The file is locked with a password. {_OTHER_SOURCE}",
    "no_text_layer": f"The file has pictures of text only, which cannot be read. {_OTHER_SOURCE}",
}
"""What a model can do, by kind of failure."""

_OF_A_KEY = ("auth", "quota", "not_configured", "config")
"""Kinds of which, where all engines share one, more can be said than that no search was made."""


@frozen(kw_only=True)
class Failure:
    """A failed call. ``fix`` is for the person who runs webfetch, ``advice`` for the model."""

    tool: str
    kind: str
    message: str
    advice: str
    fix: str = ""
    attempts: tuple[Attempt, ...] = ()

    @property
    def lines(self) -> list[str]:
        """The failure for a model, the most important first."""
        more = len(self.attempts) - _MAX_ATTEMPTS
        return [
            f"[failed: {self.kind}] {self.tool}: {self.message}",
            f"What to do: {self.advice}",
            *(f"- {a.provider}: {a.outcome}: {a.reason}" for a in self.attempts[:_MAX_ATTEMPTS]),
            *([f"- and {more} more"] if more > 0 else []),
            *([f"For the person who runs webfetch: {self.fix}"] if self.fix else []),
        ]

    @property
    def plain(self) -> dict[str, Any]:
        """The failure as JSON data."""
        told = {"kind": self.kind, "message": self.message, "advice": self.advice, "fix": self.fix}
        tried = [
            {"provider": a.provider, "outcome": a.outcome, "reason": a.reason}
            for a in self.attempts[:_MAX_ATTEMPTS]
        ]
        return {"error": told | ({"attempts": tried} if tried else {})}


def failure_of(tool: str, exc: BaseException, secrets: Iterable[str] = ()) -> Failure:
    """What ``exc`` comes to. Of an exception that is none of ours only its type is told: what it says may
    be anything, and goes to the log."""
    secrets = tuple(secrets)
    if not isinstance(exc, WebfetchError):
        name = one_line(type(exc).__name__, 60)
        return Failure(tool=tool, kind="fault", message=f"an internal fault ({name})", advice=ADVICE["fault"])
    message, kind = exc.message, exc.kind
    advice = ADVICE.get(kind, ADVICE["error"])
    attempts: tuple[Attempt, ...] = ()
    if isinstance(exc, AllEnginesFailed):
        kind = _shared_kind(exc.attempts) or kind
        advice = ADVICE[kind if kind in _OF_A_KEY else "no_engine"]
        attempts = tuple(_clean(attempt, secrets) for attempt in exc.attempts)
        # The engines follow, one a line: the message need not list them as well.
        message = message.partition(": ")[0] if attempts else message
    fix = clean(exc.fix, secrets, _MAX_MESSAGE)
    if isinstance(exc, ProviderError) and exc.retry_after_s:
        advice = f"{advice} It says to wait for {exc.retry_after_s:.0f} s."
    if kind == "bad_query" and fix:  # what is to be mended is the model's input, not the installation
        advice, fix = f"{advice[:-1]}: {fix}.", ""
    return Failure(
        tool=tool,
        kind=one_line(kind, 40),
        message=clean(message, secrets, _MAX_MESSAGE),
        advice=advice,
        fix="" if kind == "cancelled" else fix,
        attempts=attempts,
    )


def clean(text: str, secrets: Iterable[str] = (), limit: int = _MAX_REASON) -> str:
    """``text`` on one line, without secrets and without paths of this machine. Its brackets stay, as in
    ``pip install x[y]``, unless they would make a line of ours."""
    flat = defused(" ".join(without_paths(redact(visible(text), secrets)).split()))
    return flat if len(flat) <= limit else flat[: limit - 1].rsplit(" ", 1)[0].rstrip() + "…"


def _clean(attempt: Attempt, secrets: Iterable[str]) -> Attempt:
    return Attempt(
        stage=attempt.stage,
        provider=one_line(attempt.provider, 60),
        outcome=one_line(attempt.outcome, 40),
        reason=clean(attempt.reason, secrets),
    )


def _shared_kind(attempts: Sequence[Attempt]) -> str:
    """The outcome of all engines where they agree: that a key is wrong says more than that none answered."""
    kinds = {attempt.outcome for attempt in attempts}
    return kinds.pop() if len(kinds) == 1 else ""
