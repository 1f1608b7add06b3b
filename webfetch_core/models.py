"""The records that cross a boundary: frozen, slotted, keyword-only, and small.

Text is ``str`` in NFC as it came; times are seconds; ``deadline`` is an instant of the
context's monotonic clock; ``published`` is an ISO 8601 date or date-time, or None.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from attrs import Factory, field, frozen

SCHEMA_VERSION = 1
"""Version of the JSON form of every record below (``schema_version`` in ``--json``)."""


class Freshness(StrEnum):
    """How fast the answer to a query goes stale; sets the cache's TTL and the engines' time filter."""

    REALTIME = "realtime"
    RECENT = "recent"
    STABLE = "stable"


class ProvenanceKind(StrEnum):
    """Where a result comes from. ``none`` is for a search that was kept to the cache and found nothing."""

    NONE = "none"
    FRESH = "fresh"
    EXACT = "exact"
    SEMANTIC = "semantic"
    STALE = "stale"
    FINDING = "finding"


@frozen(kw_only=True)
class SearchRequest:
    """What an engine is asked. ``deadline`` is an instant on ``context.clock.monotonic()``; ``freshness``
    is the caller's hint, and STABLE filters nothing: it shares its cached answers with no hint."""

    query: str
    limit: int = 10
    freshness: Freshness | None = None
    include_domains: tuple[str, ...] = ()
    exclude_domains: tuple[str, ...] = ()
    language: str | None = None
    country: str | None = None
    deadline: float | None = None


@frozen(kw_only=True)
class SearchHit:
    """One result of an engine. The core numbers ``rank`` (from 1) and stamps ``engine``.

    After fusion ``engine`` is the best-ranked engine's name, ``rank`` the fused place, and
    ``engines`` maps each engine that returned the page to its own rank.
    """

    url: str
    title: str = ""
    snippet: str = ""
    rank: int = 0
    engine: str = ""
    published: str | None = None
    score: float = 0.0
    engines: Mapping[str, int] = Factory(dict)
    extra: Mapping[str, Any] = Factory(dict)


@frozen(kw_only=True)
class FetchRequest:
    """What a fetcher is asked. ``purpose`` is ``search`` (autonomous), ``user`` (named by a
    person or model) or ``robots``.

    With ``etag`` or ``last_modified`` the caller holds the page as ``validated_url`` gave it before:
    a fetcher that can ask conditionally sends them to that URL and to no other (``If-None-Match``,
    ``If-Modified-Since``), and returns a Page of status 304 without a body where it has not changed.
    """

    url: str
    deadline: float | None = None
    purpose: str = "search"
    etag: str = ""
    last_modified: str = ""
    validated_url: str = ""


@frozen(kw_only=True)
class Page:
    """Bytes as fetched, already inflated. Header names are lower case; ``redirects`` counts the
    hops from ``url`` to ``final_url``; ``flags`` are facts that its document is to be read with
    (``truncated``: the body ended early; ``paywalled``: the site gives a part of it for nothing)."""

    url: str
    body: bytes
    final_url: str = ""
    status: int = 200
    headers: Mapping[str, str] = Factory(dict)
    content_type: str = ""
    fetched_by: str = ""
    elapsed_s: float = 0.0
    redirects: int = 0
    flags: tuple[str, ...] = ()


@frozen(kw_only=True)
class ExtractionStep:
    """What one way of finding a page's content came to.

    Attributes:
        name: the step (``classifier``, ``trafilatura``, ``json_ld``, ...).
        words: how many words it would keep, or added.
        won: whether the text is (in part) its.
        reason: why it won or did not, in a few words.
    """

    name: str
    words: int = 0
    won: bool = False
    reason: str = ""


@frozen(kw_only=True)
class FileLink:
    """A link of a page to a file that is a document of its own. ``text`` is the link's; ``media_type`` is
    what the link or the file's name says that it is."""

    url: str
    text: str = ""
    media_type: str = "application/pdf"


