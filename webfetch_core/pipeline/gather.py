"""The anytime part of a search: engines and pages arrive in any order, and at some point it is enough.

One thread runs this loop and owns its state; engines and pages work in threads of their own and
report through a queue, so nothing here needs a lock.
"""

from __future__ import annotations

import math
import queue
from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any

from attrs import evolve

from ..errors import WebfetchError
from ..models import Chunk, Document, Freshness, SearchHit
from ..providers import ExtractTraits
from ..registry.manager import describe
from ..runtime.calls import Handle
from ..runtime.deadline import Deadline
from ..runtime.emitter import Scope
from ..runtime.host import Host
from . import engines
from .chunking import chunk
from .engines import TRIES_PER_PAGE
from .fusion import fuse
from .gathered import Gathered, PageState
from .onward import FILE_TYPES, FILES_PER_SEARCH, files_to_read, hit_of
from .pages import PageLoader, PagePolicy
from .ranking import passage_of
from .request import SearchOptions
from .urls import canonical
from .window import Window

ENOUGH = 0.8
"""Share of the wanted pages whose arrival ends the wait."""
BEST = 3
"""The top hits, whose pages are waited for as long as the window is open."""
_WAKE: tuple[str, str, Any, Exception | None] = ("cancelled", "", None, None)
"""Comes in when the caller cancels, so that the wait for what comes in ends."""


