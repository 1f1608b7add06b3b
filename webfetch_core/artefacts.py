"""Models as named artefacts: which files they are made of, and where on this machine those may lie.

Looking is cheap: names and sizes. What a file holds is checked when it is loaded
(:mod:`webfetch_core.runtime.models`).
"""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import Attribute, field, frozen

from . import manifests
from .settings import default_home, in_home

MODEL_PATH = "WEBFETCH_MODEL_PATH"
"""Environment variable: folders, separated as in PATH, that hold ``<model name>/<files>``."""

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*\Z")
_SHA256 = re.compile(r"[0-9a-f]{64}\Z")
REVISION = re.compile(r"[0-9a-f]{40}\Z")

Pick = Callable[[Sequence[str]], Sequence[str]]
"""Given the names of all files of a folder or repository, returns those that make the model; raises
ValueError, with what is wrong and what to do, where they do not make one."""

MOST_FILES = 10_000
"""Files and folders below a folder that are looked at: one with more is no model's."""


def _model_name(_: Any, attribute: Attribute[Any], value: str) -> None:
    if not _NAME.match(value):
        raise ValueError(f"{attribute.name} must be lower case letters, digits, . _ and -; got {value!r}")


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
        install: what ``pip install`` takes to get that package, where it is not its name.
    """

    name: str = field(validator=manifests.relative)
    sha256: str = field(validator=_hash)
    size: int
    package: str = ""
    packaged_as: str = ""
    install: str = ""


@frozen(kw_only=True)
class ModelSpec:
    """A model by name: its files, and where they come from.

    Attributes:
        name: what ``webfetch models`` calls it.
        files: all of them; the model is there when every one is. With ``pick``: those whose content is
            known beforehand.
        licence: SPDX identifier of the weights' licence; empty where it is not known.
        repo, revision: repository on the hub and the commit, in full; empty without a hub copy.
        summary: what it is for, in a few words.
        pick: for a model whose files are not all pinned here: chooses them among the files of the folder
            or repository. What was pulled is recorded (SHA-256, in ``webfetch-model.json`` beside the
            files), and that is what holds from then on.
        path: the folder of a model that is nowhere else; needs ``pick``.
    """

    name: str = field(validator=_model_name)
    files: tuple[ModelFile, ...] = ()
    licence: str
    repo: str = ""
    revision: str = field(default="")
    summary: str = ""
    pick: Pick | None = None
    path: str = ""

    @revision.validator
    def _pinned(self, attribute: Attribute[str], value: str) -> None:
        if self.repo and not REVISION.match(value):
            raise ValueError(f"revision must be a whole commit, a branch can change; got {value!r}")

    @property
    def size(self) -> int:
        """Bytes of all files that are pinned."""
        return sum(file.size for file in self.files)

    @property
    def folder(self) -> str:
        """The name of its folder in the store; another revision is another folder."""
        return f"{self.name}@{self.revision[:12]}" if self.revision else self.name


@frozen(kw_only=True)
class Place:
    """Where a model was found.

    Attributes:
        source: ``path`` (the operator's own), ``package`` or ``store``.
        paths: the files by name.
        files: what they are to hold; empty where nobody has said so.
    """

    source: str
    paths: Mapping[str, Path]
    files: tuple[ModelFile, ...] = ()


def store_folder(environ: Mapping[str, str]) -> Path:
    """The folder of pulled models, below WEBFETCH_HOME; not made here."""
    home = environ.get("WEBFETCH_HOME", "").strip()
    return (in_home(home) if home else default_home(environ)) / "models"


def find(spec: ModelSpec, environ: Mapping[str, str]) -> Place | None:
    """Return where every file of ``spec`` lies, or None.

    The operator's folders win, then what packages ship, then the store. A file is there when it has
    the size of the spec; in the operator's folders any size will do, since the model there is theirs.
    """
    if spec.path:
        return _picked(spec, Path(spec.path))
    for folder in _own_folders(spec, environ):
        if spec.pick is not None and (place := _picked(spec, folder)):
            return place
        if spec.pick is None and (paths := _whole(spec, folder)):
            return Place(source="path", paths=paths)
    folder = store_folder(environ) / spec.folder
    if spec.pick is not None:
        files = _pulled(spec, folder)
        paths = {file.name: folder / file.name for file in files}
        right = files and all(has_size(paths[f.name], f.size) for f in files)
        return Place(source="store", paths=paths, files=files) if right else None
    shipped = {file.name: path for file in spec.files if (path := _packaged(file)) is not None}
    if len(shipped) == len(spec.files):
        return Place(source="package", paths=shipped, files=spec.files)
    # Small files may come from a package while the weights were pulled.
    paths = {f.name: shipped.get(f.name) or folder / f.name for f in spec.files}
    if all(has_size(paths[f.name], f.size) for f in spec.files):
        return Place(source="store", paths=paths, files=spec.files)
    return None


def recorded(spec: ModelSpec, folder: Path) -> tuple[ModelFile, ...]:
    """What the manifest of a folder says of its files; nothing where there is none, or where it contradicts
    what ``spec`` pins."""
    rows = manifests.read(folder) or ()
    try:
        files = tuple(ModelFile(name=row.name, sha256=row.sha256, size=row.size) for row in rows)
    except ValueError:
        return ()
    said = {file.name: file.sha256 for file in files}
    return files if all(said.get(f.name, f.sha256) == f.sha256 for f in spec.files) else ()


def _pulled(spec: ModelSpec, folder: Path) -> tuple[ModelFile, ...]:
    """The files of a pulled model, by its manifest; nothing where they do not make one."""
    files = recorded(spec, folder)
    names = [file.name for file in files]
    try:
        return files if spec.pick is not None and {*spec.pick(names)} <= {*names} else ()
    except ValueError:
        return ()


def _picked(spec: ModelSpec, folder: Path) -> Place | None:
    """A model in a folder of the operator's: held to its manifest, if it has one."""
    try:
        names = pick_files(spec, folder)
    except ValueError:
        return None
    rows = {file.name: file for file in recorded(spec, folder)}
    known = tuple(rows[name] for name in names if name in rows)
    return Place(source="path", paths={name: folder / name for name in names}, files=known)


def pick_files(spec: ModelSpec, folder: Path) -> Sequence[str]:
    """Choose the files of a model in a folder. Raises ValueError: why there is none."""
    if not os.path.isdir(folder):  # noqa: PTH112 - the other one raises where it may not look
        raise ValueError(f"there is no folder {folder}")
    if spec.pick is None:
        return [file.name for file in spec.files]
    return spec.pick(sorted(_names(folder)))


def _names(folder: Path) -> Iterator[str]:
    """The files below ``folder``; what cannot be read below it counts as empty. Raises ValueError."""

    def unreadable(exc: OSError) -> None:
        if exc.filename == str(folder):
            raise ValueError(f"{folder} cannot be read: {exc.strerror}") from exc

    seen = 0
    for at, folders, files in os.walk(folder, onerror=unreadable):
        seen += len(folders) + len(files)
        if seen > MOST_FILES:  # while walking: it may be a whole disk
            raise ValueError(f"{folder} has more than {MOST_FILES:,} files: it is no model's")
        for name in files:
            path = Path(at, name)
            if has_size(path, None):
                yield path.relative_to(folder).as_posix()


def _own_folders(spec: ModelSpec, environ: Mapping[str, str]) -> Iterator[Path]:
    for text in environ.get(MODEL_PATH, "").split(os.pathsep):
        if text.strip():
            yield in_home(text.strip()) / spec.name


def _whole(spec: ModelSpec, folder: Path) -> dict[str, Path]:
    paths = {file.name: folder / file.name for file in spec.files}
    return paths if all(has_size(paths[f.name], None) for f in spec.files) else {}


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
        if has_size(path, file.size):
            return path
    return None


def has_size(path: Path, size: int | None) -> bool:
    """Whether there is a file of this size; of any, with None."""
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
        return f"{what_is_missing(self.spec, environ)}: {how_to_get(self.spec)}"


def not_whole(spec: ModelSpec, environ: Mapping[str, str]) -> str:
    """Name the file of the store that has not the size it should have, as after a copy that was cut;
    empty where there is none."""
    folder = store_folder(environ) / spec.folder
    for file in spec.files if spec.pick is None else recorded(spec, folder):
        path = folder / file.name
        if has_size(path, None) and not has_size(path, file.size):
            return f"{path} has {path.stat().st_size:,} bytes instead of {file.size:,}"
    return ""


def what_is_missing(spec: ModelSpec, environ: Mapping[str, str]) -> str:
    """Say of a model that was not found whether it is missing or damaged."""
    if spec.path:
        try:
            pick_files(spec, Path(spec.path))
        except ValueError as exc:
            return f"the model {spec.name} is not whole: {exc}"
    if wrong := not_whole(spec, environ):
        return f"the model {spec.name} is damaged: {wrong}; delete it, or let the next pull replace it"
    return f"the model {spec.name} is not on this machine"


def how_to_get(spec: ModelSpec) -> str:
    """What to do for a model that is not there."""
    packages = sorted({file.install or file.package.replace("_", "-") for file in spec.files if file.package})
    if spec.path:
        return f"put the model's files into {spec.path}, or name another folder"
    if spec.repo:
        size = f" ({spec.size / 1e6:.0f} MB)" if spec.pick is None else ""
        return f"webfetch models pull {spec.name}{size}"
    if packages:
        return "pip install " + " ".join(packages)
    return f"put its files into a folder {spec.name} below one that {MODEL_PATH} names"
