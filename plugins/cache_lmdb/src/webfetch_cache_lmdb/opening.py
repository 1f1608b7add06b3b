"""Opening the file at a path: where it may be, what is in it, and what becomes of a bad one."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import lmdb

from webfetch_core.api import CacheError

from .compacting import sweep
from .files import NotOurs, OtherLmdb, fill_up, missing_bytes, room, set_aside
from .guard import MAX_READERS, Guard, guarded, inode, lock_path, make_lock
from .layout import DATABASES, FORMAT, Layout
from .mounts import network_type
from .settings import LmdbSettings

FIRST_MAP = 4 << 20
_HIGH_PERCENT = 65
_TRIES = 50
DAMAGE = (
    lmdb.CorruptedError,
    lmdb.PageNotFoundError,
    lmdb.InvalidError,
    lmdb.IncompatibleError,
    lmdb.NotFoundError,
)


class Opened(NamedTuple):
    """An open file: LMDB's handle, what works on it, and which file it was and how long."""

    handle: Any
    layout: Layout
    inode: int
    size: int


def limit(settings: LmdbSettings) -> int:
    """Return the largest map for ordinary work; the last eighth is for what deleting rows needs."""
    return settings.max_bytes - settings.max_bytes // 8


def high(settings: LmdbSettings) -> int:
    """Return the reckoned bytes at which rows begin to go: the rest is for pages that are half filled, for
    the changes of transactions under way, and for what deleting itself writes."""
    return settings.max_bytes * _HIGH_PERCENT // 100


def open_file(path: Path, settings: LmdbSettings, log: Any) -> Opened:
    """Open or make the file; one that is no cache is set aside and a new one is made.

    Raises:
        CacheError: it is somebody else's, of another format, or at a place that will not do.
        lmdb.Error, OSError: the system refuses.
    """
    _check_place(path, settings)
    with guarded(path) as guard:
        sweep(path)
        for last in (False, True):
            guard.settle()
            found = inode(path)
            try:
                missing = missing_bytes(path) if found else 0
                if missing:
                    fill_up(path, missing)
                make_lock(lock_path(path))
                handle = _handle(path, settings)
                try:
                    layout = _layout(handle, path, settings, walk=missing > 0)
                except BaseException:
                    handle.close()
                    raise
                break
            except OtherLmdb as exc:
                raise CacheError(
                    f"the cache {path} cannot be used: {exc}",
                    fix="move it away, or set plugins.cache_lmdb.path to another file",
                ) from exc
            except (NotOurs, *DAMAGE) as exc:
                if last:
                    raise CacheError(f"the cache {path} cannot be used: {exc}") from exc
                _set_aside(guard, path, found, str(exc), log)
        guard.note()
        stat = path.stat()
        return Opened(handle, layout, stat.st_ino, stat.st_size)


def quarantine(path: Path, judged: int, reason: str, log: Any) -> None:
    """Set the file aside unless the path names another one than ``judged`` by now."""
    with guarded(path) as guard:
        _set_aside(guard, path, judged, reason, log)


def _set_aside(guard: Guard, path: Path, judged: int, reason: str, log: Any) -> None:
    aside = set_aside(path, judged)
    guard.note()
    if aside is not None:
        log.warning("cache.quarantined", path=str(path), kept_as=str(aside), reason=reason)


def _check_place(path: Path, settings: LmdbSettings) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as exc:
        raise CacheError(
            f"the cache {path} has no folder: a file is in its place",
            fix="set plugins.cache_lmdb.path to a file in a folder",
        ) from exc
    if path.is_dir():
        raise CacheError(f"the cache {path} is a folder", fix="set plugins.cache_lmdb.path to a file in it")
    kind = "" if settings.allow_network_path else network_type(path)
    if kind:
        raise CacheError(
            f"the cache {path} is on a network file system ({kind}), where its locks may not hold",
            fix="set plugins.cache_lmdb.path to a file on a local disk, or"
            " plugins.cache_lmdb.allow_network_path = true where one machine alone uses it",
        )


def _handle(path: Path, settings: LmdbSettings) -> Any:
    size = min(FIRST_MAP, limit(settings), max(room(path) * 7 // 8, 1 << 16))
    tries = 0
    while True:
        try:
            return lmdb.open(
                str(path),
                subdir=False,
                map_size=size,
                max_dbs=len(DATABASES),
                max_readers=MAX_READERS,
                metasync=settings.durable,
                lib_version=0,  # whatever LMDB_DEFAULT_LIB_VERSION says: processes must agree
            )
        except lmdb.MapResizedError:  # another process made it grow at this very moment
            tries += 1
            if tries == _TRIES:
                raise
            size = max(size, path.stat().st_size)


def _layout(handle: Any, path: Path, settings: LmdbSettings, *, walk: bool) -> Layout:
    handle.reader_check()
    while True:
        try:
            handles = _databases(handle, path)
            break
        except lmdb.MapResizedError:
            handle.set_mapsize(0)
    layout = Layout(handles, settings.log_length, high(settings), settings.keep_spaces)
    if walk:
        with handle.begin() as txn:
            for database in handles:
                for _ in txn.cursor(db=database):
                    pass
    return layout


def _databases(handle: Any, path: Path) -> tuple[Any, ...]:
    with handle.begin() as txn:
        names = list(txn.cursor().iternext(values=False))
    if names and b"meta" not in names:
        raise CacheError(
            f"{path} is the LMDB file of another program", fix="set plugins.cache_lmdb.path to another file"
        )
    if not names:
        with handle.begin(write=True) as txn:
            made = [handle.open_db(name, txn=txn) for name in DATABASES]
            txn.put(b"format", FORMAT, db=made[-1])
    # Each in a transaction of its own: py-lmdb keeps read transactions for the next reader
    # instead of ending them, and a handle made in one would never be valid elsewhere.
    meta = handle.open_db(b"meta", create=False)
    with handle.begin() as txn:
        found = txn.get(b"format", db=meta)
    if found != FORMAT:
        raise CacheError(
            f"the cache {path} has the format {(found or b'unknown')[:40]!r}, not {FORMAT!r}",
            fix=_other_format(found or b""),
        )
    return tuple(handle.open_db(name, create=False) for name in DATABASES)


def _other_format(found: bytes) -> str:
    ours, _, number = FORMAT.rpartition(b" ")
    name, _, theirs = found.rpartition(b" ")
    if name == ours and theirs.isdigit() and int(theirs) > int(number):
        return (
            "a newer version wrote it: upgrade webfetch-cache-lmdb, move the file away, or set"
            " plugins.cache_lmdb.path"
        )
    return "another version wrote it: move it away, or set plugins.cache_lmdb.path"
