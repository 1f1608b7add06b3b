"""Adding, refreshing and removing the indexes that are kept."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from attrs import evolve

from webfetch_core.api import CacheError, ConfigError

from .indexing import Changes, Extract, update
from .library import Library, check_name, safe_name
from .manifest import Manifest, save
from .settings import LocalSettings
from .store import FORMAT, Store, StoreBusy, StoreDamaged


def check_folder(path: str | Path, what: str = "") -> Path:
    """Return the absolute path of a folder that can be read.

    Raises:
        ConfigError: it does not exist, is no folder, or cannot be read. ``what`` prefixes the message.
    """
    prefix = f"{what}: " if what else ""
    folder = Path(path)
    try:
        folder = folder.expanduser().resolve()
        with os.scandir(folder):
            return folder
    except FileNotFoundError as exc:
        raise ConfigError(f"{prefix}{folder} does not exist", fix="give the path of a folder") from exc
    except NotADirectoryError as exc:
        raise ConfigError(f"{prefix}{folder} is not a folder", fix="give the folder that holds it") from exc
    except (OSError, ValueError, RuntimeError) as exc:
        reason = getattr(exc, "strerror", None) or exc
        raise ConfigError(f"{prefix}{folder} cannot be read: {reason}", fix="mend its permissions") from exc


def check_indexed_folder(manifest: Manifest) -> None:
    """See that the folder of an index is there. Raises ConfigError with what to do about that index."""
    name = manifest.name
    try:
        check_folder(manifest.folder, f"index {name}")
    except ConfigError as exc:
        if Path(manifest.folder).is_dir():
            raise
        raise ConfigError(
            exc.message,
            fix=f"put it back, or run `webfetch index remove {name}` and add the place where it is now; "
            "until then the index answers as it is",
        ) from exc


class Upkeep:
    """Changes to a library. Every method holds the lock of the index that it changes."""

    def __init__(self, library: Library, settings: LocalSettings, extract: Extract) -> None:
        self._library = library
        self._settings = settings
        self._extract = extract

    def add(
        self,
        folder: Path,
        *,
        name: str = "",
        base_url: str = "",
        urls: dict[str, str] | None = None,
        now: float,
    ) -> tuple[Manifest, Changes]:
        """Index ``folder`` under ``name``, by default the folder's own. Cut short, it leaves nothing.

        Raises:
            ConfigError: the name is taken or cannot be used, or no name was given and the folder is
                indexed under another one.
            CacheError: the indexes cannot be written, or another process is at it.
        """
        if not name:
            self._check_new(folder)
        name = check_name(name) if name else safe_name(folder.name)
        with self._changing(name):
            taken = self._library.taken_name(name)
            if taken is not None:
                held = self._library.manifest(taken).folder
                verb, purpose = (
                    ("refresh", "to bring it up to date") if Path(held).is_dir() else ("remove", "first")
                )
                raise ConfigError(
                    f"there is an index {taken!r} already, of {held}",
                    fix=f"run `webfetch index {verb} {taken}` {purpose}, or give another name with --name",
                )
            place = self._library.root / name
            if place.exists():
                shutil.rmtree(place)  # what an `add` that was cut short left: it has no manifest
            manifest = Manifest(name=name, folder=str(folder), base_url=base_url, urls=urls or {})
            try:
                place.mkdir()
                return self._build(manifest, now)
            except BaseException:
                shutil.rmtree(place, ignore_errors=True)
                raise

    def _check_new(self, folder: Path) -> None:
        same = [name for name, held in self.overlapping(folder).items() if held == folder]
        if same:
            raise ConfigError(
                f"{folder} is indexed already, as {same[0]!r}",
                fix=f"run `webfetch index refresh {same[0]}` to bring it up to date; "
                "for a second index of it, name that with --name",
            )

    def overlapping(self, folder: Path) -> dict[str, Path]:
        """The indexed folders by index that are ``folder``, or hold it, or lie in it. Damaged indexes are
        passed over."""
        found = {}
        for name in self._library.names():
            held = self._library.folder_of(name)
            if held is not None and (held == folder or held in folder.parents or folder in held.parents):
                found[name] = held
        return found

    def refresh(self, name: str, *, now: float) -> tuple[Manifest, Changes]:
        """Bring ``name`` up to date; a damaged or outdated index is made anew.

        Raises:
            ConfigError: there is no such index, or its folder is gone (the index stays as it is).
            CacheError: the index cannot be written, or another process is at it.
        """
        manifest = self._library.manifest(name)
        check_indexed_folder(manifest)
        try:
            store: Store | None = self._library.open_store(manifest)
        except CacheError:
            store = None
        with self._changing(name):
            manifest = self._library.manifest(name)
            if store is None:
                return self._build(manifest, now)
            manifest, changes = update(manifest, store, self._settings, self._extract, now)
            save(self._library.root / name, manifest)
            return manifest, changes

    def remove(self, name: str) -> Manifest:
        """Forget the index ``name``; the folder that it indexed is not touched."""
        manifest = self._library.manifest(name)
        with self._changing(name):
            gone = self._library.free_name(name, "removed")
            (self._library.root / name).rename(gone)
            shutil.rmtree(gone, ignore_errors=True)
        return manifest

    def _build(self, manifest: Manifest, now: float) -> tuple[Manifest, Changes]:
        """Make a full-text index beside the old one, and let the manifest point to it when it is done."""
        place = self._library.root / manifest.name
        taken = {entry.name for entry in place.iterdir()}
        name = next(f"store-{n}" for n in range(1, len(taken) + 2) if f"store-{n}" not in taken)
        (place / name).mkdir()
        fresh = evolve(manifest, store=name, store_format=FORMAT, stamp=-1)
        try:
            fresh, changes = update(fresh, Store.create(place / name), self._settings, self._extract, now)
            save(place, fresh)
        except BaseException:
            shutil.rmtree(place / name, ignore_errors=True)
            raise
        for old in taken:
            if old.startswith("store-"):
                shutil.rmtree(place / old, ignore_errors=True)
        return fresh, changes

    @contextmanager
    def _changing(self, name: str) -> Iterator[None]:
        try:
            with self._library.writing(name):
                yield
        except StoreBusy as exc:
            raise CacheError(
                f"another process is indexing {name!r}", fix="wait until it has finished, then run this again"
            ) from exc
        except StoreDamaged as exc:
            raise CacheError(
                f"index {name!r} could not be written: {exc}", fix="see that the disk has room"
            ) from exc
        except OSError as exc:
            raise CacheError(
                f"index {name!r} cannot be written: {exc}",
                fix="set WEBFETCH_HOME to a folder that you can write to, or search with --here PATH",
            ) from exc
