"""A host among installed plugins of every kind of fault, by real ``.dist-info`` folders."""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from webfetch_core import AllEnginesFailed, ConfigError, Webfetch
from webfetch_core.errors import ContractViolation
from webfetch_core.registry.report import PluginReport
from webfetch_core.testing import fake_dist as write_dist

ENGINE = """
    from webfetch_core.api import Provider, SearchHit, SearchTraits, hookimpl

    class Engine:
        def search(self, request):
            return [SearchHit(url="https://{name}.example/", title="{name}", snippet="fine")]

    @hookimpl
    def webfetch_search_engines():
        return [Provider(name="{name}", build=lambda settings, context: Engine(),
                         summary="An engine", traits=SearchTraits(network=False))]
"""

FAULTS = {
    "import_error": ("import a_module_that_does_not_exist", "a_module_that_does_not_exist"),
    "syntax_error": ("def broken(:", "SyntaxError"),
    "assertion": ("assert False, 'needs another version'", "needs another version"),
    "exits": ("import sys; sys.exit(3)", "SystemExit: 3"),
    "exits_quietly": ("raise SystemExit", "SystemExit"),
    "interrupts": ("raise KeyboardInterrupt", "KeyboardInterrupt"),
    "recursion": ("def f(): f()\nf()", "RecursionError"),
    "no_hooks": ("VALUE = 1", "no webfetch hook"),
    "wrong_argument": (
        "from webfetch_core.api import hookimpl\n@hookimpl\ndef webfetch_veto_url(uri): ...",
        "uri",
    ),
    "hook_raises": (
        "from webfetch_core.api import hookimpl\n"
        "@hookimpl\ndef webfetch_search_engines(): raise RuntimeError('boom')",
        "boom",
    ),
    "hook_exits": (
        "from webfetch_core.api import hookimpl\n"
        "@hookimpl\ndef webfetch_search_engines(): raise SystemExit(4)",
        "SystemExit: 4",
    ),
    "hook_lies": (
        "from webfetch_core.api import hookimpl\n@hookimpl\ndef webfetch_search_engines(): return ['ddg']",
        "a str where a Provider belongs",
    ),
    "bad_provider": (
        "from webfetch_core.api import Provider, hookimpl\n"
        "@hookimpl\ndef webfetch_search_engines(): return [Provider(name='Not A Name', build=print)]",
        "name must be lower case",
    ),
}

Install = Callable[..., Path]


def reports(host: Webfetch) -> dict[str, PluginReport]:
    return {plugin.name: plugin for plugin in host.plugins()}


@pytest.fixture
def site(tmp_path: Path) -> Path:
    return tmp_path / "site"


@pytest.fixture
def good(fake_dist: Install) -> None:
    fake_dist(
        "wf-good",
        version="2.1",
        entry_points={"search_good": "wf_good"},
        modules={"wf_good": ENGINE.format(name="good")},
    )


@pytest.fixture
def host(wf: Callable[..., Webfetch], site: Path) -> Callable[..., Webfetch]:
    return lambda **options: wf(autoload=True, path=[str(site)], **options)


def urls(host: Webfetch) -> list[str]:
    return [hit.url for hit in host.search("anything", deadline_s=5).hits]


@pytest.mark.parametrize("fault", FAULTS)
def test_a_broken_plugin_is_named_and_the_good_one_serves(
    fault: str, good: None, fake_dist: Install, host: Any
) -> None:
    source, told = FAULTS[fault]
    fake_dist(
        f"wf-{fault}",
        version="1.3",
        entry_points={fault: f"wf_{fault}_module"},
        modules={f"wf_{fault}_module": source},
    )
    running = host()
    assert urls(running) == ["https://good.example/"]
    row = reports(running)[fault]
    assert (row.state, row.dist, row.version) == ("failed", f"wf-{fault}", "1.3")
    assert told in row.reason


