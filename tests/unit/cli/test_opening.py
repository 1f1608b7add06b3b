"""Settings as the command line reads them: which layer wins, and how a wrong one is told."""

import json
from pathlib import Path
from typing import Any

import pytest


def setting(cli: Any, key: str, *words: str) -> tuple[Any, str]:
    ran = cli("status", "--json", *words)
    assert ran.code == 0, ran.err
    row = next(r for r in json.loads(ran.out)["settings"] if r["key"] == key)
    return row["value"], row["origin"]


def test_each_layer_wins_over_the_one_below(cli: Any, tmp_path: Path) -> None:
    assert setting(cli, "limit") == (10, "default")
    user = tmp_path / "config" / "webfetch" / "webfetch.toml"
    user.parent.mkdir(parents=True)
    user.write_text("limit = 11\n[ranking]\nkeep = 7\n")
    cli.environ["APPDATA"] = str(tmp_path / "config")
    assert setting(cli, "limit") == (11, f"file {user}")
    here = tmp_path / "webfetch.toml"
    here.write_text("limit = 12\n")
    assert setting(cli, "limit") == (12, f"file {here}")
    assert setting(cli, "ranking.keep") == (7, f"file {user}")
    cli.environ["WEBFETCH_LIMIT"] = "13"
    assert setting(cli, "limit") == (13, "env WEBFETCH_LIMIT")
    assert setting(cli, "limit", "--set", "limit=14") == (14, "flag")


def test_a_named_file_stands_alone(cli: Any, tmp_path: Path) -> None:
    (tmp_path / "webfetch.toml").write_text("limit = 12\n")
    (tmp_path / "other.toml").write_text("deadline_s = 3\n")
    assert setting(cli, "limit", "--config", "other.toml") == (10, "default")
    assert setting(cli, "deadline_s", "--config", "other.toml") == (3.0, "file other.toml")
    cli.environ["WEBFETCH_CONFIG"] = "other.toml"
    assert setting(cli, "deadline_s") == (3.0, "file other.toml")


def test_the_cache_path_and_the_provider_have_variables_of_their_own(cli: Any, tmp_path: Path) -> None:
    cli.environ["WEBFETCH_CACHE_DB"] = str(tmp_path / "c.lmdb")
    cli.environ["WEBFETCH_PROVIDER"] = "alpha"
    assert setting(cli, "cache_db") == (str(tmp_path / "c.lmdb"), "env WEBFETCH_CACHE_DB")
    assert setting(cli, "search") == (["alpha"], "env WEBFETCH_PROVIDER")
    cli.environ["WEBFETCH_PROVIDER"] = "fallback"
    assert setting(cli, "search_mode") == ("fallback", "env WEBFETCH_PROVIDER")


@pytest.mark.parametrize(
    ("given", "key", "value"),
    [
        ("search=alpha,beta", "search", ["alpha", "beta"]),
        ('search=["alpha"]', "search", ["alpha"]),
        ("search=auto", "search", "auto"),
        ("net.ports=80, 443", "net.ports", [80, 443]),
        ("net.ports=[80]", "net.ports", [80]),
        ("ranking.use_biencoder=off", "ranking.use_biencoder", False),
        ("net.user_agent=a = b", "net.user_agent", "a = b"),
        ("chunk.overlap=0.2", "chunk.overlap", 0.2),
        ("home=", "home", ""),
    ],
)
def test_a_flag_is_read_by_the_type_of_its_setting(cli: Any, given: str, key: str, value: Any) -> None:
    cli.environ.pop("WEBFETCH_HOME")
    cli.environ["WEBFETCH_CACHE"] = "none"
    assert setting(cli, key, "--set", given) == (value, "flag")


@pytest.mark.parametrize(
    ("words", "told", "code"),
    [
        (["--set", "limit=abc"], "limit: expected a whole number, got 'abc' [flag]", 3),
        (["--set", "limit=0"], "limit: ", 3),
        (["--set", "limitt=3"], "limitt: unknown setting, did you mean limit?", 3),
        (["--set", "ranking.kep=3"], "ranking.kep: unknown setting, did you mean keep?", 3),
        (["--set", "net=3"], "net: expected a table, got ", 3),
        (["--set", "a..b=3"], "a: unknown setting", 3),
        (["--set", "limit.x=3"], "limit: expected a whole number", 3),
        (["--set", "plugins.search_alhpa.x=3"], "did you mean search_alpha?", 3),
        (["--set", "plugins.search_alpha=3"], "plugins", 3),
        (["--set", "cache=nowhere"], "nowhere", 3),
        (["--set", "limit"], "--set limit: expected KEY=VALUE", 2),
        (["--set", "=3"], "--set =3: expected KEY=VALUE", 2),
        (["--config", "nowhere.toml"], "settings file nowhere.toml does not exist", 3),
    ],
)
def test_a_wrong_setting_is_named(cli: Any, words: list[str], told: str, code: int) -> None:
    ran = cli("search", "fusion", *words)
    assert ran.code == code, ran.err
    assert told in ran.err
    assert "Traceback" not in ran.err
    assert "internal fault" not in ran.err


def test_a_file_that_is_not_toml_is_named(cli: Any, tmp_path: Path) -> None:
    (tmp_path / "webfetch.toml").write_text("limit = = 3\n")
    ran = cli("status")
    assert ran.code == 3
    assert f"settings file {tmp_path / 'webfetch.toml'} is not valid TOML" in ran.err


def test_a_home_that_cannot_be_made(bare_cli: Any, tmp_path: Path) -> None:
    pytest.importorskip("webfetch_cache_lmdb")
    (tmp_path / "file").write_text("x")
    bare_cli.environ["WEBFETCH_HOME"] = str(tmp_path / "file" / "home")
    ran = bare_cli("cache", "stats", installed=True)
    assert ran.code == 7
    assert "set WEBFETCH_HOME to a folder that can be written" in ran.err
    assert "cannot be made" in bare_cli("doctor", installed=True).out
