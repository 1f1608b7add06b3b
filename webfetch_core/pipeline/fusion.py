"""Engines' answers into one list, and the tell-tale of a silent block. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from attrs import evolve

from ..models import SearchHit
from .urls import canonical, clean, in_domains, unwrap

RRF_K = 60
"""Cormack, Clarke and Buettcher (SIGIR 2009) found 60 to serve every collection they tried."""

PEER_HITS = 3
"""An empty answer is suspicious when a peer found at least this many hits for the same query."""


def rrf(rankings: Iterable[Sequence[str]], k: int = RRF_K) -> dict[str, float]:
    """Reciprocal rank fusion: each key's sum of ``1 / (k + place)``, places counted from 1."""
    scores: dict[str, float] = {}
    for ranking in rankings:
        for place, key in enumerate(ranking, start=1):
            scores[key] = scores.get(key, 0.0) + 1.0 / (k + place)
    return scores


def fuse(answers: Mapping[str, Sequence[SearchHit]]) -> tuple[SearchHit, ...]:
    """Merge the hits of several engines by canonical URL, best first.

    A page that two engines found gets the sum of its reciprocal ranks, so it passes pages that
    only one engine ranked as high. The fused hit takes URL, title and snippet from the engine
    that ranked it best (the longer snippet wins a tie of emptiness) and keeps every engine's
    rank. Ties go to the better best rank, then to the URL: the order never depends on timing.
    """
    groups: dict[str, list[SearchHit]] = {}
    rankings: list[list[str]] = []
    for engine in sorted(answers):
        ranking: dict[str, None] = {}
        for hit in resolved(answers[engine]):
            key = canonical(hit.url)
            if key not in ranking:
                ranking[key] = None
                groups.setdefault(key, []).append(evolve(hit, url=clean(hit.url)))
        rankings.append(list(ranking))
    scores = rrf(rankings)
    fused = [_merge(group, scores[key]) for key, group in groups.items()]
    fused.sort(key=lambda hit: (-hit.score, hit.rank, hit.url))
    return tuple(evolve(hit, rank=place) for place, hit in enumerate(fused, start=1))


def resolved(hits: Iterable[SearchHit]) -> Iterator[SearchHit]:
    """The hits with the pages that their URLs lead to: redirect links resolved, advertisements left out."""
    for hit in hits:
        target = unwrap(hit.url)
        if target is not None:
            yield hit if target == hit.url else evolve(hit, url=target)


def _merge(group: Sequence[SearchHit], score: float) -> SearchHit:
    best = min(group, key=lambda hit: (hit.rank, hit.engine))
    return evolve(
        best,
        title=best.title or next((h.title for h in group if h.title), ""),
        snippet=best.snippet or max((h.snippet for h in group), key=len),
        published=best.published or next((h.published for h in group if h.published), None),
        score=score,
        engines={hit.engine: hit.rank for hit in sorted(group, key=lambda h: (h.rank, h.engine))},
    )


def filter_domains(
    hits: Iterable[SearchHit], include: tuple[str, ...], exclude: tuple[str, ...]
) -> tuple[SearchHit, ...]:
    """The backstop for engines whose own domain filters are best effort. Judges the page that a
    redirect link leads to."""
    return tuple(
        hit
        for hit in resolved(hits)
        if (not include or in_domains(hit.url, include)) and not (exclude and in_domains(hit.url, exclude))
    )


def silently_blocked(counts: Mapping[str, int]) -> frozenset[str]:
    """Engines whose empty answer looks like a block: a peer found enough for the same query.

    Args:
        counts: hits by engine, of the engines that answered at all.
    """
    if max(counts.values(), default=0) < PEER_HITS:
        return frozenset()
    return frozenset(engine for engine, count in counts.items() if count == 0)