@pytest.mark.parametrize("fault", ["import_error", "exits", "hook_raises", "hook_lies", "no_hooks"])
def test_strict_plugins_raises_instead(fault: str, fake_dist: Install, host: Any) -> None:
    source, _ = FAULTS[fault]
    fake_dist(
        f"wf-{fault}", entry_points={fault: f"wf_{fault}_strict"}, modules={f"wf_{fault}_strict": source}
    )
    with pytest.raises((ImportError, SystemExit, RuntimeError, TypeError, ContractViolation)):
        host(strict_plugins=True)


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"block_plugins": ("marked",)}, "blocked by settings"),
        ({"allow_plugins": ("search_good",)}, "not among the allowed plugins"),
    ],
)
def test_a_blocked_plugin_is_never_imported(
    settings: dict[str, Any], reason: str, good: None, fake_dist: Install, host: Any, tmp_path: Path
) -> None:
    mark = tmp_path / "imported"
    source = f"from pathlib import Path\nPath({str(mark)!r}).touch()\n"
    fake_dist("wf-marked", entry_points={"marked": "wf_marked"}, modules={"wf_marked": source})
    running = host(**settings)
    row = reports(running)["marked"]
    assert (row.state, row.reason, row.dist) == ("blocked", reason, "wf-marked")
    assert not mark.exists() and "wf_marked" not in sys.modules
    assert urls(running) == ["https://good.example/"]


