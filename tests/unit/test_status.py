"""Reports say what runs and why something does not, and never tell a secret."""

from __future__ import annotations

import json
from typing import Any

import pytest
from attrs import frozen

from webfetch_core.api import CacheError, EnvKey, HealthCheck, NotConfigured, Provider, Unavailable, hookimpl
from webfetch_core.app import Webfetch
from webfetch_core.settings import Settings
from webfetch_core.testing import FakePlugin, MemoryCache, ScriptedEngine, ScriptedRanker, fake_plugin
from webfetch_core.wire import dumps


def face(*plugins: Any, environ: dict[str, str] | None = None, **settings: Any) -> Webfetch:
    return Webfetch(
        Settings(**settings), plugins=[(p.name, p) for p in plugins], autoload=False, environ=environ or {}
    )


def broken(stage: str, error: Exception, name: str) -> FakePlugin:
    def build(settings: Any, context: Any) -> Any:
        raise error

    return FakePlugin(f"{stage}_{name}", {stage: [Provider(name=name, build=build)]})


ALPHA = fake_plugin("search", ScriptedEngine(["https://a.example/"]), "alpha", priority=1)
BETA = fake_plugin("search", ScriptedEngine([]), "beta")
KEYED = fake_plugin("search", ScriptedEngine([]), "keyed", requires=(EnvKey("KEYED_API_KEY"),))


@pytest.mark.parametrize(
    ("plugins", "settings", "serving"),
    [
        ((), {}, "nothing: no search engine is ready"),
        ((KEYED,), {}, "nothing: no search engine is ready"),
        ((ALPHA,), {}, "alpha alone"),
        ((ALPHA, BETA), {}, "fuse of alpha, beta"),
        ((ALPHA, BETA), {"search_mode": "fallback"}, "fallback of alpha, beta"),
        ((ALPHA, BETA), {"search_mode": "single"}, "alpha alone (search_mode is single)"),
        ((ALPHA, BETA), {"search": ("beta",)}, "beta alone"),
    ],
)
def test_one_line_says_what_serves(plugins: Any, settings: Any, serving: str) -> None:
    with face(*plugins, **settings) as wf:
        assert wf.status().serving == serving


def test_a_named_engine_that_is_missing_is_told_where_it_hurts() -> None:
    with face(ALPHA, search=("brave",)) as wf:
        status = wf.status()
        assert status.serving.startswith("nothing: no installed plugin has a search engine named 'brave'")
        assert any("pip install webfetch-search-brave" in note for note in status.notes)


def test_every_provider_has_a_state_and_a_reason() -> None:
    with face(ALPHA, BETA, KEYED, search=("alpha",)) as wf:
        states = {p.name: (p.state, p.reason) for p in wf.status().providers if p.stage == "search"}
    assert states == {
        "alpha": ("ready", ""),
        "beta": ("unused", ""),
        "keyed": ("off", "KEYED_API_KEY is not set: set it to the key of your account"),
    }


def test_what_calls_taught_shows() -> None:
    down = fake_plugin("search", ScriptedEngine(Unavailable("HTTP 502")), "down")
    shy = broken("search", NotConfigured("no index yet"), "shy")
    with face(ALPHA, down, shy) as wf:
        for _ in range(3):
            wf.search("lighthouse", force_fresh=True)
        states = {p.name: (p.state, p.reason) for p in wf.status().providers if p.stage == "search"}
    assert states["shy"] == ("off", "no index yet")
    assert states["down"][0] == "benched"
    assert states["down"][1].startswith("HTTP 502; benched for")
    assert states["alpha"][0] == "ready"


def test_stages_that_nothing_serves_are_noted_with_the_fix() -> None:
    with face(ALPHA) as wf:
        notes = wf.status().notes
    assert [n.split(":")[0] for n in notes] == [
        f"nothing is ready for the stage {s}" for s in ("fetch", "extract", "rank")
    ]
    assert "pip install webfetch-fetch-http" in notes[0]


@pytest.mark.parametrize("error", [CacheError("the file is damaged"), RuntimeError("boom")])
def test_a_cache_that_cannot_be_used_is_told(error: Exception) -> None:
    with face(broken("cache", error, "mine")) as wf:
        assert str(error) in wf.status().cache["problem"]
        assert any(str(error) in row.problem for row in wf.doctor() if row.name == "cache")


