"""status, plugins and doctor."""

import json
from typing import Any

from webfetch_core.errors import NotConfigured, Unavailable
from webfetch_core.hookspecs import HealthCheck
from webfetch_core.markers import hookimpl
from webfetch_core.providers import Provider
from webfetch_core.requirements import EnvKey
from webfetch_core.testing import FakePlugin, ScriptedEngine, fake_plugin


def keyed(name: str = "keyed") -> FakePlugin:
    return fake_plugin("search", ScriptedEngine([]), name=name, requires=(EnvKey("KEYED_API_KEY"),))


def test_status_says_what_serves_and_what_is_off(cli: Any) -> None:
    cli.plugins.append(keyed())
    ran = cli("status")
    assert ran.code == 0
    assert "serving   alpha alone" in ran.out
    assert "KEYED_API_KEY is not set" in ran.out
    assert f'home  "{cli.environ["WEBFETCH_HOME"]}"  env WEBFETCH_HOME' in ran.out
    assert "ranking.keep" not in ran.out
    assert "ranking.keep" in cli("status", "--all").out


def test_status_says_what_to_do(bare_cli: Any) -> None:
    out = bare_cli("status").out
    assert "serving   nothing: no search engine is ready" in out
    assert "pip install webfetch-search-ddg" in out
    assert "pip install webfetch-cache-lmdb" in out


def test_status_counts_over_all_commands(cli: Any) -> None:
    for _ in range(2):
        cli("search", "reciprocal rank fusion")
    data = json.loads(cli("status", "--json").out)
    assert data["counters"]["searches"] == 2
    assert data["schema_version"] == 1
    assert "searches" in cli("status").out


def test_plugins_lists_a_broken_one_and_goes_on(cli: Any) -> None:
    def broken() -> Any:
        raise RuntimeError("oops")

    plugin = FakePlugin("search_broken", {})
    plugin.webfetch_search_engines = hookimpl(broken)  # type: ignore[attr-defined]
    cli.plugins.extend([plugin, keyed()])
    ran = cli("plugins")
    assert ran.code == 0
    assert "search_broken  (no distribution)  failed" in ran.out
    assert "reason  webfetch_search_engines raised RuntimeError: oops" in ran.out
    assert "search  keyed  off  KEYED_API_KEY is not set" in ran.out
    rows = {p["name"]: p for p in json.loads(cli("plugins", "--json").out)["plugins"]}
    assert rows["builtin"]["state"] == "built-in"
    assert rows["search_broken"]["state"] == "failed"
    assert rows["search_alpha"]["providers"][0]["name"] == "alpha"


def test_doctor_is_well(cli: Any) -> None:
    ran = cli("doctor")
    assert ran.code == 0
    assert "ok  search alpha" in ran.out
    assert ran.out.endswith("well, no problem\n")


def test_what_declines_is_a_problem_only_when_it_is_named(cli: Any) -> None:
    def build(settings: Any, context: Any) -> Any:
        raise NotConfigured("no index yet", fix="add one")

    cli.plugins.append(FakePlugin("search_mine", {"search": [Provider(name="mine", build=build)]}))
    ran = cli("doctor")
    assert ran.code == 0
    assert "off  search mine" in ran.out
    named = cli("doctor", "--set", "search=alpha,mine")
    assert named.code == 3
    assert "FAIL  search mine" in named.out
    assert "no index yet (add one)" in named.out


def test_doctor_finds_what_breaks_when_built_and_what_a_plugin_knows(cli: Any) -> None:
    def build(settings: Any, context: Any) -> Any:
        raise Unavailable("the service is down")

    plugin = FakePlugin("search_down", {"search": [Provider(name="down", build=build)]})
    plugin.webfetch_health_checks = hookimpl(  # type: ignore[attr-defined]
        lambda: [HealthCheck(name="quota", check=lambda: "nothing is left: buy more")]
    )
    cli.plugins.append(plugin)
    ran = cli("doctor", "--json")
    assert ran.code == 3
    data = json.loads(ran.out)
    problems = {c["name"]: c["problem"] for c in data["checks"] if c["problem"]}
    assert problems == {
        "search down": "unavailable: the service is down",
        "quota": "nothing is left: buy more",
    }
    assert data["problems"] == 2


def test_doctor_in_an_empty_house(bare_cli: Any) -> None:
    ran = bare_cli("doctor")
    assert ran.code == 3
    assert "nothing is ready for the stage search: pip install" in ran.out
