"""``webfetch-model.json``: what the files of a model folder were when it was pulled or exported."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from attrs import Attribute, field, frozen

NAME = "webfetch-model.json"
"""The manifest's name; it lies in the folder of the files that it lists."""

FORMAT = 1
MAX_BYTES = 1_000_000
"""A longer one was not written here."""


def relative(_: Any, attribute: Attribute[Any], value: str) -> None:
    """Validator: a path that stays below its folder on every system."""
    path = PurePosixPath(value)
    if not value or path.is_absolute() or ".." in path.parts or "\\" in value or ":" in value:
        raise ValueError(f"{attribute.name} must be a relative path with forward slashes; got {value!r}")


@frozen(kw_only=True)
class Listed:
    """One row of a manifest, or of a repository's listing, whose ``sha256`` may be unknown (empty)."""

    name: str = field(validator=relative)
    size: int
    sha256: str = ""


def digest(path: Path) -> str:
    """SHA-256 of a file in hexadecimal. Raises OSError."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def listed(folder: Path, names: Iterable[str]) -> tuple[Listed, ...]:
    """Hash files of ``folder``. Raises OSError."""
    return tuple(
        Listed(name=name, size=(folder / name).stat().st_size, sha256=digest(folder / name))
        for name in sorted(names)
    )


def write(folder: Path, rows: Iterable[Listed], about: Mapping[str, Any]) -> None:
    """Write the manifest of ``folder``, whole or not at all.

    Args:
        about: where the model came from and what was measured; for people, nothing reads it back.

    Raises:
        OSError: it cannot be written.
    """
    files = {row.name: {"sha256": row.sha256, "size": row.size} for row in rows}
    text = json.dumps({"format": FORMAT, "files": files, **about}, indent=1, ensure_ascii=False)
    partial = folder / (NAME + ".partial")
    with partial.open("w", encoding="utf-8") as stream:
        stream.write(text + "\n")
        stream.flush()
        os.fsync(stream.fileno())
    partial.replace(folder / NAME)


def read(folder: Path) -> tuple[Listed, ...] | None:
    """Return the rows of the manifest of ``folder``; None where there is none, or it is not ours."""
    path = folder / NAME
    try:
        if path.stat().st_size > MAX_BYTES:
            return None
        data = json.loads(path.read_text(encoding="utf-8"))
        if data["format"] != FORMAT:
            return None
        return tuple(
            Listed(name=str(name), size=int(row["size"]), sha256=str(row["sha256"]))
            for name, row in data["files"].items()
        )
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError):
        return None
