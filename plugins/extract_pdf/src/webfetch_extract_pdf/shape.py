"""What is usual in a file, and how headings are compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from attrs import frozen

from .flow import TextLine
from .prose import letters

LARGER = 1.12
"""How much larger than the body's a line's type is that is a heading by its size."""


@frozen(kw_only=True)
class Shape:
    """What is usual in a file: the body's type, the heading sizes (largest first), whether bold is."""

    body: float
    sizes: tuple[float, ...] = ()
    bold: bool = False
    mono: bool = False


def shape_of(lines: Iterable[TextLine]) -> Shape:
    """Measure a file."""
    weights: Counter[float] = Counter()
    bold = mono = total = 0
    for line in lines:
        count = letters([line.text])
        weights[round(line.size * 2) / 2] += count
        total += count
        bold += count if line.bold else 0
        mono += count if line.mono else 0
    if not weights:
        return Shape(body=10.0)
    body = weights.most_common(1)[0][0]
    larger = [s for s, n in weights.items() if s >= LARGER * body and n >= 2]
    return Shape(
        body=body,
        sizes=tuple(sorted(larger, reverse=True)),
        bold=bold > 0.5 * total,
        mono=mono > 0.5 * total,
    )


def key_of(text: str) -> str:
    """What of a heading is compared with the outline's."""
    return "".join(c for c in text.lower() if c.isalnum())
