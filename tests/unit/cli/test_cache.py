import json
from typing import Any

import pytest

from webfetch_core.providers import SearchTraits
from webfetch_core.testing import ScriptedEngine, fake_plugin


@pytest.fixture
def filled(cli: Any) -> Any:
    """The command line after one search whose result is cached."""
    engine = ScriptedEngine(["https://a.example.org/fusion"])
    cli.plugins[0] = fake_plugin("search", engine, name="alpha", traits=SearchTraits(network=True))
    assert cli("search", "reciprocal rank fusion").code == 0
    return cli


def test_a_search_is_served_from_the_cache(filled: Any) -> None:
    out = filled("search", "reciprocal rank fusion", "--cache-only").out
    assert out.startswith("[cache: exact match, ")
    assert "from         exact, " in filled("search", "reciprocal rank fusion", "--explain").out


def test_list_and_show(filled: Any) -> None:
    rows = json.loads(filled("cache", "list", "--json").out)["queries"]
    assert [row["query"] for row in rows] == ["reciprocal rank fusion"]
    listed = filled("cache", "list").out
    assert rows[0]["key"][:12] in listed
    assert "reciprocal rank fusion" in listed
    for which in ("reciprocal rank fusion", rows[0]["key"][:12]):
        ran = filled("cache", "show", which)
        assert ran.code == 0
        assert "adds one over sixty" in ran.out
    assert json.loads(filled("cache", "show", which, "--json").out)["results"][0]["chunks"]


def test_show_of_what_is_not_there(filled: Any) -> None:
    ran = filled("cache", "show", "another question")
    assert ran.code == 5
    assert "holds nothing for 'another question'" in ran.err


def test_stats(filled: Any) -> None:
    data = json.loads(filled("cache", "stats", "--json").out)
    assert data["counters"]["searches"] == 1
    assert data["cache"]["entries"]["queries"] == 1
    assert "1 queries" in filled("cache", "stats").out


def test_purge_by_query_age_space_and_all(filled: Any) -> None:
    assert filled("cache", "purge", "--query", "another question").out == "0 rows purged\n"
    assert filled("cache", "purge", "--older-than", "1h").out == "0 rows purged\n"
    assert filled("cache", "purge", "--query", "Reciprocal  rank fusion").out == "1 row purged\n"
    assert filled("cache", "purge", "--space", "pages").out == "1 row purged\n"
    filled("search", "reciprocal rank fusion")
    assert json.loads(filled("cache", "purge", "--all", "--json").out)["purged"] == 2
    assert json.loads(filled("cache", "stats", "--json").out)["counters"]["searches"] == 2


def test_purge_wants_to_be_told_what(filled: Any) -> None:
    for words in ([], ["--all", "--space", "pages"], ["--all", "--query", "x"]):
        ran = filled("cache", "purge", *words)
        assert ran.code == 2
        assert "fix: " in ran.err
    assert "1 queries" in filled("cache", "stats").out


@pytest.mark.parametrize(
    "words", [("stats",), ("list",), ("show", "something"), ("purge", "--all")], ids=lambda w: w[0]
)
def test_without_a_cache(bare_cli: Any, words: tuple[str, ...]) -> None:
    ran = bare_cli("cache", *words)
    assert ran.code == 7
    assert "no cache is in use" in ran.err
    assert "fix: pip install webfetch-cache-lmdb" in ran.err
