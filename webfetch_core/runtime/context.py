"""What a provider is given: its own corner of the host, and the services that others provide."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import fields_dict, has

from ..errors import CacheError, ConfigError, NotConfigured, WebfetchError
from ..log import get_logger
from ..models import Document, Embeddings, Page
from ..providers import Clock, Http, ModelStore
from ..registry.catalog import Entry
from ..requirements import EnvKey
from ..stages import Cache
from .netguard import parse_url

if TYPE_CHECKING:
    from .host import Host

SHARED_SPACES = frozenset({"vectors"})
_KEY_BYTES = 64


def secrets_of(entry: Entry, environ: Mapping[str, str]) -> tuple[str, ...]:
    """The values of the environment variables that a provider requires."""
    names = (r.name for r in entry.provider.requires if isinstance(r, EnvKey))
    return tuple(value for name in names if (value := environ.get(name, "").strip()))


class HostContext:
    """The PluginContext of one provider."""

    def __init__(self, host: Host, entry: Entry) -> None:
        self._host = host
        self._entry = entry
        self._log: Any = None
        self._http: Http | None = None
        self._making = threading.Lock()

    @property
    def plugin(self) -> str:
        return self._entry.plugin

    @property
    def settings(self) -> Any:
        """The plugin's settings, of the class that its provider names; None without one."""
        return self._entry.settings

    @property
    def log(self) -> Any:
        if self._log is None:
            self._log = get_logger(f"plugin.{self.plugin}", provider=self._entry.name)
        return self._log

    @property
    def clock(self) -> Clock:
        return self._host.clock

    @property
    def environ(self) -> Mapping[str, str]:
        return self._host.environ

    @property
    def data_dir(self) -> Path:
        folder = self._host.settings.home_dir(self._host.environ) / self.plugin
        try:
            # Pages of private hosts and indexes of one's own files are in there.
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as exc:
            raise CacheError(
                f"the data folder {folder} cannot be made: {exc.strerror or exc}",
                fix="set WEBFETCH_HOME to a folder that can be written",
            ) from exc
        return folder

    @property
    def http(self) -> Http:
        with self._making:  # two faces would be two paces
            if self._http is None:
                http = self._host.http_client().bound(
                    trusted=trusted_hosts(self._entry.settings), secrets=self._secrets
                )
                http.pace(calls_per_s(self._entry))
                self._http = http
            return self._http

    def _secrets(self) -> tuple[str, ...]:
        return secrets_of(self._entry, self.environ)

    @property
    def models(self) -> ModelStore:
        return self._host.models()

    def cache(self, space: str) -> Space:
        store = self._host.store()
        if store is None:
            raise NotConfigured("no cache is in use")
        return Space(store, space if space in SHARED_SPACES else f"{self.plugin}.{space}")

    def embed(self, texts: Sequence[str]) -> Embeddings:
        return self._host.embed(texts)

    def score_pairs(self, query: str, passages: Sequence[str], *, kind: str = "") -> Sequence[float]:
        return self._host.score_pairs(query, passages, kind=kind)

    def extract(self, page: Page) -> Document | None:
        return self._host.extract(page)

    @property
    def workers(self) -> Any:
        workers = self._host.workers()
        if workers is None:
            raise NotConfigured("no extraction worker is in use (extract_workers is 0)")
        return workers


class Space:
    """One space of a store, with keys of any length."""

    def __init__(self, store: Cache, name: str) -> None:
        self._store = store
        self._name = name

    def get(self, key: bytes) -> bytes | None:
        return self._store.get(self._name, _short(key))

    def put(self, key: bytes, value: bytes) -> None:
        self._store.put(self._name, _short(key), value)

    def get_many(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """The rows that are there, in one read where the store has ``get_many``."""
        short = {key: _short(key) for key in keys}
        many = getattr(self._store, "get_many", None)
        if callable(many):
            found: Mapping[bytes, bytes] = many(self._name, list(dict.fromkeys(short.values())))
            return {key: found[own] for key, own in short.items() if own in found}
        rows = ((key, self._store.get(self._name, own)) for key, own in short.items())
        return {key: value for key, value in rows if value is not None}

    def put_many(self, rows: Mapping[bytes, bytes]) -> None:
        """Store rows, in one write where the store has ``put_many``."""
        many = getattr(self._store, "put_many", None)
        if callable(many):
            many(self._name, {_short(key): value for key, value in rows.items()})
            return
        for key, value in rows.items():
            self._store.put(self._name, _short(key), value)

    def delete(self, key: bytes) -> bool:
        return self._store.delete(self._name, _short(key))

    def scan(self) -> Iterator[tuple[bytes, bytes]]:
        return self._store.scan(self._name)


def _short(key: bytes) -> bytes:
    return key if len(key) <= _KEY_BYTES else hashlib.sha256(key).digest()


def calls_per_s(entry: Entry) -> float | None:
    """The pace of a provider's calls: the operator's setting, else what its traits say."""
    own = getattr(entry.settings, "calls_per_s", None)
    return own if own is not None else getattr(entry.provider.traits, "calls_per_s", None)


def trusted_hosts(settings: Any) -> frozenset[tuple[str, int]]:
    """(host, port) of every ``base_url`` among a plugin's settings: the operator named them."""
    found = set()
    for name in fields_dict(type(settings)) if has(type(settings)) else ():
        value = getattr(settings, name, None)
        if name.endswith("base_url") and isinstance(value, str) and value:
            try:
                target = parse_url(value)
            except WebfetchError as exc:
                raise ConfigError(
                    f"{name}: {exc.message}", fix="give an http or https URL without user name and password"
                ) from exc
            found.add((target.host, target.port))
    return frozenset(found)
