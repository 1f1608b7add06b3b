"""How a plugin declares what it provides, what that needs, and what it is given to work with."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from attrs import field, frozen, has

from .artefacts import ModelSpec
from .field_checks import count, count_or_none, flag, is_number, must, positive, text, texts
from .models import Document, Embeddings, Page, ProxyAddress, ProxyFailure
from .requirements import Requirement

T = TypeVar("T")

NAME_PATTERN = re.compile(r"[a-z][a-z0-9_]*\Z")
"""Provider names: lower case, digits and underscores, starting with a letter."""


# ---- traits ------------------------------------------------------------------------------------


@frozen(kw_only=True)
class Traits:
    """Facts of a provider that the core's policy reads. One subclass a stage."""


@frozen(kw_only=True)
class SearchTraits(Traits):
    """Facts of a search engine.

    Attributes:
        usd_per_1k: list price of 1,000 calls in US dollars.
        max_limit: most hits that one call returns.
        max_query_chars: the core cuts longer queries at a word, for this engine alone.
        network: False for an engine that never leaves the machine.
        filters: which of ``freshness domains language country`` it applies itself. Domains are
            filtered again by the core; for any other filter that was asked for and is not among
            these, the attempt says that it was not applied.
        calls_per_s: how many calls its service takes a second, where that is known beforehand;
            ``context.http`` spaces them. A setting of this name wins.
    """

    usd_per_1k: float = field(
        default=0.0, validator=must("a number of at least 0", lambda v: is_number(v) and v >= 0)
    )
    max_limit: int = field(default=100, validator=count)
    max_query_chars: int | None = field(default=None, validator=count_or_none)
    network: bool = field(default=True, validator=flag)
    filters: frozenset[str] = field(default=frozenset(), validator=texts)
    calls_per_s: float | None = field(
        default=None,
        validator=must("a number greater than 0, or None", lambda v: v is None or (is_number(v) and v > 0)),
    )


@frozen(kw_only=True)
class FetchTraits(Traits):
    """``schemes`` that it serves. Pages of a scheme other than http(s) are taken only from the
    engines of the same plugin, and are not put into the page cache."""

    schemes: tuple[str, ...] = field(default=("http", "https"), validator=texts)
    renders_js: bool = field(default=False, validator=flag)


@frozen(kw_only=True)
class ExtractTraits(Traits):
    """Media types it takes: ``text/html``, ``text/*`` or ``*/*``; the most specific is tried first.

    ``isolate`` asks for pages of these types to be extracted in a worker process whatever their size: what
    reads them may hang, crash or take all memory, and is killed for it.
    """

    content_types: tuple[str, ...] = field(default=("text/html", "application/xhtml+xml"), validator=texts)
    isolate: bool = field(default=False, validator=flag)


@frozen(kw_only=True)
class RankTraits(Traits):
    """``kind`` is ``lexical``, ``biencoder`` or ``crossencoder``, which is its place in the cascade; or one
    of two kinds that rank nothing and are asked by ``context.score_pairs``: ``paraphrase`` scores by the
    probability that two queries ask the same, ``entailment`` by the smaller of the probabilities that one
    follows from the other.

    A passage that scores no more than ``unrelated`` has nothing to do with the query, as far as this ranker
    can tell; None: its scores do not say. A lexical ranker's 0 always means that.
    """

    kind: str = field(default="lexical", validator=text)
    unrelated: float | None = None


# ---- the provider ------------------------------------------------------------------------------


def _valid_name(_: Any, attribute: Any, value: Any) -> None:
    if not (isinstance(value, str) and NAME_PATTERN.match(value)):
        raise ValueError(
            f"{attribute.name} must be lower case letters, digits and underscores, starting with a letter; "
            f"got {value!r}"
        )


