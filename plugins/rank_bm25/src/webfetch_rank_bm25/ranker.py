"""BM25 over the passages of one call."""

from __future__ import annotations

from collections.abc import Sequence
from math import log1p

from .settings import Bm25Settings
from .terms import fold, query_terms, split, word_terms


class Bm25Ranker:
    """Scores passages by the terms they share with the query; the passages are the whole corpus.

    Okapi BM25 (Robertson and Zaragoza 2009) with ``idf = ln(1 + (N - n + 0.5) / (n + 0.5))``,
    which is above 0 however common a term is: a shared term always counts, and 0.0 means that
    nothing is shared. (The classic idf is 0 or negative for a term in half of the passages.)
    """

    def __init__(self, settings: Bm25Settings) -> None:
        self._k1 = settings.k1
        self._b = settings.b

    def score(self, query: str, passages: Sequence[str]) -> list[float]:
        """See :class:`webfetch_core.api.Ranker`. Does not depend on the order of the passages."""
        wanted = query_terms(query)
        counted: list[dict[str, int]] = []
        lengths: list[int] = []
        memo: dict[str, tuple[int, tuple[str, ...]]] = {}  # word: its number of terms, those wanted
        for passage in passages:
            folded = fold(passage)
            words, length = split(folded)
            counts: dict[str, int] = {}
            for word in words:
                known = memo.get(word)
                if known is None:
                    terms = word_terms(word)
                    known = memo[word] = len(terms), tuple(t for t in terms if t in wanted.words)
                length += known[0]
                for term in known[1]:
                    counts[term] = counts.get(term, 0) + 1
            for gram in wanted.grams:
                if times := folded.count(gram):
                    counts[gram] = times
            counted.append(counts)
            lengths.append(length)
        total = len(passages)
        mean_length = sum(lengths) / total if total else 0.0
        value = {
            term: weight * log1p((total - found + 0.5) / (found + 0.5))
            for term, weight in (wanted.words | wanted.grams).items()
            if (found := sum(term in counts for counts in counted))
        }
        return [
            self._score(counts, length / mean_length, value) if counts else 0.0
            for counts, length in zip(counted, lengths, strict=True)
        ]

    def _score(self, counts: dict[str, int], relative_length: float, value: dict[str, float]) -> float:
        damping = self._k1 * (1 - self._b + self._b * relative_length)
        # In the query's order, so that equal passages get equal sums wherever they stand.
        return sum(
            value[term] * counts[term] * (self._k1 + 1) / (counts[term] + damping)
            for term in value
            if term in counts
        )
