"""What a provider is given, for tests that build one without a host."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from socket import getaddrinfo
from tempfile import mkdtemp
from typing import Any, TypeVar

from ..errors import NotConfigured
from ..log import get_logger
from ..models import Document, Embeddings, Page
from ..providers import CacheSpace, Clock, Http, ModelStore
from ..stages import Cache, Embedder, Extractor, Ranker

T = TypeVar("T")


class FakeContext:
    """A PluginContext of given parts. A part that was not given raises NotConfigured, as in a host.

    Args:
        clock: the process's own clock unless given.
        data_dir: a new temporary folder on first access unless given.
        http: a client, as ``loopback_http`` gives one.
    """

    def __init__(
        self,
        plugin: str = "test",
        *,
        settings: Any = None,
        clock: Clock | None = None,
        environ: Mapping[str, str] | None = None,
        data_dir: Path | None = None,
        http: Http | None = None,
        cache: Cache | None = None,
        embedder: Embedder | None = None,
        ranker: Ranker | None = None,
        extractor: Extractor | None = None,
        models: ModelStore | None = None,
        workers: Any = None,
    ) -> None:
        from ..runtime.deadline import SystemClock

        self.plugin = plugin
        self.settings = settings
        self.log = get_logger(f"plugins.{plugin}")
        self.clock: Clock = clock or SystemClock()
        self.environ: Mapping[str, str] = dict(environ or {})
        self._data_dir = data_dir
        self._http = http
        self._cache = cache
        self._embedder = embedder
        self._ranker = ranker
        self._extractor = extractor
        self._models = models
        self._workers = workers

    def having(self, **parts: Any) -> FakeContext:
        """The same context with some parts replaced, by the names that the constructor has."""
        mine = {
            "settings": self.settings,
            "clock": self.clock,
            "environ": self.environ,
            "data_dir": self._data_dir,
            "http": self._http,
            "cache": self._cache,
            "embedder": self._embedder,
            "ranker": self._ranker,
            "extractor": self._extractor,
            "models": self._models,
            "workers": self._workers,
        }
        return FakeContext(self.plugin, **{**mine, **parts})

    @property
    def data_dir(self) -> Path:
        if self._data_dir is None:
            self._data_dir = Path(mkdtemp(prefix="webfetch-test-"))
        self._data_dir.mkdir(parents=True, exist_ok=True)
        return self._data_dir

    @property
    def http(self) -> Http:
        return _given(self._http, "http")

    @property
    def models(self) -> ModelStore:
        return _given(self._models, "models")

    def cache(self, space: str) -> CacheSpace:
        from ..runtime.context import Space

        return Space(_given(self._cache, f"cache({space!r})"), space)

    def embed(self, texts: Sequence[str]) -> Embeddings:
        return _given(self._embedder, "embed").embed(texts)

    def score_pairs(self, query: str, passages: Sequence[str], *, kind: str = "") -> Sequence[float]:
        return _given(self._ranker, "score_pairs").score(query, passages)

    def extract(self, page: Page) -> Document | None:
        return _given(self._extractor, "extract").extract(page)

    @property
    def workers(self) -> Any:
        return _given(self._workers, "workers")


def _given(part: T | None, name: str) -> T:
    if part is None:
        raise NotConfigured(f"this test context has no {name}", fix=f"give FakeContext its {name}")
    return part


@contextmanager
def loopback_http(
    clock: Clock,
    *,
    trusted: Iterable[tuple[str, int]] = (),
    allow: Iterable[str] = (),
    secrets: Iterable[str] = (),
    resolve: Callable[..., Sequence[tuple[Any, ...]]] | None = None,
) -> Iterator[Http]:
    """The real client behind the real guard, closed at the end.

    Args:
        trusted: (host, port) pairs, as of base URLs in a plugin's settings.
        allow: private hosts that pages may come from (``net.allow_hosts``).
        secrets: what must never show in an error.
        resolve: stands in for ``socket.getaddrinfo``: names that lead where a test wants them.
    """
    from .. import __version__
    from ..runtime.http import HttpClient
    from ..runtime.netguard import Guard, Policy
    from ..settings import NetSettings

    guard = Guard(Policy(allow_hosts=tuple(allow)), resolve=resolve or getaddrinfo)
    client = HttpClient(guard, clock, NetSettings(), __version__)
    hidden = tuple(secrets)
    try:
        yield client.bound(trusted=frozenset(trusted), secrets=lambda: hidden)
    finally:
        client.close()