@frozen(kw_only=True)
class Document:
    """The readable content of a page; ``text`` is Markdown.

    ``flags`` are facts a reader should know (``hidden_text_removed``, ``metadata_only``, ...);
    ``steps`` are the ways in which its content was looked for, in the order they were tried; ``files``
    are documents of other types that the page links to, anywhere on it.
    """

    url: str
    text: str
    title: str = ""
    page_type: str = ""
    metadata: Mapping[str, str] = Factory(dict)
    links: tuple[str, ...] = ()
    published: str | None = None
    flags: tuple[str, ...] = ()
    steps: tuple[ExtractionStep, ...] = ()
    files: tuple[FileLink, ...] = ()


@frozen(kw_only=True)
class Chunk:
    """A passage of a document, at ``document.text[start:end]``; only white space lies between passages.

    One that begins inside a table has the table's header rows in front, one that begins inside a fenced
    block the line that opens it; ``start`` and ``end`` leave those out. Lone surrogates are U+FFFD in
    ``text``.
    """

    text: str
    url: str
    title: str = ""
    heading_path: tuple[str, ...] = ()
    start: int = 0
    end: int = 0
    score: float = 0.0


@frozen(kw_only=True)
class Scored:
    """A ranked passage: its index in the caller's list, its score and each step's own score."""

    index: int
    score: float
    steps: Mapping[str, float] = Factory(dict)


@frozen(kw_only=True)
class Match:
    """A cached query that asks the same thing. ``score`` is in [0, 1]."""

    index: int
    query: str
    score: float
    reason: str = ""


@frozen(kw_only=True)
class Attempt:
    """One call of one provider, successful or not.

    ``outcome`` is ``ok``, ``empty`` or an error's ``kind``; ``target`` is the URL for page
    stages; ``count`` is the number of hits, bytes, chunks or passages, by stage.
    """

    stage: str
    provider: str
    outcome: str
    reason: str = ""
    elapsed_s: float = 0.0
    count: int = 0
    cost_usd: float = 0.0
    target: str = ""


@frozen(kw_only=True)
class FailedUrl:
    """A page that gave nothing, and why."""

    url: str
    kind: str
    reason: str = ""


@frozen(kw_only=True)
class Span:
    """One bar of the waterfall: seconds from the start of the request."""

    stage: str
    name: str
    start_s: float
    end_s: float
    note: str = ""


@frozen(kw_only=True)
class Provenance:
    """Where the result comes from.

    Attributes:
        matched_query: the cached query whose answer this is.
        age_s: seconds since it was fetched; of a fresh search, since the oldest page that it quotes was.
        score: how sure it is that the matched query asks the same, from 0 to 1.
        reason: why, in a few words; empty unless the match is semantic.
    """

    kind: ProvenanceKind = ProvenanceKind.FRESH
    matched_query: str = ""
    age_s: float = 0.0
    score: float = 1.0
    reason: str = ""


@frozen(kw_only=True)
class SearchResult:
    """What a search found: ranked chunks, best first, and everything that happened on the way."""

    query: str
    chunks: tuple[Chunk, ...] = ()
    hits: tuple[SearchHit, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    failed_urls: tuple[FailedUrl, ...] = ()
    provenance: Provenance = Provenance()
    freshness: Freshness = Freshness.RECENT
    partial: bool = False
    elapsed_s: float = 0.0
    trace: tuple[Span, ...] = ()
    notes: tuple[str, ...] = ()
    ranked_by: tuple[str, ...] = ()


@frozen(kw_only=True)
class Embeddings:
    """Unit vectors as one float32 buffer, row after row: ``len(data) == 4 * rows * dim``."""

    data: bytes = field(repr=False)
    rows: int
    dim: int
    model_id: str = ""


@frozen(kw_only=True)
class ProxyAddress:
    """How a client reaches the guard's proxy: ``server`` is its URL, and it asks for the credentials by
    HTTP Basic (``Proxy-Authorization``)."""

    server: str
    username: str
    password: str = field(repr=False)


@frozen(kw_only=True)
class ProxyFailure:
    """What the guard's proxy could not serve. ``kind`` is ``refused``, ``unavailable``, ``timeout`` or
    ``too_large``; ``message`` says why and never has an address that the client did not write."""

    host: str
    port: int
    kind: str
    message: str


@frozen(kw_only=True)
class CacheChange:
    """A row of a cache space's change log. ``sequence`` grows by one with every write."""

    sequence: int
    key: bytes
    deleted: bool = False