@frozen(kw_only=True)
class Provider(Generic[T]):
    """One thing that a plugin provides for one stage.

    Attributes:
        name: unique within its stage; what settings and reports call it.
        build: ``build(settings, context)`` makes the object. Called once, on first use, in a
            guarded thread; heavy libraries are imported inside it. May raise NotConfigured.
        summary: one line for ``webfetch plugins``.
        settings: the attrs class of the table ``[plugins.<plugin>]``; all fields have defaults.
            An instance is passed to ``build`` (None without a class). The host of a field named
            ``base_url`` is trusted by ``context.http``.
        requires: what must be there before it is built.
        traits: facts for the core's policy (SearchTraits, FetchTraits, ...).
        priority: higher is tried or asked first; ties go by name.
        timeout_s: longest time one call may take; the request's own deadline may be nearer.
        max_concurrency: calls at the same time; a call that hangs keeps its slot.
    """

    name: str = field(validator=_valid_name)
    build: Callable[[Any, PluginContext], T] = field(validator=must("callable", callable))
    summary: str = field(default="", validator=text)
    settings: type | None = field(
        default=None, validator=must("an attrs class, or None", lambda v: v is None or has(v))
    )
    requires: tuple[Requirement, ...] = field(
        default=(),
        validator=must(
            "a tuple of requirements",
            lambda v: isinstance(v, (tuple, list)) and all(callable(r.missing) for r in v),
        ),
    )
    traits: Traits | None = field(
        default=None,
        validator=must("traits, or None", lambda v: v is None or isinstance(v, Traits)),
    )
    priority: int = field(default=0, validator=must("a number", is_number))
    timeout_s: float = field(default=10.0, validator=positive)
    max_concurrency: int = field(default=4, validator=count)


# ---- what a provider is given -------------------------------------------------------------------


class Clock(Protocol):
    """Time as a parameter."""

    def monotonic(self) -> float:
        """Seconds on a clock that never goes back; deadlines are instants of it."""
        ...

    def time(self) -> float:
        """Seconds since the epoch; what the cache's ages are counted in."""
        ...


class HttpReply(Protocol):
    """A complete reply of ``context.http``. Header names are lower case. The status is below 300
    unless ``raise_for_status`` was off."""

    @property
    def status(self) -> int: ...

    @property
    def headers(self) -> Mapping[str, str]: ...

    @property
    def url(self) -> str: ...

    @property
    def body(self) -> bytes: ...

    @property
    def text(self) -> str:
        """The body, decoded by its declared charset or as UTF-8; bad bytes replaced."""
        ...

    def json(self) -> Any:
        """The body as JSON. Raises BadResponse with the status and the first safe characters."""
        ...


class Http(Protocol):
    """The one way to the network. Every URL passes the guard; secrets are redacted in errors.

    Statuses of 400 and above raise: 401/403 AuthFailed (Blocked for a bot wall), 402
    QuotaExceeded, 429 RateLimited with ``Retry-After``, others BadResponse or Unavailable; the
    error carries ``status`` and ``body`` for engines whose statuses mean something else. Nothing
    is retried.
    """

    def get(
        self,
        url: str,
        *,
        params: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        deadline: float | None = None,
        raise_for_status: bool = True,
    ) -> HttpReply: ...

    def post(
        self,
        url: str,
        *,
        json: Any = None,
        data: Mapping[str, Any] | bytes | None = None,
        params: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        deadline: float | None = None,
        raise_for_status: bool = True,
    ) -> HttpReply: ...

    def pace(self, calls_per_s: float | None) -> None:
        """Space the calls of ``get`` and ``post`` from now on; None ends that.

        A call whose turn comes after its deadline raises Busy, which is nobody's fault.
        """
        ...

    def fetch_page(self, url: str, *, headers: Mapping[str, str] | None = None, **limits: Any) -> Page:
        """Fetch a page with every cap enforced while streaming, redirects re-checked at each hop.

        Keyword limits: ``deadline``, ``max_bytes`` (inflated), ``max_wire_bytes``,
        ``max_redirects``, ``min_bytes_per_s``; ``check_hop`` is called with the URL of each
        redirect before it is followed and may raise; ``conditions`` are headers such as
        ``If-None-Match``, sent to the URL ``conditions_url`` alone, be it a redirect's. The status is
        not judged: the fetcher does that.
        """
        ...

    def guard_proxy(self, *, max_bytes: int | None = None) -> ProxyLease:
        """A way out for a client that opens its own connections, a browser say; close it when done.

        Every host that the client asks this proxy for is judged like any URL. The hosts of the
        plugin's own ``base_url`` are not trusted there: who asks is a page.

        Args:
            max_bytes: what may come in over it; then its connections are cut.

        Raises:
            Unavailable: no port can be had on 127.0.0.1.
        """
        ...


