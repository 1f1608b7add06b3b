"""Taking rows out of a cache into a file. Over any store; in bounded memory."""

from __future__ import annotations

import gzip
import hashlib
import os
import zlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attrs import frozen

from ..errors import CacheError
from ..stages import Cache
from .cache_check import spaces_of
from .cache_file import (
    MAX_LINE_BYTES,
    MAX_VALUE_BYTES,
    End,
    FileRow,
    check_header,
    end_line,
    header_line,
    opened,
    row_line,
)
from .cache_rows import VECTORS

LEFT_OUT = (VECTORS,)
"""Spaces that are not exported unless they are named: they can be had again without the network."""

_BATCH = 50
_MODE = 0o600  # what was read with somebody's permission is nobody else's to read


@frozen(kw_only=True)
class ExportReport:
    """What was written. ``left_out`` counts rows that are too large for a line."""

    path: str
    bytes: int
    rows: Mapping[str, int]
    left_out: int = 0


def export_rows(cache: Cache, path: Path, spaces: Collection[str] = ()) -> ExportReport:
    """Write rows into a file, all of it or none.

    The order is by space and key, and the bytes are the same for the same rows.

    Args:
        path: replaced where it is an export; deflated where its name ends in ``.gz``.
        spaces: those to write; by default all that hold rows, but ``LEFT_OUT``.

    Raises:
        CacheError: the cache cannot be read or the file not be written, or it is no export.
    """
    _check_replaceable(path)
    names = sorted(set(spaces)) or [name for name in spaces_of(cache) if name not in LEFT_OUT]
    partial = path.with_name(f".{path.name}.partial-{os.getpid()}")
    counts: Counter[str] = Counter()
    left_out = 0
    try:
        try:
            with _written(partial, packed=path.suffix == ".gz") as file:
                digest = hashlib.sha256()
                for line in _lines(cache, names, counts):
                    if line is None:
                        left_out += 1
                        continue
                    digest.update(line)
                    file.write(line)
                file.write(end_line(End(counts.total(), digest.hexdigest())))
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as exc:
        raise CacheError(
            f"{path} cannot be written: {exc.strerror or exc}", fix="name a file elsewhere"
        ) from exc
    return ExportReport(path=str(path), bytes=path.stat().st_size, rows=dict(counts), left_out=left_out)


def _check_replaceable(path: Path) -> None:
    try:
        path.stat()
    except OSError:
        return  # whether a file can be there is seen when it is written
    try:
        with opened(path) as file:
            check_header(file.readline(MAX_LINE_BYTES), str(path))
    except (CacheError, OSError, EOFError, zlib.error) as exc:
        raise CacheError(f"{path} is there, and no export of a cache", fix="name another file") from exc


def _lines(cache: Cache, names: Iterable[str], counts: Counter[str]) -> Iterator[bytes | None]:
    """Yield the lines of the file but the last; None stands for a row that is too large."""
    yield header_line()
    for space in names:
        for some in _batches(sorted(key for key, _ in cache.scan(space))):
            found = get_many(cache, space, some)
            for key in some:
                value = found.get(key)
                if value is None:
                    continue  # it went meanwhile
                if len(value) > MAX_VALUE_BYTES:
                    yield None
                    continue
                counts[space] += 1
                yield row_line(FileRow(space, key, value))


def _batches(keys: list[bytes]) -> Iterator[list[bytes]]:
    return (keys[at : at + _BATCH] for at in range(0, len(keys), _BATCH))


@contextmanager
def _written(path: Path, *, packed: bool) -> Iterator[Any]:
    """A new file to write to, safe on the disk at the end."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0), _MODE)
    with os.fdopen(descriptor, "wb") as raw:
        if packed:
            # Without a name and a time: the same rows make the same file.
            with gzip.GzipFile(filename="", mode="wb", fileobj=raw, compresslevel=6, mtime=0) as file:
                yield file
        else:
            yield raw
        raw.flush()
        os.fsync(raw.fileno())


def get_many(cache: Cache, space: str, keys: Iterable[bytes]) -> Mapping[bytes, bytes]:
    """Return the rows that are there, in one transaction where the store can."""
    many = getattr(cache, "get_many", None)
    if callable(many):
        found: Mapping[bytes, bytes] = many(space, keys)
        return found
    rows = ((key, cache.get(space, key)) for key in keys)
    return {key: value for key, value in rows if value is not None}
