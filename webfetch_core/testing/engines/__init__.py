"""Simulators of search engines: loopback servers that speak an engine's wire format.

Each module but the shared ones here is an engine, found by its name: adding a file adds an engine.
``python -m webfetch_core.testing.engines NAME`` serves one until it is stopped.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .base import EngineSimulator

_SHARED = frozenset({"__main__", "base", "corpus", "faults", "index", "messages", "script"})

NAMES: tuple[str, ...] = tuple(sorted(m.name for m in iter_modules(__path__) if m.name not in _SHARED))
"""The engines that there are."""


def simulator(name: str) -> type[EngineSimulator]:
    """The simulator class of an engine.

    Args:
        name: one of NAMES, or the dotted path of a module of one's own.

    Raises:
        ValueError: no such engine, or no simulator in that module.
    """
    from .base import EngineSimulator

    if name not in NAMES and "." not in name:
        raise ValueError(f"no simulator {name!r}; there are: {', '.join(NAMES)}")
    try:
        module = import_module(name if "." in name else f"{__name__}.{name}")
    except ModuleNotFoundError as exc:
        raise ValueError(f"no module {name!r}: {exc}") from exc
    for found in vars(module).values():
        if (
            isinstance(found, type)
            and issubclass(found, EngineSimulator)
            and found.__module__ == module.__name__
        ):
            return found
    raise ValueError(f"module {module.__name__} has no subclass of EngineSimulator")


__all__ = ["NAMES", "simulator"]
