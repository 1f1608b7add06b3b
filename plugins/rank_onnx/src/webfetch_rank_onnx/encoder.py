"""A bi-encoder whose graph ends with the vector: what ``webfetch models export`` writes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from webfetch_core.api import NotConfigured

from .cores import usable_cores
from .crossencoder import INPUTS, max_tokens
from .minilm import Encoder
from .picking import find_graph
from .settings import RankOnnxSettings
from .streams import BUCKET, Streams, session
from .tokens import from_json


def load(paths: Mapping[str, Path], settings: RankOnnxSettings, name: str) -> Encoder:
    """Open an exported bi-encoder; ``name`` and the graph's content make the name of its vectors.

    Raises:
        NotConfigured: the graph is none that gives one vector a text.
    """
    graph = find_graph(list(paths))
    try:
        model = session(str(paths[graph]))
        tokenizer = from_json(paths["tokenizer.json"], text_tokens(paths))
    except Exception as exc:  # the libraries' own errors have no base but this
        raise NotConfigured(f"the bi-encoder in {paths[graph].parent} cannot be opened: {exc}") from exc
    shape = list(model.get_outputs()[0].shape)
    strange = {put.name for put in model.get_inputs()} - INPUTS
    if strange or len(shape) != 2 or not isinstance(shape[1], int):
        raise NotConfigured(
            f"{paths[graph]} is no bi-encoder with its pooling inside (it gives {shape}); "
            "export it with webfetch models export"
        )
    content = hashlib.sha256(paths[graph].read_bytes()).hexdigest()
    return Encoder(
        tokenizer=tokenizer,
        streams=Streams(model, settings.threads or usable_cores(), settings.batch),
        model_id=f"{name}:{content[:12]}",
        dim=shape[1],
        one_language=False,
    )


def text_tokens(paths: Mapping[str, Path]) -> int:
    """How many tokens of a text are read: as ``sentence_bert_config.json`` says, else as the model can."""
    most = max_tokens(paths)
    try:
        told = json.loads(paths["sentence_bert_config.json"].read_text(encoding="utf-8")).get(
            "max_seq_length"
        )
    except (KeyError, OSError, ValueError, AttributeError):
        return most
    return min(most, told // BUCKET * BUCKET or told) if isinstance(told, int) and told > 0 else most
