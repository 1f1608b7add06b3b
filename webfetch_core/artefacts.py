"""Models as named artefacts: which files they are made of, and where on this machine those may lie.

Looking is cheap: names and sizes. What a file holds is checked when it is loaded
(:mod:`webfetch_core.runtime.models`).
"""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from attrs import Attribute, field, frozen

from .settings import default_home

MODEL_PATH = "WEBFETCH_MODEL_PATH"
"""Environment variable: folders, separated as in PATH, that hold ``<model name>/<files>``."""

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*\Z")
_SHA256 = re.compile(r"[0-9a-f]{64}\Z")
_REVISION = re.compile(r"[0-9a-f]{40}\Z")


def _model_name(_: Any, attribute: Attribute[Any], value: str) -> None:
    if not _NAME.match(value):
        raise ValueError(f"{attribute.name} must be lower case letters, digits, . _ and -; got {value!r}")


def _relative(_: Any, attribute: Attribute[Any], value: str) -> None:
    path = PurePosixPath(value)
    if not value or path.is_absolute() or ".." in path.parts or "\\" in value or ":" in value:
        raise ValueError(f"{attribute.name} must be a relative path with forward slashes; got {value!r}")


def _hash(_: Any, attribute: Attribute[Any], value: str) -> None:
    if not _SHA256.match(value):
        raise ValueError(f"{attribute.name} must be 64 hexadecimal digits in lower case; got {value!r}")


@frozen(kw_only=True)
class ModelFile:
    """One file of a model.

    Attributes:
        name: its path below the model's folder, and in the repository on the hub.
        sha256: of its content, in lower case.
        size: in bytes.
        package: the installed package whose folder has it; empty for one that comes from the hub.
        packaged_as: its path below that package's folder, where it is not ``name``.
    """

    name: str = field(validator=_relative)
    sha256: str = field(validator=_hash)
    size: int
    package: str = ""
    packaged_as: str = ""


@frozen(kw_only=True)
class ModelSpec:
    """A model by name: its files, and where they come from.

    Attributes:
        name: what ``webfetch models`` calls it.
        files: all of them; the model is there when every one is.
        licence: SPDX identifier of the weights' licence.
        repo, revision: repository on the hub and the commit, in full; empty without a hub copy.
        summary: what it is for, in a few words.
    """

    name: str = field(validator=_model_name)
    files: tuple[ModelFile, ...]
    licence: str
    repo: str = ""
    revision: str = field(default="")
    summary: str = ""

    @revision.validator
    def _pinned(self, attribute: Attribute[str], value: str) -> None:
        if self.repo and not _REVISION.match(value):
            raise ValueError(f"revision must be a whole commit, a branch can change; got {value!r}")

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(file.size for file in self.files)

    @property
    def folder(self) -> str:
        """The name of its folder in the store; another revision is another folder."""
        return f"{self.name}@{self.revision[:12]}" if self.revision else self.name


@frozen(kw_only=True)
class Place:
    """Where a model was found. ``source`` is ``path`` (the operator's own), ``package`` or ``store``."""

    source: str
    paths: Mapping[str, Path]


def store_folder(environ: Mapping[str, str]) -> Path:
    """The folder of pulled models, below WEBFETCH_HOME; not made here."""
    home = environ.get("WEBFETCH_HOME", "").strip()
    return (Path(home).expanduser() if home else default_home(environ)) / "models"


def find(spec: ModelSpec, environ: Mapping[str, str]) -> Place | None:
    """Return where every file of ``spec`` lies, or None.

    The operator's folders win, then what packages ship, then the store. A file is there when it has
    the size of the spec; in the operator's folders any size will do, since the model there is theirs.
    """
    for folder in _own_folders(spec, environ):
        if paths := _whole(spec, folder, any_size=True):
            return Place(source="path", paths=paths)
    shipped = {file.name: path for file in spec.files if (path := _packaged(file)) is not None}
    if len(shipped) == len(spec.files):
        return Place(source="package", paths=shipped)
    folder = store_folder(environ) / spec.folder
    # Small files may come from a package while the weights were pulled.
    paths = {f.name: shipped.get(f.name) or folder / f.name for f in spec.files}
    if all(_has_size(paths[f.name], f.size) for f in spec.files):
        return Place(source="store", paths=paths)
    return None


def _own_folders(spec: ModelSpec, environ: Mapping[str, str]) -> Iterator[Path]:
    for text in environ.get(MODEL_PATH, "").split(os.pathsep):
        if text.strip():
            yield Path(text.strip()).expanduser() / spec.name


def _whole(spec: ModelSpec, folder: Path, *, any_size: bool) -> dict[str, Path]:
    paths = {file.name: folder / file.name for file in spec.files}
    there = (_has_size(paths[f.name], None if any_size else f.size) for f in spec.files)
    return paths if all(there) else {}


def _packaged(file: ModelFile) -> Path | None:
    """Found without importing the package: its code is none of our business."""
    if not file.package:
        return None
    try:
        spec = importlib.util.find_spec(file.package)
    except (ImportError, ValueError):
        return None
    folders: Sequence[str] = list(spec.submodule_search_locations or ()) if spec else ()
    for folder in folders:
        path = Path(folder) / (file.packaged_as or file.name)
        if _has_size(path, file.size):
            return path
    return None


def _has_size(path: Path, size: int | None) -> bool:
    try:
        return path.is_file() and (size is None or path.stat().st_size == size)
    except OSError:
        return False


@frozen
class Model:
    """Requirement: the files of a model. With ``optional`` the provider works without them, too."""

    spec: ModelSpec
    optional: bool = False

    def missing(self, environ: Mapping[str, str]) -> str | None:
        if self.optional or find(self.spec, environ) is not None:
            return None
        return f"the model {self.spec.name} is not on this machine: {how_to_get(self.spec)}"


def how_to_get(spec: ModelSpec) -> str:
    """What to do for a model that is not there."""
    packages = sorted({file.package.replace("_", "-") for file in spec.files if file.package})
    if spec.repo:
        return f"webfetch models pull {spec.name} ({spec.size / 1e6:.0f} MB)"
    if packages:
        return "pip install " + " ".join(packages)
    return f"put its files into a folder {spec.name} below one that {MODEL_PATH} names"
