"""What an index holds, beside the index: a small JSON file that is replaced as a whole."""

from __future__ import annotations

import hashlib
import json
import os
import re
from pathlib import Path
from typing import Any

from attrs import Factory, asdict, frozen

from .urls import local_url, public_url

SCHEMA = 1
STORE_PATTERN = re.compile(r"store-\d+\Z")
FILE = "manifest.json"


class ManifestDamaged(Exception):
    """The file is there and is no manifest; the message says what is wrong."""


@frozen(kw_only=True)
class FileRecord:
    """A file as it was when it was indexed."""

    size: int
    mtime_ns: int
    sha256: str


@frozen(kw_only=True)
class Manifest:
    """One index: where its documents come from and what they are.

    Attributes:
        base_url: public address of the folder, or "".
        urls: public addresses of single files, by path.
        store: name of the folder with the full-text index, beside the manifest; "" in memory.
        store_format: what the full-text index was made with; see ``store.FORMAT``.
        stamp: number of the commit that ``files`` describes.
        files: indexed files by path.
        skipped: reasons by path, of the last time the folder was read.
        left_out: how many files of other types there were then, by kind (see ``files.LeftOut``).
        updated: when that was, in seconds since the epoch.
    """

    name: str
    folder: str
    base_url: str = ""
    urls: dict[str, str] = Factory(dict)
    store: str = ""
    store_format: int = 0
    stamp: int = -1
    files: dict[str, FileRecord] = Factory(dict)
    skipped: dict[str, str] = Factory(dict)
    left_out: dict[str, int] = Factory(dict)
    updated: float = 0.0

    def public_url(self, path: str) -> str:
        """Return the public URL of ``path``, or ""."""
        return public_url(path, self.base_url, self.urls)

    def url(self, path: str) -> str:
        """Return the URL that a hit on ``path`` carries."""
        return self.public_url(path) or local_url(self.name, path)


def key_of(path: str) -> int:
    """Return the key of ``path`` in the full-text index: the first 64 bits of its SHA-256."""
    return int.from_bytes(hashlib.sha256(os.fsencode(path)).digest()[:8], "big")


def load(folder: Path) -> Manifest | None:
    """Return the manifest in ``folder``; None when there is none.

    Raises:
        OSError: it cannot be read.
        ManifestDamaged: it is no manifest.
    """
    try:
        data = (folder / FILE).read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        return _structure(json.loads(data))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as exc:
        raise ManifestDamaged(f"{type(exc).__name__}: {exc}") from exc


def _structure(raw: Any) -> Manifest:
    if raw.pop("schema") != SCHEMA:
        raise ValueError("of another version")
    files = {
        path: FileRecord(size=size, mtime_ns=mtime_ns, sha256=sha256)
        for path, (size, mtime_ns, sha256) in raw.pop("files").items()
    }
    manifest = Manifest(files=files, **raw)
    texts = (manifest.name, manifest.folder, manifest.base_url, manifest.store)
    tables = (*manifest.urls.items(), *manifest.skipped.items())
    if not all(isinstance(value, str) for value in (*texts, *(v for row in tables for v in row))):
        raise TypeError("text expected")
    if not all(isinstance(n, int) for n in manifest.left_out.values()):
        raise TypeError("numbers expected")
    if not STORE_PATTERN.match(manifest.store):
        raise ValueError(f"store {manifest.store!r} is no store")
    return manifest


def save(folder: Path, manifest: Manifest) -> None:
    """Write the manifest so that a reader sees the old one or the new one, and a crash leaves one of them."""
    raw = asdict(manifest, recurse=False)
    raw["files"] = {path: (r.size, r.mtime_ns, r.sha256) for path, r in manifest.files.items()}
    part = folder / f"{FILE}.part"
    with part.open("w", encoding="ascii") as stream:
        json.dump({"schema": SCHEMA, **raw}, stream)
        stream.flush()
        os.fsync(stream.fileno())
    part.replace(folder / FILE)