def test_a_store_that_cannot_tell_of_itself_is_told() -> None:
    class Silent(MemoryCache):
        def stats(self) -> Any:
            raise OSError("gone")

    with face(fake_plugin("cache", Silent())) as wf:
        assert "gone" in wf.status().cache["problem"]


@frozen(kw_only=True)
class Keys:
    api_key: str = ""
    auth_token: str = ""
    db_password: str = ""
    client_secret: str = ""
    region: str = ""
    keyboard: str = ""


def test_no_secret_is_shown_and_every_origin_is() -> None:
    secrets = {"api_key": "sk-1", "auth_token": "sk-2", "db_password": "sk-3", "client_secret": "sk-4"}
    table = {**secrets, "region": "de", "keyboard": "qwertz"}
    mine = fake_plugin("search", ScriptedEngine([]), "mine", settings=Keys, requires=(EnvKey("MINE_KEY"),))
    origins = {"plugins.search_mine.region": "env WEBFETCH_PLUGINS__SEARCH_MINE__REGION"}
    settings = {"plugins": {"search_mine": table}, "origins": origins}
    with face(mine, environ={"MINE_KEY": "sk-5"}, **settings) as wf:
        status = wf.status()
        shown = {s.key: (s.value, s.origin) for s in status.settings}
        told = dumps(status) + dumps(list(wf.doctor())) + dumps(list(wf.plugins()))
    assert "sk-" not in told
    assert shown["plugins.search_mine.api_key"] == ("(set)", "default")
    assert shown["plugins.search_mine.region"] == ("de", origins["plugins.search_mine.region"])
    assert shown["plugins.search_mine.keyboard"] == ("qwertz", "default")
    assert shown["ranking.keep"] == (5, "default")
    assert "origins" not in shown


def test_the_report_is_json() -> None:
    with face(ALPHA, KEYED) as wf:
        data = json.loads(dumps(wf.status()))
    assert data["schema_version"] == 1
    assert {"version", "python", "home", "serving", "plugins", "providers", "settings", "cache"} <= set(data)
    assert next(p for p in data["plugins"] if p["name"] == "search_alpha")["providers"][0]["name"] == "alpha"


# ---- the doctor ----


class Checks:
    name = "checks"

    @hookimpl
    def webfetch_health_checks(self) -> Any:
        def raises() -> str | None:
            raise RuntimeError("cannot look")

        return [
            HealthCheck(name="well", check=lambda: None),
            HealthCheck(name="ill", check=lambda: "take two"),
            HealthCheck(name="odd", check=raises),
        ]


class BadChecks:
    name = "bad_checks"

    @hookimpl
    def webfetch_health_checks(self) -> Any:
        raise RuntimeError("no checks today")


def test_checks_pass_fail_or_break_each_on_its_own() -> None:
    with face(Checks(), BadChecks()) as wf:
        rows = {(r.plugin, r.name): r.problem for r in wf.doctor()}
    assert rows["checks", "well"] == ""
    assert rows["checks", "ill"] == "take two"
    assert "cannot look" in rows["checks", "odd"]
    assert "no checks today" in rows["bad_checks", "health checks"]


def test_what_breaks_when_built_is_a_problem_and_what_declines_a_note() -> None:
    plugins = (
        ALPHA,
        broken("search", RuntimeError("boom"), "bad"),
        broken("rank", NotConfigured("no model"), "shy"),
    )
    with face(*plugins, fake_plugin("rank", ScriptedRanker()), KEYED) as wf:
        rows = {r.name: (r.problem, r.note) for r in wf.doctor()}
    assert rows["search alpha"] == ("", "")
    assert "boom" in rows["search bad"][0]
    assert rows["rank shy"] == ("", "off: no model")
    assert rows["search keyed"][0] == ""
    assert "KEYED_API_KEY" in rows["search keyed"][1]
    with face(ALPHA, broken("rank", NotConfigured("no model"), "shy"), rank=("shy",)) as wf:
        assert "no model" in next(r.problem for r in wf.doctor() if r.name == "rank shy")


def test_a_plugin_that_failed_is_a_problem_with_its_name() -> None:
    with Webfetch(Settings(), plugins=[("empty", object())], autoload=False, environ={}) as wf:
        rows = {r.name: r.problem for r in wf.doctor()}
    assert "implements no webfetch hook" in rows["plugin empty"]
