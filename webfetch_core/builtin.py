"""What the core itself provides, through the same door as every plugin and behind all of them.

Each can be named in the settings: ``cache = ["none"]`` keeps nothing, ``rank = ["order"]`` trusts
the engines, ``compress = ["lead"]`` keeps beginnings.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from attrs import evolve

from .markers import hookimpl
from .models import CacheChange, Chunk
from .providers import Provider, RankTraits
from .stages import Cache, Compressor, Ranker

PRIORITY = -100


class OrderRanker:
    """Keeps the order in which passages came: the first scores highest."""

    def score(self, query: str, passages: Sequence[str]) -> Sequence[float]:
        return [1.0 / place for place in range(1, len(passages) + 1)]


class LeadCompressor:
    """Keeps chunks from the start until the budget is used up; the last one is cut at a word."""

    def compress(self, query: str, chunks: Sequence[Chunk], budget: int) -> Sequence[Chunk]:
        kept: list[Chunk] = []
        for chunk in chunks:
            if budget <= 0:
                break
            text = chunk.text
            if len(text) > budget:
                text = text[:budget].rpartition(" ")[0] or text[:budget]
            budget -= len(text)
            kept.append(evolve(chunk, text=text))
        return kept


class NoCache:
    """A store that keeps nothing."""

    def get(self, space: str, key: bytes) -> bytes | None:
        return None

    def put(self, space: str, key: bytes, value: bytes) -> None:
        return None

    def delete(self, space: str, key: bytes) -> bool:
        return False

    def scan(self, space: str) -> Iterator[tuple[bytes, bytes]]:
        return iter(())

    def changes(self, space: str, since: int) -> Iterator[CacheChange]:
        return iter(())

    def clear(self, space: str) -> int:
        return 0

    def stats(self) -> Mapping[str, Any]:
        return {"path": "", "bytes": 0, "entries": {}}


@hookimpl
def webfetch_rankers() -> list[Provider[Ranker]]:
    return [
        Provider(
            name="order",
            build=lambda settings, context: OrderRanker(),
            summary="keeps the engines' order",
            traits=RankTraits(kind="lexical"),
            priority=PRIORITY,
        )
    ]


@hookimpl
def webfetch_compressors() -> list[Provider[Compressor]]:
    return [
        Provider(
            name="lead",
            build=lambda settings, context: LeadCompressor(),
            summary="keeps beginnings",
            priority=PRIORITY,
        )
    ]


@hookimpl
def webfetch_caches() -> list[Provider[Cache]]:
    return [
        Provider(
            name="none", build=lambda settings, context: NoCache(), summary="keeps nothing", priority=PRIORITY
        )
    ]
