"""``Webfetch``: one object that owns everything, can be closed, and can exist twice in a process."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from types import TracebackType

from . import __version__, builtin
from .errors import BadQuery, Cancelled, WebfetchError
from .events import Event
from .log import get_logger
from .models import Chunk, Document, Freshness, Match, Page, Scored, SearchResult
from .pipeline import handout
from .pipeline.findings import Finding
from .pipeline.pages import PagePolicy
from .pipeline.parts import Parts, make_parts, save_finding
from .pipeline.pipeline import CLASSIFY_S
from .pipeline.ranking import rank_all
from .pipeline.receipts import SavingsReport, tally_text
from .pipeline.request import (
    SearchOptions,
    check_sources,
    checked_code,
    checked_domains,
    checked_freshness,
    checked_limit,
    checked_query,
    checked_seconds,
    checked_url,
    classify,
)
from .pipeline.semantic import matched
from .providers import Clock
from .registry.catalog import Catalog
from .registry.discovery import discover
from .registry.manager import LoadedPlugin, Manager, named
from .registry.report import STAGES, CheckReport, PluginReport, StatusReport
from .runtime.cancelling import CancelToken, applying_given, raise_if_cancelled
from .runtime.deadline import SystemClock
from .runtime.host import STORE_LIMIT_S, Host
from .savings import savings_report
from .settings import Settings
from .stages import Cache
from .status import build_engines, check_reports, plugin_reports, status_report

_log = get_logger("app")


class Webfetch:
    """Web search that you run yourself.

    Args:
        settings: everything that can be set; ``Settings.load()`` by default.
        plugins: plugin objects (modules or instances with ``@hookimpl`` methods) beside those
            that are installed; (name, object) pairs name them explicitly.
        autoload: False loads no installed plugin, only ``plugins`` and what is built in.
        environ: the environment that plugins see; the process's own by default.
        clock: time as a parameter.
        path: where installed plugins are looked for; ``sys.path`` by default.

    Raises:
        ConfigError: a setting is wrong.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        plugins: Iterable[object] = (),
        autoload: bool = True,
        environ: Mapping[str, str] | None = None,
        clock: Clock | None = None,
        path: Sequence[str] | None = None,
    ) -> None:
        self._environ = os.environ if environ is None else environ
        self.settings = Settings.load(self._environ) if settings is None else settings
        manager = Manager(strict=self.settings.strict_plugins)
        manager.register(
            builtin, LoadedPlugin(name="builtin", dist="webfetch-core", version=__version__, state="built-in")
        )
        for name, plugin in map(named, plugins):
            manager.register(plugin, LoadedPlugin(name=name))
        if autoload:
            manager.load(
                discover(__version__, path), self.settings.allow_plugins, self.settings.block_plugins
            )
        catalog = Catalog(manager, self.settings, self._environ)
        self._host = Host(self.settings, manager, catalog, clock or SystemClock(), self._environ)
        self._lock = threading.Lock()
        self._parts: Parts | None = None
        self._host.emitter.emit(Event(name="host.started", at=self._host.clock.monotonic()))

    def __enter__(self) -> Webfetch:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Release everything. Idempotent; never raises; takes a few seconds at the very most."""
        try:
            if self._parts is not None and not self._host.closed:
                self._parts.pipeline.settle()
                self._parts.settle()
        finally:
            self._host.close()

    def warm_up(self, *stages: str) -> None:
        """Build the chosen providers of ``stages`` (all of them by default) ahead of traffic, and let
        each load what it needs. A provider that fails is found in ``status()``, not here.

        Raises:
            BadQuery: a stage that does not exist.
        """
        self._check_open()
        unknown = [stage for stage in stages if stage not in STAGES]
        if unknown:
            raise BadQuery(f"no stage is called {unknown[0]!r}", fix=f"the stages are {', '.join(STAGES)}")
        self._host.warm_up(stages or STAGES)

    # ---- the main job -----------------------------------------------------------------------------

    def search(
        self,
        query: str,
        limit: int | None = None,
        freshness: str | Freshness | None = None,
        force_fresh: bool = False,
        cache_only: bool = False,
        include_domains: Sequence[str] = (),
        exclude_domains: Sequence[str] = (),
        language: str | None = None,
        country: str | None = None,
        deadline_s: float | None = None,
        engines: Sequence[str] = (),
        cancel: CancelToken | None = None,
    ) -> SearchResult:
        """Search, read the pages, and return the passages that answer, best first.

        Args:
            limit: pages to look at; ``settings.limit`` (10) by default.
            freshness: ``realtime``, ``recent`` or ``stable``; the caller knows best.
            force_fresh: pass by the query cache, the page cache and the memory of failures.
            cache_only: never touch the network; what is not cached is not found.
            include_domains, exclude_domains: host names; subdomains count.
            language, country: ISO 639-1 and ISO 3166-1 codes, for engines that take them.
            deadline_s: nothing is waited for beyond it; ``settings.deadline_s`` (8) by default.
            engines: ask these, for this search only.
            cancel: ends it when it is cancelled; by default what applies in this thread.

        Raises:
            BadQuery: the query is blank or too long, or an argument is out of range.
            ConfigError: an engine that was named is unknown, off or broken.
            AllEnginesFailed: none answered; ``attempts`` says why, engine by engine.
            PageError: engines answered, but every page failed by one and the same fault of a plugin
                and there is no snippet to go by.
            Cancelled: this Webfetch is closed, or ``cancel`` was cancelled.
        """
        deadline_s = checked_seconds(
            self.settings.deadline_s if deadline_s is None else deadline_s, "deadline_s"
        )
        options = SearchOptions(
            query=checked_query(query),
            limit=checked_limit(self.settings.limit if limit is None else limit),
            hint=checked_freshness(freshness),
            force_fresh=force_fresh,
            cache_only=cache_only,
            include_domains=checked_domains(include_domains, "include_domains"),
            exclude_domains=checked_domains(exclude_domains, "exclude_domains"),
            language=checked_code(language, "language"),
            country=checked_code(country, "country"),
            deadline_s=deadline_s,
            engines=(engines,) if isinstance(engines, str) else tuple(engines),
        )
        with applying_given(cancel):
            deadline = self._host.deadline(deadline_s)
            parts = self._open(deadline_s)
            try:
                return parts.pipeline.search(options, deadline)
            except WebfetchError:
                parts.counters.bump("searches_cancelled" if deadline.cancelled else "searches_failed")
                raise

    def fetch(
        self,
        url: str,
        *,
        force_fresh: bool = False,
        cache_only: bool = False,
        deadline_s: float | None = None,
        cancel: CancelToken | None = None,
    ) -> Document:
        """Return the document behind ``url``: guarded, from the page cache where it is there.

        ``force_fresh``, ``cache_only`` and ``cancel`` are as in :meth:`search`.

        Raises:
            Refused: the guard or a veto forbids the URL.
            WebfetchError: it could not be fetched or holds nothing readable; ``kind`` says what.
        """
        url = checked_url(url)
        check_sources(force_fresh, cache_only)
        policy = PagePolicy(purpose="user", force_fresh=force_fresh, cache_only=cache_only, in_process=True)
        seconds = (
            self.settings.fetch_timeout_s if deadline_s is None else checked_seconds(deadline_s, "deadline_s")
        )
        with applying_given(cancel):
            deadline = self._host.deadline(seconds)
            parts = self._open(seconds)
            try:
                return parts.loader.load(url, policy, scope=self._host.scope("fetch"), deadline=deadline)
            finally:
                parts.counters.write()

    def extract(
        self, page: Page | bytes, *, url: str = "", content_type: str = "text/html"
    ) -> Document | None:
        """Return the readable content of a page, without the network; None when there is none."""
        self._check_open()
        if isinstance(page, bytes):
            page = Page(url=url or "about:blank", final_url=url, body=page, content_type=content_type)
        return self._host.extract(page)

    def rank(self, query: str, passages: Sequence[str]) -> list[Scored]:
        """Rank ``passages`` by the cascade in use, best first; all of them come back.

        A ranker reads all of them, as far as the settings' deadline allows; within a search it has less time.
        """
        self._check_open()
        return rank_all(self._host, checked_query(query), list(passages))

    def compress(self, query: str, chunks: Sequence[Chunk], budget_tokens: int | None = None) -> list[Chunk]:
        """Cut chunks down to what answers ``query``; a compressor that fails leaves them as they are, and
        so does this with findings, which come first then.

        Args:
            budget_tokens: for all texts together, at four characters each; by default
                ``settings.budget.compressed`` characters.
        """
        self._check_open()
        return handout.compressed(self._host, query, chunks, budget_tokens)

    def render(
        self, result: SearchResult, budget_tokens: int | None = None, *, full_results: bool = False
    ) -> str:
        """Write a result for a model: provenance, source-labelled excerpts, what was left out.

        Args:
            budget_tokens: for the whole text; by default ``settings.budget.tool`` characters.
            full_results: skip compression and take the larger default budget.
        """
        text = handout.written(self._host, result, budget_tokens, full_results)
        if self._parts is not None:  # without a search or a page of ours there is nothing to reckon with
            self._parts.counters.bump_many(tally_text(result, text))
        return text

    def excerpts(
        self, result: SearchResult, budget_tokens: int | None = None, *, full_results: bool = False
    ) -> Sequence[Chunk]:
        """The chunks that :meth:`render` shows of ``result``: compressed, unless ``full_results`` is asked
        for or it is a finding."""
        return handout.excerpts(self._host, result, budget_tokens, full_results)

    def match(self, query: str, candidates: Sequence[str]) -> Match | None:
        """The candidate that asks the same as ``query``, by the matcher in use; None when unsure."""
        self._check_open()
        return matched(self._host, query, candidates)

    def classify_freshness(self, query: str) -> Freshness:
        """How fast the answer to ``query`` goes stale."""
        self._check_open()
        deadline = self._host.deadline(CLASSIFY_S)
        return classify(self._host, checked_query(query), None, self._host.scope("classify"), deadline)

    def save_finding(
        self,
        query: str,
        text: str,
        source: str | None = None,
        freshness: str | Freshness | None = None,
    ) -> Finding:
        """Keep what a model found elsewhere as the answer to ``query``, until the web's own is known.

        Every read of it is marked as unverified, and ages as an answer of the web does. One for the
        same query takes the place of an older one. ``force_fresh`` passes by it; a search's own answer
        comes before it.

        Args:
            text: the answer, up to 4,000 characters; it is shown as it is.
            source: the address of the page that it is from; shown, never read.
            freshness: ``realtime``, ``recent`` or ``stable``; by default as a search for ``query`` has it.

        Raises:
            ConfigError: the setting ``findings`` is false.
            BadQuery: query, text, source or freshness cannot be taken; the message says why.
            CacheError: no cache is installed, or it did not take it.
        """
        parts = self._open(STORE_LIMIT_S)
        return save_finding(self._host, parts, query, text, source=source, freshness=freshness)

    # ---- what runs, and why -----------------------------------------------------------------------

    def subscribe(self, listener: Callable[[Event], None]) -> Callable[[], None]:
        """Call ``listener`` with every event, in the thread where it happens; returns what ends that."""
        return self._host.emitter.subscribe(listener)

    def status(self) -> StatusReport:
        """Everything that runs: providers and their states, settings and origins, the cache.

        Engines are built for it, so that one that declines is not called ready.
        """
        build_engines(self._host)
        if self._parts is not None:
            self._parts.settle()
        return status_report(self._host, sys.version.split()[0])

    def savings_report(
        self,
        *,
        usd_per_1k_searches: float | None = None,
        hosted_tokens: float | None = None,
        own_tokens: float | None = None,
        usd_per_million_tokens: float | None = None,
    ) -> SavingsReport:
        """What was searched and served, exactly, and what hosted searches would have come to beyond it.

        ``session`` is what this object did in this process, ``lifetime`` what all did who used this cache.
        Counters are exact; dollars are estimates by the arguments, whose defaults have their source and
        date in :class:`~webfetch_core.pipeline.receipts.Assumptions`.

        Args:
            usd_per_1k_searches: what a hosted search tool charges for 1,000 searches (10.0).
            hosted_tokens: input tokens that one of its searches brings into the context (17,400).
            own_tokens: those of a search of ours, where :meth:`render` did not count them (3,500).
            usd_per_million_tokens: what a million input tokens of your model cost (5.0).

        Raises:
            BadQuery: an argument is no number from 0 to 1,000,000,000.
        """
        return savings_report(
            self._host,
            self._open(STORE_LIMIT_S),
            usd_per_1k_searches=usd_per_1k_searches,
            hosted_tokens=hosted_tokens,
            own_tokens=own_tokens,
            usd_per_million_tokens=usd_per_million_tokens,
        )

    def plugins(self) -> tuple[PluginReport, ...]:
        """Every plugin met, what it provides, and why it does not where it does not."""
        build_engines(self._host)
        return plugin_reports(self._host)

    def doctor(self) -> tuple[CheckReport, ...]:
        """Health checks of the core and of every plugin; an empty ``problem`` is a pass."""
        self._check_open()
        return check_reports(self._host)

    def cache(self) -> Cache:
        """The store in use. Raises CacheError when there is none, with the reason."""
        self._check_open()
        return self._host.open_store()

    def now(self) -> datetime:
        """The wall clock of this host."""
        return datetime.fromtimestamp(self._host.clock.time(), UTC)

    @property
    def host(self) -> Host:
        """The running side, for front ends that ship with the core."""
        return self._host

    def _check_open(self) -> None:
        if self._host.closed:
            raise Cancelled("this Webfetch is closed", fix="make a new one")
        raise_if_cancelled()

    def _open(self, seconds: float) -> Parts:
        """The parts, made once. A cache that opens slowly is waited for during part of ``seconds``;
        then the work goes on as if nothing were cached, until it is there."""
        self._check_open()
        self._host.store(min(STORE_LIMIT_S, seconds / 4))
        with self._lock:
            if self._parts is None:
                self._parts = make_parts(self._host)
            return self._parts
