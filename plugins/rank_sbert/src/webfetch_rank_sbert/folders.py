"""The folder that sentence-transformers opens a model from."""

from __future__ import annotations

import os
import shutil
import zipfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from .specs import ARCHIVE


def folder_of(paths: Mapping[str, Path], data: Path, name: str) -> Path:
    """Return the folder in which files lie by their names; an archive is unpacked below ``data`` first.

    Raises:
        OSError: it cannot be unpacked.
    """
    if ARCHIVE in paths:
        return unpacked(paths[ARCHIVE], data / name)
    first, path = next(iter(paths.items()))
    return path.parents[len(PurePosixPath(first).parts) - 1]


def unpacked(archive: Path, target: Path) -> Path:
    """Unpack ``archive`` into ``target``, whole or not at all; what is whole there already is left alone.

    Raises:
        OSError: it cannot be written.
    """
    with zipfile.ZipFile(archive) as packed:
        files = [entry for entry in packed.infolist() if not entry.is_dir()]
        if all(_has_size(target / entry.filename, entry.file_size) for entry in files):
            return target
        partial = target.with_name(f".{target.name}.partial-{os.getpid()}")
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        try:
            packed.extractall(partial)  # names that would lead out of the folder stay inside of it
            shutil.rmtree(target, ignore_errors=True)
            partial.replace(target)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    return target


def _has_size(path: Path, size: int) -> bool:
    return path.is_file() and path.stat().st_size == size
