from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from webfetch_search_local.library import Library
from webfetch_search_local.settings import LocalSettings
from webfetch_search_local.upkeep import Upkeep

from webfetch_core.api import Document, Page
from webfetch_core.testing import FakeContext
from webfetch_core.testing.contracts import SearchEngineContract


def as_text(page: Page) -> Document:
    return Document(url=page.url, text=page.body.decode())


def index(root: Path, folder: Path) -> None:
    folder.mkdir()
    for number in range(4):
        (folder / f"{number}.md").write_text(f"# Lighthouse {number}\n\nA lighthouse of stone.")
    Upkeep(Library(lambda: root), LocalSettings(), as_text).add(folder, now=0.0)


class TestLocal(SearchEngineContract):
    plugin = "webfetch_search_local.plugin"
    provider = "local"

    @pytest.fixture
    def context(self, tmp_path: Path) -> Iterator[FakeContext]:
        context = self.make_context(tmp_path)
        index(context.data_dir, tmp_path / "docs")
        yield context
