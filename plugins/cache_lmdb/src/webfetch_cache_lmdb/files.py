"""Judging a cache file before LMDB maps it, and setting a bad one aside.

LMDB trusts its file: a page that the meta page promises but the file no longer has ends the
process with SIGBUS at the first read. So the promise is checked here.
"""

from __future__ import annotations

import errno
import glob
import os
import shutil
import struct
from pathlib import Path

from .guard import guard_path, lock_path

_MAGIC = 0xBEEFC0DE
_HEADER = 16  # of a page, before the meta record
_LATER_HEADER = 24  # in files of LMDB 1.0
_VERSION = 1
_LAST_PAGE = _HEADER + 24 + 2 * 48  # magic, version, address, map size, two database records
_SANE_PAGES = (512, 65_536)
_LITTLE_ROOM = 1 << 20


class NotOurs(Exception):
    """The file is no LMDB file, or a damaged one."""


class OtherLmdb(Exception):
    """The file is whole, and of a file format that another version of LMDB writes."""


def missing_bytes(path: Path) -> int:
    """Return how many bytes the file lacks of what its meta page promises (0 for a new file).

    Raises:
        NotOurs: there is no LMDB meta page at its start.
        OtherLmdb: there is one of another version of LMDB.
    """
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size == 0:
            return 0
        first = file.read(_LAST_PAGE + 16)
        _check_version(first)
        page = struct.unpack_from("=I", first, _HEADER + 24)[0]
        if not _SANE_PAGES[0] <= page <= _SANE_PAGES[1]:
            raise NotOurs("its meta page is damaged")
        file.seek(page)
        second = file.read(_LAST_PAGE + 16)
    if len(second) < _LAST_PAGE + 16:
        raise NotOurs("it is cut off within its meta pages")
    last, _ = max(
        (struct.unpack_from("=QQ", meta, _LAST_PAGE) for meta in (first, second)), key=lambda m: m[1]
    )
    return int(max((last + 1) * page - size, 0))


def _check_version(first: bytes) -> None:
    if len(first) < _LAST_PAGE + 16:
        raise NotOurs("it is no LMDB file")
    for at in (_HEADER, _LATER_HEADER):
        magic, version = struct.unpack_from("=II", first, at)
        if magic == _MAGIC and (at, version) != (_HEADER, _VERSION):
            release = "1.0" if version >= 3 else "another version"
            raise OtherLmdb(f"it has the file format of LMDB {release} (number {version}), not that of 0.9")
        if magic == _MAGIC:
            return
    raise NotOurs("it is no LMDB file")


def fill_up(path: Path, missing: int) -> None:
    """Lengthen the file by zeros, so that what it lacks reads as damage and not as a signal."""
    with path.open("r+b") as file:
        file.truncate(os.fstat(file.fileno()).st_size + missing)


def set_aside(path: Path, inode: int) -> Path | None:
    """Rename the file ``<name>.corrupt-<n>`` and return its new path; its lock file goes with it.

    The caller holds the guard. None when the path no longer names the file judged (``inode``):
    another process was first.
    """
    for n in range(1, 10_000):
        aside = path.with_name(f"{path.name}.corrupt-{n}")
        if aside.exists():
            continue
        try:
            if path.stat().st_ino != inode:
                return None
            path.rename(aside)
        except FileNotFoundError:
            return None
        lock = lock_path(path)
        if lock.exists():
            lock.rename(lock_path(aside))
        return aside
    raise OSError(errno.EEXIST, "10,000 damaged files are kept already", str(path))


def kept_aside(path: Path) -> list[Path]:
    """Return the damaged files that were set aside from this path."""
    found = path.parent.glob(f"{glob.escape(path.name)}.corrupt-*")
    return sorted(file for file in found if not file.name.endswith("-lock"))


def bytes_on_disk(path: Path) -> int:
    """Return the bytes of the file and of those that belong to it."""
    files = (path, lock_path(path), guard_path(path))
    return sum(file.stat().st_size for file in files if file.exists())


def room(path: Path) -> int:
    """Return the bytes that the file can have on its disk: what it has and what is free."""
    try:
        size = path.stat().st_size
    except OSError:
        size = 0
    try:
        return size + shutil.disk_usage(path.parent).free
    except OSError:
        return 1 << 62


def disk_is_full(path: Path, error: BaseException) -> bool:
    """Whether an error of writing means that there is no room left."""
    if any(os.strerror(code) in str(error) for code in (errno.ENOSPC, errno.EDQUOT)):
        return True
    # LMDB calls a write that was cut short EIO; so does a disk that is broken.
    return os.strerror(errno.EIO) in str(error) and room(path) - path.stat().st_size < _LITTLE_ROOM


def advice(path: Path, error: BaseException) -> str:
    """Return what to do about an error of the system on this path."""
    code = getattr(error, "errno", None)
    text = str(error)

    def is_(*codes: int) -> bool:
        return code in codes or any(os.strerror(c) in text for c in codes)

    if is_(errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO):  # LMDB calls a short write EIO
        return "free some disk space, or lower plugins.cache_lmdb.max_bytes"
    if is_(errno.EROFS):
        return "its file system is read-only: set plugins.cache_lmdb.path to a file elsewhere"
    if is_(errno.EACCES, errno.EPERM):
        what = _not_writable(path)
        return f"make {what} writable, or set plugins.cache_lmdb.path to a file elsewhere"
    return "set plugins.cache_lmdb.path to a file on a local disk"


def _not_writable(path: Path) -> Path:
    for file in (path, lock_path(path), guard_path(path)):
        if file.exists() and not os.access(file, os.R_OK | os.W_OK):
            return file
    return path.parent
