"""Which files of a folder are indexed, and reading them safely.

``admit`` is the one rule; walking a folder and serving a single file both go through it, so
nothing is served that would not be indexed.
"""

from __future__ import annotations

import mimetypes
import os
import stat
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from attrs import frozen

from .settings import LocalSettings

_MEDIA_TYPES = {
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".html": "text/html",
    ".htm": "text/html",
    ".xhtml": "application/xhtml+xml",
    ".pdf": "application/pdf",
}
_PLAIN = "text/plain"
_WIDE_BOMS = (b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")


@frozen(kw_only=True)
class FoundFile:
    """A file to index; ``path`` is relative to the folder, with forward slashes."""

    path: str
    size: int
    mtime_ns: int


@frozen(kw_only=True)
class Skipped:
    """A file or folder that was passed over though its name qualifies, and why."""

    path: str
    reason: str


@frozen(kw_only=True)
class LeftOut:
    """A file of another type, which nobody asked to index.

    ``kind`` is its ending in lower case, or ``NO_ENDING``, ``LINK`` or ``SPECIAL``.
    """

    path: str
    kind: str


NO_ENDING, LINK, SPECIAL = "no ending", "link", "no regular file"


def media_type(path: str) -> str:
    """Return the media type that the ending of ``path`` stands for; plain text if it says nothing."""
    ending = PurePosixPath(path).suffix.lower()
    if ending in _MEDIA_TYPES:
        return _MEDIA_TYPES[ending]
    guessed = mimetypes.guess_type(f"x{ending}")[0] or _PLAIN
    # Markup such as .rst has types that no extractor knows; it reads as text.
    return _PLAIN if guessed.startswith("text/") and guessed not in _MEDIA_TYPES.values() else guessed


def is_binary(body: bytes) -> bool:
    """Whether ``body`` is no text: NUL bytes near its start, and no mark of a wide encoding."""
    return b"\0" in body[:8192] and not body.startswith(_WIDE_BOMS)


def is_excluded(path: str, settings: LocalSettings) -> bool:
    """Whether a pattern of ``settings.exclude`` matches a part of ``path``, or all of it."""
    parts = path.split("/")
    for pattern in settings.exclude:
        if "/" in pattern:
            if fnmatchcase(path, pattern.strip("/")):
                return True
        elif any(fnmatchcase(part, pattern) for part in parts):
            return True
    return False


def is_wanted(path: str, settings: LocalSettings) -> bool:
    """Whether the name of ``path`` is one of those to index: by its ending or, without one, as a whole."""
    name = path.rsplit("/", 1)[-1].lower()
    if any(name.endswith(ending.lower()) for ending in settings.extensions):
        return True
    return "." not in name and any(name == known.lower() for known in settings.names)


def _ending(path: str) -> str:
    return PurePosixPath(path).suffix.lower()[:16] or NO_ENDING


def walk(folder: Path, settings: LocalSettings) -> Iterator[FoundFile | Skipped | LeftOut]:
    """Yield what there is to index, in the order of the paths, what was passed over, and what is of
    another type. What ``settings.exclude`` names is not mentioned.

    Links are not followed, or only to places inside of ``folder``; sockets, pipes and devices are
    never opened. Stops with a ``Skipped`` for the folder itself at ``settings.max_files``.
    """
    root = os.path.realpath(folder)
    count = 0
    for item in _walk(root, root, "", settings, set()):
        if isinstance(item, FoundFile):
            count += 1
            if count > settings.max_files:
                reason = f"only the first {settings.max_files:,} files are indexed (max_files)"
                yield Skipped(path=".", reason=reason)
                return
        yield item


def _walk(
    root: str, here: str, prefix: str, settings: LocalSettings, seen: set[tuple[int, int]]
) -> Iterator[FoundFile | Skipped | LeftOut]:
    try:
        info = Path(here).stat()
        entries = sorted(os.scandir(here), key=lambda entry: entry.name)
    except OSError as exc:
        yield Skipped(path=prefix.rstrip("/") or ".", reason=f"cannot be read: {exc.strerror}")
        return
    if (info.st_dev, info.st_ino) in seen:
        return
    seen.add((info.st_dev, info.st_ino))
    if prefix and any(entry.name == "pyvenv.cfg" for entry in entries):
        return
    for entry in entries:
        path = prefix + entry.name
        if is_excluded(path, settings):
            continue
        try:
            linked = entry.is_symlink()
            if linked and not (settings.follow_symlinks and _inside(root, entry.path)):
                yield LeftOut(path=path, kind=LINK)
                continue
            if entry.is_dir():
                yield from _walk(root, entry.path, path + "/", settings, seen)
                continue
            info = entry.stat()
        except OSError as exc:
            yield Skipped(path=path, reason=f"cannot be read: {exc.strerror}")
            continue
        if not stat.S_ISREG(info.st_mode):
            yield LeftOut(path=path, kind=SPECIAL)
            continue
        if not is_wanted(path, settings):
            yield LeftOut(path=path, kind=_ending(path))
            continue
        if info.st_size > settings.max_file_bytes:
            yield Skipped(path=path, reason=_too_large(info.st_size, settings))
            continue
        yield FoundFile(path=path, size=info.st_size, mtime_ns=info.st_mtime_ns)


def _too_large(size: int, settings: LocalSettings) -> str:
    return f"{size:,} bytes is more than {settings.max_file_bytes:,} (max_file_bytes)"


def _inside(root: str, path: str) -> bool:
    real = os.path.realpath(path)
    return real == root or real.startswith(root.rstrip(os.sep) + os.sep)


def admit(folder: Path, path: str, settings: LocalSettings) -> bool:
    """Whether ``path`` is one that ``walk`` would yield; says nothing of its size or content."""
    parts = path.split("/")
    if not path or any(part in ("", ".", "..") for part in parts) or "\0" in path:
        return False
    if os.sep != "/" and os.sep in path:
        return False
    if is_excluded(path, settings) or not is_wanted(path, settings):
        return False
    root = os.path.realpath(folder)
    here = Path(root)
    try:
        for part in parts:
            here /= part
            if here.is_symlink() and not settings.follow_symlinks:
                return False
            if (here / "pyvenv.cfg").exists():
                return False
        return _inside(root, str(here))
    except OSError:  # such as a name longer than the system allows
        return False


def read(folder: Path, path: str, max_bytes: int) -> bytes:
    """Return the bytes of a regular file inside of ``folder``.

    Raises:
        OSError: it is gone, leads out of the folder, is no regular file, or is larger than
            ``max_bytes`` (it may have grown since the folder was walked).
    """
    root = os.path.realpath(folder)
    real = os.path.realpath(Path(root, *path.split("/")))
    if not _inside(root, real):
        raise FileNotFoundError(f"{path} leads out of the folder")
    # Without O_NONBLOCK, opening a pipe that took the file's place would wait for a writer.
    descriptor = os.open(real, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with os.fdopen(descriptor, "rb") as stream:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise FileNotFoundError(f"{path} is no regular file")
        body = stream.read(max_bytes + 1)
    if len(body) > max_bytes:
        raise OSError(f"more than {max_bytes:,} bytes")
    return body
