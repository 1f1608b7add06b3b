"""The search engine ``local``."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen

from webfetch_core.api import (
    CacheError,
    ConfigError,
    NotConfigured,
    PluginContext,
    SearchHit,
    SearchRequest,
    TimedOut,
    WebfetchError,
)

from .here import HereIndex, make_here
from .library import Library, OpenIndex
from .ranking import Statistics, gather, keep_matches, weights, worths
from .settings import LocalSettings
from .snippets import snippet
from .store import Found, StoreDamaged, View, stems
from .terms import query_terms
from .urls import passes_domains

_MARGIN_S = 0.25
"""What is kept back of a deadline, while folders are being read in, for the search itself."""

_NOTHING_INDEXED = "no folder is indexed; run `webfetch index add PATH` or pass --here PATH"


@frozen(kw_only=True)
class _Candidate:
    index: OpenIndex
    view: View
    found: Found

    @property
    def path(self) -> str:
        return self.index.paths[self.found.key]


def make_engine(settings: LocalSettings, context: PluginContext) -> LocalSearch:
    """Return the engine.

    Raises:
        NotConfigured: there is nothing to search.
        ConfigError: a folder of ``here`` cannot be read, or ``indexes`` names one that is not there.
    """
    here = make_here(settings, extract=context.extract, clock=context.clock, log=context.log)
    library = Library(lambda: context.data_dir)
    try:
        names = library.names()
    except CacheError as exc:
        if not here:
            raise NotConfigured(f"{_NOTHING_INDEXED}; {exc.message}", fix=exc.fix) from exc
        names = []
    for name in settings.indexes:
        if name not in names:
            raise library.unknown(name)
    if not here and not names:
        raise NotConfigured(_NOTHING_INDEXED)
    return LocalSearch(here, library, settings, clock=context.clock, log=context.log)


class LocalSearch:
    """Searches the folders of this run and the indexes that are kept, as if they were one index."""

    def __init__(
        self, here: Sequence[HereIndex], library: Library, settings: LocalSettings, *, clock: Any, log: Any
    ) -> None:
        self._here = tuple(here)
        self._library = library
        self._settings = settings
        self._clock = clock
        self._log = log

    def warm_up(self) -> None:
        """Read in the folders of this run, however long it takes."""
        for index in self._here:
            index.open()

    def fingerprint(self) -> str:
        """What a cached answer of this engine depends on: every index, as it is now."""
        stamps = [line for index in self._here for line in index.stamp()]
        stamps += [f"{name} {self._library.state(name)}" for name in self._names([])]
        return hashlib.sha256("\n".join(stamps).encode("utf-8", "surrogateescape")).hexdigest()[:16]

    def search(self, request: SearchRequest) -> list[SearchHit]:
        """Return the best documents; [] when none shares enough with the query.

        ``freshness``, ``language`` and ``country`` are not filters here: the folders are the user's.

        Raises:
            CacheError: no index can be read; the message is about the first.
            TimedOut: nothing found, in folders that were not read to their end by the deadline.
        """
        terms = query_terms(request.query)
        if not terms or request.limit < 1:
            return []
        indexes = self._open(request.deadline)
        wanted = list(dict.fromkeys(stems(terms)))
        try:
            views = [index.store.view() for index in indexes]
            statistics = gather(views, wanted)
            candidates: list[_Candidate] = []
            for place, (index, view) in enumerate(zip(indexes, views, strict=True)):
                by_stem = weights(statistics, place)
                candidates += _candidates(index, view, by_stem, statistics, wanted, request)
            hits = _hits(candidates, worths(statistics, wanted), request.limit)
        except StoreDamaged as exc:
            culprit = next(index for index in indexes if index.store.place == exc.place)
            raise self._library.damaged(culprit.manifest, exc) from exc
        if not hits:
            self._explain_nothing(indexes)
        return hits

    def _open(self, deadline: float | None) -> list[OpenIndex]:
        """Return the indexes to search; those that cannot be read are logged, unless none can."""
        opened = [index.open(None if deadline is None else deadline - _MARGIN_S) for index in self._here]
        folders = {os.path.realpath(index.manifest.folder) for index in opened}
        names = {index.manifest.name for index in opened}
        faults: list[WebfetchError] = []
        for name in self._names(faults):
            try:
                index = self._library.open(name)
            except (CacheError, ConfigError) as exc:
                faults.append(exc)
                self._log.warning("local.index_unreadable", index=name, reason=str(exc))
                continue
            if os.path.realpath(index.manifest.folder) in folders:
                continue  # read anew for this run
            if name in names:
                self._log.warning("local.index_hidden", index=name, reason="--here has a folder of this name")
                continue
            opened.append(index)
        if faults and not opened:
            raise faults[0]
        return opened

    def _names(self, faults: list[WebfetchError]) -> Sequence[str]:
        if self._settings.indexes:
            return self._settings.indexes
        try:
            return self._library.names()
        except CacheError as exc:
            faults.append(exc)
            return ()

    def _explain_nothing(self, indexes: Sequence[OpenIndex]) -> None:
        unfinished = [index.manifest for index in indexes if not index.complete]
        if unfinished:
            read = ", ".join(f"{len(m.files)} files of {m.name}" for m in unfinished)
            raise TimedOut(
                f"nothing found in what was indexed by the deadline ({read})",
                fix="run `webfetch index add PATH` once, or give a longer deadline",
            )


def _candidates(
    index: OpenIndex,
    view: View,
    by_stem: Mapping[str, Mapping[str, float]],
    statistics: Statistics,
    wanted: Sequence[str],
    request: SearchRequest,
) -> list[_Candidate]:
    """Return up to ``limit`` documents of one index that pass every filter, best first."""
    size = request.limit + 20
    while True:
        found = view.search(by_stem, size)
        kept = keep_matches(view, [f for f in found if _passes(index, f, request)], statistics, wanted)
        if len(kept) >= request.limit or len(found) < size:
            return [_Candidate(index=index, view=view, found=f) for f in kept[: request.limit]]
        size *= 4


def _passes(index: OpenIndex, found: Found, request: SearchRequest) -> bool:
    path = index.paths.get(found.key)  # None: committed a moment ago, not yet in the manifest
    return path is not None and passes_domains(
        index.manifest.public_url(path), request.include_domains, request.exclude_domains
    )


def _hits(candidates: list[_Candidate], worth: Mapping[str, float], limit: int) -> list[SearchHit]:
    """Return the hits of all indexes, best first; of two files with one public URL, the better one."""
    hits: dict[str, SearchHit] = {}
    for candidate in sorted(candidates, key=lambda c: (-c.found.score, c.path)):
        manifest = candidate.index.manifest
        url = manifest.url(candidate.path)
        reading = candidate.view.reading(candidate.found.key) if url not in hits else None
        if reading is None:
            continue
        hits[url] = SearchHit(
            url=url,
            title=reading.title,
            snippet=snippet(reading.text, worth),
            published=reading.published or None,
            score=candidate.found.score,
            extra={"index": manifest.name, "path": candidate.path},
        )
        if len(hits) == limit:
            break
    return list(hits.values())
