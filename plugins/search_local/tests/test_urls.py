from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from webfetch_search_local.urls import local_url, parse_local_url, passes_domains, public_url, read_url_map

from webfetch_core.api import ConfigError


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1))
def test_every_path_comes_back_from_its_url(path: str) -> None:
    url = local_url("docs", path)
    assert url.isascii() and not any(c in url for c in " #?\n")
    assert parse_local_url(url) == ("docs", path)


def test_a_name_that_is_no_unicode_comes_back() -> None:
    path = b"caf\xe9.md".decode("utf-8", "surrogateescape")
    assert parse_local_url(local_url("docs", path)) == ("docs", path)


def test_an_index_name_in_any_script() -> None:
    assert parse_local_url(local_url("文档", "a.md")) == ("文档", "a.md")


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "https://x.example/", "docs/a.md", "", "localhost:80/a"]
)
def test_other_schemes_are_not_ours(url: str) -> None:
    assert parse_local_url(url) is None


def test_a_base_url_keeps_its_last_folder() -> None:
    assert public_url("a b/c#.md", "https://x.example/docs", {}) == "https://x.example/docs/a%20b/c%23.md"
    assert (
        public_url("a.md", "https://x.example/docs/", {"a.md": "https://y.example/"}) == "https://y.example/"
    )
    assert public_url("a.md", "", {}) == ""


@pytest.mark.parametrize(
    ("url", "include", "exclude", "passes"),
    [
        ("https://a.example/x", (), (), True),
        ("https://www.a.example/x", ("a.example",), (), True),
        ("https://sub.a.example/x", ("A.example",), (), True),
        ("https://nota.example/x", ("a.example",), (), False),
        ("https://a.example/x", ("www.a.example",), (), True),
        ("https://a.example/x", (), ("a.example",), False),
        ("", (), ("a.example",), True),
        ("", ("a.example",), (), False),
    ],
)
def test_domains(url: str, include: tuple[str, ...], exclude: tuple[str, ...], passes: bool) -> None:
    assert passes_domains(url, include, exclude) is passes


def test_a_url_map_takes_relative_and_absolute_paths(tmp_path: Path) -> None:
    file = tmp_path / "map.jsonl"
    inside = (tmp_path / "b.md").as_posix()
    file.write_text(
        '{"path": "./sub/a.md", "url": "https://x.example/a"}\n\n'
        f'{{"path": "{inside}", "url": "https://x.example/b"}}\n'
    )
    assert read_url_map(file, tmp_path) == {"sub/a.md": "https://x.example/a", "b.md": "https://x.example/b"}


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("not json", "line 2"),
        ('{"path": "a.md"}', "line 2"),
        ("[1]", "line 2"),
        ('{"path": "a.md", "url": "ftp://x.example/"}', "is not a web address"),
        ('{"path": "a.md", "url": "https://[bad/"}', "is not a web address"),
        ('{"path": "a.md", "url": null}', "is not a web address"),
        ('{"path": "../a.md", "url": "https://x.example/"}', "is not inside"),
    ],
)
def test_a_bad_line_of_a_url_map_is_named(tmp_path: Path, line: str, told: str) -> None:
    file = tmp_path / "map.jsonl"
    file.write_text(f'{{"path": "ok.md", "url": "https://x.example/"}}\n{line}\n')
    with pytest.raises(ConfigError, match=told):
        read_url_map(file, tmp_path)


def test_a_missing_url_map_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        read_url_map(tmp_path / "none.jsonl", tmp_path)
