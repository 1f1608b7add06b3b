"""What a reader should know of how an answer came about."""

from __future__ import annotations

from collections.abc import Sequence

from ..runtime.host import Host
from .cascade import Ranking
from .gathered import Gathered
from .pages import STALE


def notes_on_gathering(gathered: Gathered) -> Sequence[str]:
    """Engines that failed or were left behind, pages that gave nothing, copies that stand in."""
    # An engine that declines is no news to a reader of the answer: its status line says so.
    notes = [
        f"{name} failed: {error.message}"
        for name, error in gathered.failures.items()
        if error.kind != "not_configured"
    ]
    notes += [f"{name} was too slow and was left behind" for name in gathered.pending_engines]
    if gathered.hits and not any(s.document for s in gathered.pages.values()):
        kinds: dict[str, int] = {}
        for state in gathered.pages.values():
            kind = state.error.kind if state.error else "pending"
            kinds[kind] = kinds.get(kind, 0) + 1
        told = ", ".join(f"{n} {kind}" for kind, n in sorted(kinds.items()))
        notes.append(f"no page could be read ({told}); the excerpts are the engines' own snippets")
    stale = [s.hit.url for s in gathered.pages.values() if s.document and STALE in s.document.flags]
    if stale:
        notes.append(f"these did not answer, and older copies stand in for them: {', '.join(stale)}")
    return notes


def notes_on_ranking(host: Host, ranking: Ranking) -> Sequence[str]:
    """What a reader should know who takes the order for a ranking."""
    lexical = host.ranker("lexical")
    if not ranking.ran:
        why = "no ranker is in use" if lexical is None else "the ranker failed"
        return [f"{why}: excerpts are in the engines' order"]
    by_order = ranking.ran == ("lexical",) and lexical is not None and lexical.entry.plugin == "builtin"
    if by_order and host.settings.rank == "auto":
        return ["no ranker is installed: excerpts are in the engines' order"]
    return []


def common_fault(gathered: Gathered) -> str:
    """The fault of a plugin, or of ours, that every page failed by; empty when there is none."""
    faults = [state.error for state in gathered.pages.values()]
    if faults and all(fault is not None and fault.kind == "plugin_error" for fault in faults):
        return str(faults[0])
    return ""
