"""The indexes that are kept: finding, opening and setting aside.

``<root>/<name>/manifest.json`` beside ``<root>/<name>/<store>/``, the full-text index. A folder
without a manifest is no index (an ``index add`` that is under way, or was cut short).
"""

from __future__ import annotations

import re
import shutil
import threading
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from attrs import field, frozen

from webfetch_core.api import CacheError, ConfigError

from .locks import LockHeld, exclusive
from .manifest import FILE, Manifest, ManifestDamaged, key_of, load
from .store import FORMAT, Store, StoreBusy, StoreDamaged

NAME_PATTERN = re.compile(r"\w[\w.-]{0,63}\Z")
_ASIDE = re.compile(r"\.(corrupt|removed)-\d+\Z")


@frozen(kw_only=True)
class OpenIndex:
    """An index that can be searched. ``complete`` is False while a folder is still being read in."""

    manifest: Manifest
    store: Store
    complete: bool = True
    paths: dict[int, str] = field(init=False, repr=False)
    """The indexed files by their keys."""

    @paths.default
    def _paths(self) -> dict[int, str]:
        return {key_of(path): path for path in self.manifest.files}


def safe_name(text: str) -> str:
    """Return a name for an index made of ``text``, such as a folder's name."""
    name = re.sub(r"[^\w.-]+", "-", unicodedata.normalize("NFC", text)).strip(".-")
    name = _ASIDE.sub("", name)[:64]
    return name if NAME_PATTERN.match(name) else "folder"


def check_name(name: str) -> str:
    """Return ``name``. Raises ConfigError when an index cannot be called so."""
    if NAME_PATTERN.match(name) and not _ASIDE.search(name):
        return name
    raise ConfigError(
        f"{name!r} is no name for an index",
        fix="use letters, digits, dots, dashes and underscores, at most 64",
    )


