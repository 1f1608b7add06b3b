"""The model store: finds the files of a model, vouches for them, and fetches what is missing."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import frozen

from .. import manifests
from ..artefacts import (
    ModelFile,
    ModelSpec,
    Place,
    find,
    has_size,
    how_to_get,
    not_whole,
    store_folder,
    what_is_missing,
)
from ..errors import CacheError, NotConfigured, Unavailable
from ..log import get_logger
from .models_lock import only_one

if TYPE_CHECKING:
    from .models_hub import Hub

_log = get_logger("models")

Report = Callable[[str], None]
"""Told one line for each thing that happens while a model is pulled."""

_verified: set[tuple[str, int, int]] = set()
"""(path, size, mtime in ns) of what was hashed in this process already."""
_verifying = threading.Lock()


@frozen(kw_only=True)
class ModelState:
    """A model as ``webfetch models list`` shows it.

    Attributes:
        state: ``ready``, ``missing`` or ``damaged``; ``unverified`` for the operator's own files.
        source: ``path``, ``package`` or ``store``; empty when it is missing.
        size: bytes of its files, as far as they are known.
        path: the folder, of a model that is nowhere else.
        reason: what is wrong, and what to do.
    """

    name: str
    state: str
    source: str = ""
    size: int = 0
    licence: str = ""
    repo: str = ""
    revision: str = ""
    path: str = ""
    summary: str = ""
    reason: str = ""


class ModelStore:
    """Models of one ``Webfetch``. Thread-safe."""

    def __init__(self, environ: Mapping[str, str], home: Path) -> None:
        self._environ = {**environ, "WEBFETCH_HOME": str(home)}

    def files(self, spec: ModelSpec) -> Mapping[str, Path]:
        """Return the path of each file of ``spec``, its content checked against the pinned SHA-256.

        Files in the operator's own folders are taken as they are, unless a manifest beside them says what
        they were. A damaged file of the store is set aside, so that the next pull starts afresh.

        Raises:
            NotConfigured: the model is not there or damaged; the fix says how to get it.
        """
        place = find(spec, self._environ)
        if place is None:
            raise NotConfigured(what_is_missing(spec, self._environ), fix=how_to_get(spec))
        if wrong := _first_wrong(place):
            self._set_aside(spec, place, wrong)
            raise NotConfigured(
                f"{place.paths[wrong.name]} of the model {spec.name} is damaged: its SHA-256 is not the"
                " pinned one",
                fix=how_to_get(spec),
            )
        return place.paths

    def state(self, spec: ModelSpec, *, verify: bool = False) -> ModelState:
        """Return what there is of ``spec``; with ``verify`` every file is hashed anew."""
        place = find(spec, self._environ)
        state, reason = "ready", ""
        if place is None:
            wrong_size = not_whole(spec, self._environ)
            state = "damaged" if wrong_size else "missing"
            reason = f"{wrong_size}: {how_to_get(spec)}" if wrong_size else how_to_get(spec)
        elif not place.files:
            state = "unverified"
        elif verify and (wrong := _first_wrong(place, anew=True)):
            state = "damaged"
            reason = f"{wrong.name} is not what was pinned: {how_to_get(spec)}"
        return ModelState(
            name=spec.name,
            state=state,
            source=place.source if place else "",
            size=sum(file.size for file in place.files) if place and place.files else spec.size,
            licence=spec.licence,
            repo=spec.repo,
            revision=spec.revision,
            path=spec.path,
            summary=spec.summary,
            reason=reason,
        )

    def pull(self, spec: ModelSpec, report: Report = lambda line: None) -> Mapping[str, Path]:
        """Make sure that ``spec`` is here, from the hub where it must; return its files.

        A download that was cut goes on where it stopped; the model appears whole or not at all. A file
        whose SHA-256 is wrong is fetched once more, then given up. Of files that nobody has pinned the
        SHA-256 is recorded: they are what they were when they first came.

        Raises:
            NotConfigured: it has no copy on the hub, huggingface_hub is not installed, or offline mode
                is on.
            Unavailable: the hub cannot be reached, or what it sends is not what was pinned.
            CacheError: the store cannot be written.
        """
        try:
            return self.files(spec)
        except NotConfigured:
            pass
        if not spec.repo:
            raise NotConfigured(f"the model {spec.name} is on no hub", fix=how_to_get(spec))
        from .models_hub import Hub

        hub = Hub(self._environ)
        root = store_folder(self._environ)
        try:
            lock = root / ".partial" / f"{spec.folder}.lock"
            with only_one(lock, lambda: report(f"{spec.name}: waiting for another pull of it")):
                try:
                    return self.files(spec)  # another pull may have brought it meanwhile
                except NotConfigured:
                    self._bring(hub, spec, root, report)
        except OSError as exc:
            raise CacheError(
                f"the model store {root} cannot be written: {exc.strerror or exc}",
                fix="make room, or set WEBFETCH_HOME to a folder that can be written",
            ) from exc
        return self.files(spec)

    def _bring(self, hub: Hub, spec: ModelSpec, root: Path, report: Report) -> None:
        """Download into a folder aside, then let the model appear. Raises as ``pull``, and OSError."""
        partial, final = root / ".partial" / spec.folder, root / spec.folder
        partial.mkdir(parents=True, exist_ok=True)
        if spec.pick is None:
            for file in spec.files:
                self._fetch(hub, spec, file, partial, report)
        else:
            self._fetch_picked(hub, spec, partial, report)
        shutil.rmtree(partial / ".cache", ignore_errors=True)  # the hub client's notes
        if final.exists():  # an incomplete one: what was whole has been returned before
            shutil.rmtree(final)
        partial.replace(final)

    def _fetch(self, hub: Hub, spec: ModelSpec, file: ModelFile, partial: Path, report: Report) -> None:
        target = partial / file.name
        for again in (True, False):
            if not _is_right(target, file):
                target.unlink(missing_ok=True)
                report(f"{spec.name}: {file.name} ({file.size / 1e6:.1f} MB)")
                hub.fetch(spec.repo, spec.revision, file.name, partial, file.size)
            if _is_right(target, file, anew=True):
                return
            target.unlink(missing_ok=True)
            if again:
                report(f"{spec.name}: {file.name} is not what was pinned; once more")
        raise Unavailable(
            f"{file.name} of {spec.repo} is not what was pinned (SHA-256 {file.sha256[:12]}...)",
            fix="check HF_ENDPOINT: the mirror may hold another version, or alter files",
        )

    def _fetch_picked(self, hub: Hub, spec: ModelSpec, partial: Path, report: Report) -> None:
        """Fetch what ``pick`` chooses, and write down what came."""
        rows = {row.name: row for row in hub.listing(spec.repo, spec.revision)}
        try:
            names = spec.pick(sorted(rows)) if spec.pick is not None else ()
        except ValueError as exc:
            raise NotConfigured(f"{spec.repo} at {spec.revision[:12]}: {exc}") from exc
        pinned = {file.name: file for file in spec.files}
        if lacking := sorted({*pinned, *names} - set(rows)):
            raise Unavailable(f"{spec.repo} at {spec.revision[:12]} has no {lacking[0]}")
        for name in sorted({*pinned, *names}):
            row = rows[name]
            # The hub tells the SHA-256 of large files: what comes is at least what it meant to send.
            sha256 = pinned[name].sha256 if name in pinned else row.sha256
            if sha256:
                file = ModelFile(name=name, sha256=sha256, size=row.size)
                self._fetch(hub, spec, file, partial, report)
            elif not has_size(partial / name, row.size):
                report(f"{spec.name}: {name} ({row.size / 1e6:.1f} MB)")
                hub.fetch(spec.repo, spec.revision, name, partial, row.size)
                if not has_size(partial / name, row.size):
                    raise Unavailable(f"{name} of {spec.repo} did not come whole", fix="try again")
        about = {"source": {"repo": spec.repo, "revision": spec.revision}}
        manifests.write(partial, manifests.listed(partial, {*pinned, *names}), about)

    def _set_aside(self, spec: ModelSpec, place: Place, wrong: ModelFile) -> None:
        path = place.paths[wrong.name]
        _log.warning("model.damaged", model=spec.name, file=wrong.name, source=place.source)
        if place.source == "store" and path.is_relative_to(store_folder(self._environ)):
            try:
                path.replace(path.with_name(path.name + ".damaged"))
            except OSError as exc:
                _log.warning("model.kept", file=str(path), error=str(exc))


def _first_wrong(place: Place, *, anew: bool = False) -> ModelFile | None:
    return next((f for f in place.files if not _is_right(place.paths[f.name], f, anew=anew)), None)


def _is_right(path: Path, file: ModelFile, *, anew: bool = False) -> bool:
    """Whether a file has the pinned size and hash; hashed once a process unless ``anew``."""
    try:
        facts = path.stat()
        key = (f"{path}:{file.sha256}", facts.st_size, facts.st_mtime_ns)
        if facts.st_size != file.size:
            return False
        with _verifying:
            if key in _verified and not anew:
                return True
        right = manifests.digest(path) == file.sha256
    except OSError:
        return False
    if right:
        with _verifying:
            _verified.add(key)
    return right
