"""Cases from outside: inputs that broke other tools, with what is right. Read, run, compared.

A case is a folder with ``expected.json`` and its input. An adapter runs one area's input through
webfetch and says what it saw; everything that ``expected.json`` asks for is then compared with it. A
key or bound that nobody measured is a failure, not a pass.
"""

from __future__ import annotations

import importlib
import json
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import Factory, evolve, field, frozen

ROOT = Path(__file__).parents[2]
CASES = ROOT.parent / "shared" / "cases"
AREAS = tuple(
    sorted(p.stem for p in (Path(__file__).parent / "case_areas").glob("*.py") if p.stem != "__init__")
)

DESCRIBING = frozenset({"id", "entry", "kind", "stage", "op", "why", "note", "options"})
"""Keys that say what to run, not what is right."""


@frozen(kw_only=True)
class Case:
    """One folder of inputs."""

    id: str
    area: str
    folder: Path
    expected: Mapping[str, Any] = field(repr=False)

    @property
    def op(self) -> str:
        return str(self.expected["op"])

    def json(self, name: str) -> Any:
        return json.loads((self.folder / name).read_text(encoding="utf-8"))

    def text(self, name: str) -> str:
        return (self.folder / name).read_text(encoding="utf-8")


@frozen(kw_only=True)
class Seen:
    """What an adapter saw.

    Attributes:
        text: the final text, or the error's text.
        error_kind: the error's kind, or those of several that failed; None for success.
        measured: numbers for ``bounds``, by the bound's name without its suffix.
        facts: values for ``top``, ``lossless``, ``flags``, ``equal`` and the like, by name.
        invariants: the invariant's words to whether it holds.
    """

    text: str = ""
    error_kind: str | tuple[str, ...] | None = None
    measured: Mapping[str, float] = Factory(dict)
    facts: Mapping[str, Any] = Factory(dict)
    invariants: Mapping[str, bool] = Factory(dict)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of all that failed; empty for success."""
        kinds = self.error_kind or ()
        return (kinds,) if isinstance(kinds, str) else kinds


Adapter = Callable[[Case, Path], Seen]


def load(area: str) -> list[Case]:
    """Every case of an area that has inputs, in the order of the log."""
    found = []
    for line in (CASES / "LOG.jsonl").read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        if entry["area"] != area:
            continue
        for name in entry["inputs"]:
            folder = CASES / "inputs" / name
            expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
            found.append(Case(id=name, area=area, folder=folder, expected=expected))
    return found


def areas_of_the_log() -> list[str]:
    lines = (CASES / "LOG.jsonl").read_text(encoding="utf-8").splitlines()
    return sorted({json.loads(line)["area"] for line in lines})


def adapter(area: str) -> Adapter | None:
    """What runs the cases of an area; None when nobody wrote it."""
    name = area.replace("-", "_")
    if name not in AREAS:
        return None
    run: Adapter = importlib.import_module(f"case_areas.{name}").run
    return run


# ---- comparing ----------------------------------------------------------------------------------------


def problems(expected: Mapping[str, Any], seen: Seen) -> Iterator[str]:
    """Say everything in which ``seen`` is not what is expected."""
    text = seen.text if expected.get("exact_whitespace") else plain(seen.text)

    def shaped(part: str) -> str:
        return part if expected.get("exact_whitespace") else plain(part)

    for key, value in expected.items():
        if key in DESCRIBING or key == "exact_whitespace":
            continue
        check = _CHECKS.get(key)
        if key == "error_kind":
            yield from _error_kind(_accepted_kinds(expected), seen)
        elif check is not None:
            yield from check(value, seen, text, shaped)
        elif key in _FACTS:
            yield from _fact(key, value, seen)
        else:
            yield f"expected.json has the key {key!r}, which the runner does not know"


def _accepted_kinds(expected: Mapping[str, Any]) -> list[str | None]:
    """The general kinds and those of the alternatives, which need not agree; None stands for success."""
    accepted: list[str | None] = []
    for choice in (expected, *expected.get("either", ())):
        kinds = choice.get("error_kind")
        accepted += [kinds] if kinds is None or isinstance(kinds, str) else kinds
    return accepted


def plain(text: str) -> str:
    """NFC, Markdown marks removed, runs of white space folded to one blank."""
    text = unicodedata.normalize("NFC", text)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"</?su[bp]>|[*`~^]|(?<!\w)_|_(?!\w)", "", text)
    return re.sub(r"\s+", " ", text).strip()


def _must_contain(parts: Sequence[str], seen: Seen, text: str, shaped: Any) -> Iterator[str]:
    for part in parts:
        if shaped(part) not in text:
            yield f"{part!r} is missing in {text[:600]!r}"


def _must_not_contain(parts: Sequence[str], seen: Seen, text: str, shaped: Any) -> Iterator[str]:
    for part in parts:
        if shaped(part) in text:
            yield f"{part!r} must not be in the text"


def _error_kind(accepted: Sequence[str | None], seen: Seen) -> Iterator[str]:
    wrong = [kind for kind in seen.kinds or (None,) if kind not in accepted]
    named = [kind for kind in accepted if kind is not None]
    if wrong and not named:
        yield f"failed with {' and '.join(seen.kinds)}: {seen.text[:300]}"
    elif wrong:
        got = " and ".join(kind or "success" for kind in wrong)
        yield f"expected an error of kind {' or '.join(named)}, got {got}: {seen.text[:300]}"


def _ordered(parts: Sequence[str], seen: Seen, text: str, shaped: Any) -> Iterator[str]:
    at = -1
    for part in parts:
        at = text.find(shaped(part), at + 1)
        if at < 0:
            yield f"{part!r} is not where the order wants it"
            return


def _lines(seen: Seen) -> list[str]:
    return [plain(line) for line in seen.text.splitlines()]


def _same_line(rows: Sequence[Any], seen: Seen, text: str, shaped: Any) -> Iterator[str]:
    for parts in rows if rows and isinstance(rows[0], list) else [rows]:
        if not any(all(plain(part) in line for part in parts) for line in _lines(seen)):
            yield f"{parts} are not on one line"


def _own_line(parts: Sequence[str], seen: Seen, text: str, shaped: Any) -> Iterator[str]:
    marks = re.compile(r"^(?:[-*+•]|\d+[.)]) ")
    lines = {form for line in _lines(seen) for form in (line, marks.sub("", line))}
    for part in parts:
        if plain(part) not in lines:
            yield f"{part!r} is not a line by itself"


def _count(wanted: Mapping[str, int], seen: Seen, text: str, shaped: Any) -> Iterator[str]:
    for part, number in wanted.items():
        if text.count(shaped(part)) != number:
            yield f"{part!r} occurs {text.count(shaped(part))} times, not {number}"


def _count_max(wanted: Mapping[str, int], seen: Seen, text: str, shaped: Any) -> Iterator[str]:
    for part, number in wanted.items():
        if text.count(shaped(part)) > number:
            yield f"{part!r} occurs {text.count(shaped(part))} times, more than {number}"


def _either(choices: Sequence[Mapping[str, Any]], seen: Seen, text: str, shaped: Any) -> Iterator[str]:
    told = [list(problems(choice, seen)) for choice in choices]
    if all(told):
        yield f"none of the alternatives holds: {told}"


def _bounds(wanted: Mapping[str, float], seen: Seen, text: str, shaped: Any) -> Iterator[str]:
    for bound, limit in wanted.items():
        name, holds = _bound(bound)
        if bound in seen.measured:
            name = bound  # a measure may bear the bound's own name
        if name not in seen.measured:
            yield f"nobody measured {name!r} (bounds.{bound})"
        elif not holds(seen.measured[name], limit):
            yield f"{bound} is {limit}, measured {seen.measured[name]}"


def _sent_len_max(wanted: Mapping[str, int], seen: Seen, text: str, shaped: Any) -> Iterator[str]:
    sent = seen.facts.get("sent_len", {})
    yield from _bounds(
        {f"{name}_max": limit for name, limit in wanted.items()}, evolve(seen, measured=sent), "", ""
    )


def _requests_sent_max(limit: int, seen: Seen, text: str, shaped: Any) -> Iterator[str]:
    yield from _bounds({"requests_sent_max": limit}, seen, text, shaped)


def _bound(name: str) -> tuple[str, Callable[[float, float], bool]]:
    for suffix, holds in (
        ("_min_exclusive", lambda value, limit: value > limit),
        ("_max_exclusive", lambda value, limit: value < limit),
        ("_max", lambda value, limit: value <= limit),
        ("_min", lambda value, limit: value >= limit),
    ):
        if name.endswith(suffix):
            return name.removesuffix(suffix), holds
    if name.startswith("min_"):
        return name, lambda value, limit: value >= limit
    if name.startswith("max_"):
        return name, lambda value, limit: value <= limit
    return name, lambda value, limit: value == limit


def _equal(wanted: Mapping[str, Any], seen: Seen, text: str, shaped: Any) -> Iterator[str]:
    for key, value in wanted.items():
        yield from _fact(key, value, seen)


def _invariants(wanted: Sequence[str], seen: Seen, text: str, shaped: Any) -> Iterator[str]:
    for words in wanted:
        if words not in seen.invariants:
            yield f"nobody checks the invariant {words!r}"
        elif not seen.invariants[words]:
            yield f"does not hold: {words}"


def _flags(wanted: Sequence[str], seen: Seen, text: str, shaped: Any) -> Iterator[str]:
    missing = set(wanted) - set(seen.facts.get("flags", ()))
    if missing:
        yield f"not flagged: {', '.join(sorted(missing))}"


def _flags_if_capped(wanted: Sequence[str], seen: Seen, text: str, shaped: Any) -> Iterator[str]:
    if "capped" not in seen.facts:
        yield "nobody says whether a cap cut it"
    elif seen.facts["capped"]:
        yield from _flags(wanted, seen, text, shaped)


def _fact(key: str, value: Any, seen: Seen) -> Iterator[str]:
    if key not in seen.facts:
        yield f"nobody says {key!r}"
    elif seen.facts[key] != value:
        yield f"{key} is {seen.facts[key]!r}, not {value!r}"


_CHECKS: Mapping[str, Callable[..., Iterator[str]]] = {
    "must_contain": _must_contain,
    "must_not_contain": _must_not_contain,
    "ordered": _ordered,
    "same_line": _same_line,
    "own_line": _own_line,
    "count": _count,
    "count_max": _count_max,
    "either": _either,
    "bounds": _bounds,
    "requests_sent_max": _requests_sent_max,
    "sent_len_max": _sent_len_max,
    "equal": _equal,
    "invariants": _invariants,
    "flags": _flags,
    "flags_if_capped": _flags_if_capped,
}
_FACTS = frozenset(
    {
        "top", "lossless", "table", "breaker_failure", "cacheable", "truncated", "is_error", "final_url",
        "failed_urls", "engine_status", "absent_modules",
    }
)  # fmt: skip