class Library:
    """The indexes under one folder. Thread-safe."""

    def __init__(self, root: Callable[[], Path]) -> None:
        """``root`` gives the folder, which may fail: a home that cannot be written to has no indexes."""
        self._root = root
        self._opened: dict[str, tuple[Any, OpenIndex]] = {}
        self._lock = threading.Lock()

    @property
    def root(self) -> Path:
        """The folder of the indexes. Raises CacheError when it cannot be made."""
        try:
            return self._root()
        except OSError as exc:
            raise CacheError(
                f"the folder of the indexes cannot be used: {exc}",
                fix="set WEBFETCH_HOME to a folder that you can write to, or search with --here PATH",
            ) from exc

    def names(self) -> list[str]:
        """Names of the indexes, sorted. Raises CacheError when the folder cannot be read."""
        root = self.root
        try:
            folders = [entry.name for entry in root.iterdir() if (entry / FILE).is_file()]
        except OSError as exc:
            raise CacheError(
                f"the folder of the indexes cannot be read: {exc}", fix="mend its permissions"
            ) from exc
        return sorted(name for name in folders if NAME_PATTERN.match(name) and not _ASIDE.search(name))

    def taken_name(self, name: str) -> str | None:
        """Return the index that has this name in any case of letters, for file systems that fold it."""
        return next((known for known in self.names() if known.casefold() == name.casefold()), None)

    def manifest(self, name: str) -> Manifest:
        """Return the manifest of ``name``.

        Raises:
            ConfigError: there is no such index.
            CacheError: it cannot be read; a damaged one has been set aside.
        """
        try:
            manifest = load(self.root / name) if NAME_PATTERN.match(name) else None
        except OSError as exc:
            raise CacheError(f"index {name!r} cannot be read: {exc}", fix="mend its permissions") from exc
        except ManifestDamaged as exc:
            aside = self._set_aside(name, self.root / name)
            raise CacheError(
                f"the list of files of index {name!r} is damaged ({exc}); {aside}",
                fix=f"run `webfetch index add PATH --name {name}` again",
            ) from exc
        if manifest is None:
            raise self.unknown(name)
        return manifest

    def folder_of(self, name: str) -> Path | None:
        """The folder that ``name`` indexes; None when its manifest cannot be read. Sets nothing aside."""
        try:
            manifest = load(self.root / name)
            return Path(manifest.folder).resolve() if manifest else None
        except (OSError, ManifestDamaged, ValueError, RuntimeError):
            return None

    def unknown(self, name: str) -> ConfigError:
        """The error for a name that no index has."""
        known = ", ".join(self.names())
        return ConfigError(
            f"there is no index {name!r}",
            fix=f"the indexes are: {known}" if known else "run `webfetch index add PATH` first",
        )

    def open(self, name: str) -> OpenIndex:
        """Return the index as it was last committed; opened again only when it changed.

        Raises:
            ConfigError: there is no such index.
            CacheError: it is damaged (and has been set aside), or needs a refresh.
        """
        with self._lock:
            state = self.state(name)
            known = self._opened.get(name)
            if known and known[0] == state and state is not None:
                return known[1]
            manifest = self.manifest(name)
            if known and known[1].manifest.store == manifest.store:
                store = known[1].store
                try:
                    store.reload()
                except StoreDamaged as exc:
                    raise self.damaged(manifest, exc) from exc
            else:
                store = self.open_store(manifest)
            opened = OpenIndex(manifest=manifest, store=store)
            self._opened[name] = (state, opened)
            return opened

    def state(self, name: str) -> Any:
        try:
            info = (self.root / name / FILE).stat()
        except OSError:
            return None
        return info.st_mtime_ns, info.st_size, info.st_ino

    def open_store(self, manifest: Manifest) -> Store:
        """Open the full-text index of ``manifest``. Raises CacheError with what to do."""
        fix = f"run `webfetch index refresh {manifest.name}`"
        folder = self.root / manifest.name / manifest.store
        if manifest.store_format != FORMAT:
            raise CacheError(f"index {manifest.name!r} was made by another version", fix=fix)
        if not folder.is_dir():
            raise CacheError(f"index {manifest.name!r} lacks its full-text part", fix=fix)
        try:
            return Store.open(folder)
        except (StoreDamaged, StoreBusy) as exc:
            if not Store.is_compatible(folder):
                raise CacheError(
                    f"index {manifest.name!r} was made by another version of tantivy", fix=fix
                ) from exc
            if not _is_writable(folder):
                return self._open_copy(manifest, folder)
            raise self.damaged(manifest, exc) from exc

    def _open_copy(self, manifest: Manifest, folder: Path) -> Store:
        # Readers of tantivy lock a file in the index's folder; a read-only one is read from a copy in memory.
        try:
            place = Path(mkdtemp(prefix="webfetch-index-"))
            try:
                shutil.copytree(folder, place / "store", copy_function=shutil.copyfile)
                (place / "store").chmod(0o700)
                return Store.open(place / "store")
            finally:
                shutil.rmtree(place, ignore_errors=True)  # open files stay readable until they are closed
        except (OSError, StoreDamaged) as exc:
            raise CacheError(
                f"index {manifest.name!r} is in a read-only folder and cannot be opened: {exc}",
                fix="mend its permissions, or search with --here PATH",
            ) from exc

    def damaged(self, manifest: Manifest, cause: Exception) -> CacheError:
        """Set the full-text part of an index aside, and return the error that says so."""
        aside = self._set_aside(manifest.name, self.root / manifest.name / manifest.store)
        return CacheError(
            f"index {manifest.name!r} is damaged ({str(cause)[:160]}); {aside}",
            fix=f"run `webfetch index refresh {manifest.name}`",
        )

    def _set_aside(self, name: str, folder: Path) -> str:
        """Rename, never delete; say in words what was done."""
        try:
            with self.writing(name):
                aside = self.free_name(name, "corrupt")
                folder.rename(aside)
        except (OSError, CacheError) as exc:
            return f"it could not be set aside: {exc}"
        self._opened.pop(name, None)
        return f"it was set aside as {aside}"

    def free_name(self, name: str, why: str) -> Path:
        """Return ``<root>/<name>.<why>-<n>`` with the first free n."""
        number = 1
        while (place := self.root / f"{name}.{why}-{number}").exists():
            number += 1
        return place

    @contextmanager
    def writing(self, name: str) -> Iterator[None]:
        """Be the only one who changes the index ``name``. Raises CacheError when another one does."""
        try:
            with exclusive(self.root / ".locks" / f"{name.casefold()}.lock"):
                yield
        except LockHeld as exc:
            raise CacheError(
                f"another process is indexing {name!r}", fix="wait until it has finished, then run this again"
            ) from exc


def _is_writable(folder: Path) -> bool:
    probe = folder / ".webfetch-probe"
    try:
        probe.touch()
        probe.unlink()
    except OSError:
        return False
    return True
