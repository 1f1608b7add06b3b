"""Fixtures for tests of plugins and hosts: ``pytest_plugins = ["webfetch_core.testing.plugin"]``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.register_assert_rewrite("webfetch_core.testing.contracts")

from ..app import Webfetch  # noqa: E402
from ..settings import Settings  # noqa: E402
from . import dists  # noqa: E402
from .clock import FakeClock  # noqa: E402
from .context import FakeContext  # noqa: E402
from .site import LoopbackSite  # noqa: E402


@pytest.fixture
def wf(tmp_path: Path) -> Iterator[Callable[..., Webfetch]]:
    """Makes hosts that are closed after the test: ``wf(plugin, ..., search=("mine",))``.

    Installed plugins are not loaded, the environment is empty and data lives in ``tmp_path``,
    unless ``autoload``, ``environ`` or ``home`` say otherwise. Other keywords are settings;
    ``clock`` and ``path`` go to Webfetch.
    """
    made: list[Webfetch] = []

    def make(*plugins: object, **options: Any) -> Webfetch:
        own = {key: options.pop(key) for key in ("autoload", "environ", "clock", "path") if key in options}
        options.setdefault("home", str(tmp_path / "home"))
        made.append(
            Webfetch(Settings(**options), plugins=plugins, **{"autoload": False, "environ": {}, **own})
        )
        return made[-1]

    yield make
    for host in made:
        host.close()


@pytest.fixture
def loopback_site() -> Iterator[LoopbackSite]:
    """A web site on loopback, listening."""
    with LoopbackSite() as site:
        yield site


@pytest.fixture
def fake_clock() -> FakeClock:
    """A clock that moves when it is told to."""
    return FakeClock()


@pytest.fixture
def fake_dist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Path]]:
    """Makes distributions (as ``webfetch_core.testing.fake_dist``) in a folder that is on ``sys.path``.

    The folder is ``tmp_path / "site"``; what was imported from it is forgotten after the test.
    """
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    before = set(sys.modules)

    def make(name: str, **options: Any) -> Path:
        return dists.fake_dist(folder, name, **options)

    yield make
    for name in set(sys.modules) - before:
        origin = getattr(sys.modules[name], "__file__", None) or ""
        if origin.startswith(str(folder)):
            del sys.modules[name]


@pytest.fixture
def plugin_context(tmp_path: Path) -> FakeContext:
    """A context with a data folder and nothing else; ``having(...)`` adds parts."""
    return FakeContext(data_dir=tmp_path / "data")
