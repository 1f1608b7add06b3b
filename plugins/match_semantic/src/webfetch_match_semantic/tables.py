"""The word lists of ``data/words.txt``: sections under ``[name]``, comments after ``#``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files


@lru_cache(maxsize=1)
def _sections() -> Mapping[str, tuple[str, ...]]:
    text = files(__package__).joinpath("data", "words.txt").read_text(encoding="utf-8")
    found: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in text.splitlines():
        if line.startswith("[") and line.endswith("]"):
            lines = found.setdefault(line[1:-1], [])
        elif line.strip() and not line.startswith("# "):
            lines.append(line.strip())
    return {name: tuple(some) for name, some in found.items()}


def words(section: str) -> frozenset[str]:
    """All words of a section."""
    return frozenset(in_order(section))


def in_order(section: str) -> tuple[str, ...]:
    """All words of a section, as they stand."""
    return tuple(word for line in _sections()[section] for word in line.split())


def sets(section: str) -> tuple[tuple[str, ...], ...]:
    """The words of each line."""
    return tuple(tuple(line.split()) for line in _sections()[section])


def pairs(section: str) -> tuple[tuple[str, str], ...]:
    """Words that are written ``one/other``."""
    return tuple((one, other) for one, _, other in (word.partition("/") for word in in_order(section)))


def table(section: str) -> dict[str, tuple[str, ...]]:
    """Lines of the form ``left = some words``."""
    split = (line.partition(" = ") for line in _sections()[section])
    return {left: tuple(right.split()) for left, _, right in split}


def together(section: str) -> dict[str, frozenset[str]]:
    """For each word of a section, the others that stand on a line with it."""
    found: dict[str, set[str]] = {}
    for some in sets(section):
        for word in some:
            found.setdefault(word, set()).update(some)
    return {word: frozenset(some - {word}) for word, some in found.items()}
