"""The contract of every fetcher, with a real browser, and of this plugin's declaration."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from webfetch_fetch_browser import plugin
from webfetch_fetch_browser.settings import FetchBrowserSettings

from webfetch_core import Settings, Webfetch
from webfetch_core.api import FetchTraits, NotConfigured, Unavailable
from webfetch_core.testing import FakeContext
from webfetch_core.testing.contracts import FetcherContract, overrides_contract


class TestFetchBrowser(FetcherContract):
    plugin = "webfetch_fetch_browser.plugin"
    provider = "browser"

    @pytest.fixture
    def subject(self, declared: Any, context: FakeContext, chromium: str) -> Iterator[Any]:
        built = self.build(declared, context)
        built.warm_up()  # the contract's deadlines are for pages
        yield built
        built.close()

    @overrides_contract("three seconds are short for a browser on a busy machine")
    def test_nobody_listening_is_unavailable(self, subject: Any, context: FakeContext, web: Any) -> None:
        url = web.url("/gone")
        web.close()
        with pytest.raises(Unavailable):
            subject.fetch(self._request(context, url, seconds=60))


def test_the_declaration() -> None:
    (declared,) = plugin.webfetch_fetchers()
    assert declared.traits == FetchTraits(schemes=("http", "https"), renders_js=True)
    assert declared.priority < 0, "plain HTTP comes first"
    assert declared.settings is FetchBrowserSettings


def test_importing_the_plugin_is_cheap() -> None:
    code = (
        "import sys, webfetch_fetch_browser.plugin;"
        "print(sorted({'playwright', 'asyncio', 'webfetch_fetch_browser.fetcher'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_without_a_browser_the_provider_is_off_with_the_fix(tmp_path: Any) -> None:
    nothing = str(tmp_path)
    environ = {"PATH": nothing, "HOME": nothing, "PLAYWRIGHT_BROWSERS_PATH": nothing}
    with Webfetch(Settings(home=str(tmp_path)), environ=environ) as host:
        (row,) = [p for p in host.status().providers if p.name == "browser"]
    assert row.state == "off" and "playwright install chromium" in row.reason


def test_built_without_a_browser_it_declines(tmp_path: Any) -> None:
    context = FakeContext(environ={"PATH": str(tmp_path), "PLAYWRIGHT_BROWSERS_PATH": str(tmp_path)})
    with pytest.raises(NotConfigured, match="no Chromium"):
        plugin.build(None, context.having(http=object()))