class Gathering:
    """One search's hits and pages."""

    def __init__(
        self,
        host: Host,
        loader: PageLoader,
        handles: Sequence[Handle],
        options: SearchOptions,
        freshness: Freshness,
        *,
        scope: Scope,
        deadline: Deadline,
    ) -> None:
        self._host = host
        self._loader = loader
        self._handles = handles
        self._options = options
        self._freshness = freshness
        self._scope = scope
        self._deadline = deadline
        self._inbox: queue.SimpleQueue[tuple[str, str, Any, Exception | None]] = queue.SimpleQueue()
        self._answers: dict[str, tuple[SearchHit, ...]] = {}
        self._counts: dict[str, int] = {}  # before the filters: an engine is not to blame for those
        self._failures: dict[str, WebfetchError] = {}
        self._pages: dict[str, PageState] = {}
        self._files: dict[str, tuple[float, SearchHit]] = {}  # found on pages, by canonical URL
        self._files_read: dict[str, PageState] = {}
        self._hits: tuple[SearchHit, ...] = ()
        self._window = Window()
        self._network_answered = False
        self._loading = 0

    def run(self) -> Gathered:
        """Gather until it is enough, and never past the deadline.

        Raises:
            Cancelled: the caller has cancelled. Nothing is judged then, neither engines nor pages.
        """
        token = self._deadline.token
        with token.listening(partial(self._inbox.put, _WAKE)) if token else nullcontext():
            self._gather()
        self._deadline.raise_if_cancelled()
        return self._gathered()

    def _gather(self) -> None:
        if any(engines.is_network(handle) for handle in self._handles):
            self._warm_up_workers()
        engines.ask(
            self._host,
            self._handles,
            self._options,
            self._freshness,
            scope=self._scope,
            deadline=self._deadline,
            answered=lambda name, hits, error: self._inbox.put(("engine", name, hits, error)),
        )
        while not self._deadline.cancelled and not self._enough():
            stop_at = self._window.ends_at() or self._deadline.at
            left = min(stop_at, self._deadline.at) - self._host.clock.monotonic()
            if left <= 0:
                break
            try:
                kind, name, value, error = self._inbox.get(timeout=left)
            except queue.Empty:
                continue
            if kind == _WAKE[0]:
                continue
            if error is not None and not isinstance(error, WebfetchError):
                if self._host.settings.strict_plugins:
                    raise error  # nothing of a plugin's is put up with
                error = WebfetchError(describe(error), kind="plugin_error")
            if kind == "engine":
                self._engine_answered(name, value, error)
            else:
                self._page_arrived(name, value, error)

    def _gathered(self) -> Gathered:
        complete = self._enough() or (self._most_arrived() and not self._awaits_any())
        pending = tuple(h.name for h in self._handles if self._awaits(h.name) and self._was_asked(h.name))
        self._judge_engines()
        self._name_left_behind(pending)
        return Gathered(
            hits=self._hits + tuple(state.hit for state in self._files_read.values()),
            pages=self._pages | self._files_read,
            failures=self._failures,
            answered=bool(self._answers),
            pending_engines=pending,
            # An engine's own time limit may end a moment before ours: left behind is left behind.
            partial=not complete or any(error.kind == "timeout" for error in self._failures.values()),
        )

    def _warm_up_workers(self) -> None:
        """Start the extraction workers while the web's engines are asked: pages will want them."""
        if not self._options.cache_only and (workers := self._host.workers()) is not None:
            workers.warm_up()

    def _name_left_behind(self, engines_pending: Sequence[str]) -> None:
        """Slow engines and pages are attempts too: the result says what it did not wait for."""
        now = self._host.clock.monotonic()
        for name in engines_pending:
            self._scope.emit(
                "call.left_behind",
                stage="search",
                provider=name,
                outcome="timeout",
                reason="it had not answered when the search went on",
                elapsed_s=now - self._scope.started,
            )
        for state in (*self._pages.values(), *self._files_read.values()):
            if not state.settled:
                self._scope.emit(
                    "call.left_behind",
                    stage="fetch",
                    target=state.hit.url,
                    outcome="timeout",
                    reason="it had not arrived when the search went on; it goes on into the page cache",
                    elapsed_s=now - state.started,
                )

    # ---- what arrives ---------------------------------------------------------------------------

    def _engine_answered(
        self, name: str, hits: tuple[SearchHit, ...] | None, error: WebfetchError | None
    ) -> None:
        if error is not None or hits is None:
            self._failures[name] = error or WebfetchError("no answer")
        else:
            self._counts[name] = len(hits)
            self._answers[name] = hits = engines.wanted(hits, self._options)
            if hits:
                self._window.hits_came(self._host.clock.monotonic())
            if hits and not self._network_answered and self._is_network(name):
                self._network_answered = True
                self._window.restart(self._host.clock.monotonic())
            self._hits = fuse(self._answers)
        self._start_pages()

    def _page_arrived(
        self, key: str, value: tuple[Document, Sequence[Chunk]] | None, error: WebfetchError | None
    ) -> None:
        self._loading -= 1
        state = self._files_read[key] if key in self._files_read else self._pages[key]
        if value is not None:
            state.document, state.chunks = value
            self._window.page_came(self._host.clock.monotonic())
            if key not in self._files_read:
                self._note_files(state.document)
        else:
            state.error = error or WebfetchError("no document")
        self._start_pages()

    def _was_asked(self, name: str) -> bool:
        """In fallback mode the turn of some may not have come."""
        return self._host.settings.search_mode != "fallback" or any(
            e.name == "call.started" and (e.stage, e.provider) == ("search", name)
            for e in self._scope.events()
        )

    def _is_network(self, name: str) -> bool:
        return any(h.name == name and engines.is_network(h) for h in self._handles)

    # ---- what is started ------------------------------------------------------------------------

    def _start_pages(self) -> None:
        """Load the best hits not yet tried, while fewer good pages than wanted are there or under way;
        behind them, the files that pages linked to."""
        if self._start_hits():
            self._start_files()

    def _start_hits(self) -> bool:
        """Whether no hit is waiting for its turn."""
        wanted = self._options.limit
        hoped_for = sum(1 for s in self._pages.values() if s.error is None)
        for hit in self._hits:
            if hoped_for >= wanted or len(self._pages) >= TRIES_PER_PAGE * wanted:
                return True
            key = canonical(hit.url)
            if key in self._pages:
                continue
            if self._loading >= self._host.settings.fetch_workers:
                return False
            self._pages[key] = PageState(hit, self._host.clock.monotonic())
            self._start(key, hit)
            hoped_for += 1
        return True

    def _start(self, key: str, hit: SearchHit) -> None:
        self._loading += 1
        self._host.tasks.spawn(partial(self._load, key, hit), "page")

    def _start_files(self) -> None:
        """Load the files that have most to do with the query."""
        waiting = [(score, key) for key, (score, _) in self._files.items() if key not in self._files_read]
        for _, key in sorted(waiting, key=lambda pair: -pair[0]):
            if len(self._files_read) >= FILES_PER_SEARCH:
                return
            if key in self._pages or self._loading >= self._host.settings.fetch_workers:
                continue
            hit = evolve(self._files[key][1], rank=len(self._hits) + len(self._files_read) + 1)
            self._files_read[key] = PageState(hit, self._host.clock.monotonic())
            self._start(key, hit)

    def _types_beside_pages(self) -> tuple[str, ...]:
        """Types of files that an extractor in use was made for."""
        types: list[str] = []
        for handle in self._host.handles("extract"):
            traits = handle.entry.provider.traits
            if isinstance(traits, ExtractTraits):
                types += [t for t in traits.content_types if t in FILE_TYPES]
        return tuple(types)

    def _note_files(self, document: Document) -> None:
        types = self._types_beside_pages() if document.files else ()
        for score, link in files_to_read(self._options.query, document, types):
            hit = hit_of(link, document.url, 0)
            if link.url.startswith(("http://", "https://")) and engines.wanted((hit,), self._options):
                self._files.setdefault(canonical(link.url), (score, hit))

    def _load(self, key: str, hit: SearchHit) -> None:
        """In a thread of its own, which outlives the search when the page is slow."""
        settings = self._host.settings
        policy = PagePolicy(
            force_fresh=self._options.force_fresh,
            cache_only=self._options.cache_only,
            freshness=self._freshness,
        )
        try:
            document = self._loader.load(
                hit.url, policy, scope=self._scope, deadline=self._deadline.anew(settings.fetch_timeout_s)
            )
            # The address that is cited is the one that was found, whatever spelling was cached.
            document = evolve(document, url=hit.url)
            chunks = chunk(document, chars=settings.chunk.chars, overlap=settings.chunk.overlap)
        except WebfetchError as exc:
            self._inbox.put(("page", key, None, exc))
        except Exception as exc:
            if settings.strict_plugins:
                self._inbox.put(("page", key, None, exc))
                return
            self._inbox.put(("page", key, None, WebfetchError(describe(exc), kind="plugin_error")))
            raise  # a fault of ours: the task logs it with its traceback
        else:
            self._inbox.put(("page", key, (document, chunks), None))
            self._work_ahead(chunks)

    def _work_ahead(self, chunks: Sequence[Chunk]) -> None:
        handle = self._host.ranker("biencoder") if self._host.settings.ranking.use_biencoder else None
        if handle is None or not chunks:
            return
        try:
            self._host.caller.call(
                handle,
                lambda ranker: ranker.prepare([passage_of(c) for c in chunks]),
                scope=self._scope,
                deadline=self._deadline.anew(self._host.settings.deadline_s),
                detached=False,
                count=lambda _: len(chunks),
            )
        except WebfetchError:
            return  # it is recorded, and ranking will say the same with more right

    # ---- when it is enough ----------------------------------------------------------------------

    def _awaits(self, name: str) -> bool:
        if name in self._answers or name in self._failures:
            return False
        # In fallback mode an engine that was never needed is not awaited.
        return not (self._host.settings.search_mode == "fallback" and any(self._answers.values()))

    def _enough(self) -> bool:
        """Whether nothing more is to come. Once most is there, the window is what ends the wait."""
        if self._awaits_any():
            return False
        under_way = (*self._pages.values(), *self._files_read.values())
        loading = any(not state.settled for state in under_way)
        if self._most_arrived() and not self._awaits_best():
            if all(state.settled for state in self._files_read.values()):
                self._window.most_came(self._host.clock.monotonic())
            return not loading
        return not loading and not self._more_to_try()

    def _awaits_any(self) -> bool:
        return any(self._awaits(h.name) for h in self._handles)

    def _most_arrived(self) -> bool:
        wanted = min(self._options.limit, len(self._hits))
        arrived = sum(1 for s in self._pages.values() if s.document is not None)
        return arrived >= math.ceil(ENOUGH * wanted)

    def _awaits_best(self) -> bool:
        """Whether a page at the very top is still loading: the answer is likelier there than anywhere."""
        keys = (canonical(hit.url) for hit in self._hits[:BEST])
        return any(key in self._pages and not self._pages[key].settled for key in keys)

    def _more_to_try(self) -> bool:
        if len(self._pages) >= TRIES_PER_PAGE * self._options.limit:
            return False
        return any(canonical(hit.url) not in self._pages for hit in self._hits)

    def _judge_engines(self) -> None:
        if self._host.settings.search_mode == "fallback":
            return
        engines.judge_empties(self._handles, self._counts)
