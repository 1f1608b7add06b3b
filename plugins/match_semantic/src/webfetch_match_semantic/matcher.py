"""The matcher: a shortlist by meaning, rules that reject, a verifier for the rest."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from attrs import frozen

from webfetch_core.api import Match, PluginContext, WebfetchError

from .rules import OTHER_ORDER, SAME_WORDS, Ruling, rule
from .settings import MatchSemanticSettings
from .shortlist import VectorIndex, WordIndex
from .verifiers import Verifiers

MOST = 64
"""Candidates that are judged; of more, the nearest."""

_WORDS = {
    "entailment": "each entails the other",
    "paraphrase": "a paraphrase, says the model",
    "features": "near in meaning and words",
}


@frozen
class Verdict:
    """Whether two questions ask the same.

    Attributes:
        same: the decision.
        score: how sure, from 0 to 1; for a rejection by a verifier, how sure it was.
        reason: in a few words.
        guard: what decided: a guard's name, ``equal``, ``words``, or the verifier's name.
    """

    same: bool
    score: float
    reason: str
    guard: str


class SemanticMatcher:
    """Finds the cached query that asks the same. Thread-safe."""

    def __init__(self, settings: MatchSemanticSettings, context: PluginContext) -> None:
        self._settings = settings
        self._clock = context.clock
        self._log = context.log
        self._verifiers = Verifiers(settings, context.embed, context.score_pairs)
        self._vectors = VectorIndex(context.embed, context.clock.monotonic)
        self._words = WordIndex()

    def shortlist(self, query: str, texts: Sequence[str], at_most: int) -> Sequence[int]:
        """Return the places of up to ``at_most`` texts that are near the query, the nearest first.

        Near is a cosine of ``shortlist_cosine`` or more; where there is no bi-encoder, words in common.
        """
        if not texts or at_most < 1:
            return []
        try:
            return self._vectors.nearest(query, texts, at_most, self._settings.shortlist_cosine)
        except WebfetchError:
            return self._words.nearest(query, texts, at_most)

    def match(self, query: str, candidates: Sequence[str]) -> Match | None:
        """Return the candidate that is surely the same question, or None."""
        places: Sequence[int] = range(len(candidates))
        if len(candidates) > MOST:
            places = self.shortlist(query, candidates, MOST)
        year = self._year()
        best: tuple[float, int, str] | None = None
        open_questions: list[tuple[int, Ruling]] = []
        for place in places:
            ruling = rule(query, candidates[place], year)
            if ruling.same and (best is None or ruling.score > best[0]):
                best = (ruling.score, place, _told(ruling))
                if ruling.score >= SAME_WORDS:
                    break  # surer it will not be, and the nearest come first
            elif ruling.same is None:
                open_questions.append((place, ruling))
            elif not ruling.same:
                self._log.debug(
                    "match.rejected",
                    query=query,
                    cached=candidates[place],
                    guard=ruling.guard,
                    found=ruling.detail,
                )
        if best is None:
            best = self._verified(query, candidates, open_questions)
        if best is None:
            return None
        score, place, reason = best
        return Match(index=place, query=candidates[place], score=score, reason=reason)

    def judge(self, a: str, b: str) -> Verdict:
        """Say whether two questions ask the same, and why (not)."""
        ruling = rule(a, b, self._year())
        if ruling.same is not None:
            return Verdict(ruling.same, ruling.score, _told(ruling), ruling.guard)
        # One order for both, so that a verdict does not depend on who was cached.
        found = self._verifiers.judge(min(a, b), max(a, b), ruling)
        if found is None:
            return Verdict(False, 0.0, "no verifier is there", "strict")
        name, sure, enough = found
        return Verdict(enough, sure, f"{_WORDS[name]} ({sure:.2f})", name)

    def _verified(
        self, query: str, candidates: Sequence[str], asked: Sequence[tuple[int, Ruling]]
    ) -> tuple[float, int, str] | None:
        for place, ruling in asked[: self._settings.verify_most]:
            cached = candidates[place]
            found = self._verifiers.judge(min(query, cached), max(query, cached), ruling)
            if found is None:
                return None
            name, sure, enough = found
            if enough:
                return min(sure, OTHER_ORDER), place, f"{_WORDS[name]} ({sure:.2f})"
            self._log.debug(
                "match.rejected", query=query, cached=candidates[place], guard=name, found=f"{sure:.2f}"
            )
        return None

    def _year(self) -> int:
        return datetime.fromtimestamp(self._clock.time(), UTC).year


def _told(ruling: Ruling) -> str:
    if ruling.same:
        return ruling.detail if ruling.score > OTHER_ORDER else "the same words in another order"
    return f"{ruling.guard}: {ruling.detail}"
