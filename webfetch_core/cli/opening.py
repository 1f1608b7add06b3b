"""Opening the ``Webfetch`` that a command line asks for: its settings, and logging while it runs."""

from __future__ import annotations

import logging
from argparse import Namespace
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

from ..app import Webfetch
from ..settings import Settings, in_home
from ..settings_load import parse_value
from .parser import UsageFault

if TYPE_CHECKING:
    from . import OpenWebfetch


@contextmanager
def opened(
    args: Namespace, environ: Mapping[str, str], err: TextIO, open_webfetch: OpenWebfetch | None
) -> Iterator[Webfetch]:
    """The ``Webfetch`` for ``args``, closed at the end.

    Raises:
        ConfigError, UsageFault: a setting, a plugin or a folder is wrong.
    """
    from . import here

    paths = getattr(args, "here", None) or ()
    overrides = dict(parse_override(text) for text in args.set)
    if paths:
        overrides |= here.overrides(paths, args.engine)
    config = None if args.config is None else in_home(args.config)
    settings = Settings.load(environ, config=config, overrides=overrides)
    if paths:
        settings = here.with_engine(settings)
    with logged(args.debug, err):
        with here.explained(bool(paths)):
            wf = Webfetch(settings, environ=environ) if open_webfetch is None else open_webfetch(settings)
        with wf:
            if paths:
                here.check_served(wf)
            yield wf


def parse_override(text: str) -> tuple[str, Any]:
    """Key and value of ``--set KEY=VALUE``; the value is read as that of a variable is."""
    key, equals, value = text.partition("=")
    key = key.strip()
    if not equals or not key:
        raise UsageFault(f"--set {text}: expected KEY=VALUE", fix="as in --set ranking.keep=8")
    return key, parse_value(key, value)


# ---- logging -------------------------------------------------------------------------------------

_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


class _Lines(logging.Formatter):
    """One line a record: when, level, logger, event, and the fields bound to it."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)-7s %(name)s: %(message)s", "%H:%M:%S")

    def formatMessage(self, record: logging.LogRecord) -> str:
        fields = " ".join(f"{k}={v!r}" for k, v in vars(record).items() if k not in _STANDARD)
        line = super().formatMessage(record)
        return f"{line} {fields}" if fields else line


@contextmanager
def logged(debug: bool, err: TextIO) -> Iterator[None]:
    """With ``debug``, everything that webfetch logs goes to ``err`` meanwhile."""
    if not debug:
        yield
        return
    logger = logging.getLogger("webfetch")
    handler, level = logging.StreamHandler(err), logger.level
    handler.setFormatter(_Lines())
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
