"""A fetcher with a real Chromium, started once; tests that need it are skipped where there is none."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from webfetch_fetch_browser.chromium import FIX, find
from webfetch_fetch_browser.fetcher import BrowserFetcher
from webfetch_fetch_browser.settings import FetchBrowserSettings

from webfetch_core.testing import FakeContext, LoopbackSite, loopback_http

ENVIRON = {
    name: os.environ[name] for name in ("PATH", "HOME", "PLAYWRIGHT_BROWSERS_PATH") if name in os.environ
}


class RealClock:
    def monotonic(self) -> float:
        return time.monotonic()

    def time(self) -> float:
        return time.time()


@pytest.fixture(scope="session")
def chromium() -> str:
    """The browser; skips where there is none."""
    found = find("", ENVIRON)
    if found is None:
        pytest.skip(f"no Chromium here: {FIX}")
    return found


@pytest.fixture(scope="session")
def site(chromium: str) -> Iterator[LoopbackSite]:
    """The public web of these tests."""
    with LoopbackSite() as made:
        yield made


@pytest.fixture
def inside() -> Iterator[LoopbackSite]:
    """A server that nobody is allowed to reach."""
    with LoopbackSite() as made:
        yield made


@pytest.fixture(scope="session")
def make(chromium: str, site: LoopbackSite) -> Iterator[Callable[..., BrowserFetcher]]:
    """Makes fetchers that may reach ``site`` alone; they are closed in the end."""
    with ExitStack() as stack:
        http = stack.enter_context(loopback_http(RealClock(), allow=[f"127.0.0.1:{site.port}"]))
        log = FakeContext("fetch_browser").log

        def build(**settings: Any) -> BrowserFetcher:
            made = BrowserFetcher(FetchBrowserSettings(**settings), http, RealClock(), ENVIRON, log)
            stack.callback(made.close)
            return made

        yield build


@pytest.fixture(scope="session")
def browser(make: Callable[..., BrowserFetcher]) -> BrowserFetcher:
    """A fetcher whose browser runs already."""
    made = make()
    made.warm_up()
    return made


@pytest.fixture
def environ() -> dict[str, str]:
    """What a host would hand on."""
    return dict(ENVIRON)
