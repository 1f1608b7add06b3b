"""Opening the ``Webfetch`` that a command line asks for: its settings, and logging while it runs."""

from __future__ import annotations

import logging
from argparse import Namespace
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

from ..settings import Settings, in_home
from ..settings_load import parse_value
from .parser import UsageFault

if TYPE_CHECKING:
    from ..app import Webfetch
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
    settings = read_settings(args, environ, here.overrides(paths, args.engine) if paths else {})
    if paths:
        settings = here.with_engine(settings)
    with logged(args.debug, err):
        with here.explained(bool(paths)):
            wf = made(settings, environ, open_webfetch)
        with wf:
            if paths:
                here.check_served(wf)
            yield wf


def read_settings(args: Namespace, environ: Mapping[str, str], more: Mapping[str, Any] = {}) -> Settings:
    """The settings of ``--config`` and ``--set``, the environment and the usual files; ``more`` wins.

    Raises:
        ConfigError, UsageFault: one of them is wrong.
    """
    overrides = dict(parse_override(text) for text in args.set) | dict(more)
    config = None if args.config is None else in_home(args.config)
    return Settings.load(environ, config=config, overrides=overrides)


def made(settings: Settings, environ: Mapping[str, str], open_webfetch: OpenWebfetch | None) -> Webfetch:
    """A ``Webfetch`` of these settings, by ``open_webfetch`` where ``main`` was given one."""
    if open_webfetch is not None:
        return open_webfetch(settings)
    from ..app import Webfetch  # it brings the whole pipeline: a server answers before that

    return Webfetch(settings, environ=environ)


def parse_override(text: str) -> tuple[str, Any]:
    """Key and value of ``--set KEY=VALUE``; the value is read as that of a variable is."""
    key, equals, value = text.partition("=")
    key = key.strip()
    if not equals or not key:
        raise UsageFault(f"--set {text}: expected KEY=VALUE", fix="as in --set ranking.keep=8")
    return key, parse_value(key, value)


# ---- logging -------------------------------------------------------------------------------------


@contextmanager
def logged(debug: bool, err: TextIO) -> Iterator[None]:
    """With ``debug``, everything that webfetch logs goes to ``err`` meanwhile."""
    if not debug:
        yield
        return
    logger = logging.getLogger("webfetch")
    handler, level = logging.StreamHandler(err), logger.level
    # The fields are in the message already.
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)-7s %(name)s: %(message)s", "%H:%M:%S"))
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