@pytest.mark.parametrize("variable", [{"WEBFETCH_BLOCK": "marked"}, {"WEBFETCH_PLUGINS": "other"}])
def test_the_environment_blocks_before_import_too(
    variable: dict[str, str], site: Path, tmp_path: Path
) -> None:
    mark = tmp_path / "imported"
    source = f"from pathlib import Path\nPath({str(mark)!r}).touch()\n"
    write_dist(site, "wf-marked", entry_points={"marked": "wf_marked_env"}, modules={"wf_marked_env": source})
    code = "from webfetch_core import Webfetch\nwith Webfetch() as wf: print([p.state for p in wf.plugins()])"
    known = {"PATH": os.environ["PATH"], "PYTHONPATH": str(site), "WEBFETCH_HOME": str(tmp_path / "home")}

    def run(extra: dict[str, str]) -> str:
        done = subprocess.run(
            [sys.executable, "-c", code], env={**known, **extra}, cwd=tmp_path,
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert "blocked" in run(variable) and not mark.exists()
    run({})
    assert mark.exists(), "without the variable it is imported: the test has teeth"


def test_the_same_dist_twice_is_loaded_once(
    good: None, site: Path, tmp_path: Path, wf: Any, recwarn: Any
) -> None:
    (tmp_path / "lib64").symlink_to("site")
    running = wf(autoload=True, path=[str(tmp_path / "lib64"), str(site)])
    assert [p.state for p in running.plugins() if p.name == "search_good"] == ["loaded"]
    assert urls(running) == ["https://good.example/"]
    assert not recwarn.list


def test_two_dists_with_one_plugin_name_are_both_off_and_named(
    good: None, fake_dist: Install, host: Any
) -> None:
    for which in ("one", "two"):
        source = ENGINE.format(name=which)
        fake_dist(
            f"wf-{which}", entry_points={"twin": f"wf_twin_{which}"}, modules={f"wf_twin_{which}": source}
        )
    running = host()
    assert urls(running) == ["https://good.example/"]
    twins = [p for p in running.plugins() if p.name == "twin"]
    assert len(twins) == 2
    for row in twins:
        assert row.state == "incompatible" and "wf-one and wf-two" in row.reason


def test_two_plugins_with_one_provider_name_are_both_off_and_named(
    good: None, fake_dist: Install, host: Any
) -> None:
    for which in ("one", "two"):
        source = ENGINE.format(name="same")
        fake_dist(
            f"wf-{which}", entry_points={which: f"wf_same_{which}"}, modules={f"wf_same_{which}": source}
        )
    running = host()
    assert urls(running) == ["https://good.example/"]
    same = [p for p in running.status().providers if p.name == "same"]
    assert [p.state for p in same] == ["broken", "broken"]
    assert all("wf-one" in p.reason and "wf-two" in p.reason for p in same)
    freed = host(block_plugins=("two",))
    assert sorted(urls(freed)) == ["https://good.example/", "https://same.example/"]


def test_an_unknown_hook_is_a_warning(good: None, fake_dist: Install, host: Any) -> None:
    source = (
        ENGINE.format(name="typo") + "\n    @hookimpl\n    def webfetch_serch_engines():\n        return []\n"
    )
    fake_dist("wf-typo", entry_points={"typo": "wf_typo"}, modules={"wf_typo": source})
    running = host()
    assert sorted(urls(running)) == ["https://good.example/", "https://typo.example/"]
    row = reports(running)["typo"]
    assert row.state == "loaded" and "webfetch_serch_engines" in row.reason


def test_another_api_major_is_listed_and_not_imported(good: None, fake_dist: Install, host: Any) -> None:
    fake_dist(
        "wf-next",
        version="9.0",
        group="webfetch.v2",
        entry_points={"next": "wf_next"},
        modules={"wf_next": "raise SystemExit(1)"},
    )
    running = host()
    row = reports(running)["next"]
    assert row.state == "incompatible" and "webfetch.v2" in row.reason and row.version == "9.0"
    assert "wf_next" not in sys.modules
    assert urls(running) == ["https://good.example/"]


def test_an_unmet_bound_on_the_core_names_need_and_found(good: None, fake_dist: Install, host: Any) -> None:
    fake_dist(
        "wf-needy",
        entry_points={"needy": "wf_needy"},
        modules={"wf_needy": "raise SystemExit(1)"},
        requires=["webfetch-core>=77"],
    )
    running = host()
    row = reports(running)["needy"]
    assert row.state == "incompatible" and "wf_needy" not in sys.modules
    assert row.reason == f"it needs webfetch-core>=77, found {importlib.metadata.version('webfetch-core')}"
    assert urls(running) == ["https://good.example/"]


def test_broken_metadata_of_neighbours_does_not_matter(good: None, site: Path, host: Any) -> None:
    (site / "halfgone-1.0.dist-info").mkdir()
    (site / "halfgone-1.0.dist-info" / "RECORD").touch()
    unrelated = site / "unrelated-2.0.dist-info"
    unrelated.mkdir()
    (unrelated / "METADATA").write_text("Metadata-Version: 2.1\nName: unrelated\nVersion: 2.0\n")
    (unrelated / "entry_points.txt").write_text("[console_scripts]\nx = u:main\nx = u:main2\n[broken\n= n\n")
    assert urls(host()) == ["https://good.example/"]


def test_a_module_that_is_named_but_not_there(good: None, fake_dist: Install, host: Any) -> None:
    fake_dist("wf-absent", entry_points={"absent": "wf_absent_module"})
    running = host()
    assert urls(running) == ["https://good.example/"]
    assert "wf_absent_module" in reports(running)["absent"].reason


def test_an_attribute_that_is_named_but_not_there(good: None, fake_dist: Install, host: Any) -> None:
    fake_dist("wf-attr", entry_points={"attr": "wf_attr_module:plugin"}, modules={"wf_attr_module": ""})
    running = host()
    assert urls(running) == ["https://good.example/"]
    assert "AttributeError" in reports(running)["attr"].reason


def test_nothing_but_broken_plugins_says_so(fake_dist: Install, host: Any) -> None:
    source, _ = FAULTS["import_error"]
    fake_dist("wf-only", entry_points={"only": "wf_only_module"}, modules={"wf_only_module": source})
    with pytest.raises((AllEnginesFailed, ConfigError)) as caught:
        host().search("anything")
    assert caught.value.fix, "the error says what to do"
