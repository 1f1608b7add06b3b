"""A search from query to result. The only module that knows the order of the stages."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from itertools import count as counter

from attrs import evolve

from ..errors import Cancelled, PageError, TimedOut, WebfetchError
from ..models import Chunk, Freshness, Provenance, ProvenanceKind, SearchResult
from ..runtime.calls import Handle
from ..runtime.deadline import Deadline
from ..runtime.emitter import Scope
from ..runtime.host import Host, permission_mark
from . import engines
from .candidates import candidates, page_priors
from .counters import Counters
from .gather import Gathering
from .gathered import Gathered
from .notes import common_fault, notes_on_gathering, notes_on_ranking
from .pages import PageLoader, oldest_s
from .ranking import RankStage, passage_of
from .recall import Place, Recall, place_of
from .receipts import tally_search
from .refreshing import Refreshes
from .request import SearchOptions, classify
from .selection import select
from .single_flight import SingleFlight
from .tolerant_store import TolerantStore

_NO_OUTAGE = frozenset({"not_configured", "bad_query"})
"""Kinds of an engine's failure that will be the same tomorrow."""
RANK_RESERVE_S = 0.15
"""What is kept back from the deadline for ranking until this host has measured its own."""
STAGES_OF_A_SEARCH = ("fetch", "extract", "rank", "compress", "freshness", "match")

CLASSIFY_S = 1.0
"""How long the classifiers may take over a query."""
MATCH_S = 1.0
"""How long a search waits to hear that the same was asked in other words."""
FINGERPRINT_S = 2.0
"""How long the local engines may take to say what state their index is in."""


