import os
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from webfetch_core.providers import Provider, SearchTraits
from webfetch_core.testing import FakePlugin, ScriptedEngine, hits


@frozen(kw_only=True)
class LocalSettings:
    here: tuple[str, ...] = ()


def local_plugin(seen: list[Any], **fields: Any) -> FakePlugin:
    """Stands for search_local: keeps the settings that its engine was built with."""

    def build(settings: Any, context: Any) -> Any:
        seen.append(settings.here)
        return ScriptedEngine(hits("https://a.example.org/fusion"))

    provider: Provider[Any] = Provider(
        name="local", build=build, settings=LocalSettings, traits=SearchTraits(network=False), **fields
    )
    return FakePlugin("search_local", {"search": [provider]})


def test_folders_reach_the_plugin_as_absolute_paths(cli: Any, tmp_path: Path) -> None:
    seen: list[Any] = []
    cli.plugins.append(local_plugin(seen))
    (tmp_path / "docs").mkdir()
    (tmp_path / "more notes").mkdir()
    ran = cli("search", "fusion", "--here", "docs", "--here", str(tmp_path / "more notes"))
    assert ran.code == 0
    assert seen == [(str(tmp_path / "docs"), str(tmp_path / "more notes"))]


def test_it_is_searched_even_where_the_settings_name_other_engines(cli: Any, tmp_path: Path) -> None:
    seen: list[Any] = []
    cli.plugins.append(local_plugin(seen))
    cli.environ["WEBFETCH_PROVIDER"] = "alpha"
    assert cli("search", "fusion", "--here", str(tmp_path)).code == 0
    assert seen == [(str(tmp_path),)]


def test_without_its_plugin_it_says_what_to_install(cli: Any, tmp_path: Path) -> None:
    ran = cli("search", "fusion", "--here", str(tmp_path))
    assert (ran.code, ran.err) == (
        3,
        "webfetch: --here needs the plugin search_local, which is not installed\n"
        "fix: pip install webfetch-search-local\n",
    )


def test_without_what_its_plugin_needs_it_says_so(cli: Any, tmp_path: Path) -> None:
    from webfetch_core.requirements import Module

    cli.plugins.append(local_plugin([], requires=(Module("no_such_module_here", install="tantivy"),)))
    ran = cli("search", "fusion", "--here", str(tmp_path))
    assert ran.code == 3
    assert "pip install tantivy" in ran.err


def test_with_its_plugin_blocked_it_does_not_go_on_without(bare_cli: Any, tmp_path: Path) -> None:
    pytest.importorskip("webfetch_search_local")
    bare_cli.environ["WEBFETCH_BLOCK"] = "search_local"
    ran = bare_cli("search", "fusion", "--here", str(tmp_path), installed=True)
    assert ran.code == 3
    assert "needs the plugin search_local, which is blocked" in ran.err


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("nowhere", "it does not exist"),
        ("file.txt", "it is not a folder"),
        ("a\0b", "it cannot be read"),
        ("~no-such-user-here/x", "it "),
    ],
)
def test_a_path_that_is_no_folder(cli: Any, tmp_path: Path, path: str, told: str) -> None:
    (tmp_path / "file.txt").write_text("x")
    ran = cli("search", "fusion", "--here", path)
    assert ran.code == 2
    assert ran.err.startswith("webfetch: --here ")
    assert told in ran.err
    assert "\nfix: " in ran.err


def test_a_folder_that_cannot_be_read(cli: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(path: Any) -> Any:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "scandir", denied)
    ran = cli("search", "fusion", "--here", str(tmp_path))
    assert ran.code == 2
    assert "it cannot be read: Permission denied\nfix: mend its permissions" in ran.err


def test_an_engine_list_that_leaves_it_out_is_a_contradiction(cli: Any, tmp_path: Path) -> None:
    ran = cli("search", "fusion", "--here", str(tmp_path), "--engine", "alpha")
    assert ran.code == 2
    assert "fix: add --engine local" in ran.err
