"""Judging a cache file before LMDB maps it, and setting a bad one aside.

LMDB trusts its file: a page that the meta page promises but the file no longer has ends the
process with SIGBUS at the first read. So the promise is checked here.
"""

from __future__ import annotations

import errno
import os
import shutil
import struct
from pathlib import Path

_MAGIC = 0xBEEFC0DE
_HEADER = 16  # of a page, before the meta record
_LAST_PAGE = _HEADER + 24 + 2 * 48  # magic, version, address, map size, two database records
_SANE_PAGES = (512, 65_536)


class NotOurs(Exception):
    """The file is no LMDB file, or a damaged one."""


def missing_bytes(path: Path) -> int:
    """Return how many bytes the file lacks of what its meta page promises (0 for a new file).

    Raises:
        NotOurs: there is no LMDB meta page at its start.
    """
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size == 0:
            return 0
        first = file.read(_LAST_PAGE + 16)
        if len(first) < _LAST_PAGE + 16 or struct.unpack_from("=I", first, _HEADER)[0] != _MAGIC:
            raise NotOurs("it is no LMDB file")
        if struct.unpack_from("=I", first, _HEADER + 4)[0] != 1:
            return 0  # a later layout of LMDB's own, which LMDB itself judges
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


def fill_up(path: Path, missing: int) -> None:
    """Lengthen the file by zeros, so that what it lacks reads as damage and not as a signal."""
    with path.open("r+b") as file:
        file.truncate(os.fstat(file.fileno()).st_size + missing)


def set_aside(path: Path, inode: int) -> Path | None:
    """Rename the file ``<name>.corrupt-<n>`` and return its new path; its lock file goes with it.

    None when the path no longer names the file judged (``inode``): another process was first.
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
        if aside.stat().st_ino != inode and not path.exists():
            aside.rename(path)  # another process put a new file there in that instant
            return None
        lock = lock_path(path)
        if lock.exists():
            lock.rename(lock_path(aside))
        return aside
    raise OSError(errno.EEXIST, "10,000 damaged files are kept already", str(path))


def lock_path(path: Path) -> Path:
    return path.with_name(path.name + "-lock")


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


def advice(path: Path, error: BaseException) -> str:
    """Return what to do about an error of the system on this path."""
    code = getattr(error, "errno", None)
    text = str(error)

    def is_(*codes: int) -> bool:
        return code in codes or any(os.strerror(c) in text for c in codes)

    if is_(errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO):  # LMDB calls a short write EIO
        return "free some disk space, or lower plugins.cache_lmdb.max_bytes"
    if is_(errno.EACCES, errno.EPERM, errno.EROFS):
        return f"make {path.parent} writable, or set plugins.cache_lmdb.path to a file elsewhere"
    return "set plugins.cache_lmdb.path to a file on a local disk"
