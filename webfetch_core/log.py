"""Loggers: structlog over the standard library. Nothing is configured, nothing is printed.

structlog's own default writes to stdout, which would corrupt a protocol on stdio; here every
record goes to ``logging`` and is seen only where the host asks for it. structlog is imported
when the first line is logged.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, MutableMapping
from typing import Any


class LazyLogger:
    """Stands for a structlog logger until it is first used."""

    def __init__(self, name: str, **initial: Any) -> None:
        self._name = name
        self._initial = initial
        self._bound: Any = None

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        if self._bound is None:
            self._bound = _wrap(self._name, self._initial)
        return getattr(self._bound, attribute)


def _wrap(name: str, initial: dict[str, Any]) -> Any:
    import structlog

    # A library: no handler but the null one, so that an unconfigured host sees nothing at all.
    logging.getLogger("webfetch").addHandler(_NULL)
    return structlog.wrap_logger(
        logging.getLogger(name),
        processors=[
            structlog.stdlib.filter_by_level,
            structlog.stdlib.PositionalArgumentsFormatter(),
            structlog.processors.StackInfoRenderer(),
            _to_stdlib,
        ],
        wrapper_class=structlog.stdlib.BoundLogger,
        context_class=dict,
        **initial,
    )


def _to_stdlib(logger: Any, method: str, line: MutableMapping[str, Any]) -> Mapping[str, Any]:
    """The arguments of the standard library's logger: the facts are in the message, for people, and
    on the record, for machines, there with a ``_`` behind names that a record has itself."""
    kept = {name: line.pop(name) for name in _PASSED_ON if name in line}
    message = str(line.pop("event", ""))
    told = " ".join([message, *(f"{name}={_shown(value)}" for name, value in line.items())])
    extra = {f"{name}_" if name in _RESERVED else name: value for name, value in line.items()}
    return {"msg": told, "extra": extra, **kept}


def _shown(value: Any) -> str:
    """One word as it is, all else quoted: words of a page may break the line, or act on a terminal."""
    text = str(value)
    return text if text and text.isprintable() and " " not in text else repr(value)


_PASSED_ON = ("exc_info", "stack_info", "stacklevel")
_RESERVED = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime"}
_NULL = logging.NullHandler()


def get_logger(name: str, **initial: Any) -> Any:
    """Return a logger under ``webfetch.``; keyword arguments are bound to every line."""
    return LazyLogger(name if name.startswith("webfetch") else f"webfetch.{name}", **initial)
