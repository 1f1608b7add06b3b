"""What the tests of this plugin share: a context of their own, and the command as a function."""

from __future__ import annotations

import io
import json
import logging
import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import pytest
import structlog
from webfetch_search_local.commands import add_index_command
from webfetch_search_local.engine import make_engine
from webfetch_search_local.fetcher import make_fetcher
from webfetch_search_local.settings import LocalSettings

from webfetch_core.api import NotConfigured, SearchHit, SearchRequest


class FakeClock:
    """Real time, plus what a test adds."""

    def __init__(self) -> None:
        self.added = 0.0

    def monotonic(self) -> float:
        return time.monotonic() + self.added

    def time(self) -> float:
        return 1_700_000_000.0


class FakeContext:
    """A plugin's context with a folder, and no service unless a test gives one."""

    plugin = "search_local"
    environ: dict[str, str] = {}

    def __init__(self, home: Path) -> None:
        self.home = home
        self.log = structlog.wrap_logger(logging.getLogger("test.search_local"))
        self.clock = FakeClock()
        self.settings = LocalSettings()
        self.extract: Any = self._no_extractor

    @property
    def data_dir(self) -> Path:
        folder = self.home / self.plugin
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def _no_extractor(self, page: Any) -> None:
        raise NotConfigured("no extractor is installed")

    def __getattr__(self, name: str) -> Any:
        raise NotConfigured(f"{name} is not there")


class Commands:
    """Takes the command as the command line would, and runs it on words."""

    def add(self, name: str, *, help: str, configure: Any, run: Any) -> None:
        self.name, self.help, self.run = name, help, run
        self.parser = ArgumentParser(prog=name)
        configure(self.parser)


class Bench:
    """A home, a folder to index, and everything that works on them."""

    def __init__(self, tmp_path: Path) -> None:
        self.context = FakeContext(tmp_path / "home")
        self.docs = tmp_path / "docs"
        self.docs.mkdir()
        self._commands = Commands()
        add_index_command(self._commands)  # type: ignore[arg-type]

    @property
    def data(self) -> Path:
        return self.context.data_dir

    def write(self, path: str, content: str | bytes) -> Path:
        file = self.docs / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return file

    def index(self, *words: str, as_json: bool = False) -> str:
        args = self._commands.parser.parse_args(words)
        args.json, args.debug = as_json, False
        out = io.StringIO()
        assert self._commands.run(args, self.context, out) == 0
        return out.getvalue()

    def index_json(self, *words: str) -> dict[str, Any]:
        return dict(json.loads(self.index(*words, as_json=True)))

    def engine(self, **settings: Any) -> Any:
        return make_engine(LocalSettings(**settings), self.context)  # type: ignore[arg-type]

    def fetcher(self, **settings: Any) -> Any:
        return make_fetcher(LocalSettings(**settings), self.context)  # type: ignore[arg-type]

    def search(self, query: str, limit: int = 10, **settings: Any) -> list[SearchHit]:
        return list(self.engine(**settings).search(SearchRequest(query=query, limit=limit)))

    def found(self, query: str, **settings: Any) -> list[str]:
        return [hit.extra["path"] for hit in self.search(query, **settings)]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)
