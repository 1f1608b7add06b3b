"""What a plugin is given: its own corner, and services that answer or say that nothing serves them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from attrs import define, frozen
from hypothesis import given
from hypothesis import strategies as st

from webfetch_core.api import (
    BadResponse,
    CacheError,
    EnvKey,
    NotConfigured,
    Provider,
    RankTraits,
    SearchTraits,
)
from webfetch_core.app import Webfetch
from webfetch_core.errors import ConfigError, Refused
from webfetch_core.runtime.context import HostContext, Space, trusted_hosts
from webfetch_core.settings import Settings
from webfetch_core.testing import (
    FakePlugin,
    LoopbackSite,
    MemoryCache,
    ScriptedEngine,
    ScriptedRanker,
    fake_plugin,
)


@frozen(kw_only=True)
class BaseUrl:
    base_url: str = ""
    other: str = "http://127.0.0.1:9/"


@define(slots=False)
class Unslotted:
    api_base_url: str = "http://gateway.example:8081/v1"


class Inherited(BaseUrl):
    pass


@pytest.fixture
def context(tmp_path: Path) -> Iterator[Callable[..., HostContext]]:
    made: list[Webfetch] = []

    def make(
        plugin: str = "search_mine", *others: Any, cls: Any = None, table: Any = None, **options: Any
    ) -> HostContext:
        environ = options.pop("environ", {})
        provider = Provider(
            name="mine",
            build=lambda s, c: ScriptedEngine(),
            settings=cls,
            requires=options.pop("requires", ()),
            traits=SearchTraits(),
        )
        options.setdefault("home", str(tmp_path / "home"))
        plugins = [FakePlugin(plugin, {"search": [provider]}), *others]
        tables = {plugin: table} if table else {}
        wf = Webfetch(
            Settings(plugins=tables, **options),
            plugins=[(p.name, p) for p in plugins],
            autoload=False,
            environ=environ,
        )
        made.append(wf)
        return HostContext(wf.host, wf.host.catalog.named("search", "mine"))

    yield make
    for wf in made:
        wf.close()


def test_it_knows_its_plugin_and_its_environment(context: Any) -> None:
    one = context(environ={"A": "b"}, cls=BaseUrl, table={"base_url": "http://x.example/"})
    assert (one.plugin, one.environ["A"], one.settings.base_url) == ("search_mine", "b", "http://x.example/")
    assert one.clock.monotonic() > 0
    assert one.log is one.log


def test_services_that_nothing_serves_say_so(context: Any) -> None:
    from webfetch_core.api import Page

    one = context(extract_workers=0)
    for use in (
        lambda: one.workers,
        lambda: one.embed(["t"]),
        lambda: one.extract(Page(url="u", body=b"x")),
    ):
        with pytest.raises(NotConfigured):
            use()
    assert list(one.score_pairs("q", ["a", "b"])) == [1.0, 0.5]  # the built-in order


def test_models_are_looked_for_below_the_hosts_home(context: Any, tmp_path: Path) -> None:
    from hashlib import sha256

    from webfetch_core.api import ModelFile, ModelSpec

    body = b"weights"
    file = ModelFile(name="m.bin", sha256=sha256(body).hexdigest(), size=len(body))
    spec = ModelSpec(name="tiny", files=(file,), licence="MIT")
    one = context(home=str(tmp_path))
    with pytest.raises(NotConfigured):
        one.models.files(spec)
    (tmp_path / "models" / "tiny").mkdir(parents=True)
    (tmp_path / "models" / "tiny" / "m.bin").write_bytes(body)
    assert one.models.files(spec) == {"m.bin": tmp_path / "models" / "tiny" / "m.bin"}


def test_pairs_are_scored_by_the_best_ranker_there_is(context: Any) -> None:
    lexical = fake_plugin("rank", ScriptedRanker([1.0]), "words")
    cross = fake_plugin("rank", ScriptedRanker([2.0]), "cross", traits=RankTraits(kind="crossencoder"))
    assert list(context("search_mine", lexical).score_pairs("q", ["p"])) == [1.0]
    both = context("search_mine", lexical, cross)
    assert list(both.score_pairs("q", ["p"])) == [2.0]
    assert list(both.score_pairs("q", ["p"], kind="lexical")) == [1.0]
    assert list(both.score_pairs("q", ["p"], kind="crossencoder")) == [2.0]
    with pytest.raises(NotConfigured, match="crossencoder"):
        context("search_mine", lexical).score_pairs("q", ["p"], kind="crossencoder")


# ---- the folder ----


def test_the_folder_is_the_plugins_own_and_made_on_first_access(context: Any, tmp_path: Path) -> None:
    one = context()
    assert not (tmp_path / "home").exists()
    assert one.data_dir == tmp_path / "home" / "search_mine"
    assert one.data_dir.is_dir()


@pytest.mark.skipif(os.name == "nt", reason="no modes of files on this system")
def test_what_was_read_with_somebodys_permission_is_for_nobody_else(context: Any) -> None:
    folder = context().data_dir
    assert folder.stat().st_mode & 0o077 == 0
    folder.chmod(0o770)  # who shares it says so, and is not overruled
    assert context().data_dir.stat().st_mode & 0o777 == 0o770


def test_a_home_that_cannot_be_written_names_itself_and_the_fix(context: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(CacheError, match=r"file/search_mine cannot be made: .*WEBFETCH_HOME"):
        _ = context(home=str(tmp_path / "file")).data_dir


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write anywhere")
def test_a_read_only_home_names_itself_and_the_fix(context: Any, tmp_path: Path) -> None:
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o500)
    with pytest.raises(CacheError, match="WEBFETCH_HOME"):
        _ = context(home=str(locked / "home")).data_dir


# ---- the cache ----


def test_spaces_are_the_plugins_own_but_for_the_shared_one(context: Any) -> None:
    store = MemoryCache()
    cache = fake_plugin("cache", store, "mem")
    one, two = context("search_one", cache), context("search_two", cache)
    one.cache("notes").put(b"k", b"one")
    assert two.cache("notes").get(b"k") is None
    assert [k for k, _ in two.cache("notes").scan()] == []
    one.cache("vectors").put(b"v", b"shared")
    assert two.cache("vectors").get(b"v") == b"shared"
    assert store.get("pages", b"k") is None
    one.cache("pages").put(b"k", b"mine")
    assert store.get("pages", b"k") is None
    assert two.cache("notes").delete(b"k") is False
    assert one.cache("notes").delete(b"k") is True


def test_no_two_plugins_can_name_one_space(context: Any) -> None:
    cache = fake_plugin("cache", MemoryCache(), "mem")
    one, two = context("a", cache), context("a-b", cache)
    one.cache("b-c").put(b"k", b"mine")
    assert two.cache("c").get(b"k") is None


@given(st.lists(st.binary(min_size=1, max_size=90), max_size=8, unique=True))
def test_keys_of_any_length_stay_apart(keys: list[bytes]) -> None:
    store = MemoryCache()
    space = Space(store, "s")
    for n, key in enumerate(keys):
        space.put(key, b"%d" % n)
    assert [space.get(key) for key in keys] == [b"%d" % n for n in range(len(keys))]
    assert all(len(key) <= 64 for key, _ in space.scan())


class RowByRow:
    """A store as the contract asks for it, without what is optional."""

    def __init__(self) -> None:
        inner = MemoryCache()
        self.get, self.put, self.scan = inner.get, inner.put, inner.scan


@pytest.mark.parametrize("store", [MemoryCache, RowByRow])
def test_many_rows_at_once_from_any_store(store: Any) -> None:
    space = Space(store(), "s")
    rows = {b"short": b"1", b"x" * 90: b"2", b"y" * 90: b""}
    space.put_many(rows)
    assert space.get_many([*rows, b"nothing", b"short"]) == rows
    assert space.get_many([]) == {}


# ---- the network ----


def test_the_operators_base_url_is_trusted_and_nothing_else(context: Any) -> None:
    with LoopbackSite() as site:
        site.add("/api", '{"ok": true}', headers={"Content-Type": "application/json"})
        one = context(cls=BaseUrl, table={"base_url": site.url("/")})
        assert one.http.get(site.url("/api")).json() == {"ok": True}
        with pytest.raises(Refused):
            context(cls=BaseUrl, table={"other": site.url("/")}).http.get(site.url("/api"))
        with pytest.raises(Refused):
            context().http.get(site.url("/api"))


def test_a_redirect_off_the_trusted_host_is_guarded(context: Any) -> None:
    with LoopbackSite() as site, LoopbackSite() as inner:
        inner.add("/secret", "secret")
        site.add("/api", "", status=302, headers={"Location": inner.url("/secret")})
        one = context(cls=BaseUrl, table={"base_url": site.url("/")})
        with pytest.raises(Refused):
            one.http.fetch_page(site.url("/api"))
        with pytest.raises(BadResponse, match="redirect"):
            one.http.get(site.url("/api"))
        assert inner.paths == []


@pytest.mark.parametrize(
    ("settings", "hosts"),
    [
        (None, set()),
        (BaseUrl(), set()),
        (BaseUrl(base_url="https://api.example/v1"), {("api.example", 443)}),
        (Unslotted(), {("gateway.example", 8081)}),
        (Inherited(base_url="http://a.example"), {("a.example", 80)}),
        ({"base_url": "http://a.example"}, set()),
    ],
)
def test_trusted_hosts_are_those_of_fields_named_base_url(settings: Any, hosts: set[tuple[str, int]]) -> None:
    assert trusted_hosts(settings) == hosts


@pytest.mark.parametrize(
    "url", ["ftp://a.example", "http://user:pw@a.example/", "http://[broken", "api.example"]
)
def test_a_base_url_that_cannot_be_is_a_settings_error(context: Any, url: str) -> None:
    with pytest.raises(ConfigError, match="base_url") as caught:
        _ = context(cls=BaseUrl, table={"base_url": url}).http
    assert "pw" not in str(caught.value)


def test_keys_do_not_show_in_errors(context: Any) -> None:
    with LoopbackSite() as site:
        site.add("/api", "bad key sk-very-secret", status=401)
        one = context(
            cls=BaseUrl,
            table={"base_url": site.url("/")},
            requires=(EnvKey("MINE_API_KEY"),),
            environ={"MINE_API_KEY": "sk-very-secret"},
        )
        with pytest.raises(Exception, match="401") as caught:
            one.http.get(site.url("/api?key=sk-very-secret"), headers={"X-Key": "sk-very-secret"})
        assert "very-secret" not in str(caught.value)
