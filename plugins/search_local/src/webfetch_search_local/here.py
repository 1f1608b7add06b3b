"""Folders that are indexed for one run: nothing is written to disk."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from attrs import evolve

from webfetch_core.api import Clock

from .files import FoundFile, LeftOut, Skipped, walk
from .indexing import Extract, listing, put_file, read_body
from .library import OpenIndex, safe_name
from .manifest import FileRecord, Manifest
from .reading import Unreadable
from .settings import LocalSettings
from .store import Store
from .upkeep import check_folder


def name_folders(paths: Sequence[str]) -> dict[str, Path]:
    """Return the folders of ``paths`` by the names of their indexes: their own, numbered when taken.

    The same folder given twice counts once. The names depend on ``paths`` alone, so that the engine
    and the fetcher agree on them without sharing anything.

    Raises:
        ConfigError: one of them is no folder that can be read.
    """
    named: dict[str, Path] = {}
    for path in paths:
        folder = check_folder(path, "here")
        if folder in named.values():
            continue
        base = name = safe_name(folder.name)
        number = 2
        while name in named:
            name, number = f"{base}-{number}", number + 1
        named[name] = folder
    return named


class HereIndex:
    """One folder in memory. Read in at the first search, as far as its deadline allows; the next
    search goes on where that one stopped. Thread-safe."""

    def __init__(
        self, name: str, folder: Path, settings: LocalSettings, *, extract: Extract, clock: Clock, log: Any
    ) -> None:
        self.name = name
        self._folder = folder
        self._settings = settings
        self._extract = extract
        self._clock = clock
        self._log = log
        self._lock = threading.Lock()
        self._store = Store.in_memory()
        self._opened = self._as_opened(Manifest(name=name, folder=str(folder)), complete=False)
        self._pending: Iterator[FoundFile | Skipped | LeftOut] = walk(folder, settings)

    def open(self, deadline: float | None = None) -> OpenIndex:
        """Return what is indexed by ``deadline``, all of it if there is time.

        A call that finds another one indexing waits for it until the deadline.
        """
        if not self._opened.complete:
            wait = -1.0 if deadline is None else max(0.0, deadline - self._clock.monotonic())
            if self._lock.acquire(timeout=wait):
                try:
                    if not self._opened.complete:
                        self._go_on(deadline)
                finally:
                    self._lock.release()
        return self._opened

    def stamp(self) -> list[str]:
        """What changes when a file of the folder is added, removed or written, without reading any."""
        found = listing(self._folder, self._settings).found
        return [str(self._folder), *(f"{f.path} {f.size} {f.mtime_ns}" for f in found)]

    def _as_opened(self, manifest: Manifest, *, complete: bool) -> OpenIndex:
        return OpenIndex(manifest=manifest, store=self._store, complete=complete)

    def _go_on(self, deadline: float | None) -> None:
        manifest = self._opened.manifest
        files, skipped = dict(manifest.files), dict(manifest.skipped)
        left_out = Counter(manifest.left_out)
        complete = False
        with self._store.writer() as writer:
            while not (deadline is not None and self._clock.monotonic() >= deadline):
                item = next(self._pending, None)
                if item is None:
                    complete = True
                    break
                if isinstance(item, Skipped):
                    skipped[item.path] = item.reason
                    continue
                if isinstance(item, LeftOut):
                    left_out[item.kind] += 1
                    continue
                try:
                    body = read_body(manifest, item, self._settings)
                    put_file(writer, manifest, item, body, self._extract)
                except Unreadable as exc:
                    skipped[item.path] = str(exc)
                else:
                    files[item.path] = FileRecord(size=item.size, mtime_ns=item.mtime_ns, sha256="")
            writer.commit()
        manifest = evolve(manifest, files=files, skipped=skipped, left_out=dict(left_out))
        self._opened = self._as_opened(manifest, complete=complete)
        self._log.info(
            "local.here_indexed",
            index=self.name,
            documents=len(files),
            skipped=len(skipped),
            left_out=left_out.total(),
            complete=complete,
        )


def make_here(
    settings: LocalSettings, *, extract: Callable[..., Any], clock: Clock, log: Any
) -> list[HereIndex]:
    """Return one index a folder of ``settings.here``; none of them is read yet."""
    return [
        HereIndex(name, folder, settings, extract=extract, clock=clock, log=log)
        for name, folder in name_folders(settings.here).items()
    ]
