"""Files from the model hub, through ``huggingface_hub``, which is loaded when something is pulled."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..artefacts import ModelFile
from ..errors import NotConfigured, Unavailable

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
            from huggingface_hub.utils.tqdm import disable_progress_bars
        except ImportError as exc:
            raise NotConfigured(
                "huggingface_hub is not installed", fix="pip install 'webfetch-rank-onnx[hub]'"
            ) from exc
        disable_progress_bars()  # stderr is the program's
        self._library: Any = huggingface_hub
        self._endpoint = environ.get("HF_ENDPOINT", "").strip().rstrip("/") or DEFAULT_ENDPOINT
        self._token = environ.get("HF_TOKEN", "").strip() or False

    def fetch(self, repo: str, revision: str, file: ModelFile, folder: Path) -> None:
        """Put ``file`` of ``repo`` at ``revision`` below ``folder``, going on with what is there of it.

        Raises:
            Unavailable: why it did not come.
        """
        try:
            self._library.hf_hub_download(
                repo,
                file.name,
                revision=revision,
                local_dir=folder,
                endpoint=self._endpoint,
                token=self._token,
            )
        except OSError as exc:  # the disk's, or the library's own: its HTTP errors are OSErrors, too
            if exc.errno is not None and not hasattr(exc, "response"):
                raise
            raise self._unavailable(file, exc) from exc
        except Exception as exc:
            raise self._unavailable(file, exc) from exc

    def _unavailable(self, file: ModelFile, exc: Exception) -> Unavailable:
        status = _status(exc)
        why = f"the hub answered {status}" if status else f"the hub cannot be reached ({type(exc).__name__})"
        return Unavailable(
            f"{file.name}: {why}", fix="set HF_ENDPOINT to a mirror that has it, or try again later"
        )


def _status(exc: BaseException | None) -> int | None:
    """The HTTP status behind an error: the client wraps what it was answered, more than once."""
    while exc is not None:
        status = getattr(getattr(exc, "response", None), "status_code", None)
        if isinstance(status, int):
            return status
        exc = exc.__cause__ or exc.__context__
    return None
