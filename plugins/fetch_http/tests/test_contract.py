"""The contract of every fetcher, and of this plugin's declaration."""

from __future__ import annotations

import subprocess
import sys

import pytest
from webfetch_fetch_http import plugin
from webfetch_fetch_http.fetcher import product_token
from webfetch_fetch_http.settings import FetchHttpSettings

from webfetch_core.testing.contracts import FetcherContract


class TestFetchHttp(FetcherContract):
    plugin = "webfetch_fetch_http.plugin"
    provider = "http"


def test_the_declaration() -> None:
    (declared,) = plugin.webfetch_fetchers()
    assert (declared.name, declared.priority, declared.max_concurrency, declared.timeout_s) == (
        "http",
        0,
        16,
        10.0,
    )
    assert declared.settings is FetchHttpSettings


def test_importing_the_plugin_is_cheap() -> None:
    code = (
        "import sys, webfetch_fetch_http.plugin;"
        "print(sorted({'requests', 'lxml', 'html.parser', 'webfetch_fetch_http.fetcher'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    "wrong", [{"max_bytes": 0}, {"max_redirects": -1}, {"user_agent": "a\r\nX: 1"}, {"min_bytes_per_s": -1.0}]
)
def test_bad_settings_name_the_key(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        FetchHttpSettings(**wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("agent", "token"),
    [
        ("", "webfetch"),
        ("MyBot/2.0 (+mailto:a@b.example)", "MyBot"),
        ("Mozilla/5.0 (X11; Linux)", "webfetch"),
        ("Mozilla/5.0 (compatible; Reader/1.0; +https://r.example)", "Reader"),
    ],
)
def test_the_name_that_robots_rules_may_use(agent: str, token: str) -> None:
    assert product_token(agent) == token
