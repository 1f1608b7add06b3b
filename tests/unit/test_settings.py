"""Settings: nothing is read unasked, every layer has its turn, and a mistake is told with its place."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest
from attrs import fields, has
from hypothesis import given
from hypothesis import strategies as st

from webfetch_core.app import Webfetch
from webfetch_core.errors import ConfigError
from webfetch_core.settings import (
    BudgetSettings,
    RankingSettings,
    Settings,
    default_config,
    default_home,
)
from webfetch_core.settings_load import parse_value, structure


@pytest.fixture
def load(tmp_path: Path) -> Any:
    """``load(user=..., here=..., env=..., flags=...)`` with TOML texts of the two files."""
    folders = {"user": tmp_path / "config" / "webfetch", "here": tmp_path / "here"}

    def make(user: str = "", here: str = "", env: dict[str, str] | None = None, **flags: Any) -> Settings:
        for name, text in (("user", user), ("here", here)):
            folders[name].mkdir(parents=True, exist_ok=True)
            file = folders[name] / "webfetch.toml"
            file.unlink(missing_ok=True)
            if text:
                file.write_text(text)
        environ = {"XDG_CONFIG_HOME": str(tmp_path / "config"), "HOME": str(tmp_path), **(env or {})}
        return Settings.load(
            environ, cwd=folders["here"], overrides={k.replace("__", "."): v for k, v in flags.items()}
        )

    return make


def fault(load: Any, **layers: Any) -> str:
    with pytest.raises(ConfigError) as caught:
        load(**layers)
    return str(caught.value)


def test_a_plain_settings_object_reads_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("WEBFETCH_LIMIT", "3")
    monkeypatch.setenv("WEBFETCH_NONSENSE", "x")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "webfetch.toml").write_text("limit = 4")
    monkeypatch.setattr("builtins.open", lambda *a, **k: pytest.fail("a file was opened"))
    assert Settings().limit == 10
    assert Settings().origins == {}


def test_defaults_are_valid_and_every_field_has_one() -> None:
    made = Settings()
    assert made == Settings()
    assert (made.search, made.search_mode, made.deadline_s, made.ranking.keep) == ("auto", "fuse", 8.0, 5)


@pytest.mark.parametrize("key", ["search", "fetch", "rank", "cache", "allow_plugins", "block_plugins"])
def test_one_name_where_a_list_belongs_is_told(key: str) -> None:
    for wrong in ("ddg", 5, {"ddg"}, (5,)):
        with pytest.raises(ConfigError, match=f"{key}: expected a list of names"):
            Settings(**{key: wrong})
    assert getattr(Settings(**{key: ["ddg"]}), key) == ["ddg"]
    assert getattr(Settings(**{key: ()}), key) == ()


def test_later_layers_win_and_each_value_knows_its_origin(load: Any, tmp_path: Path) -> None:
    made = load(
        user="limit = 2\ndeadline_s = 2\n[ranking]\nkeep = 2\nper_source = 2\n",
        here="deadline_s = 3.5\n[ranking]\nkeep = 3\n",
        env={"WEBFETCH_RANKING__KEEP": "4", "WEBFETCH_FETCH_WORKERS": "4"},
        fetch_workers=6,
    )
    assert (made.limit, made.deadline_s, made.ranking.keep, made.ranking.per_source) == (2, 3.5, 4, 2)
    assert made.fetch_workers == 6
    assert dict(made.origins) == {
        "limit": f"file {tmp_path}/config/webfetch/webfetch.toml",
        "deadline_s": f"file {tmp_path}/here/webfetch.toml",
        "ranking.keep": "env WEBFETCH_RANKING__KEEP",
        "ranking.per_source": f"file {tmp_path}/config/webfetch/webfetch.toml",
        "fetch_workers": "flag",
    }


def test_origins_make_no_difference_between_settings(load: Any) -> None:
    assert load(env={"WEBFETCH_LIMIT": "10"}) == Settings()


def test_a_named_file_is_read_alone(load: Any, tmp_path: Path) -> None:
    named = tmp_path / "other.toml"
    named.write_text("limit = 7")
    assert load(here="limit = 4\nfetch_workers = 3", env={"WEBFETCH_CONFIG": str(named)}).limit == 7
    assert load(here="fetch_workers = 3", env={"WEBFETCH_CONFIG": str(named)}).fetch_workers == 8
    assert "does not exist" in fault(load, env={"WEBFETCH_CONFIG": str(tmp_path / "none.toml")})


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("limt = 3", "limt: unknown setting, did you mean limit?"),
        ("[ranking]\nkeeps = 3", "ranking.keeps: unknown setting, did you mean keep?"),
        ("[rankings]\nkeep = 3", "rankings"),
        ("limit = 'ten'", "limit: expected a whole number, got 'ten'"),
        ("limit = true", "limit: expected a whole number, got True"),
        ("limit = 2.5", "limit: expected a whole number"),
        ("limit = 0", "limit: must be at least 1; got 0"),
        ("limit = 101", "limit: must be at most 100; got 101"),
        ("deadline_s = 0", "deadline_s"),
        ("deadline_s = nan", "deadline_s"),
        ("deadline_s = inf", "deadline_s"),
        ("deadline_s = 1e12", "deadline_s"),
        ("engine_timeout_s = inf", "engine_timeout_s"),
        ("fetch_timeout_s = inf", "fetch_timeout_s"),
        ("search_mode = 'best'", "search_mode"),
        ("search = 'ddg'", "search: expected \"auto\" or a list of names, got 'ddg'"),
        ("search = [1]", "search: expected text, got 1"),
        ("strict_plugins = 1", "strict_plugins: expected true or false, got 1"),
        ("home = 5", "home: expected text, got 5"),
        ("origins = {}", "origins: unknown setting"),
        ("[ranking]\nfusion = 'sum'", "ranking.fusion"),
        ("[ranking]\nkeep = 'five'", "ranking.keep: expected a whole number, got 'five'"),
        ("block_plugins = 80", "block_plugins: expected a list, got 80"),
        ("net = 5", "net: expected a table, got 5"),
        ("[chunk]\noverlap = 0.9", "chunk.overlap"),
        ("[budget]\ntool = 100", "budget.tool"),
        ("plugins = 5", "plugins: expected a table, got 5"),
    ],
)
def test_a_mistake_is_told_with_its_key_and_its_file(load: Any, tmp_path: Path, text: str, told: str) -> None:
    message = fault(load, here=text)
    assert told in message
    assert f"[file {tmp_path}/here/webfetch.toml]" in message
    assert "correct it where it was set" in message


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("[net]\nallow_hosts = ['169.254.169.254']", "net.allow_hosts"),
        ("[net]\nuse_env_proxies = true", "net.use_env_proxies"),
        ("[plugins.search_brave]\nbase_url = 'https://keys.example'", "plugins.search_brave.base_url"),
        ("[plugins.rank_onnx]\ncrossencoder = '/proc/self/cwd/evil'", "plugins.rank_onnx.crossencoder"),
        ("[plugins.serve_http]\nhost = '0.0.0.0'", "plugins.serve_http.host"),
        ("[plugins.serve_mcp]\ntoken_env = 'HOME'", "plugins.serve_mcp.token_env"),
        ("[plugins.search_ddg]\nproxy = 'http://keys.example'", "plugins.search_ddg.proxy"),
    ],
)
def test_a_folder_opens_no_private_host_and_gets_no_key(
    load: Any, tmp_path: Path, text: str, key: str
) -> None:
    message = fault(load, here=text)
    assert message.startswith(f"{key}: ")
    assert "--config" in message
    named = tmp_path / "named.toml"
    named.write_text(text, encoding="utf-8")
    assert key in load(env={"WEBFETCH_CONFIG": str(named)}).origins  # a file that was named may


def test_a_folder_may_switch_a_model_on_and_off(load: Any) -> None:
    loaded = load(here="[plugins.freshness_classifier]\nuse_biencoder = false")
    assert loaded.plugins["freshness_classifier"] == {"use_biencoder": False}


def test_all_mistakes_are_told_at_once(load: Any) -> None:
    message = fault(load, here="limt = 3\nfoo = 1\n[ranking]\nbar = 2")
    assert all(key in message for key in ("limt", "foo", "ranking.bar"))
    message = fault(load, here="limit = 0\n[ranking]\nkeep = 'x'\n[budget]\ntool = 1")
    assert "ranking.keep" in message
    assert "budget.tool" in message


@pytest.mark.parametrize(
    "content",
    [b"limit = ", b"\xff\xfe", b"[net\n", b"limit = 3\nlimit = 4", b"x = " + b"[" * 20_000 + b"]" * 20_000],
    ids=["cut", "bytes", "table", "twice", "deep"],
)
def test_a_file_that_cannot_be_read_is_named(load: Any, tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "bad.toml"
    file.write_bytes(content)
    assert str(file) in fault(load, env={"WEBFETCH_CONFIG": str(file)})


def test_a_file_with_a_byte_order_mark_is_read(load: Any, tmp_path: Path) -> None:
    file = tmp_path / "bom.toml"
    file.write_bytes(b"\xef\xbb\xbflimit = 3\n")
    assert load(env={"WEBFETCH_CONFIG": str(file)}).limit == 3


def test_a_folder_in_place_of_a_file_is_no_settings_file(load: Any, tmp_path: Path) -> None:
    (tmp_path / "here" / "webfetch.toml").mkdir(parents=True)
    made = Settings.load({"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}, cwd=tmp_path / "here")
    assert made == Settings()


@pytest.mark.parametrize(
    ("name", "value", "key", "expected"),
    [
        ("WEBFETCH_LIMIT", "3", "limit", 3),
        ("WEBFETCH_DEADLINE_S", "2.5", "deadline_s", 2.5),
        ("WEBFETCH_STRICT_PLUGINS", "Yes", "strict_plugins", True),
        ("WEBFETCH_STRICT_PLUGINS", "off", "strict_plugins", False),
        ("WEBFETCH_SEARCH", "auto", "search", "auto"),
        ("WEBFETCH_SEARCH", " ddg , local ", "search", ("ddg", "local")),
        ("WEBFETCH_SEARCH", '["ddg"]', "search", ("ddg",)),
        ("WEBFETCH_PLUGINS", "a,b", "allow_plugins", ("a", "b")),
        ("WEBFETCH_PLUGINS", "", "allow_plugins", ()),
        ("WEBFETCH_BLOCK", "a", "block_plugins", ("a",)),
        ("WEBFETCH_BLOCK", "", "block_plugins", ()),
        ("WEBFETCH_HOME", "/data", "home", "/data"),
        ("WEBFETCH_CACHE_DB", "/data/c.db", "cache_db", "/data/c.db"),
        ("WEBFETCH_PROVIDER", "multi", "search_mode", "fuse"),
        ("WEBFETCH_PROVIDER", "fallback", "search_mode", "fallback"),
        ("WEBFETCH_PROVIDER", "ddg", "search", ("ddg",)),
        ("WEBFETCH_LIMIT", "", "limit", 10),
        ("WEBFETCH_DEBUG", "1", "limit", 10),
    ],
)
def test_the_environment_is_read_by_the_type_of_the_setting(
    load: Any, name: str, value: str, key: str, expected: Any
) -> None:
    made = load(env={name: value})
    assert getattr(made, key) == expected
    assert made.origins.get(key) in (None, f"env {name}")


def test_nested_settings_and_plugin_tables_have_names_in_the_environment(load: Any) -> None:
    made = load(
        env={
            "WEBFETCH_NET__PORTS": "80,8081",
            "WEBFETCH_NET__ALLOW_HOSTS": "intranet,10.0.0.0/8",
            "WEBFETCH_PLUGINS__SEARCH_DDG__REGION": "de-de",
            "WEBFETCH_PLUGINS__SEARCH_DDG__PAGES": "2",
        }
    )
    assert (made.net.ports, made.net.allow_hosts) == ((80, 8081), ("intranet", "10.0.0.0/8"))
    assert made.plugins == {"search_ddg": {"region": "de-de", "pages": 2}}


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("WEBFETCH_LIMITS", "3", "limits: unknown setting, did you mean limit? [env WEBFETCH_LIMITS]"),
        ("WEBFETCH_LIMIT", "many", "limit: expected a whole number, got 'many' [env WEBFETCH_LIMIT]"),
        ("WEBFETCH_STRICT_PLUGINS", "maybe", "strict_plugins: expected true or false, got 'maybe'"),
        ("WEBFETCH_NET", "x", "net"),
        ("WEBFETCH_RANKING__KEEP__MORE", "1", "ranking.keep"),
    ],
)
def test_a_mistake_in_the_environment_names_the_variable(load: Any, name: str, value: str, told: str) -> None:
    message = fault(load, env={name: value})
    assert told in message
    assert name in message


def test_a_table_and_a_value_of_one_name_are_told(load: Any) -> None:
    assert "ranking" in fault(load, here="[ranking]\nkeep = 3", env={"WEBFETCH_RANKING": "x"})


def test_an_empty_table_takes_nothing_away(load: Any) -> None:
    made = load(user="[plugins.search_ddg]\nregion = 'de-de'", here="[plugins.search_ddg]\n[ranking]\n")
    assert made.plugins == {"search_ddg": {"region": "de-de"}}
    assert load(here="[plugins.search_ddg]").plugins == {"search_ddg": {}}


def test_flags_are_dotted(load: Any) -> None:
    assert load(ranking__keep=9).ranking.keep == 9
    assert "ranking.keeps" in fault(load, ranking__keeps=9)


@given(
    st.text(max_size=20),
    st.sampled_from(["limit", "deadline_s", "strict_plugins", "search", "net.ports", "home", "x"]),
)
def test_no_text_in_a_variable_breaks_more_than_its_setting(text: str, key: str) -> None:
    parse_value(key, text)
    name = "WEBFETCH_" + key.upper().replace(".", "__")
    try:
        Settings.load({name: text, "HOME": "/nonexistent"}, cwd=Path("/nonexistent"))
    except ConfigError as exc:
        assert name in str(exc) or "settings" in str(exc)


def test_structuring_one_class_at_a_time() -> None:
    made = structure(RankingSettings, {"keep": 3}, path="plugins.x")
    assert made.keep == 3
    with pytest.raises(ConfigError, match=r"plugins\.x\.keep: expected a whole number"):
        structure(RankingSettings, {"keep": "3"}, path="plugins.x")
    with pytest.raises(ConfigError, match=r"plugins\.x\.tool"):
        structure(BudgetSettings, {"tool": 1}, path="plugins.x")


def test_every_number_has_bounds() -> None:
    def numbers(cls: type, path: str = "") -> list[str]:
        loose = []
        for a in fields(cls):
            default = a.default
            if has(type(default)):
                loose += numbers(type(default), f"{a.name}.")
            elif isinstance(default, (int, float)) and not isinstance(default, bool) and a.validator is None:
                loose.append(path + a.name)
        return loose

    assert numbers(Settings) == []


def test_where_data_and_settings_live(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    environ = {
        "XDG_DATA_HOME": "/x/data",
        "XDG_CONFIG_HOME": "/x/conf",
        "LOCALAPPDATA": "/w/l",
        "APPDATA": "/w/r",
    }
    monkeypatch.setattr(sys, "platform", "linux")
    assert (default_home(environ), default_config(environ)) == (
        Path("/x/data/webfetch"),
        Path("/x/conf/webfetch/webfetch.toml"),
    )
    assert default_home({}) == Path.home() / ".local" / "share" / "webfetch"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert default_home(environ) == Path.home() / "Library" / "Application Support" / "webfetch"
    assert default_config(environ).parent == default_home(environ)
    monkeypatch.setattr(sys, "platform", "win32")
    assert default_home(environ) == Path("/w/l/webfetch")
    assert default_config(environ) == Path("/w/r/webfetch/webfetch.toml")


@pytest.mark.skipif(sys.platform == "win32", reason="HOME is not what Windows goes by")
@pytest.mark.parametrize("home", [None, "", "somewhere/else"])
@pytest.mark.parametrize("known", [True, False])
def test_without_a_home_nothing_lands_where_one_stands(
    home: str | None, known: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import pwd

    if not known:
        monkeypatch.setattr(pwd, "getpwuid", lambda uid: pwd.getpwnam("no-such-user-here"))
    if home is None:
        monkeypatch.delenv("HOME")
    else:
        monkeypatch.setenv("HOME", home)
    monkeypatch.chdir(tmp_path)
    own = pwd.getpwuid(os.getuid()).pw_dir if known else "/dev/null"
    for folder in (default_home({}), default_config({})):
        assert folder.is_relative_to(own)
    loaded = Settings.load({}, cwd=tmp_path)
    assert loaded.home == "" and loaded.home_dir({}) == default_home({})
    with Webfetch(Settings(), autoload=False, environ={}) as wf:
        assert wf.status().home == str(default_home({}))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="XDG is not what this system goes by")
def test_folders_of_data_that_are_not_whole_paths_are_none() -> None:
    relative = {"XDG_DATA_HOME": "data", "XDG_CONFIG_HOME": "conf"}
    assert (default_home(relative), default_config(relative)) == (default_home({}), default_config({}))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="XDG is not what this system goes by")
def test_a_home_that_may_not_be_looked_into_has_no_settings(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def refused(path: Path, *_: Any, **__: Any) -> bool:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "is_file", refused)  # a mode would not stop the superuser
    assert Settings.load({}, cwd=tmp_path).origins == {}
    with pytest.raises(ConfigError, match=r"mine\.toml"):
        Settings.load({}, config=tmp_path / "mine.toml")


def test_home_is_a_path_with_its_tilde_resolved() -> None:
    assert Settings(home="~/w").home_dir({}) == Path("~/w").expanduser()
    assert not Settings(home="/nonexistent/w").home_dir({}).exists()
    if sys.platform.startswith("linux"):
        assert Settings().home_dir({"XDG_DATA_HOME": "/data"}) == Path("/data/webfetch")


def test_the_home_folder_of_a_user_who_is_not_there_is_a_setting_to_mend() -> None:
    with pytest.raises(ConfigError, match="no-such-user-here"):
        Settings(home="~no-such-user-here/data").home_dir({})


def test_a_secret_of_a_server_is_no_setting(load: Any) -> None:
    assert load(env={"WEBFETCH_MCP_TOKEN": "x" * 20}) == load()
    assert "unknown setting" in fault(load, env={"WEBFETCH_TOKENS": "1"})
