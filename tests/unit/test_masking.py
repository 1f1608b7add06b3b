"""Places of this machine, struck out of text; addresses stay."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webfetch_core.api import without_paths

PLACES = [
    "/srv/someone/web/cache.lmdb",
    "/homes/someone/",
    "/var/lib/x+y/a=b/%41",
    "~/.local/share/webfetch",
    "~someone/notes",
    "/data/файлы/кэш",
    "C:\\Users\\someone\\cache",
    "c:\\Users\\someone\\cache",
    "C:/People/someone/cache",
    "\\\\server\\share\\x",
    "\\\\?\\C:\\Users\\someone",
    "file:///srv/someone/x",
    "file:/srv/someone/x",
    "FILE:///C:/People/someone/x",
    "jar:file:///srv/someone/x.jar",
    "sqlite:////srv/someone/x.db",
]
SETTINGS = [
    "cannot open {}",
    "cannot open {}: full",
    "cannot open {}, then",
    "({})",
    "[Errno 2] No such file: '{}'",
    'at "{}" now',
    "`{}` is gone",
    "cache={}",
    "place:{} is full",
    "two\nlines {}\nand a third",
]


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("place", PLACES)
def test_a_place_is_struck_wherever_it_stands(place: str, setting: str) -> None:
    told = without_paths(setting.format(place))
    assert "(a path)" in told
    for part in ("someone", "srv", "home", "var", "share", "кэш", "notes"):
        assert part not in told, told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("cannot open '/srv/some one/cache': full", "cannot open (a path): full"),
        ('cannot open "C:\\Users\\Some One\\cache": full', "cannot open (a path): full"),
        ('cannot open "/srv/it\'s/here" now', "cannot open (a path) now"),
        ("in /People/Jane Doe/Library/Application Support/webfetch now", "in (a path) now"),
        ("PATH=/opt/a/bin:/opt/b/bin", "PATH=(a path):(a path)"),
        ("see /etc/webfetch/a.toml.", "see (a path)."),
        ("/a/b and/or /c/d", "(a path) and/or (a path)"),
        ("'/secret'", "(a path)"),
        ("sqlite:////srv/x.db", "sqlite:(a path)"),
        ("/r/ and /docs/a", "(a path) and (a path)"),
        ("", ""),
    ],
)
def test_no_more_and_no_less_than_the_path_goes(text: str, told: str) -> None:
    assert without_paths(text) == told


@pytest.mark.parametrize(
    "text",
    [
        "https://a.example/b/c/d.html: 404",
        "HTTPS://A.example/b/c",
        "https://a.example/r?to=/docs/intro/x#/route/of/it",
        "https://[2001:db8::1]:8443/a/b",
        "https:/a.example/b/c",
        "http://127.0.0.1:8080/a/b and/or TCP/IP",
        "ws://a.example/b/c",
        "a.example/b/c",
        "a.example:8080/b/c",
        "//cdn.example/b/c",
        "'//cdn.example/b/c'",
        "local:docs/a/b.md",
        "'local:docs/a b/c.md'",
        "use 'a'/'b' instead",
        "text/html; application/xhtml+xml",
        "1/2/3 and 5 / 6",
        "a/b/c",
        "./a/b and ../a/b",
        "pip install 'webfetch[browser]'",
        "/openapi.json",
        "the file: it is not there",
        "a profile:x",
        "it's 5 o'clock",
        "\\d+ and \\\\",
    ],
)
def test_what_is_no_place_stays(text: str) -> None:
    assert without_paths(text) == text


@given(st.text(), st.text())
def test_a_second_time_changes_nothing_and_a_place_between_any_words_goes(before: str, after: str) -> None:
    told = without_paths(f"{before}\n/srv/someone/cache\n{after}")
    if not any(mark in before for mark in "'\"`"):
        assert "someone" not in told
    assert without_paths(told) == told or any(mark in told for mark in "'\"`")


@pytest.mark.parametrize(
    "text", ["'/" * 40_000, "/a" * 80_000, "~" * 80_000, "/+" * 80_000, "\"/'/" * 30_000, "/a/ b" * 40_000,
             "/" + "." * 80_000, "/a/" + "." * 80_000, "https://" * 20_000, "a:" * 60_000, "\\\\a" * 60_000],
)  # fmt: skip
def test_the_time_it_takes_grows_with_the_text_alone(text: str) -> None:
    started = time.monotonic()
    without_paths(text)
    assert time.monotonic() - started < 10
