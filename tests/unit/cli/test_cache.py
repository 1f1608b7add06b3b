import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from webfetch_core.providers import SearchTraits
from webfetch_core.testing import MemoryCache, ScriptedEngine, fake_plugin


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
    for words in (
        [],
        ["--all", "--space", "pages"],
        ["--all", "--query", "x"],
        ["--query", "x", "--space", "pages"],
    ):
        ran = filled("cache", "purge", *words)
        assert ran.code == 2
        assert "fix: " in ran.err
    assert "1 queries" in filled("cache", "stats").out


@pytest.mark.parametrize(
    "words",
    [
        ("stats",),
        ("list",),
        ("show", "something"),
        ("purge", "--all"),
        ("export", "file"),
        ("import", "file"),
        ("verify",),
        ("compact",),
    ],
    ids=lambda w: w[0],
)
def test_without_a_cache(bare_cli: Any, words: tuple[str, ...]) -> None:
    ran = bare_cli("cache", *words)
    assert ran.code == 7
    assert "no cache is in use" in ran.err
    assert "fix: pip install webfetch-cache-lmdb" in ran.err


# ---- export, import, verify, compact -----------------------------------------------------------------


def test_export_and_import(filled: Any, tmp_path: Path) -> None:
    out = filled("cache", "export", "rows.jsonl.gz").out
    assert out.startswith("4 rows (1 asked, 1 pages, 1 queries, 1 stats) written to rows.jsonl.gz, ")
    told = json.loads(filled("cache", "export", "rows.jsonl", "--space", "queries", "--json").out)["exported"]
    assert (told["rows"], told["bytes"]) == ({"queries": 1}, (tmp_path / "rows.jsonl").stat().st_size)
    assert filled("cache", "import", "rows.jsonl.gz").out == "0 rows imported, 4 kept as they were\n"
    filled("cache", "purge", "--all")
    ran = filled("cache", "import", "rows.jsonl.gz", "--space", "queries", "--json")
    assert ran.code == 0
    assert json.loads(ran.out)["imported"] == {
        "stored": {"queries": 1},
        "kept": 0,
        "left_out": {},
        "problem": "",
    }
    assert "[cache: exact match, " in filled("search", "reciprocal rank fusion", "--cache-only").out


def test_import_tells_what_was_wrong_and_ends_with_7(filled: Any, tmp_path: Path) -> None:
    filled("cache", "export", "rows.jsonl")
    lines = (tmp_path / "rows.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "rows.jsonl").write_text("".join([lines[0], "nonsense\n", *lines[1:-1]]))
    ran = filled("cache", "import", "rows.jsonl")
    assert ran.code == 7
    assert "1 row left out: it is no JSON" in ran.err and "rows.jsonl: it ends early" in ran.err
    for words, told in (
        (["import", "nothing"], "nothing cannot be read"),
        (["export", "."], ". is there, and no export"),
        (["export", "no/rows"], "cannot be written"),
    ):
        ran = filled("cache", *words)
        assert ran.code == 7 and told in ran.err and "fix: " in ran.err
    assert filled("cache", "export", "rows", "--all", "--space", "pages").code == 2


def test_vectors_are_exported_where_they_are_asked_for(filled: Any) -> None:
    store = MemoryCache()
    filled.plugins[-1] = fake_plugin("cache", store, name="memory")
    store.put("vectors", b"k", b"v")
    assert "vectors" not in filled("cache", "export", "rows").out
    assert "1 vectors" in filled("cache", "export", "rows", "--all").out
    assert "1 row (1 vectors)" in filled("cache", "export", "rows", "--space", "vectors").out


def test_verify(filled: Any) -> None:
    ran = filled("cache", "verify")
    assert ran.code == 0 and ran.out.startswith("sound: 4 rows (")
    assert "cannot look through itself" in ran.err
    assert json.loads(filled("cache", "verify", "--json").out)["sound"] is True
    store = MemoryCache()
    filled.plugins[-1] = fake_plugin("cache", store, name="memory")
    store.put("pages", b"\1\2", b"nonsense")
    ran = filled("cache", "verify")
    assert ran.code == 7
    assert ran.out == "pages 0102: its header cannot be read\n"
    assert "fix: such a row counts as missing" in ran.err
    told = json.loads(filled("cache", "verify", "--json").out)
    assert (told["sound"], told["store"], told["rows"]["damaged"]) == (False, None, {"pages": 1})


class Careful(MemoryCache):
    """A store that can look through itself, and give disk space back."""

    problems: tuple[str, ...] = ()

    def verify(self) -> Sequence[str]:
        return self.problems

    def compact(self) -> Mapping[str, Any]:
        return {"before": 20_000_000, "after": 3_000}

    def stats(self) -> Mapping[str, Any]:
        own = {"set_aside": ["/data/cache.lmdb.corrupt-1"], "reclaimable": 40_000_000}
        return {**super().stats(), **own}


def test_a_store_that_looks_through_itself(cli: Any) -> None:
    store = Careful()
    cli.plugins[-1] = fake_plugin("cache", store, name="careful")
    ran = cli("cache", "verify")
    assert ran.code == 0 and ran.out == "sound: 0 rows\n"
    assert "/data/cache.lmdb.corrupt-1 was damaged and is kept" in ran.err
    store.problems = ("page 7 is damaged", "and page 8")
    ran = cli("cache", "verify")
    assert ran.code == 7 and ran.out == "page 7 is damaged\nand page 8\n"
    assert "fix: webfetch cache export FILE" in ran.err
    assert json.loads(cli("cache", "verify", "--json").out)["store"] == ["page 7 is damaged", "and page 8"]


def test_stats_tell_of_gaps_and_of_damaged_files(cli: Any) -> None:
    cli.plugins[-1] = fake_plugin("cache", Careful(), name="careful")
    out = cli("cache", "stats").out
    assert "40.0 MB, which webfetch cache compact gives back" in out
    assert "/data/cache.lmdb.corrupt-1 is kept" in out


def test_compact(cli: Any) -> None:
    ran = cli("cache", "compact")
    assert ran.code == 7 and "cannot be compacted" in ran.err and "fix: webfetch cache export" in ran.err
    cli.plugins[-1] = fake_plugin("cache", Careful(), name="careful")
    assert cli("cache", "compact").out == "20.0 MB before, 3.0 kB after\n"
    told = json.loads(cli("cache", "compact", "--json").out)["compacted"]
    assert told == {"before": 20_000_000, "after": 3_000}
