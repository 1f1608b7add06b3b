"""What a provider is given, for tests that build one without a host."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, TypeVar

from ..errors import NotConfigured
from ..log import get_logger
from ..models import Document, Embeddings, Page
from ..providers import Clock, Http
from ..stages import Cache, Embedder, Extractor, Ranker

T = TypeVar("T")


class FakeContext:
    """A PluginContext of given parts. A part that was not given raises NotConfigured, as in a host.

    Args:
        clock: the process's own clock unless given.
        data_dir: a new temporary folder on first access unless given.
        http: a client, e.g. ``loopback_http(clock)``.
    """

    def __init__(
        self,
        plugin: str = "test",
        *,
        clock: Clock | None = None,
        environ: Mapping[str, str] | None = None,
        data_dir: Path | None = None,
        http: Http | None = None,
        cache: Cache | None = None,
        embedder: Embedder | None = None,
        ranker: Ranker | None = None,
        extractor: Extractor | None = None,
        models: Any = None,
        workers: Any = None,
    ) -> None:
        from ..runtime.deadline import SystemClock

        self.plugin = plugin
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
    def models(self) -> Any:
        return _given(self._models, "models")

    def cache(self, space: str) -> Cache:
        return _given(self._cache, f"cache({space!r})")

    def embed(self, texts: Sequence[str]) -> Embeddings:
        return _given(self._embedder, "embed").embed(texts)

    def score_pairs(self, query: str, passages: Sequence[str]) -> Sequence[float]:
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
