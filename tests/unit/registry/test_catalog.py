"""Providers by stage and name: judged, ordered, chosen."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

import pytest
from attrs import field, frozen
from attrs.validators import ge
from hypothesis import given
from hypothesis import strategies as st

from webfetch_core import Settings
from webfetch_core.api import EnvKey, Module, Provider, SearchTraits, hookimpl
from webfetch_core.errors import ConfigError
from webfetch_core.registry.catalog import HOOKS, MAX_PROVIDERS_PER_HOOK, NOUNS, Catalog
from webfetch_core.registry.manager import LoadedPlugin, Manager
from webfetch_core.registry.report import STAGES
from webfetch_core.testing import FakePlugin


def provider(name: str = "one", **fields: Any) -> Provider[Any]:
    return Provider(name=name, build=lambda settings, context: object(), **fields)


def catalog(
    *plugins: tuple[str, object], environ: Mapping[str, str] | None = None, **settings: Any
) -> Catalog:
    manager = Manager(hook_limit_s=0.5)
    for name, plugin in plugins:
        manager.register(plugin, LoadedPlugin(name=name, dist=f"dist-{name}", version="1"))
    made = Catalog(manager, Settings(**settings), environ or {})
    made.manager = manager  # type: ignore[attr-defined]
    return made


def search(name: str, *providers: Provider[Any]) -> tuple[str, FakePlugin]:
    return name, FakePlugin(name, {"search": providers})


class Answering:
    """A plugin whose hook returns what it is given."""

    def __init__(self, answer: Any) -> None:
        self.webfetch_search_engines = hookimpl(lambda: answer)


def test_every_stage_has_a_hook_and_a_noun() -> None:
    assert set(HOOKS) == set(NOUNS) == set(STAGES)


# ---- order and selection ---------------------------------------------------------------------------


def test_order_is_priority_then_name() -> None:
    made = catalog(search("p1", provider("b"), provider("z", priority=5)), search("p2", provider("a")))
    assert [e.name for e in made.chosen("search")] == ["z", "a", "b"]


@given(st.permutations(["a", "b", "c", "d"]))
def test_order_of_registration_never_matters(names: list[str]) -> None:
    made = catalog(*(search(f"plugin_{n}", provider(n)) for n in names))
    assert [e.name for e in made.entries("search")] == ["a", "b", "c", "d"]


def test_named_providers_come_in_the_order_given_once_each() -> None:
    made = catalog(search("p", provider("a"), provider("b", priority=9)), search=("a", "b", "a"))
    assert [e.name for e in made.chosen("search")] == ["a", "b"]


def test_an_unknown_name_says_what_is_installed_and_what_to_install() -> None:
    made = catalog(search("p", provider("brave")), search=("tavily",))
    with pytest.raises(ConfigError) as caught:
        made.chosen("search")
    text = str(caught.value)
    assert "search engine named 'tavily'" in text
    assert "installed: brave" in text
    assert "pip install webfetch-search-tavily" in text


def test_a_typo_is_never_something_to_install() -> None:
    with pytest.raises(ConfigError) as caught:
        catalog(search("p", provider("brave")), search=("brav",)).chosen("search")
    assert "did you mean brave?" in str(caught.value)
    assert "pip install" not in str(caught.value)


@pytest.mark.parametrize("name", ["google", "nosuch", "brave-search", "x; rm -rf y"])
def test_nothing_is_named_to_install_that_is_not_of_this_project(name: str) -> None:
    """Anybody may have put a package of such a name onto an index."""
    with pytest.raises(ConfigError) as caught:
        catalog(search("p", provider("ddg")), search=(name,)).chosen("search")
    assert "pip install" not in str(caught.value)
    with pytest.raises(ConfigError) as caught:
        catalog(search("p", provider("ddg")), plugins={"search_google": {}})
    assert "pip install" not in str(caught.value)


def test_an_engine_may_be_meant_by_its_full_name() -> None:
    with pytest.raises(ConfigError, match="did you mean ddg"):
        catalog(search("p", provider("ddg")), search=("DuckDuckGo",)).chosen("search")


def test_an_unknown_name_where_nothing_is_installed() -> None:
    with pytest.raises(ConfigError, match="installed: none"):
        catalog(cache=("lmdb",)).chosen("cache")


def test_auto_leaves_out_what_cannot_work() -> None:
    made = catalog(search("p", provider("keyed", requires=(EnvKey("NO_SUCH_KEY"),)), provider("free")))
    assert [e.name for e in made.chosen("search")] == ["free"]


def test_a_named_provider_that_is_off_is_an_error_with_the_fix() -> None:
    made = catalog(search("p", provider("keyed", requires=(EnvKey("NO_SUCH_KEY"),))), search=("keyed",))
    with pytest.raises(ConfigError, match=r"dist-p.*is off: NO_SUCH_KEY is not set"):
        made.chosen("search")


def test_a_blank_key_is_no_key() -> None:
    plugin = search("p", provider("keyed", requires=(EnvKey("KEY"),)))
    assert catalog(plugin, environ={"KEY": "  "}).chosen("search") == ()
    assert [e.name for e in catalog(plugin, environ={"KEY": "x"}).chosen("search")] == ["keyed"]


def test_a_missing_module_names_what_to_install() -> None:
    plugin = search("p", provider(requires=(Module("no_such_module_here", install="no-such-dist"),)))
    (entry,) = catalog(plugin).entries("search")
    assert entry.state == "off" and "pip install no-such-dist" in entry.reason


def test_a_requirement_may_depend_on_the_settings() -> None:
    @frozen
    class Place:
        path: str = ""

    @frozen
    class Needs:
        path: str = "/usr/bin/nothing"

        def with_settings(self, settings: Place) -> Needs:
            return Needs(settings.path or self.path)

        def missing(self, environ: Mapping[str, str]) -> str | None:
            return None if self.path == "/here" else f"{self.path} is missing"

    plugin = search("p", provider("a", requires=(Needs(),), settings=Place))
    assert catalog(plugin).entries("search")[0].reason == "/usr/bin/nothing is missing"
    assert (
        catalog(plugin, plugins={"p": {"path": "/there"}}).entries("search")[0].reason == "/there is missing"
    )
    assert catalog(plugin, plugins={"p": {"path": "/here"}}).entries("search")[0].state == "ready"


def test_a_requirement_that_raises_breaks_its_provider_only() -> None:
    class Raising:
        def missing(self, environ: Mapping[str, str]) -> str | None:
            raise RuntimeError("who knows")

    made = catalog(search("p", provider("bad", requires=(Raising(),)), provider("good")))
    assert [e.name for e in made.chosen("search")] == ["good"]
    assert "who knows" in next(e.reason for e in made.entries("search") if e.name == "bad")


# ---- duplicates -------------------------------------------------------------------------------------


def test_one_name_from_two_plugins_puts_both_off_and_names_both() -> None:
    made = catalog(
        search("p1", provider("same")), search("p2", provider("same", priority=9)), search("p3", provider())
    )
    assert [e.name for e in made.chosen("search")] == ["one"]
    broken = [e for e in made.entries("search") if e.name == "same"]
    assert len(broken) == 2
    for entry in broken:
        assert entry.state == "broken"
        assert "p1 (dist-p1) and p2 (dist-p2)" in entry.reason and "block" in entry.reason


def test_one_name_in_two_stages_is_fine() -> None:
    both = FakePlugin("local", {"search": [provider("local")], "fetch": [provider("local")]})
    made = catalog(("local", both))
    assert made.chosen("search") and made.chosen("fetch")


def test_one_name_twice_from_one_plugin_is_broken_too() -> None:
    made = catalog(search("p", provider("same"), provider("same")))
    assert [e.state for e in made.entries("search")] == ["broken", "broken"]


# ---- wrong answers ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (42, "int, not providers"),
        ([provider(), "brave"], "a str where a Provider"),
        ("brave", "a str where a Provider"),
        ({"brave": provider()}, "a str where a Provider"),
        ([None], "a NoneType where a Provider"),
        ([Provider], "a type where a Provider"),
        ((provider(f"p{n}") for n in range(MAX_PROVIDERS_PER_HOOK + 1)), "more than 100"),
    ],
)  # fmt: skip
def test_wrong_types_fail_the_plugin_and_not_the_rest(answer: Any, told: str) -> None:
    made = catalog(("bad", Answering(answer)), search("good", provider("good")))
    assert [e.name for e in made.chosen("search")] == ["good"]
    plugin = made.manager.get("bad")  # type: ignore[attr-defined]
    assert plugin.state == "failed" and told in plugin.reason
    assert any("bad (dist-bad)" in note for note in made.notes)


def test_an_iterator_that_raises_is_a_wrong_answer() -> None:
    class Raising:
        def __iter__(self) -> Any:
            yield provider()
            raise RuntimeError("half way")

    made = catalog(("bad", Answering(Raising())), search("good", provider("good")))
    assert [e.name for e in made.chosen("search")] == ["good"]


@pytest.mark.parametrize("answer", [None, (), []])
def test_nothing_to_declare_is_no_failure(answer: Any) -> None:
    made = catalog(("quiet", Answering(answer)))
    assert made.entries("search") == () and made.notes == []
    assert made.manager.get("quiet").state == "loaded"  # type: ignore[attr-defined]


# ---- settings ------------------------------------------------------------------------------------------


@frozen(kw_only=True)
class MineSettings:
    country: str = "de"
    count: int = field(default=3, validator=ge(1))


def test_a_provider_gets_its_table() -> None:
    made = catalog(
        search("search_mine", provider("mine", settings=MineSettings)), plugins={"search_mine": {"count": 7}}
    )
    assert made.chosen("search")[0].settings == MineSettings(count=7)


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ({"contry": "x"}, "plugins.search_mine.contry: unknown setting, did you mean country?"),
        ({"country": 4}, "plugins.search_mine.country: expected text, got 4"),
        ({"count": 0}, "plugins.search_mine.count: must be at least 1; got 0"),
    ],
)
def test_a_wrong_setting_breaks_the_provider_with_the_keys_path(table: dict[str, Any], told: str) -> None:
    made = catalog(
        search("search_mine", provider("mine", settings=MineSettings)), plugins={"search_mine": table}
    )
    (entry,) = made.entries("search")
    assert entry.state == "broken" and told in entry.reason


def test_settings_for_a_provider_that_has_none() -> None:
    made = catalog(search("search_mine", provider("mine")), plugins={"search_mine": {"x": 1}})
    (entry,) = made.entries("search")
    assert "plugins.search_mine: mine has no settings, got x" in entry.reason


def test_a_table_of_no_plugin_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"plugins.search_mein: .*did you mean search_mine\?"):
        catalog(search("search_mine", provider("mine")), plugins={"search_mein": {}})


def test_a_table_that_is_a_value_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"plugins\.search_mine: expected a table, got 3"):
        catalog(search("search_mine", provider("mine")), plugins={"search_mine": 3})


class Hanging:
    def missing(self, environ: Mapping[str, str]) -> str | None:
        threading.Event().wait(60.0)
        return None


class Leaving:
    def missing(self, environ: Mapping[str, str]) -> str | None:
        raise SystemExit(3)


def _leave() -> int:
    raise SystemExit(3)


@frozen(kw_only=True)
class LeavingSettings:
    x: int = field(factory=_leave)


@pytest.mark.parametrize(
    ("bad", "told"),
    [
        ({"requires": (Hanging(),)}, "did not finish within"),
        ({"requires": (Leaving(),)}, "failed: SystemExit: 3"),
        ({"settings": LeavingSettings}, "failed: SystemExit: 3"),
    ],
)
def test_judging_a_provider_can_neither_hang_nor_end_the_host(bad: dict[str, Any], told: str) -> None:
    made = catalog(search("p", provider("bad", **bad), provider("good")))
    reasons = {entry.name: entry.reason for entry in made.entries("search")}
    assert told in reasons["bad"] and reasons["good"] == ""


# ---- reports --------------------------------------------------------------------------------------------


def test_reports_tell_state_and_price() -> None:
    made = catalog(
        search(
            "p",
            provider("used", traits=SearchTraits(usd_per_1k=5.0)),
            provider("idle"),
            provider("keyed", requires=(EnvKey("NO_SUCH_KEY"),)),
        ),
        search=("used",),
    )
    rows = {row.name: row for row in made.reports()}
    assert {name: row.state for name, row in rows.items()} == {
        "used": "ready",
        "idle": "unused",
        "keyed": "off",
    }
    assert rows["used"].usd_per_1k == 5.0 and rows["used"].dist == "dist-p"


def test_a_wrong_selection_does_not_stop_the_report() -> None:
    made = catalog(search("p", provider("a")), search=("nobody",))
    assert [(r.name, r.state) for r in made.reports()] == [("a", "unused")]
