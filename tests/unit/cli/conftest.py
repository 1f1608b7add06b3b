"""Running the command line in this process, over plugins that do what a test says."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from attrs import field, frozen

from webfetch_core import Webfetch
from webfetch_core.cli import main
from webfetch_core.testing import (
    MemoryCache,
    ScriptedEngine,
    ScriptedExtractor,
    ScriptedFetcher,
    ScriptedRanker,
    fake_plugin,
)

PAGES = {
    "https://a.example.org/fusion": "Fusion\nReciprocal rank fusion adds one over sixty plus the rank.",
    "https://b.example.org/other": "Other\nSomething else about the weather.",
}


class Terminal(io.StringIO):
    """A stream that a person sees."""

    def isatty(self) -> bool:
        return True


@frozen(kw_only=True)
class Ran:
    """What one command came to."""

    code: int
    out: str
    err: str


@frozen
class Cli:
    """Runs commands. ``plugins`` may be changed by a test before it does."""

    environ: dict[str, str]
    plugins: list[Any] = field(factory=list)

    def __call__(
        self, *words: str, terminal: bool = False, installed: bool = False, stdout: Any = None
    ) -> Ran:
        """Run ``webfetch *words``; with ``installed`` over the plugins of this environment."""
        out = stdout or (Terminal() if terminal else io.StringIO())
        err = Terminal() if terminal else io.StringIO()
        opener: Callable[[Any], Webfetch] | None = None
        if not installed:

            def opener(settings: Any) -> Webfetch:
                return Webfetch(settings, plugins=self.plugins, autoload=False, environ=self.environ)

        code = main(words, environ=self.environ, stdout=out, stderr=err, open_webfetch=opener)
        told = "" if stdout is not None else out.getvalue()
        return Ran(code=code, out=told, err=err.getvalue())


@pytest.fixture
def bare_cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cli]:
    """The command line with no plugin at all, in an empty folder with an empty home."""
    monkeypatch.chdir(tmp_path)
    environ = {
        "WEBFETCH_HOME": str(tmp_path / "home"),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "COLUMNS": "100",
    }
    yield Cli(environ)


@pytest.fixture
def cli(bare_cli: Cli) -> Cli:
    """The command line over an engine, two pages and a cache in memory that outlives a command."""
    store = MemoryCache()
    bare_cli.plugins.extend(
        [
            fake_plugin("search", ScriptedEngine(list(PAGES)), name="alpha"),
            fake_plugin("fetch", ScriptedFetcher(PAGES), name="pages"),
            fake_plugin("extract", ScriptedExtractor(), name="plain"),
            fake_plugin("rank", ScriptedRanker(), name="words"),
            fake_plugin("cache", store, name="memory"),
        ]
    )
    return bare_cli
