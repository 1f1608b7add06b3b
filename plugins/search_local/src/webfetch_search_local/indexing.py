"""Bringing an index up to date with its folder."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from attrs import Factory, evolve, field, frozen

from webfetch_core.api import Document, Page

from .files import FoundFile, LeftOut, Skipped, media_type, read, walk
from .manifest import FileRecord, Manifest, key_of
from .reading import Unreadable, read_document
from .settings import LocalSettings
from .store import Store, Writer

Extract = Callable[[Page], Document | None]


@frozen(kw_only=True)
class Changes:
    """What one update did. Paths, in order; ``skipped`` maps paths to reasons."""

    added: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    unchanged: int = 0
    skipped: Mapping[str, str] = Factory(dict)


@frozen(kw_only=True)
class Listing:
    """What a folder holds now."""

    found: tuple[FoundFile, ...]
    skipped: dict[str, str] = field(factory=dict)
    left_out: dict[str, int] = field(factory=dict)


def listing(folder: Path, settings: LocalSettings) -> Listing:
    """Read the folder's names, sizes and times."""
    found: list[FoundFile] = []
    skipped: dict[str, str] = {}
    left_out: Counter[str] = Counter()
    for item in walk(folder, settings):
        if isinstance(item, Skipped):
            skipped[item.path] = item.reason
        elif isinstance(item, LeftOut):
            left_out[item.kind] += 1
        else:
            found.append(item)
    return Listing(found=tuple(found), skipped=skipped, left_out=dict(left_out.most_common()))


def put_file(writer: Writer, manifest: Manifest, file: FoundFile, body: bytes, extract: Extract) -> None:
    """Index one file. Raises Unreadable with the reason why it holds nothing to index."""
    name = file.path.rsplit("/", 1)[-1]
    stem = name.rsplit(".", 1)[0] or name
    reading = read_document(
        body,
        url=manifest.url(file.path),
        content_type=media_type(file.path),
        name=stem,
        extract=extract,
    )
    writer.put(key_of(file.path), file.path, reading)


def read_body(manifest: Manifest, file: FoundFile, settings: LocalSettings) -> bytes:
    """Return the bytes of ``file``. Raises Unreadable."""
    try:
        return read(Path(manifest.folder), file.path, settings.max_file_bytes)
    except OSError as exc:
        raise Unreadable(f"cannot be read: {exc.strerror or exc}") from exc


def update(
    manifest: Manifest, store: Store, settings: LocalSettings, extract: Extract, now: float
) -> tuple[Manifest, Changes]:
    """Index what is new or changed, take out what is gone, commit once.

    A file of the same size and time counts as unchanged; one whose bytes have the same SHA-256
    only gets its new time. An index that a killed process left ahead of its manifest is indexed
    again as a whole.

    Returns:
        The manifest that describes the committed state, to be saved by the caller.
    """
    here = listing(Path(manifest.folder), settings)
    skipped = dict(here.skipped)
    files: dict[str, FileRecord] = {}
    added: list[str] = []
    updated: list[str] = []
    with store.writer() as writer:
        known = manifest.files if writer.stamp == manifest.stamp else {}
        if not known:
            writer.clear()
        for file, record in _pending(here.found, known, files):
            try:
                body = read_body(manifest, file, settings)
                sha256 = hashlib.sha256(body).hexdigest()
                if record is None or record.sha256 != sha256:
                    put_file(writer, manifest, file, body, extract)
                    (added if file.path not in manifest.files else updated).append(file.path)
            except Unreadable as exc:
                skipped[file.path] = str(exc)
                continue
            files[file.path] = FileRecord(size=file.size, mtime_ns=file.mtime_ns, sha256=sha256)
        removed = tuple(path for path in manifest.files if path not in files)
        for path in removed:
            writer.delete(key_of(path))
        stamp = writer.commit()
    changes = Changes(
        added=tuple(added),
        updated=tuple(updated),
        removed=removed,
        unchanged=len(files) - len(added) - len(updated),
        skipped=skipped,
    )
    manifest = evolve(
        manifest, files=files, skipped=skipped, left_out=here.left_out, stamp=stamp, updated=now
    )
    return manifest, changes


def _pending(
    found: tuple[FoundFile, ...], known: Mapping[str, FileRecord], files: dict[str, FileRecord]
) -> Iterator[tuple[FoundFile, FileRecord | None]]:
    """Yield the files to look into; those that did not change go straight to ``files``."""
    for file in found:
        record = known.get(file.path)
        if record is not None and (record.size, record.mtime_ns) == (file.size, file.mtime_ns):
            files[file.path] = record
        else:
            yield file, record
