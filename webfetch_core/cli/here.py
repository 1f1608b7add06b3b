"""``--here PATH``: a folder that is searched in this run only, by the plugin search_local."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import evolve

from ..errors import ConfigError
from .parser import UsageFault

if TYPE_CHECKING:
    from ..app import Webfetch
    from ..settings import Settings

PLUGIN = "search_local"
ENGINE = "local"
INSTALL = "pip install webfetch-search-local"


def overrides(paths: Sequence[str], engines: Sequence[str]) -> dict[str, Any]:
    """The settings that stand for ``--here`` given these paths.

    Raises:
        UsageFault: a path is no folder that can be read, or ``--engine`` leaves the folders out.
    """
    if engines and ENGINE not in engines:
        raise UsageFault(
            f"--here is searched by the engine {ENGINE}, which --engine leaves out",
            fix=f"add --engine {ENGINE}, or leave --engine away",
        )
    return {f"plugins.{PLUGIN}.here": [str(_checked(path)) for path in paths]}


def _checked(path: str) -> Path:
    folder = Path(path)
    try:
        folder = folder.expanduser().absolute()
        with os.scandir(folder):
            return folder
    except FileNotFoundError:
        raise UsageFault(f"--here {path}: it does not exist", fix="give the path of a folder") from None
    except NotADirectoryError:
        raise UsageFault(f"--here {path}: it is not a folder", fix="give the folder that holds it") from None
    except (OSError, ValueError, RuntimeError) as exc:
        reason = getattr(exc, "strerror", None) or exc
        raise UsageFault(
            f"--here {path}: it cannot be read: {reason}", fix="mend its permissions, or give another folder"
        ) from None


def with_engine(settings: Settings) -> Settings:
    """``settings`` in which the folders are searched even where the settings name other engines."""
    if settings.search == "auto" or ENGINE in settings.search:
        return settings
    return evolve(settings, search=(ENGINE, *settings.search))


@contextmanager
def explained(wanted: bool) -> Iterator[None]:
    """Say what ``--here`` needs where its plugin is not installed: the setting was not the user's."""
    try:
        yield
    except ConfigError as exc:
        if wanted and exc.message.startswith(f"plugins.{PLUGIN}: no installed plugin"):
            raise ConfigError(
                f"--here needs the plugin {PLUGIN}, which is not installed", fix=INSTALL
            ) from exc
        raise


def check_served(wf: Webfetch) -> None:
    """Refuse to go on without the folders. Raises ConfigError with what keeps the plugin from it."""
    plugin = wf.host.manager.get(PLUGIN)
    if plugin is not None and plugin.state not in ("loaded", "built-in"):
        raise ConfigError(f"--here needs the plugin {PLUGIN}, which is {plugin.state}: {plugin.reason}")
    wf.host.catalog.named("search", ENGINE)
