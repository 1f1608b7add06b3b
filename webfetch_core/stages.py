"""What each kind of provider must be able to do. Plugins implement these; the core calls them.

A call runs in a thread that the core may abandon at its deadline, and several may run at once:
implementations are thread-safe or say ``max_concurrency=1``. Any provider may also have
``warm_up()`` (called before traffic by servers) and ``close()`` (called once, at the end).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol, runtime_checkable

from .models import (
    CacheChange,
    Chunk,
    Document,
    Embeddings,
    FetchRequest,
    Freshness,
    Match,
    Page,
    SearchHit,
    SearchRequest,
)


@runtime_checkable
class SearchEngine(Protocol):
    """Turns a query into hits."""

    def search(self, request: SearchRequest) -> Sequence[SearchHit]:
        """Return at most ``request.limit`` hits, best first; an empty list means nothing was found.

        Raises:
            Blocked, RateLimited, QuotaExceeded, AuthFailed, BadResponse, Unavailable, TimedOut,
            BadQuery: never return an empty list in their place.

        An engine whose answers depend on more than the request (an index that changes) also has
        ``fingerprint() -> str``, which joins the cache key; "" keeps its answers out of the cache.
        """
        ...


@runtime_checkable
class Fetcher(Protocol):
    """Turns a URL into bytes."""

    def fetch(self, request: FetchRequest) -> Page:
        """Return the page as it came, inflated. An error status is an error, not a page; a 304 is one
        only where the request has validators and they were sent to the URL that answered so.

        Raises:
            Refused, Blocked, PageError, Unavailable, TimedOut.
        """
        ...


@runtime_checkable
class Extractor(Protocol):
    """Turns a page into a document.

    One that can stop early also has ``extract_within(page, seconds)``, which is called in place of
    ``extract``: it returns what it read in that time, flagged ``truncated`` where that is not all.
    """

    def extract(self, page: Page) -> Document | None:
        """Return the readable content as Markdown; None means "not mine, or nothing in it"."""
        ...


@runtime_checkable
class Ranker(Protocol):
    """Scores passages against a query. Sorting, fusing and cutting is the core's.

    A bi-encoder (``RankTraits(kind="biencoder")``) also has :class:`Embedder`'s members.
    """

    def score(self, query: str, passages: Sequence[str]) -> Sequence[float]:
        """Return one finite float per passage, in their order; higher is better.

        0.0 from a lexical ranker means that query and passage share nothing.

        A ranker that takes long over many passages also has
        ``score_within(query, passages, order, seconds) -> Sequence[float | None]``: the scores that could be
        had in that time, of the passages at the places of ``order`` first, and None for the others. It may
        raise NotConfigured where it has no opinion of this list: the step goes on without it.
        """
        ...


@runtime_checkable
class Embedder(Protocol):
    """What a bi-encoder has beside ``score``."""

    model_id: str

    def embed(self, texts: Sequence[str]) -> Embeddings:
        """Return one unit vector per text."""
        ...

    def prepare(self, passages: Sequence[str]) -> None:
        """Work ahead on passages that will be scored soon. May do nothing."""
        ...


@runtime_checkable
class Compressor(Protocol):
    """Cuts chunks down to what answers the query."""

    def compress(self, query: str, chunks: Sequence[Chunk], budget: int) -> Sequence[Chunk]:
        """Return chunks whose texts together hold at most ``budget`` characters, in the order given.

        The input is never mutated. Every returned chunk keeps its URL and title.
        """
        ...


@runtime_checkable
class Cache(Protocol):
    """A store of bytes, shared by processes. TTL, keys and provenance are the core's.

    ``space`` is one of ``pages queries vectors negative findings stats`` or a plugin's own name;
    a key is at most 64 bytes (the core hashes longer ones). Every method may raise CacheError.

    A store may also have ``get_many(space, keys)``, a mapping of the rows that are there, and
    ``put_many(space, rows)``, which take many rows in one transaction; without them the core asks
    row by row. ``verify() -> Sequence[str]`` says what is wrong with the store itself, a line each and
    nothing when it is sound, and changes nothing; ``compact() -> Mapping[str, Any]`` gives the disk back what
    deleted rows left, with ``before`` and ``after`` in bytes, while others use the store. ``webfetch cache``
    says so where a store has none.
    """

    def get(self, space: str, key: bytes) -> bytes | None:
        """Return a copy of the value, or None."""
        ...

    def put(self, space: str, key: bytes, value: bytes) -> None:
        """Store the value durably, replacing an earlier one."""
        ...

    def delete(self, space: str, key: bytes) -> bool:
        """Remove the row; say whether there was one."""
        ...

    def scan(self, space: str) -> Iterator[tuple[bytes, bytes]]:
        """Yield every (key, value) of the space, from one consistent snapshot."""
        ...

    def changes(self, space: str, since: int) -> Iterator[CacheChange]:
        """Yield the changes of the space after sequence number ``since``, oldest first.

        When the first one is not ``since + 1`` the log was cut or the store is new: scan instead.
        """
        ...

    def clear(self, space: str) -> int:
        """Remove every row of the space; return how many there were."""
        ...

    def stats(self) -> Mapping[str, Any]:
        """Return ``path``, ``bytes`` and ``entries`` (rows by space), and what else is worth showing."""
        ...


@runtime_checkable
class QueryMatcher(Protocol):
    """Finds the cached query that asks the same thing.

    One that can look through many also has ``shortlist(query, texts, at_most) -> Sequence[int]``: the places
    of the texts that are near the query in meaning, nearest first, at most so many. The core calls it with
    every cached query there is, the same tuple each time while nothing changed, and hands the shortlisted to
    ``match``; without it, the 100 youngest.
    """

    def match(self, query: str, candidates: Sequence[str]) -> Match | None:
        """Return the candidate that is surely the same question, or None.

        ``score`` is how sure, from 0 to 1; ``reason`` says why in a few words.
        """
        ...


@runtime_checkable
class FreshnessClassifier(Protocol):
    """Tells how fast the answer to a query goes stale."""

    def classify(self, query: str, now: datetime) -> Freshness | None:
        """Return the class, or None when unsure (the next classifier is asked)."""
        ...


@runtime_checkable
class LLM(Protocol):
    """One completion, as JSON."""

    def complete(self, messages: Sequence[Mapping[str, str]], schema: Mapping[str, Any]) -> Any:
        """Return JSON that fits ``schema``. ``messages`` have ``role`` and ``content``."""
        ...
