"""Files from the model hub, through ``huggingface_hub``, which is loaded when something is pulled."""

from __future__ import annotations

import inspect
import shutil
from collections.abc import Callable, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from ..artefacts import MOST_FILES, ModelFile
from ..errors import NotConfigured, Unavailable
from ..manifests import Listed

DEFAULT_ENDPOINT = "https://huggingface.co"
_ON = frozenset({"1", "true", "yes", "on"})


class Hub:
    """One hub: ``HF_ENDPOINT`` or the public one; a token of ``HF_TOKEN`` goes along."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        """Look at the environment; nothing is connected.

        Raises:
            NotConfigured: ``HF_HUB_OFFLINE`` is set, or huggingface_hub is not installed.
        """
        if environ.get("HF_HUB_OFFLINE", "").strip().lower() in _ON:
            raise NotConfigured("HF_HUB_OFFLINE is set: nothing is downloaded", fix="unset it, and try again")
        try:
            import huggingface_hub
            from huggingface_hub import utils
            from huggingface_hub.utils.tqdm import disable_progress_bars
        except ImportError as exc:
            raise NotConfigured(
                "huggingface_hub is not installed", fix="pip install 'webfetch-rank-onnx[hub]'"
            ) from exc
        disable_progress_bars()  # stderr is the program's
        loosely_typed: Any = utils
        loosely_typed.logging.set_verbosity_error()  # its warnings name the endpoint, with a password in it
        self._library: Any = huggingface_hub
        self._bar = loosely_typed.tqdm
        self._endpoint = environ.get("HF_ENDPOINT", "").strip().rstrip("/") or DEFAULT_ENDPOINT
        self._token = environ.get("HF_TOKEN", "").strip() or False

    def fetch(self, repo: str, revision: str, name: str, folder: Path, size: int) -> None:
        """Put the file ``name`` of ``repo`` at ``revision`` below ``folder``, going on with what is there
        of it. It has ``size`` bytes: where more come, it is given up, and nothing of it is kept.

        Raises:
            Unavailable: why it did not come.
        """
        download = self._library.hf_hub_download
        counted = {}
        if "tqdm_class" in inspect.signature(download).parameters:  # older versions count for themselves
            counted["tqdm_class"] = _bar_of(self._bar, size, name)
        options = {"local_dir": folder, "endpoint": self._endpoint, "token": self._token, **counted}
        try:
            self._asked(name, lambda: download(repo, name, revision=revision, **options))
        except _TooLong:
            shutil.rmtree(folder / ".cache", ignore_errors=True)
            raise

    def listing(self, repo: str, revision: str) -> list[Listed]:
        """Return the files of ``repo`` at ``revision``, with the SHA-256 of those whose hub knows it.

        Raises:
            Unavailable: why it cannot be had.
        """
        client = self._library.HfApi(endpoint=self._endpoint, token=self._token)
        tree = self._asked(
            f"the files of {repo}",
            lambda: list(
                islice(client.list_repo_tree(repo, revision=revision, recursive=True), MOST_FILES + 1)
            ),
        )
        if len(tree) > MOST_FILES:  # or the pages of the listing never end
            raise Unavailable(f"{repo} has more than {MOST_FILES:,} files: it is no model's")
        try:
            return [_listed(row) for row in tree if hasattr(row, "size")]  # folders have none
        except (ValueError, TypeError, OverflowError) as exc:
            raise Unavailable(f"the hub lists a file that no folder can hold: {exc}") from exc

    def _asked(self, what: str, ask: Callable[[], Any]) -> Any:
        try:
            return ask()
        except Unavailable:
            raise
        except OSError as exc:  # the disk's, or the library's own: its HTTP errors are OSErrors, too
            if exc.errno is not None and not hasattr(exc, "response"):
                raise
            raise self._unavailable(what, exc) from exc
        except Exception as exc:
            raise self._unavailable(what, exc) from exc

    def _unavailable(self, what: str, exc: Exception) -> Unavailable:
        status = _status(exc)
        why = f"the hub answered {status}" if status else f"the hub cannot be reached ({type(exc).__name__})"
        return Unavailable(
            f"{what}: {why}", fix="set HF_ENDPOINT to a mirror that has it, or try again later"
        )


class _TooLong(Unavailable):
    """A file that goes on behind its end."""


def _bar_of(base: Any, most: int, name: str) -> Any:
    """A progress bar, which the client tells of all that comes before it writes it, that stops at ``most``
    bytes."""

    class Bar(base):  # type: ignore[misc]
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            self.came = int(options.get("initial") or 0)

        def update(self, n: float | None = 1) -> Any:
            self.came += int(n or 0)
            if self.came > most:
                raise _TooLong(
                    f"{name}: the hub sends more than the {most:,} bytes that it has",
                    fix="check HF_ENDPOINT: the mirror may hold another version, or alter files",
                )
            return super().update(n)

    return Bar


def _listed(row: Any) -> Listed:
    """A row of the listing. Raises ValueError, TypeError or OverflowError: it is none that could be used."""
    sha256 = getattr(row.lfs, "sha256", "") or ""
    if sha256:
        ModelFile(name=row.path, sha256=sha256, size=0)  # is judged where it is made
    return Listed(name=row.path, size=int(row.size), sha256=sha256)


def _status(exc: BaseException | None) -> int | None:
    """The HTTP status behind an error: the client wraps what it was answered, more than once."""
    while exc is not None:
        status = getattr(getattr(exc, "response", None), "status_code", None)
        if isinstance(status, int):
            return status
        exc = exc.__cause__ or exc.__context__
    return None
