"""Which library runs the bi-encoder, and in which numbers: chosen at first use, from the CPU and what is
installed.

Where the CPU multiplies matrices of bf16 (AMX, AVX512-bf16), OpenVINO in bf16 was the fastest and all but
exact in a trial on two such cores. On a CPU without, onnxruntime in int8 is the fastest
(``evals/rank_speed.py``).
"""

from __future__ import annotations

import platform
import re
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from attrs import frozen

from webfetch_core.api import NotConfigured

from .settings import RankOnnxSettings

BF16_FLAGS = frozenset({"amx_bf16", "avx512_bf16"})
"""What a CPU says that has instructions for bf16. OpenVINO emulates it elsewhere on AVX512, which is slow."""

INSTALL = "pip install 'webfetch-rank-onnx[openvino]'"


@frozen(kw_only=True)
class Choice:
    """A library (``onnxruntime``, ``openvino``) and a precision (``int8``, ``fp32``, ``bf16``)."""

    backend: str
    precision: str

    def __str__(self) -> str:
        return f"{self.backend} {self.precision}"


@frozen(kw_only=True)
class Machine:
    """What the choice depends on."""

    openvino: bool
    """Whether OpenVINO is installed."""
    bf16: bool
    """Whether this CPU multiplies bf16."""


def this_machine(openvino_capabilities: Callable[[], frozenset[str]] | None = None) -> Machine:
    """Look at this CPU. OpenVINO, whose import takes a sixth of a second, is asked only where bf16 may be.

    Its word counts beside the CPU's: it knows of instruction sets that were switched off
    (``ONEDNN_MAX_CPU_ISA``), and of systems that do not tell their flags.
    """
    openvino = find_spec("openvino") is not None
    flags = cpu_flags()
    bf16 = openvino and (not flags or bool(flags & BF16_FLAGS))
    if bf16:
        from .openvino_model import capabilities

        bf16 = "BF16" in (openvino_capabilities or capabilities)()
    return Machine(openvino=openvino, bf16=bf16)


def cpu_flags(read: Callable[[], str] | None = None) -> frozenset[str]:
    """The flags of ``/proc/cpuinfo``; empty where a system or CPU has none there."""
    try:
        text = (read or _cpuinfo)()
    except OSError:
        return frozenset()
    found = re.search(r"^(?:flags|Features)\s*:(.*)$", text, re.MULTILINE)
    return frozenset(found.group(1).split()) if found else frozenset()


def choices(settings: RankOnnxSettings, machine: Machine) -> tuple[Choice, ...]:
    """Return what to try, best first; what the settings name has no substitute.

    Raises:
        NotConfigured: what they name is not there, or is nothing this machine can do; with what to do.
    """
    backend, precision = settings.backend, settings.precision
    if backend == "openvino" or precision == "bf16":
        _demand(backend, precision, machine)
        best = Choice(backend="openvino", precision=precision)
        return (best,) if precision != "auto" else (_openvino(machine),)
    fixed = [Choice(backend="onnxruntime", precision=p) for p in ("int8", "fp32") if precision in ("auto", p)]
    if backend == "auto" and precision == "auto" and machine.openvino and machine.bf16:
        return (_openvino(machine), *fixed)
    return tuple(fixed)


def _openvino(machine: Machine) -> Choice:
    return Choice(backend="openvino", precision="bf16" if machine.bf16 else "fp32")


def _demand(backend: str, precision: str, machine: Machine) -> None:
    if backend == "onnxruntime":
        raise NotConfigured(
            "onnxruntime has no bf16 on a CPU", fix='set plugins.rank_onnx.backend = "auto", or precision'
        )
    if precision == "int8":
        raise NotConfigured(
            "int8 runs on onnxruntime alone", fix='set plugins.rank_onnx.backend = "auto", or precision'
        )
    if not machine.openvino:
        named = "backend" if backend == "openvino" else "precision"
        raise NotConfigured(
            f"plugins.rank_onnx.{named} asks for OpenVINO, which is not installed",
            fix=f'{INSTALL}, or set plugins.rank_onnx.{named} = "auto"',
        )
    if precision == "bf16" and not machine.bf16:
        raise NotConfigured(
            f"this CPU ({platform.machine()}) has neither AMX nor AVX512-bf16, so bf16 would be slow",
            fix='set plugins.rank_onnx.precision = "auto"',
        )


def _cpuinfo() -> str:
    return Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
