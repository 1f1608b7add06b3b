"""The part of a corpus that one engine has indexed, and how it is searched. Pure."""

from __future__ import annotations

from datetime import UTC, datetime

from .corpus import Corpus, CorpusDocument, share
from .messages import WINDOWS, SimulatedQuery, instant, within


class Index:
    """A share of a corpus, chosen by seed and URL, with scores of its own.

    Args:
        coverage: the share that is indexed.
        noise: how far the seed shifts a document's score: 0.5 is up to a half either way.

    Raises:
        ValueError: a coverage outside 0 to 1.
    """

    def __init__(self, corpus: Corpus, *, coverage: float, noise: float, seed: int) -> None:
        if not 0.0 <= coverage <= 1.0:
            raise ValueError(f"a coverage is between 0 and 1, not {coverage!r}")
        self._corpus = Corpus(d for d in corpus.documents if share(seed, d.url) < coverage)
        self._noise = noise
        self._seed = seed

    @property
    def documents(self) -> tuple[CorpusDocument, ...]:
        """What is indexed."""
        return self._corpus.documents

    def find(self, query: SimulatedQuery, limit: int, now: float) -> list[tuple[float, CorpusDocument]]:
        """At most ``limit`` documents that the query's filters let through, best first.

        Args:
            now: seconds since the epoch; what ``freshness`` counts back from.
        """
        found = [(s * self._shift(query, d), d) for s, d in self._corpus.search(query.query)]
        found.sort(key=lambda pair: (-pair[0], pair[1].url))
        return [(s, d) for s, d in found if passes(d, query, now)][: max(0, limit)]

    def _shift(self, query: SimulatedQuery, document: CorpusDocument) -> float:
        return 1 + self._noise * (2 * share(self._seed, query.query, document.url) - 1)


def passes(document: CorpusDocument, query: SimulatedQuery, now: float) -> bool:
    """Whether the query's domains, language and dates let ``document`` through.

    A document without a date passes no filter of time; one without a language passes any language.
    """
    if query.include and not any(within(document.url, d) for d in query.include):
        return False
    if any(within(document.url, d) for d in query.exclude):
        return False
    language = query.language.lower().replace("_", "-").partition("-")[0]
    if language not in ("", "all", "auto") and document.language not in ("", language):
        return False
    after = query.after
    if query.freshness:
        after = datetime.fromtimestamp(now, UTC) - WINDOWS[query.freshness]
    if after is None and query.before is None:
        return True
    published = instant(document.published)
    return published is not None and (
        (after is None or published >= after) and (query.before is None or published <= query.before)
    )
