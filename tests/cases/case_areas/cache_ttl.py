"""How long an answer lives: a clock that is moved by hand, engines on loopback, one cache file.

Every step of a script opens the cache anew, as another process would: nothing but the file remembers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import engine_bench as bench
import pytest
from case_runner import Case, Seen

from webfetch_core import Settings, Webfetch
from webfetch_core.models import ProvenanceKind
from webfetch_core.testing import FakeClock
from webfetch_core.testing.engines import simulator
from webfetch_core.testing.engines.corpus import CorpusDocument

BLOCKED = ("challenge_200", "forbidden", "empty_202")
"""How the engine that is played blocks; a script's ``all blocked`` is run with each."""
IN_2026 = 1_784_500_000.0


def run(case: Case, tmp_path: Path) -> Seen:
    pytest.importorskip("webfetch_search_ddg", reason="the engine of these cases")
    pytest.importorskip("webfetch_cache_lmdb", reason="the cache of these cases")
    if (case.folder / "classes.json").is_file():
        return _classified(case.json("classes.json"), tmp_path)
    script = case.json("script.json")
    steps = script["steps"]
    if any("lookup" in step for step in steps):
        return _clocked(script, tmp_path)
    runs = [_sequence(steps, fault, tmp_path / fault) for fault in BLOCKED]
    wrong = [told for told, _ in runs if told]
    return Seen(
        text="; ".join(wrong),
        error_kind="not as the script has it" if wrong else None,
        facts={"cacheable": any(kept for _, kept in runs)},
    )


class Bench:
    """A search engine that can be found by any word, pages, a clock and a place for the cache."""

    def __init__(self, words: Sequence[str], folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.clock = FakeClock(epoch=IN_2026)
        text = f"All that there is to say of {' and '.join(words)}. " + "The lock keeper told it. " * 20
        page = CorpusDocument(url="https://tarn.example/page", title=" ".join(words), text=text)
        self.engine = simulator("ddg")([page], local_pages=True)

    def ask(self, query: str, **options: Any) -> bench.Call:
        """Search in a process of its own, as far as one can be played in this one."""
        services = {"ddg": self.engine.base_url}
        with bench.host(
            self.folder,
            services,
            clock=self.clock,
            fetch="auto",
            cache_db=str(self.folder / "cache.lmdb"),
        ) as wf:
            return bench.ask(wf, query, **options)

    def rows(self) -> int:
        """How many answers the cache has."""
        with bench.host(self.folder, {}, search="auto", cache_db=str(self.folder / "cache.lmdb")) as wf:
            return int(wf.cache().stats()["entries"].get("queries", 0))


def _clocked(script: Mapping[str, Any], tmp_path: Path) -> Seen:
    """Stores and lookups at their times. The class whose lifetime is the script's is realtime."""
    assert script["ttl_s"] == Settings().ttl.realtime_s
    steps = script["steps"]
    [query] = [step["store"] for step in steps if "store" in step]
    place = Bench(query.split(), tmp_path)
    start = place.clock.monotonic()
    wrong = []
    with place.engine:
        for step in steps:
            place.clock.advance(start + step["t"] - place.clock.monotonic())
            if "store" in step:
                kept = place.ask(query)
                assert kept.result is not None, kept.text
                assert kept.result.freshness == "realtime", "the case is of a realtime question"
                continue
            # A stale answer that says so is no hit. A search is made for hits alone: it would refresh others.
            found = _kind(place.ask(query, cache_only=True)) is ProvenanceKind.EXACT
            again = not found or _kind(place.ask(query)) is ProvenanceKind.EXACT
            if found is not (step["lookup"] == "hit") or not again:
                wrong.append(f"at {step['t']} s: {'hit' if found else 'miss'}")
    return Seen(text="; ".join(wrong), error_kind="judged wrongly" if wrong else None)


def _kind(call: bench.Call) -> ProvenanceKind | None:
    return call.result.provenance.kind if call.result is not None and call.result.chunks else None


def _sequence(steps: Sequence[Mapping[str, Any]], fault: str, folder: Path) -> tuple[str, bool]:
    """What went otherwise than a script of outages has it, and whether a failure or nothing was kept."""
    place = Bench(sorted({step["search"] for step in steps}), folder)
    wrong, kept = [], False
    with place.engine as engine:
        for number, step in enumerate(steps):
            place.clock.advance(step.get("after_s", 0))
            engine.fault = {"all blocked": fault, "ok": None, "true no-results": "empty"}[step["engines"]]
            before = place.rows()
            call = place.ask(step["search"])
            seen = _outcome(call)
            if seen != step["expect"]:
                wrong.append(f"step {number} ({fault}): {seen} where {step['expect']} belongs: {call.text}")
            if seen != "fresh result":
                kept = kept or place.rows() != before
            elif place.rows() != before + 1:
                wrong.append(f"step {number}: a good answer is not kept, so that nothing is proved")
    return "; ".join(wrong), kept


def _outcome(call: bench.Call) -> str:
    if call.error is not None:
        return "error" if call.kinds else f"error without a reason: {call.text}"
    assert call.result is not None
    if not call.result.chunks:
        return "no_results" if not call.result.hits else "hits without an answer"
    return f"{call.result.provenance.kind} result"


def _classified(classes: Mapping[str, Sequence[str]], tmp_path: Path) -> Seen:
    """Classes by the core's cue words alone, and by every classifier that is installed: the worse counts."""
    measured: dict[str, float] = {"accuracy": 1.0, "realtime_as_stable": 0.0}
    told = []
    for names in ((), "auto"):
        settings = Settings(home=str(tmp_path), search=(), cache=(), freshness=names)
        with Webfetch(settings, environ={}, clock=FakeClock(epoch=IN_2026)) as wf:
            by = ", ".join(handle.name for handle in wf.host.handles("freshness")) or "cue words"
            found = [(kind, str(wf.classify_freshness(q)), q) for kind, qs in classes.items() for q in qs]
        wrong = [row for row in found if row[0] != row[1]]
        told += [f"{by}: {query!r} is {right}, not {got}" for right, got, query in wrong]
        measured["accuracy"] = min(measured["accuracy"], 1 - len(wrong) / len(found))
        severe = sum(right == "realtime" and got == "stable" for right, got, _ in wrong)
        measured["realtime_as_stable"] = max(measured["realtime_as_stable"], severe)
    return Seen(text="; ".join(told), measured=measured)
