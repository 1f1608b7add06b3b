"""The two rankers, each over a model that is opened when it is first needed."""

from __future__ import annotations

import threading
from array import array
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from webfetch_core.api import Embeddings, NotConfigured

from .settings import RankSbertSettings

MAX_CHARS = 20_000
"""Longer texts are cut before they are tokenised: no model reads so far."""
QUERY_CHARS = 1_000
"""A longer query would leave no room for the passage."""
MAX_PAIR_TOKENS = 512

LOCAL = {"local_files_only": True, "trust_remote_code": False}
"""Nothing is asked of a hub, and no code that comes with a model is run."""


class Opened:
    """A model that is opened once, and used by one thread at a time: its tokenizer keeps state."""

    def __init__(self, open_model: Callable[[], Any]) -> None:
        self._open = open_model
        self._model: Any = None
        self._closed = threading.Event()
        self._lock = threading.Lock()

    def use(self, run: Callable[[Any], Any]) -> Any:
        """Call ``run`` with the model.

        Raises:
            NotConfigured: the model cannot be opened.
            RuntimeError: it was closed.
        """
        with self._lock:
            if self._closed.is_set():
                raise RuntimeError("the ranker is closed")
            if self._model is None:
                try:
                    self._model = self._open()
                except Exception as exc:  # the libraries' errors have no common base
                    raise NotConfigured(f"the model cannot be opened: {type(exc).__name__}: {exc}") from exc
            try:
                return run(self._model)
            finally:
                if self._closed.is_set():  # in the meantime
                    self._model = None

    def close(self) -> None:
        """Let go of the model, at once or when the call under way has ended. Idempotent."""
        self._closed.set()
        if self._lock.acquire(blocking=False):
            self._model = None
            self._lock.release()


class BiEncoder:
    """Scores passages by cosine, and gives vectors to whoever asks. Thread-safe."""

    def __init__(self, folder: Path, model_id: str, settings: RankSbertSettings) -> None:
        """Take the folder of a model; nothing is loaded yet."""
        self.model_id = model_id
        self._settings = settings
        self._opened = Opened(lambda: _open_biencoder(folder, settings))

    def score(self, query: str, passages: Sequence[str]) -> Sequence[float]:
        """Return the cosine of ``query`` and each passage, from -1 to 1."""
        if not passages:
            return []
        rows = self._encode([query, *passages])
        scores: list[float] = (rows[1:] @ rows[0]).tolist()
        return scores

    def embed(self, texts: Sequence[str]) -> Embeddings:
        """Return one unit vector per text."""
        if not texts:
            dim = self._opened.use(_dimensions)
            return Embeddings(data=b"", rows=0, dim=dim, model_id=self.model_id)
        rows = self._encode(texts)
        return Embeddings(
            data=rows.astype("<f4").tobytes(), rows=len(texts), dim=rows.shape[1], model_id=self.model_id
        )

    def prepare(self, passages: Sequence[str]) -> None:
        """Nothing is done ahead: this is the reference, not the fast one."""

    def warm_up(self) -> None:
        """Open the model, and run once."""
        self._encode(["warm up"])

    def close(self) -> None:
        self._opened.close()

    def _encode(self, texts: Sequence[str]) -> Any:
        return self._opened.use(
            lambda model: model.encode(
                [clean(text) for text in texts],
                batch_size=self._settings.batch,
                normalize_embeddings=True,
                convert_to_numpy=True,
                show_progress_bar=False,
            )
        )


class CrossEncoder:
    """Scores passages by the model's logit. Thread-safe."""

    def __init__(self, folder: Path, settings: RankSbertSettings) -> None:
        """Take the folder of a model; nothing is loaded yet."""
        self._settings = settings
        self._opened = Opened(lambda: _open_crossencoder(folder, settings))

    def score(self, query: str, passages: Sequence[str]) -> Sequence[float]:
        """Return one logit per passage; higher is more relevant."""
        if not passages:
            return []
        head = clean(query)[:QUERY_CHARS]
        scores = self._opened.use(lambda model: self._predict(model, [(head, clean(p)) for p in passages]))
        return list(array("d", scores))

    def warm_up(self) -> None:
        """Open the model, and run once."""
        self.score("warm", ["up"])

    def close(self) -> None:
        self._opened.close()

    def _predict(self, model: Any, pairs: Sequence[tuple[str, str]]) -> list[float]:
        from torch.nn import Identity

        rows = model.predict(
            pairs, batch_size=self._settings.batch, activation_fn=Identity(), show_progress_bar=False
        )
        if rows.size != len(pairs):
            raise NotConfigured(f"the model gives {rows.shape[-1]} numbers for each pair; a ranker needs one")
        scores: list[float] = rows.reshape(-1).tolist()
        return scores


def _open_biencoder(folder: Path, settings: RankSbertSettings) -> Any:
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(folder), device=settings.device, **LOCAL)


def _open_crossencoder(folder: Path, settings: RankSbertSettings) -> Any:
    from sentence_transformers import CrossEncoder as Library

    model = Library(str(folder), device=settings.device, **LOCAL)
    model.max_length = min(model.max_length or MAX_PAIR_TOKENS, MAX_PAIR_TOKENS)
    return model


def _dimensions(model: Any) -> int:
    """By its name of now, or by the one before."""
    ask = getattr(model, "get_embedding_dimension", None) or model.get_sentence_embedding_dimension
    return int(ask())


def clean(text: str) -> str:
    """What the tokenizer can take: no lone surrogates, and no more than a model could read."""
    return text[:MAX_CHARS].encode("utf-8", "replace").decode("utf-8")
