from __future__ import annotations

import json
from typing import Any

import pytest

from webfetch_core.cli.parser import CORE_COMMANDS
from webfetch_core.providers import SearchTraits
from webfetch_core.testing import ScriptedEngine, fake_plugin


@pytest.fixture
def used(cli: Any) -> Any:
    """The command line after a search that was repeated."""
    engine = ScriptedEngine(["https://a.example.org/fusion"])
    traits = SearchTraits(network=True, usd_per_1k=2.0)
    cli.plugins[0] = fake_plugin("search", engine, name="alpha", traits=traits)
    for _ in range(2):
        assert cli("search", "reciprocal rank fusion").code == 0
    return cli


def test_it_reports_what_all_commands_did(used: Any) -> None:
    ran = used("savings")
    assert ran.code == 0
    assert ran.err == ""
    lines = ran.out.splitlines()
    assert lines[0].split() == ["lifetime"]  # a command is a session of its own, which did nothing
    assert ["searches", "2"] in [line.split() for line in lines]
    assert "estimated, by the assumptions below" in lines
    assert "savings" in CORE_COMMANDS


def test_json_has_the_whole_record(used: Any) -> None:
    data = json.loads(used("savings", "--json").out)
    assert data["schema_version"] == 1
    assert data["session"]["counts"] == {}
    counts = data["lifetime"]["counts"]
    assert {k: counts[k] for k in ("searches", "served_fresh", "served_exact", "results_handed_out")} == {
        "searches": 2,
        "served_fresh": 1,
        "served_exact": 1,
        "results_handed_out": 2,
    }
    assert counts["fees_micro_usd"] == 2_000
    assert data["assumptions"] == {
        "usd_per_1k_searches": 10.0,
        "hosted_tokens": 17_400.0,
        "own_tokens": 3_500.0,
        "usd_per_million_tokens": 5.0,
    }
    assert data["lifetime"]["estimate"]["hosted_fees_usd"] == 0.02
    assert (data["kept"], data["update"], data["update_problem"]) == (True, "", "")


def test_every_assumption_is_a_flag(used: Any) -> None:
    flags = ("--usd-per-1k-searches=1", "--hosted-tokens=0", "--own-tokens=0", "--usd-per-million-tokens=0")
    data = json.loads(used("savings", "--json", *flags).out)
    assert set(data["assumptions"].values()) == {0.0, 1.0}
    assert data["lifetime"]["estimate"]["avoided_usd"] == pytest.approx(0.0)  # both are $0.002
    assert used("savings", "--hosted-tokens", "many").code == 2
    assert used("savings", "--own-tokens", "-1").code == 2


def test_without_a_cache_it_says_so(bare_cli: Any) -> None:
    ran = bare_cli("savings")
    assert ran.code == 0
    assert "nothing is counted beyond this session: pip install webfetch-cache-lmdb" in ran.out


def test_findings_are_listed_and_shown_with_their_mark(used: Any) -> None:
    from webfetch_core import Webfetch

    with Webfetch(plugins=used.plugins, autoload=False, environ=used.environ) as wf:
        saved = wf.save_finding("who keeps the lock of Tarn", "Ada Holt does, since 2019.")
    rows = json.loads(used("cache", "list", "--json").out)["queries"]
    assert {row["query"]: row["space"] for row in rows} == {
        "reciprocal rank fusion": "queries",
        "who keeps the lock of Tarn": "findings",
    }
    assert "finding" in used("cache", "list").out
    shown = used("cache", "show", saved.url).out
    assert shown.startswith("[UNVERIFIED: saved by a model for ")
    assert "Ada Holt does, since 2019." in shown
    assert used("cache", "purge", "--all").code == 0
    assert used("cache", "purge", "--space", "findings").out == "1 row purged\n"