class Pipeline:
    """The searches of one ``Webfetch``. Thread-safe."""

    def __init__(self, host: Host, store: TolerantStore, loader: PageLoader, counters: Counters) -> None:
        self._host = host
        self._loader = loader
        self._recall = Recall(host, store)
        self._counters = counters
        self._flights = SingleFlight(host.clock.monotonic)
        self._ranks = RankStage(host)
        self._numbers = counter(1)
        self._rank_s = RANK_RESERVE_S
        self._refreshes = Refreshes(host, store)

    def search(self, options: SearchOptions, deadline: Deadline) -> SearchResult:
        """Run one search, by ``deadline``.

        Raises:
            AllEnginesFailed: no engine is ready, or none answered.
            PageError: there is no excerpt, since every page failed by the same fault of a plugin or ours.
            ConfigError: a provider that the settings name is not ready.
            Cancelled: the host is closed, or the caller has cancelled: nothing is kept then but pages
                that were read whole.
        """
        if self._host.closed:
            raise Cancelled("this Webfetch is closed")
        for stage in STAGES_OF_A_SEARCH:
            self._host.handles(stage)  # what the settings name must be there, before anything starts
        scope = self._host.scope(f"s{next(self._numbers)}")
        scope.emit("search.started", target=options.query)
        try:
            result = self._answered(options, scope, deadline)
        except Cancelled as exc:
            elapsed = self._host.clock.monotonic() - scope.started
            scope.emit("search.cancelled", target=options.query, reason=exc.message, elapsed_s=elapsed)
            raise
        elapsed = self._host.clock.monotonic() - scope.started
        scope.emit("search.finished", target=options.query, elapsed_s=elapsed, count=len(result.chunks))
        self._counters.bump_many(tally_search(result))
        return evolve(
            result,
            elapsed_s=round(elapsed, 4),
            # A run that was shared tells its own story, not that of the thread that waited for it.
            attempts=result.attempts or scope.attempts(),
            trace=result.trace or scope.trace(),
        )

    def _answered(self, options: SearchOptions, scope: Scope, deadline: Deadline) -> SearchResult:
        """The result, from the cache or by a search."""
        deadline.raise_if_cancelled()
        aside = deadline.remaining() / 4  # for what comes before the search itself, each
        handles = engines.chosen_engines(self._host, options)
        place = self._place(options, handles, deadline.within(min(aside, FINGERPRINT_S)))
        young = None
        if place is not None and not options.force_fresh:
            young = self._recall.find_young(place, options, scope)
        return young.result if young else self._classed(place, options, handles, scope, deadline, aside)

    def _classed(
        self,
        place: Place | None,
        options: SearchOptions,
        handles: Sequence[Handle],
        scope: Scope,
        deadline: Deadline,
        aside: float,
    ) -> SearchResult:
        """The result where a young one of the very query is not there: first its freshness class, which
        bounds what the cache may serve."""
        freshness = classify(
            self._host, options.query, options.hint, scope, deadline.within(min(aside, CLASSIFY_S))
        )
        matching = deadline.within(min(aside, MATCH_S))
        cached = self._from_cache(place, options, handles, freshness, scope, matching)
        if cached is None:
            deadline.raise_if_cancelled()
        return cached or self._found(place, options, handles, freshness, scope, deadline)

    def _found(
        self,
        place: Place | None,
        options: SearchOptions,
        handles: Sequence[Handle],
        freshness: Freshness,
        scope: Scope,
        deadline: Deadline,
    ) -> SearchResult:
        """The result of searching, which identical requests at the same time share."""
        if options.cache_only:
            return SearchResult(
                query=options.query,
                freshness=freshness,
                provenance=Provenance(kind=ProvenanceKind.NONE),
            )
        run = partial(self._fresh, options, handles, freshness, place, scope, deadline)
        if place is None:
            return run()

        def once() -> SearchResult:
            # Another's run may have ended since the cache was asked.
            there = None if options.force_fresh else self._recall.good(place, options, freshness)
            return there or run()

        # Who asks for fresh pages, has less time or may be told older news is not served alike by one run.
        terms = (options.force_fresh, options.deadline_s, freshness.value)
        flight = b"%b %r" % (place.key, terms)
        try:
            left = deadline.remaining()
            result, _ = self._flights.do(flight, once, timeout=left, token=deadline.token)
        except TimedOut as exc:
            return SearchResult(query=options.query, freshness=freshness, partial=True, notes=(exc.message,))
        return result

    # ---- the cache --------------------------------------------------------------------------------

    def _place(self, options: SearchOptions, handles: Sequence[Handle], deadline: Deadline) -> Place | None:
        """Where the answer is kept; None where an engine wants its answers kept nowhere."""
        names = engines.identities(self._host, handles, deadline)
        if names is None:
            return None
        # What may be fetched decides what can be found: an answer from a private host is for those
        # who may still read it, and a refusal ends with its reason.
        permission = permission_mark(self._host.settings.net)
        asked = (*names, f"allowed@{permission}") if permission else tuple(names)
        return place_of(options, asked, self._host.settings.search_mode)

    def _from_cache(
        self,
        place: Place | None,
        options: SearchOptions,
        handles: Sequence[Handle],
        freshness: Freshness,
        scope: Scope,
        deadline: Deadline,
    ) -> SearchResult | None:
        if place is None or options.force_fresh:
            return None
        cached = self._recall.find(place, options, freshness, scope, deadline)
        self._loader.tell_of_trouble(scope)
        if cached is None:
            return None
        if cached.kind is ProvenanceKind.STALE and not options.cache_only:
            self._refresh_behind(place, options, handles, freshness)
        return cached.result

    def _refresh_behind(
        self, place: Place, options: SearchOptions, handles: Sequence[Handle], freshness: Freshness
    ) -> None:
        """Serve the stale row now and search again behind it, once however many ask."""

        def refresh() -> None:
            limit = self._host.deadline(options.deadline_s)
            with suppress(WebfetchError):  # the row stays as stale as it is; the next reader tries again
                self._fresh(options, handles, freshness, place, self._host.scope("refresh"), limit)

        self._refreshes.start(
            place.key,
            refresh,
            is_done=lambda: self._recall.good(place, options, freshness) is not None,
            within_s=options.deadline_s,
        )

    def settle(self) -> None:
        """Let refreshes that are under way end, for a moment."""
        self._refreshes.settle()

    # ---- the work ---------------------------------------------------------------------------------

    def _fresh(
        self,
        options: SearchOptions,
        handles: Sequence[Handle],
        freshness: Freshness,
        place: Place | None,
        scope: Scope,
        deadline: Deadline,
    ) -> SearchResult:
        reserve = min(2.0 * self._rank_s, deadline.remaining() / 2)
        gathering = Gathering(
            self._host,
            self._loader,
            handles,
            options,
            freshness,
            scope=scope,
            deadline=evolve(deadline, at=deadline.at - reserve),
        )
        gathered = gathering.run()
        scope.emit(
            "stage.finished",
            stage="gather",
            elapsed_s=self._host.clock.monotonic() - scope.started,
            count=len(gathered.pages),
        )
        if not gathered.answered:
            raise engines.all_failed(gathered.failures, gathered.pending_engines, handles, scope)
        result = self._rank(options, gathered, freshness, scope, deadline)
        # What a cached page says is as old as the page is, whenever it was searched.
        age_s = oldest_s((chunk.url for chunk in result.chunks), scope.events())
        result = evolve(result, provenance=Provenance(age_s=age_s))
        if place is not None and self._worth_keeping(gathered, result):
            self._recall.keep(place, options.query, result)
        return evolve(result, attempts=scope.attempts(), trace=scope.trace())

    def _worth_keeping(self, gathered: Gathered, result: SearchResult) -> bool:
        """Whether the cache may serve it for days: what an outage made poor may not outlive it."""
        read = any(state.document is not None for state in gathered.pages.values())
        ranked = bool(result.ranked_by) or not self._host.handles("rank")
        sound = all(error.kind in _NO_OUTAGE for error in gathered.failures.values())
        return read and ranked and sound and not gathered.pending_engines

    def _rank(
        self,
        options: SearchOptions,
        gathered: Gathered,
        freshness: Freshness,
        scope: Scope,
        deadline: Deadline,
    ) -> SearchResult:
        started = self._host.clock.monotonic()
        settings = self._host.settings.ranking
        chunks = candidates(gathered)
        fault = common_fault(gathered)
        if fault and not chunks:
            raise PageError(f"no page could be read: {fault}", kind="bad_response")
        notes = [*notes_on_gathering(gathered), *([f"every page failed: {fault}"] if fault else [])]
        if self._host.store_problem:
            notes.append(f"there is no cache: {self._host.store_problem}")
        ranking = self._ranks.rank(
            options.query,
            [passage_of(c) for c in chunks],
            scope=scope,
            deadline=deadline,
            prior=page_priors(chunks, gathered),
        )
        best: tuple[Chunk, ...] = ()
        if ranking.relevant:
            for scored in ranking.scored:
                chunks[scored.index] = evolve(chunks[scored.index], score=scored.score)
            best = select(
                [scored.index for scored in ranking.scored],
                chunks,
                gathered.texts(),
                keep=settings.keep,
                per_source=settings.per_source,
                near_duplicate=settings.near_duplicate,
                context=settings.context,
                max_chars=settings.excerpt_chars,
            )
        elif chunks:
            notes.append("no passage of the pages found shares a word with the query")
        if chunks:
            notes += notes_on_ranking(self._host, ranking)
        took = self._host.clock.monotonic() - started
        self._rank_s = 0.7 * self._rank_s + 0.3 * took
        scope.emit("stage.finished", stage="rank", elapsed_s=took, count=len(chunks))
        return SearchResult(
            query=options.query,
            chunks=best,
            hits=gathered.hits,
            failed_urls=gathered.failed_urls(),
            freshness=freshness,
            partial=gathered.partial,
            notes=tuple(notes),
            ranked_by=ranking.ran,
        )
