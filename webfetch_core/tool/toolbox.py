"""The tools at work: a name and an input in, a text out, whatever happens on the way.

The library raises; here everything becomes a text. An exception in the middle of an agent's loop ends
the conversation, while a text that says what happened lets the model do something about it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from attrs import evolve, frozen

from ..errors import Cancelled, NotConfigured, WebfetchError
from ..log import get_logger
from ..models import Chunk
from ..pipeline.findings import is_finding
from ..pipeline.render import CHARS_PER_TOKEN, fit, human_age, one_line, shown_url
from ..registry.report import STAGES
from ..runtime.cancelling import CancelToken, applying_given
from .arguments import Arguments, read
from .failures import ADVICE, Failure, failure_of
from .reading import PageReader
from .reports import status_plain, status_text
from .schema import FETCH_URL, MAX_TOKENS, SAVE_FINDING, SAVINGS_REPORT, STATUS, TOOLS, WEB_SEARCH, Tool
from .structured import bounded, plain, plain_result

if TYPE_CHECKING:
    from ..app import Webfetch

_log = get_logger("tool")

MAX_TEXT_CHARS = MAX_TOKENS * CHARS_PER_TOKEN
"""No answer is longer, whatever the settings say."""
_PAGES_SHARE, _NOTES_SHARE = 8, 4
_FAILED = "[failed: fault] webfetch could not answer. What to do: " + ADVICE["fault"]


@frozen(kw_only=True)
class ToolOutcome:
    """What a call came to.

    Attributes:
        text: for the model; all that there is to know.
        structured: the same as JSON data, for programs: the result's record, or ``{"error": ...}``.
        is_error: whether the call failed. A search that finds nothing has not.
    """

    text: str
    structured: Mapping[str, Any]
    is_error: bool = False


@frozen(kw_only=True)
class _Call:
    """A call that was understood: its arguments, the room for its text, and the time it may take."""

    arguments: Arguments
    room: int
    deadline_s: float | None
    structured: bool


class ToolBox:
    """The tools of one ``Webfetch``. Thread-safe, without state but the last few pages that were read.

    Args:
        wf: what does the work; it stays the caller's to close.
        deadline_s: how long a call may wait for engines or a page; by default as the settings have it.
            Ranking and writing come on top, by a second or two at the most.
    """

    def __init__(self, wf: Webfetch, *, deadline_s: float | None = None) -> None:
        self._wf = wf
        self._deadline_s = deadline_s
        self._reader = PageReader(wf)
        self._work: Mapping[str, Callable[[_Call], ToolOutcome]] = {
            WEB_SEARCH.name: self._search,
            FETCH_URL.name: self._fetch,
            SAVE_FINDING.name: self._save,
            STATUS.name: self._status,
            SAVINGS_REPORT.name: self._savings,
        }

    def tools(self) -> tuple[Tool, ...]:
        """The tools that can work now; never raises. ``web_search`` is always among them: where no engine is
        ready, it says what to do."""
        return tuple(tool for tool in TOOLS if self._can_work(tool))

    def handle(
        self,
        name: str,
        given: object = None,
        *,
        deadline_s: float | None = None,
        cancel: CancelToken | None = None,
    ) -> str:
        """Do a call and return its text. Never raises, but for KeyboardInterrupt.

        Args:
            name: the tool's.
            given: its input: an object, its JSON text, or None.
            deadline_s: for this call, in place of the box's own.
            cancel: ends the call when it is cancelled, which fails then; by default what applies in this
                thread.
        """
        return self._call(name, given, deadline_s, cancel, structured=False).text

    def call(
        self,
        name: str,
        given: object = None,
        *,
        deadline_s: float | None = None,
        cancel: CancelToken | None = None,
    ) -> ToolOutcome:
        """As :meth:`handle`, for front ends that hand on structured content and errors as such."""
        return self._call(name, given, deadline_s, cancel, structured=True)

    # ---- the boundary ----------------------------------------------------------------------------

    def _call(
        self,
        name: object,
        given: object,
        deadline_s: float | None,
        cancel: CancelToken | None = None,
        *,
        structured: bool,
    ) -> ToolOutcome:
        room = MAX_TEXT_CHARS
        try:
            told = name if isinstance(name, str) else type(name).__name__
            tool = next((tool for tool in TOOLS if tool.name == told), None)
            if tool is None:
                return _failed(self._unknown(told), room)
            try:
                arguments = read(tool, given)
                room = self._room(tool, arguments)
                seconds = self._deadline_s if deadline_s is None else deadline_s
                call = _Call(arguments=arguments, room=room, deadline_s=seconds, structured=structured)
                with applying_given(cancel):
                    return self._bounded(self._work[tool.name](call), room, structured)
            except KeyboardInterrupt:
                raise
            except BaseException as exc:
                if not isinstance(exc, WebfetchError):
                    _log.error("tool.failed", tool=tool.name, exc_info=exc)
                return _failed(failure_of(tool.name, exc, self._secrets()), room)
        except KeyboardInterrupt:
            raise
        except BaseException:  # an input that breaks whatever looks at it, or no memory left to say so
            return ToolOutcome(text=_FAILED, structured={"error": {"kind": "fault"}}, is_error=True)

    def _unknown(self, name: str) -> Failure:
        listed = ", ".join(tool.name for tool in self.tools())
        return Failure(
            tool=one_line(name, 60) or "(no name)",
            kind="unknown_tool",
            message=f"there is no such tool; there are: {listed}",
            advice=ADVICE["unknown_tool"],
        )

    def _room(self, tool: Tool, arguments: Arguments) -> int:
        """Characters for the answer: what was asked for, else as the settings have it."""
        tokens = arguments.get("max_tokens")
        if tokens is not None:
            return int(tokens) * CHARS_PER_TOKEN
        budget = self._wf.settings.budget
        default = budget.tool
        if tool is FETCH_URL and "query" not in arguments.values:
            default = budget.fetch
        elif arguments.get("full_results"):
            default = budget.full
        return min(default, MAX_TEXT_CHARS)

    @staticmethod
    def _bounded(outcome: ToolOutcome, room: int, structured: bool) -> ToolOutcome:
        return ToolOutcome(
            text=fit(outcome.text, room) or outcome.text[:room],
            structured=bounded(outcome.structured) if structured else {},
            is_error=outcome.is_error,
        )

    def _secrets(self) -> tuple[str, ...]:
        found: list[str] = []
        try:
            for stage in STAGES:
                for handle in self._wf.host.handles(stage):
                    found += handle.secrets
        except Exception:  # a setting is wrong; what was found is struck all the same
            pass
        return tuple(found)

    def _can_work(self, tool: Tool) -> bool:
        try:
            host = self._wf.host
            if tool is FETCH_URL:
                return any(not handle.off_reason for handle in host.handles("fetch"))
            if tool is SAVE_FINDING:
                return bool(self._wf.settings.findings) and not self._keeps_nothing()
            return True
        except KeyboardInterrupt:
            raise
        except BaseException:
            return False

    def _keeps_nothing(self) -> bool:
        """Whether it is known that no cache will take anything. One that is not open yet may."""
        handles = self._wf.host.handles("cache")
        if not handles or handles[0].entry.plugin == "builtin":
            return True
        return bool(handles[0].off_reason or self._wf.host.store_problem)

    # ---- the tools -------------------------------------------------------------------------------

    def _search(self, call: _Call) -> ToolOutcome:
        arguments, full = call.arguments, bool(call.arguments.get("full_results"))
        result = self._wf.search(
            arguments.get("query"),
            freshness=arguments.get("freshness"),
            force_fresh=bool(arguments.get("force_fresh")),
            include_domains=arguments.get("include_domains", ()),
            exclude_domains=arguments.get("exclude_domains", ()),
            deadline_s=call.deadline_s,
        )
        kept = self._wf.excerpts(result, call.room // CHARS_PER_TOKEN, full_results=full)
        lines = _notes(arguments, call.room)
        if self._wf.settings.render.header != "url" and (pages := _pages(kept, call.room // _PAGES_SHARE)):
            lines = [pages, *lines]
        room = call.room - sum(len(line) + 1 for line in lines)
        # The excerpts are compressed already: what is full of them is all of them.
        shown = evolve(result, chunks=tuple(kept))
        text = self._wf.render(shown, room // CHARS_PER_TOKEN, full_results=True)
        return ToolOutcome(
            text="\n".join([text, *lines]), structured=plain_result(shown) if call.structured else {}
        )

    def _fetch(self, call: _Call) -> ToolOutcome:
        arguments = call.arguments
        lines = _notes(arguments, call.room)
        told = self._reader.read(
            arguments.get("url"),
            start=arguments.get("start", 0),
            query=arguments.get("query"),
            room=call.room - sum(len(line) + 1 for line in lines),
            deadline_s=call.deadline_s,
        )
        return ToolOutcome(text="\n".join([told.text, *lines]), structured=told.plain)

    def _save(self, call: _Call) -> ToolOutcome:
        arguments = call.arguments
        finding = self._wf.save_finding(
            arguments.get("query"),
            arguments.get("text"),
            source=arguments.get("source"),
            freshness=arguments.get("freshness"),
        )
        lines = [
            f"Saved as an unverified finding for the question: {one_line(finding.query)}",
            f"It is served for {human_age(finding.lifetime_s)} ({finding.freshness}), marked as unverified, "
            "to searches that find nothing better in the cache.",
            *_notes(arguments, call.room),
        ]
        return ToolOutcome(text="\n".join(lines), structured=plain(finding) if call.structured else {})

    def _status(self, call: _Call) -> ToolOutcome:
        if self._wf.host.closed:
            raise Cancelled("this Webfetch is closed")
        report, secrets = self._wf.status(), self._secrets()
        findings = "on" if self._can_work(SAVE_FINDING) else "off"
        tools = f"tools: {', '.join(tool.name for tool in self.tools())}; saving of findings is {findings}"
        text = "\n".join([status_text(report, secrets), tools, *_notes(call.arguments, call.room)])
        return ToolOutcome(text=text, structured=status_plain(report, secrets) if call.structured else {})

    def _savings(self, call: _Call) -> ToolOutcome:
        make = getattr(self._wf, "savings_report", None)
        if make is None:
            raise NotConfigured("this version of webfetch has no savings report yet")
        report = make()
        text = "\n".join([report.text, *_notes(call.arguments, call.room)])
        return ToolOutcome(text=text, structured=plain(report) if call.structured else {})


# ---- texts ---------------------------------------------------------------------------------------


def _failed(failure: Failure, room: int) -> ToolOutcome:
    first, *others = failure.lines
    text = first if len(first) <= room else f"{first[: room - 2]} …"
    for line in others:
        if len(text) + len(line) + 1 <= room:
            text = f"{text}\n{line}"
    return ToolOutcome(text=text, structured=failure.plain, is_error=True)


def _notes(arguments: Arguments, room: int) -> list[str]:
    """What was understood otherwise than it was written, as far as it fits into its share."""
    left, lines = room // _NOTES_SHARE, []
    for note in arguments.notes:
        line = f"[note: {one_line(note, 300)}]"
        if len(line) < left:
            left -= len(line) + 1
            lines.append(line)
    return lines


def _pages(chunks: Sequence[Chunk], room: int) -> str:
    """The addresses of the excerpts' pages, in their order, as many as fit; each whole."""
    urls: list[str] = []
    for url in dict.fromkeys(chunk.url for chunk in chunks):
        shown = shown_url(url)
        if not is_finding(url) and len(f"[pages: {' '.join([*urls, shown])}]") <= room:
            urls.append(shown)
    return f"[pages: {' '.join(urls)}]" if urls else ""