class ProxyLease(Protocol):
    """The right to use the guard's proxy, for one page or one job; a context manager. Thread-safe."""

    @property
    def address(self) -> ProxyAddress:
        """Where it listens, and the credentials, which are this lease's own."""
        ...

    @property
    def received(self) -> int:
        """Bytes that came in."""
        ...

    def failures(self) -> Sequence[ProxyFailure]:
        """What was refused or could not be reached, oldest first; each host, port and kind once."""
        ...

    def permit(self, url: str) -> None:
        """Judge a URL by its form and by the vetoes, without resolving its host: the proxy sees no
        path of what is fetched over TLS. Raises Refused."""
        ...

    def close(self) -> None:
        """End its connections and its credentials. Idempotent."""
        ...

    def __enter__(self) -> ProxyLease: ...

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None: ...


class CacheSpace(Protocol):
    """One space of the store in use. Keys of any length; every method may raise CacheError."""

    def get(self, key: bytes) -> bytes | None: ...

    def put(self, key: bytes, value: bytes) -> None: ...

    def get_many(self, keys: Iterable[bytes]) -> Mapping[bytes, bytes]:
        """Return the values that are there, by the keys as given; one read where the store can."""
        ...

    def put_many(self, rows: Mapping[bytes, bytes]) -> None:
        """Store rows; one write where the store can."""
        ...

    def delete(self, key: bytes) -> bool: ...

    def scan(self) -> Iterator[tuple[bytes, bytes]]: ...


class ModelStore(Protocol):
    """Where the files of models are."""

    def files(self, spec: ModelSpec) -> Mapping[str, Path]:
        """Return the path of each file by its name, its content checked against the pinned SHA-256.

        Raises NotConfigured where the model is not on this machine or is damaged.
        """
        ...


class PluginContext(Protocol):
    """All that a provider shares with the rest. A member that nothing serves raises NotConfigured."""

    @property
    def plugin(self) -> str:
        """The plugin's name, which is its settings table and the namespace of its data."""
        ...

    @property
    def settings(self) -> Any:
        """The plugin's settings, of the class that its provider names; None without one."""
        ...

    @property
    def log(self) -> Any:
        """A structlog logger over the stdlib's; it never prints by itself."""
        ...

    @property
    def clock(self) -> Clock: ...

    @property
    def environ(self) -> Mapping[str, str]:
        """The environment as the host was given it."""
        ...

    @property
    def data_dir(self) -> Path:
        """The plugin's own folder under WEBFETCH_HOME; made on first access, for its owner alone."""
        ...

    @property
    def http(self) -> Http: ...

    @property
    def models(self) -> ModelStore:
        """The model store."""
        ...

    def cache(self, space: str) -> CacheSpace:
        """A space of the store: ``vectors`` is shared, any other name is the plugin's own."""
        ...

    def embed(self, texts: Sequence[str]) -> Embeddings:
        """Unit vectors from the bi-encoder in use."""
        ...

    def score_pairs(self, query: str, passages: Sequence[str], *, kind: str = "") -> Sequence[float]:
        """Scores from the best pairwise ranker in use (cross-encoder, else lexical).

        Args:
            kind: ask a ranker of this kind only: ``crossencoder``, ``lexical``, ``paraphrase`` or
                ``entailment``.
        """
        ...

    def extract(self, page: Page) -> Document | None:
        """The document of a page, by the extractors in use."""
        ...

    @property
    def workers(self) -> Any:
        """The extraction workers (``submit(page) -> Future[Document | None]``)."""
        ...
