"""The table ``[plugins.rank_onnx]``."""

from __future__ import annotations

from attrs import field, frozen
from attrs.validators import ge, in_, le


@frozen(kw_only=True)
class RankOnnxSettings:
    """How the models run.

    Attributes:
        threads: streams of one thread each; 0 takes the cores that this process may use.
        batch: texts that a stream takes at a time.
        backend: the library that runs the shipped bi-encoder and the cross-encoder: ``onnxruntime``,
            ``openvino``, or ``auto``, which takes OpenVINO where it is installed and the CPU multiplies bf16
            (AMX, AVX512-bf16).
        precision: the numbers that the bi-encoder computes with: ``int8`` and ``fp32`` (onnxruntime),
            ``fp32`` and ``bf16`` (OpenVINO), or ``auto``, the fastest that keeps the ranking.
        cache_vectors: keep the vectors of passages in the cache, by model and content.
        biencoder, crossencoder: a name of ``webfetch models list``, the whole path of a folder, or
            ORG/NAME@COMMIT of the hub. Another bi-encoder runs on onnxruntime as it is.
    """

    threads: int = field(default=0, validator=[ge(0), le(64)])
    batch: int = field(default=8, validator=[ge(1), le(256)])
    backend: str = field(default="auto", validator=in_(("auto", "onnxruntime", "openvino")))
    precision: str = field(default="auto", validator=in_(("auto", "int8", "fp32", "bf16")))
    cache_vectors: bool = True
    biencoder: str = "all-minilm-l6-v2"
    crossencoder: str = "ms-marco-minilm-l6-v2"
