"""The file that ``webfetch cache export`` writes: what a line of it is.

JSON lines in UTF-8, deflated as a whole (gzip) where the name says so. First a header::

    {"format": "webfetch-cache-export", "version": 1, "rows": 1}

``rows`` is the version of the rows inside. Then a line a row, by space and key, with the CRC-32 of
space, key and value::

    {"space": "pages", "key": "<hex>", "value": "<base64>", "check": "<8 hex digits>"}

Last a line ``{"end": {"rows": N, "sha256": "..."}}``, the digest of all lines before it.
"""

from __future__ import annotations

import base64
import errno
import gzip
import json
import re
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from attrs import frozen

from ..errors import CacheError
from .cache_rows import CACHE_FORMAT

FORMAT = "webfetch-cache-export"
VERSION = 1
MAX_VALUE_BYTES = 32 << 20
"""Larger values are left out: no result or page comes near, and a line must fit into memory."""
MAX_LINE_BYTES = MAX_VALUE_BYTES * 4 // 3 + 4_096

_SPACE = re.compile(r"[a-z][a-z0-9_.-]{0,63}\Z")
_MAX_KEY_BYTES = 64


class BadLine(Exception):
    """A line that is no row; the message says why, in few words."""


@frozen
class FileRow:
    """One row of the file."""

    space: str
    key: bytes
    value: bytes


@frozen
class End:
    """The last line of the file."""

    rows: int
    sha256: str


def header_line() -> bytes:
    return _line({"format": FORMAT, "version": VERSION, "rows": CACHE_FORMAT})


def row_line(row: FileRow) -> bytes:
    return _line(
        {
            "space": row.space,
            "key": row.key.hex(),
            "value": base64.b64encode(row.value).decode("ascii"),
            "check": _check(row),
        }
    )


def end_line(end: End) -> bytes:
    return _line({"end": {"rows": end.rows, "sha256": end.sha256}})


def check_header(line: bytes, name: str) -> None:
    """Accept the first line of an export.

    Raises:
        CacheError: it is another kind of file, or from another version.
    """
    try:
        found = json.loads(line)
        kind, version, rows = found["format"], found["version"], found["rows"]
    except (ValueError, RecursionError, TypeError, KeyError):
        kind = version = rows = None
    if kind != FORMAT:
        raise CacheError(f"{name} is no export of a cache", fix="webfetch cache export FILE makes one")
    if (version, rows) != (VERSION, CACHE_FORMAT):
        told = f"version {version!r} with rows of version {rows!r}"
        raise CacheError(
            f"{name} is an export of {told}, not of version {VERSION} with rows of version {CACHE_FORMAT}",
            fix="export and import with versions of webfetch that have the same",
        )


def parse_line(line: bytes) -> FileRow | End:
    """Return what a line behind the header holds. Raises BadLine."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        raise BadLine("it is no JSON") from None
    if not isinstance(found, dict):
        raise BadLine("it is no JSON object")
    if "end" in found:
        return _end(found["end"])
    space, key, value = (_text(found, name) for name in ("space", "key", "value"))
    if not _SPACE.match(space):
        raise BadLine("its space has no proper name")
    try:
        row = FileRow(space, bytes.fromhex(key), base64.b64decode(value, validate=True))
    except ValueError:
        raise BadLine("its key or value cannot be decoded") from None
    if len(row.key) > _MAX_KEY_BYTES or len(row.value) > MAX_VALUE_BYTES:
        raise BadLine("its key or value is too long")
    if found.get("check") != _check(row):
        raise BadLine("its checksum is wrong")
    return row


def _end(found: Any) -> End:
    rows, digest = (found.get(name) if isinstance(found, dict) else None for name in ("rows", "sha256"))
    if type(rows) is not int or not isinstance(digest, str):
        raise BadLine("it is no JSON object")
    return End(rows, digest)


def _text(found: dict[Any, Any], name: str) -> str:
    value = found.get(name)
    if not isinstance(value, str):
        raise BadLine(f"it has no {name}")
    return value


def _check(row: FileRow) -> str:
    start = zlib.crc32(row.space.encode() + b"\0" + row.key + b"\0")
    return f"{zlib.crc32(row.value, start):08x}"


def _line(data: dict[str, Any]) -> bytes:
    return json.dumps(data, separators=(",", ":")).encode() + b"\n"


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """The file to read lines from, inflated where it is deflated, whatever its name. Raises OSError."""
    mode = path.stat().st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):  # a pipe would be waited for, without an end
        raise OSError(errno.EINVAL, "it is no regular file")
    with path.open("rb") as raw:
        packed = raw.read(2) == b"\x1f\x8b"
        raw.seek(0)
        if packed:
            with gzip.GzipFile(fileobj=raw, mode="rb") as file:
                yield file  # type: ignore[misc]
        else:
            yield raw
