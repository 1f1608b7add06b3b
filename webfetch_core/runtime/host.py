"""The running side of one ``Webfetch``: handles of the chosen providers, and what they share."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from attrs import evolve, fields_dict

from .. import __version__
from ..errors import CacheError, ConfigError, NotConfigured, WebfetchError
from ..events import Event
from ..log import get_logger
from ..models import Document, Embeddings, Page
from ..providers import Clock, FetchTraits, RankTraits
from ..registry.catalog import Catalog, Entry
from ..registry.manager import Manager, describe
from ..settings import NetSettings, Settings
from ..stages import Cache
from .calls import Caller, Handle
from .cancelling import current, is_done
from .context import HostContext, secrets_of
from .deadline import Deadline
from .emitter import Emitter, Scope
from .extraction import extract_by, worker_spec
from .replies import check_embeddings, check_scores
from .tasks import Tasks

if TYPE_CHECKING:
    from .http import HttpClient
    from .models import ModelStore
    from .workers import ExtractionWorkers

_log = get_logger("host")

CLOSE_LIMIT_S = 2.0
"""How long closing one provider may take."""
CLOSE_ALL_LIMIT_S = 5.0
"""How long closing takes as a whole; those that hang share what is left of it."""
CLOSE_LEAST_S = 0.05
"""What each has to close in even then."""
WARM_UP_S = 60.0
"""How long one provider may load ahead of traffic; its own time limit is nearer, as a rule."""
STORE_LIMIT_S = 5.0
"""How long opening the cache may take before the host goes on without."""


class Host:
    """Everything that runs. Built by ``Webfetch``; knows nothing of the order of stages."""

    def __init__(
        self, settings: Settings, manager: Manager, catalog: Catalog, clock: Clock, environ: Mapping[str, str]
    ) -> None:
        self.settings = settings
        self.manager = manager
        self.catalog = catalog
        self.clock = clock
        self.environ = environ
        self.caller = Caller(clock, strict=settings.strict_plugins)
        self.emitter = Emitter(manager.observers("webfetch_event"))
        self.tasks = Tasks()
        self.closed = False
        self._lock = threading.Lock()
        self._handles: dict[tuple[str, str, str], Handle] = {}
        self._chosen: dict[str, tuple[Handle, ...]] = {}
        self._http: HttpClient | None = None
        self._workers: ExtractionWorkers | None = None
        self._store: Cache | None = None
        self._store_opening = False
        self._store_ready: Future[None] = Future()
        self.store_problem = ""
        """Why there is no cache; empty when there is one, or none was asked for."""

    # ---- handles --------------------------------------------------------------------------------

    def handles(self, stage: str) -> tuple[Handle, ...]:
        """The chosen providers of a stage, in order. Raises ConfigError for a named one that is not ready."""
        if stage not in self._chosen:
            self._chosen[stage] = tuple(self.handle_of(entry) for entry in self.catalog.chosen(stage))
        return self._chosen[stage]

    def handle_of(self, entry: Entry) -> Handle:
        """The one handle of a provider: its slots, breaker and object are shared by all calls."""
        key = (entry.stage, entry.plugin, entry.name)
        with self._lock:
            if key not in self._handles:
                self._handles[key] = Handle(
                    self._with_cache_path(entry),
                    lambda e: HostContext(self, e),
                    self.clock,
                    secrets_of(entry, self.environ),
                )
                self._handles[key].closed = self.closed
            return self._handles[key]

    def _with_cache_path(self, entry: Entry) -> Entry:
        path = self.settings.cache_db
        if entry.stage != "cache" or not path or entry.settings is None:
            return entry
        if "path" not in fields_dict(type(entry.settings)):
            return entry
        return evolve(entry, settings=evolve(entry.settings, path=path))

    def ranker(self, kind: str) -> Handle | None:
        """The first chosen ranker of a kind that has not declined."""
        for handle in self.handles("rank"):
            traits = handle.entry.provider.traits
            mine = traits.kind if isinstance(traits, RankTraits) else "lexical"
            if mine == kind and not handle.off_reason:
                return handle
        return None

    def fetchers(self, scheme: str) -> tuple[Handle, ...]:
        """The chosen fetchers that serve ``scheme``, in order."""
        return tuple(h for h in self.handles("fetch") if scheme in schemes_of(h.entry))

    def own_schemes(self, plugin: str) -> tuple[str, ...]:
        """Schemes other than http(s) that a plugin's fetchers serve: its engine may return them."""
        return tuple(
            scheme
            for entry in self.catalog.entries("fetch")
            if entry.plugin == plugin
            for scheme in schemes_of(entry)
            if scheme not in ("http", "https")
        )

    # ---- what providers share ---------------------------------------------------------------------

    def scope(self, request_id: str = "") -> Scope:
        """Events of one request."""
        return Scope(self.emitter, self.clock, request_id)

    def deadline(self, seconds: float) -> Deadline:
        """``seconds`` from now, or when the token that applies in this thread is cancelled."""
        return Deadline.after(seconds, self.clock, current())

    def http_client(self) -> HttpClient:
        """The pinned client behind every ``context.http``."""
        from .http import HttpClient
        from .netguard import Guard, Policy

        with self._lock:
            if self.closed:
                raise NotConfigured("this Webfetch is closed")
            if self._http is None:
                net = self.settings.net
                try:
                    policy = Policy(allow_hosts=net.allow_hosts, ports=net.ports)
                    guard = Guard(policy, vetoes=self.veto)
                except ValueError as exc:
                    raise ConfigError(f"net.allow_hosts: {exc}") from exc
                self._http = HttpClient(guard, self.clock, net, __version__)
            return self._http

    def permission_for(self, url: str) -> str:
        """The mark of the permission without which ``url`` could not have been fetched; empty for the
        public web. Resolves the host once more, and only where something is permitted at all."""
        from .netguard import Guard, Policy

        mark = permission_mark(self.settings.net)
        if not mark:
            return ""
        try:
            Guard(Policy(ports=self.settings.net.ports)).check(url)
        except WebfetchError:
            return mark
        return ""

    def veto(self, url: str) -> str | None:
        """Why a plugin forbids ``url``, or None. A plugin that cannot answer forbids it."""
        for answer in self.manager.ask_each("webfetch_veto_url", url=url):
            if answer.problem:
                return f"{answer.plugin} could not judge it: {answer.problem}"
            if answer.value:
                return f"{answer.plugin}: {answer.value}"
        return None

    def store(self, wait_s: float = STORE_LIMIT_S) -> Cache | None:
        """The store in use, opened on first call; None when there is none (``store_problem`` says why).

        None too when opening takes longer than ``wait_s``; it goes on, and a later call has it.
        Raises ConfigError when a named one is not ready.
        """
        handles = self.handles("cache")
        with self._lock:
            opening, self._store_opening = self._store_opening, True
        if not opening:
            self.tasks.spawn(partial(self._open_store, handles), "open-cache")
        is_done(self._store_ready, wait_s, current())
        return self._store

    def _open_store(self, handles: Sequence[Handle]) -> None:
        try:
            if handles:
                self._store = self.caller.call(
                    handles[0], lambda cache: cache, scope=self.scope(), deadline=self.deadline(STORE_LIMIT_S)
                )
        except WebfetchError as exc:
            self.store_problem = str(exc)
            _log.warning("cache.off", reason=self.store_problem)
        finally:
            self._store_ready.set_result(None)

    def open_store(self) -> Cache:
        """The store in use, for those who cannot go on without. Raises CacheError with the reason."""
        store = self.store()
        if store is None:
            raise CacheError(
                self.store_problem or "no cache is installed",
                fix="" if self.store_problem else "pip install webfetch-cache-lmdb",
            )
        return store

    def models(self) -> ModelStore:
        """The files of models; made anew, since it holds nothing."""
        from .models import ModelStore

        return ModelStore(self.environ, self.settings.home_dir(self.environ))

    def workers(self) -> ExtractionWorkers | None:
        """The extraction workers; None when they are switched off or could not rebuild the extractors."""
        from .workers import ExtractionWorkers

        with self._lock:
            if self._workers is None and not self.closed and self.settings.extract_workers:
                spec = worker_spec(self.manager, self.settings, self.environ)
                if spec is not None:
                    self._workers = ExtractionWorkers(
                        spec, size=self.settings.extract_workers, clock=self.clock
                    )
            return self._workers

    def extract(self, page: Page) -> Document | None:
        """The document of a page, in this process unless its type is one that must not be extracted here;
        None when no extractor finds one."""
        from .placement import extract_placed, is_isolated

        deadline = self.deadline(self.settings.fetch_timeout_s)
        if is_isolated(self, page.content_type):
            return extract_placed(self, page, scope=self.scope(), deadline=deadline)
        return extract_by(
            self.handles("extract"), page, caller=self.caller, scope=self.scope(), deadline=deadline
        )

    def embed(self, texts: Sequence[str]) -> Embeddings:
        """Vectors from the bi-encoder in use. Raises NotConfigured without one."""
        handle = self.ranker("biencoder")
        if handle is None:
            raise NotConfigured("no bi-encoder is in use", fix="pip install webfetch-rank-onnx")
        result: Embeddings = self.caller.call(
            handle,
            lambda ranker: ranker.embed(texts),
            scope=self.scope(),
            deadline=self.deadline(self.settings.deadline_s),
            check=lambda value: check_embeddings(value, len(texts)),
        )
        return result

    def score_pairs(self, query: str, passages: Sequence[str], *, kind: str = "") -> Sequence[float]:
        """Scores from the best pairwise ranker in use, or from one of ``kind``; else NotConfigured."""
        handle = self.ranker(kind) if kind else self.ranker("crossencoder") or self.ranker("lexical")
        if handle is None and kind:
            raise NotConfigured(f"no ranker of kind {kind} is in use")
        if handle is None:
            raise NotConfigured("no ranker is in use", fix="pip install webfetch-rank-bm25")
        scores: tuple[float, ...] = self.caller.call(
            handle,
            lambda ranker: ranker.score(query, passages),
            scope=self.scope(),
            deadline=self.deadline(self.settings.deadline_s),
            check=lambda value: check_scores(value, len(passages)),
        )
        return scores

    def warm_up(self, stages: Sequence[str]) -> None:
        """Build the chosen providers and call their ``warm_up``, one by one, each within its limit."""

        def warm(provider: Any) -> None:
            prepare = getattr(provider, "warm_up", None)
            if callable(prepare):
                prepare()

        scope = self.scope("warm-up")
        for stage in stages:
            for handle in self.handles(stage):
                with suppress(WebfetchError):  # it is an attempt, and the breaker has heard of it
                    self.caller.call(handle, warm, scope=scope, deadline=self.deadline(WARM_UP_S))
        workers = self.workers() if "extract" in stages else None
        if workers is not None:
            workers.warm_up()

    # ---- the end ------------------------------------------------------------------------------------

    def close(self) -> None:
        """Close what was built, last first; each is guarded and has a time limit. Idempotent."""
        with self._lock:
            if self.closed:
                return
            self.closed = True
            handles = list(self._handles.values())
        self.emitter.emit(Event(name="host.stopping", at=self.clock.monotonic()))
        end = time.monotonic() + CLOSE_ALL_LIMIT_S
        if self._workers is not None:
            self._close_one("extraction workers", self._workers, end)
        # The cache goes last: pages that are still under way may want to write to it.
        for handle in handles:
            handle.closed = True
        handles.reverse()
        handles.sort(key=lambda h: h.stage == "cache")
        for handle in handles:
            if handle.built is not None:
                self._close_one(
                    f"{handle.stage} {handle.name} ({handle.entry.dist or handle.entry.plugin})", handle, end
                )
        if self._http is not None:
            self._close_one("http", self._http, end)
        self.emitter.close()

    def _close_one(self, what: str, thing: Any, end: float) -> None:
        from ..registry.limits import within

        try:
            left = max(min(CLOSE_LIMIT_S, end - time.monotonic()), CLOSE_LEAST_S)
            within(left, thing.close, "close")
        except KeyboardInterrupt:
            raise
        except BaseException as exc:
            _log.warning("close.failed", what=what, error=describe(exc))
            self.emitter.emit(
                Event(
                    name="plugin.failed",
                    at=self.clock.monotonic(),
                    target=what,
                    reason=f"close: {describe(exc)}",
                )
            )


def permission_mark(net: NetSettings) -> str:
    """What stands for ``net.allow_hosts`` in cache rows and keys; empty when nothing is permitted."""
    if not net.allow_hosts:
        return ""
    return hashlib.sha256("\n".join(sorted(net.allow_hosts)).encode()).hexdigest()[:12]


def schemes_of(entry: Entry) -> Iterable[str]:
    """The URL schemes that a fetcher serves."""
    traits = entry.provider.traits
    return traits.schemes if isinstance(traits, FetchTraits) else ("http", "https")
