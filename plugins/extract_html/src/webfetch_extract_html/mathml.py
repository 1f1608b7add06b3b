"""Presentation MathML as LaTeX: what it says, not how it is set."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

_IGNORED = frozenset({"annotation", "annotation-xml", "mspace", "mphantom", "maligngroup", "malignmark",
                      "script", "style"})  # fmt: skip
_SIGNS = {"−": "-", "⁡": "", "⁢": "", "⁣": "", "⁤": "", "{": r"\{", "}": r"\}"}
_TOKENS = frozenset({"mi", "mn", "mo", "ms", "mtext"})


def to_latex(element: Any) -> str:
    """The formula in one line. Recursive: a parsed page is of bounded depth."""
    return re.sub(r"\s+", " ", _of(element)).strip()


def _of(element: Any) -> str:
    if not isinstance(element.tag, str):
        return ""
    name = element.tag.rpartition("}")[2]
    if name in _IGNORED:
        return ""
    if name in _TOKENS:
        text = " ".join("".join(element.itertext()).split())
        return " ".join(filter(None, (_SIGNS.get(text, text),))) if name != "mtext" else f" {text} "
    parts = [_of(child) for child in element if isinstance(child.tag, str)]
    write = _WRITERS.get(name)
    if write is not None:
        return write(parts)
    own = (element.text or "").strip()
    return " ".join(filter(None, (own, *parts)))


def _at(parts: list[str], index: int) -> str:
    return parts[index].strip() if index < len(parts) else ""


def _braced(text: str) -> str:
    return text if len(text) == 1 else f"{{{text}}}"


def _script(parts: list[str], marks: str) -> str:
    base = _at(parts, 0)
    base = base if len(base.split()) < 2 else f"{{{base}}}"
    return base + "".join(
        f"{mark}{_braced(_at(parts, index))}" for index, mark in enumerate(marks, 1) if _at(parts, index)
    )


def _rows(parts: list[str]) -> str:
    return r"\begin{matrix} " + r" \\ ".join(part for part in parts if part) + r" \end{matrix}"


_WRITERS: dict[str, Callable[[list[str]], str]] = {
    "mfrac": lambda parts: rf"\frac{{{_at(parts, 0)}}}{{{_at(parts, 1)}}}",
    "msqrt": lambda parts: rf"\sqrt{{{' '.join(parts).strip()}}}",
    "mroot": lambda parts: rf"\sqrt[{_at(parts, 1)}]{{{_at(parts, 0)}}}",
    "msup": lambda parts: _script(parts, "^"),
    "mover": lambda parts: _script(parts, "^"),
    "msub": lambda parts: _script(parts, "_"),
    "munder": lambda parts: _script(parts, "_"),
    "msubsup": lambda parts: _script(parts, "_^"),
    "munderover": lambda parts: _script(parts, "_^"),
    "mtable": _rows,
    "mtr": " & ".join,
    "semantics": lambda parts: _at(parts, 0),
}
