"""Exporting, importing and checking the rows of a cache."""

from __future__ import annotations

import gzip
import json
import os
import random
import zlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from webfetch_core.errors import CacheError
from webfetch_core.models import Chunk, Document, Freshness, SearchResult
from webfetch_core.pipeline import cache_import
from webfetch_core.pipeline.cache_check import check_row, check_rows
from webfetch_core.pipeline.cache_export import export_rows
from webfetch_core.pipeline.cache_file import MAX_LINE_BYTES, FileRow, end_line, header_line, row_line
from webfetch_core.pipeline.cache_import import import_rows
from webfetch_core.pipeline.cache_rows import encode_row, query_key, url_key
from webfetch_core.testing import MemoryCache

NOW = 1_700_000_000.0


def result(text: str) -> SearchResult:
    return SearchResult(query=text, chunks=(Chunk(text=text, url="https://a.example/"),))


def query_row(query: str, at: float = NOW) -> tuple[bytes, bytes]:
    facts = {"query": query, "freshness": Freshness.STABLE.value, "chunks": 1}
    return query_key(query, engines=["a"], limit=10), encode_row(at, facts, result(query))


def page_row(url: str, at: float = NOW, text: str = "words") -> tuple[bytes, bytes]:
    document = Document(url=url, text=text)
    return url_key(url), encode_row(at, {"url": url, "final_url": "", "permission": ""}, document)


@pytest.fixture
def filled() -> MemoryCache:
    cache = MemoryCache()
    for n in random.Random(1).sample(range(120), 120):  # a store need not keep them in order
        cache.put("queries", *query_row(f"question {n}", NOW - n))
        cache.put("pages", *page_row(f"https://a.example/{n}", NOW - n, text=f"page {n} " * 2_000))
    cache.put("vectors", b"v", b"\1\2\3\4")
    cache.put("stats", b"counter/1", b'{"searches": 3}')
    cache.put("some_plugin.things", b"k", bytes(range(256)))
    return cache


def rows_of(cache: MemoryCache) -> dict[str, dict[bytes, bytes]]:
    return {space: dict(cache.scan(space)) for space in cache.stats()["entries"]}


# ---- there and back ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.jsonl.gz"])
def test_what_was_exported_comes_back(filled: MemoryCache, tmp_path: Path, name: str) -> None:
    told = export_rows(filled, tmp_path / name)
    assert told.rows == {"pages": 120, "queries": 120, "some_plugin.things": 1, "stats": 1}
    assert told.bytes == (tmp_path / name).stat().st_size
    empty = MemoryCache()
    report = import_rows(empty, tmp_path / name, now=NOW)
    assert (report.stored, report.kept, report.left_out, report.problem) == (told.rows, 0, {}, "")
    wanted = rows_of(filled)
    del wanted["vectors"]
    assert rows_of(empty) == wanted
    again = import_rows(empty, tmp_path / name, now=NOW)
    assert (sum(again.stored.values()), again.kept) == (0, 242)


def test_the_same_rows_make_the_same_file(filled: MemoryCache, tmp_path: Path) -> None:
    other = MemoryCache()
    for space, rows in rows_of(filled).items():
        for key in sorted(rows, reverse=True):
            other.put(space, key, rows[key])
    for suffix in ("jsonl", "gz"):
        export_rows(filled, tmp_path / f"one.{suffix}")
        export_rows(other, tmp_path / f"other.{suffix}")
        assert (tmp_path / f"one.{suffix}").read_bytes() == (tmp_path / f"other.{suffix}").read_bytes()
    assert gzip.decompress((tmp_path / "one.gz").read_bytes()) == (tmp_path / "one.jsonl").read_bytes()
    assert not list(tmp_path.glob(".*"))


def test_spaces_are_chosen_on_both_ways(filled: MemoryCache, tmp_path: Path) -> None:
    file = tmp_path / "rows"
    assert export_rows(filled, file, ["vectors", "pages", "nothing"]).rows == {"pages": 120, "vectors": 1}
    empty = MemoryCache()
    assert import_rows(empty, file, now=NOW, spaces=["vectors"]).stored == {"vectors": 1}
    assert rows_of(empty) == {"vectors": {b"v": b"\1\2\3\4"}}


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.dictionaries(
        st.tuples(st.sampled_from(["a", "b.c", "vectors"]), st.binary(max_size=64)), st.binary(max_size=200)
    )
)
def test_any_bytes_are_carried(tmp_path: Path, rows: dict[tuple[str, bytes], bytes]) -> None:
    cache, back = MemoryCache(), MemoryCache()
    for (space, key), value in rows.items():
        cache.put(space, key, value)
    export_rows(cache, tmp_path / "rows", ["a", "b.c", "vectors"])
    import_rows(back, tmp_path / "rows", now=NOW)
    assert {
        (space, key): value for space, kept in rows_of(back).items() for key, value in kept.items()
    } == rows


def test_an_export_replaces_an_export_and_nothing_else(filled: MemoryCache, tmp_path: Path) -> None:
    file = tmp_path / "rows"
    export_rows(filled, file, ["pages"])
    export_rows(filled, file, ["queries"])
    assert import_rows(MemoryCache(), file, now=NOW).stored == {"queries": 120}
    (tmp_path / "notes").write_text("mine")
    with pytest.raises(CacheError, match="no export of a cache"):
        export_rows(filled, tmp_path / "notes")
    assert (tmp_path / "notes").read_text() == "mine"


def test_a_file_that_cannot_be_written_leaves_nothing(filled: MemoryCache, tmp_path: Path) -> None:
    with pytest.raises(CacheError, match="cannot be written"):
        export_rows(filled, tmp_path / "no folder" / "rows")

    class Failing(MemoryCache):
        def get_many(self, space: str, keys: Any) -> dict[bytes, bytes]:
            raise CacheError("it broke")

    broken = Failing()
    broken.put("pages", b"k", b"v")
    with pytest.raises(CacheError, match="it broke"):
        export_rows(broken, tmp_path / "rows")
    assert list(tmp_path.iterdir()) == []


# ---- ages --------------------------------------------------------------------------------------------


def test_an_older_row_never_takes_a_younger_ones_place(tmp_path: Path) -> None:
    old, young = MemoryCache(), MemoryCache()
    for cache, at in ((old, NOW - 9_000), (young, NOW - 10)):
        cache.put("queries", *query_row("q", at))
        cache.put("pages", *page_row("https://a.example/", at))
        cache.put("plugin.things", b"k", b"%d" % at)
    export_rows(old, tmp_path / "old")
    export_rows(young, tmp_path / "young")
    before = rows_of(young)
    assert import_rows(young, tmp_path / "old", now=NOW).kept == 3
    assert rows_of(young) == before
    assert import_rows(old, tmp_path / "young", now=NOW).stored == {
        "pages": 1,
        "queries": 1,
        "plugin.things": 0,
    }
    assert dict(old.scan("pages")) == before["pages"]
    assert dict(old.scan("plugin.things")) == {b"k": b"%d" % (NOW - 9_000)}  # nobody can tell its age


def test_a_damaged_row_makes_room_for_a_good_one(tmp_path: Path) -> None:
    good, bad = MemoryCache(), MemoryCache()
    key, value = query_row("q", NOW - 500)
    good.put("queries", key, value)
    bad.put("queries", key, b"nonsense")
    export_rows(good, tmp_path / "rows")
    assert import_rows(bad, tmp_path / "rows", now=NOW).stored == {"queries": 1}


def test_counters_are_taken_by_an_empty_cache_only(tmp_path: Path) -> None:
    one, other = MemoryCache(), MemoryCache()
    one.put("stats", b"counter/1", b'{"searches": 3}')
    other.put("stats", b"counter/2", b'{"searches": 4}')
    export_rows(one, tmp_path / "rows")
    assert import_rows(other, tmp_path / "rows", now=NOW).kept == 1
    assert rows_of(other) == {"stats": {b"counter/2": b'{"searches": 4}'}}


def test_rows_from_the_future_are_left_out(tmp_path: Path) -> None:
    cache, back = MemoryCache(), MemoryCache()
    cache.put("queries", *query_row("q", NOW + 200))
    cache.put("queries", *query_row("later", NOW + 2_000))
    export_rows(cache, tmp_path / "rows")
    report = import_rows(back, tmp_path / "rows", now=NOW)
    assert (report.stored, report.left_out) == ({"queries": 1}, {"it is from the future": 1})


# ---- files that are not what they should be ----------------------------------------------------------


def written(path: Path, *lines: bytes) -> Path:
    path.write_bytes(header_line() + b"".join(lines))
    return path


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "no export"),
        (b"hello\n", "no export"),
        (b"[" * 100_000 + b"\n", "no export"),
        (b'{"format": "something else", "version": 1, "rows": 1}\n', "no export"),
        (b'{"format": "webfetch-cache-export", "version": 2, "rows": 1}\n', "export of version 2"),
        (b'{"format": "webfetch-cache-export", "version": 1, "rows": 99}\n', "rows of version 99"),
        (b"x" * (MAX_LINE_BYTES + 10), "no export"),
        (b"\x1f\x8b broken", "cannot be read"),
        (gzip.compress(b"hello\n"), "no export"),
        (bytes(range(256)) * 40, "no export"),
    ],
    ids=["empty", "text", "deep", "other", "newer", "newer rows", "one line", "bad gzip", "gzip", "bytes"],
)
def test_what_is_no_export_is_refused(tmp_path: Path, content: bytes, told: str) -> None:
    (tmp_path / "file").write_bytes(content)
    cache = MemoryCache()
    with pytest.raises(CacheError, match=told):
        import_rows(cache, tmp_path / "file", now=NOW)
    assert rows_of(cache) == {}


def test_a_file_that_is_not_there_or_a_folder(tmp_path: Path) -> None:
    for path in (tmp_path / "nothing", tmp_path):
        with pytest.raises(CacheError, match="cannot be read"):
            import_rows(MemoryCache(), path, now=NOW)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names on this system")
def test_a_pipe_is_neither_waited_for_nor_replaced(filled: MemoryCache, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(CacheError, match="is there, and no export of a cache"):
        export_rows(filled, pipe)
    with pytest.raises(CacheError, match="cannot be read: it is no regular file"):
        import_rows(MemoryCache(), pipe, now=NOW)
    assert pipe.is_fifo()


@pytest.mark.parametrize("name", ["a" * 300, "a" * 250, "b/" * 3_000])
def test_a_name_that_no_file_can_have_is_told(filled: MemoryCache, tmp_path: Path, name: str) -> None:
    with pytest.raises(CacheError, match="cannot be written"):
        export_rows(filled, tmp_path / name)
    with pytest.raises(CacheError, match="cannot be read"):
        import_rows(MemoryCache(), tmp_path / name, now=NOW)


UNDECODED = "its key or value cannot be decoded"
GOOD = row_line(FileRow("pages", *page_row("https://a.example/good")))


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"nonsense\n", "it is no JSON"),
        (b"[1]\n", "it is no JSON object"),
        (b"[" * 50_000 + b"\n", "it is no JSON"),
        (b'{"key": "00", "value": "", "check": ""}\n', "it has no space"),
        (b'{"space": 7, "key": "00", "value": "", "check": ""}\n', "it has no space"),
        (b'{"space": "../x", "key": "00", "value": "", "check": ""}\n', "its space has no proper name"),
        (
            b'{"space": "pages", "key": "zz", "value": "", "check": ""}\n',
            "its key or value cannot be decoded",
        ),
        (
            b'{"space": "pages", "key": "00", "value": "?", "check": ""}\n',
            "its key or value cannot be decoded",
        ),
        (b'{"space": "pages", "key": "00", "value": "", "check": "00000000"}\n', "its checksum is wrong"),
        (row_line(FileRow("a", b"k" * 65, b"")), "its key or value is too long"),
        (row_line(FileRow("pages", b"k", b"nonsense")), "its header cannot be read"),
        (row_line(FileRow("stats", b"k", b"[]")), "it holds no counters"),
        (row_line(FileRow("negative", b"k", encode_row(NOW, {"url": "u"}))), "its header lacks kind"),
        (b"\xff\xfe\n", "it is no JSON"),
    ],
)
def test_a_bad_line_is_left_out_and_told(tmp_path: Path, line: bytes, reason: str) -> None:
    cache = MemoryCache()
    report = import_rows(cache, written(tmp_path / "file", line, GOOD), now=NOW)
    assert report.left_out == {reason: 1}
    assert report.stored == {"pages": 1}
    assert report.problem == "it ends early"


def test_a_body_that_inflates_without_end_is_left_out(tmp_path: Path) -> None:
    bomb = zlib.compress(b"\0" * (200 << 20), 9)
    head = {"at": NOW, "packed": True, "check": zlib.crc32(bomb)}
    row = FileRow("pages", b"k", json.dumps(head).encode() + b"\n" + bomb)
    report = import_rows(MemoryCache(), written(tmp_path / "file", row_line(row)), now=NOW)
    assert report.left_out == {"its body cannot be inflated": 1}


@pytest.mark.parametrize(
    ("spoil", "problem"),
    [
        (lambda lines: lines[:-1], "it ends early"),
        (lambda lines: [*lines[:-3], lines[-1]], "it was changed since it was written"),
        (
            lambda lines: [*lines[:-1], b'{"end": {"rows": 1, "sha256": ""}}\n'],
            "it was changed since it was written",
        ),
        (lambda lines: [*lines, b"more\n"], "there is more behind its end, which was not read"),
        (lambda lines: [*lines[:-1], b"x" * (MAX_LINE_BYTES + 1)], "a line behind row 122 is too long"),
    ],
    ids=["cut", "row gone", "other end", "more", "long line"],
)
def test_a_file_that_was_changed_is_told(
    filled: MemoryCache, tmp_path: Path, spoil: Any, problem: str
) -> None:
    file = tmp_path / "rows"
    export_rows(filled, file, ["queries", "stats", "some_plugin.things"])
    file.write_bytes(b"".join(spoil(file.read_bytes().splitlines(keepends=True))))
    cache = MemoryCache()
    report = import_rows(cache, file, now=NOW)
    assert report.problem.startswith(problem)
    assert sum(report.stored.values()) == sum(map(len, rows_of(cache).values())) >= 120


def test_a_deflated_file_that_is_cut_gives_what_it_has(filled: MemoryCache, tmp_path: Path) -> None:
    file = tmp_path / "rows.gz"
    export_rows(filled, file, ["pages"])
    whole = file.read_bytes()
    for part in (whole[: len(whole) // 2], whole[:-4], whole + b"junk"):
        file.write_bytes(part)
        cache = MemoryCache()
        report = import_rows(cache, file, now=NOW)
        assert report.problem
        assert report.stored.get("pages", 0) == len(dict(cache.scan("pages")))
    assert report.stored == {"pages": 120}


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.integers(min_value=0, max_value=10**6), bit=st.integers(min_value=0, max_value=7))
def test_a_changed_bit_is_never_taken_for_the_truth(tmp_path: Path, place: int, bit: int) -> None:
    cache, back = MemoryCache(), MemoryCache()
    for n in range(3):
        cache.put("pages", *page_row(f"https://a.example/{n}"))
    file = tmp_path / "rows"
    export_rows(cache, file)
    data = bytearray(file.read_bytes())
    data[place % len(data)] ^= 1 << bit
    file.write_bytes(data)
    try:
        report = import_rows(back, file, now=NOW)
    except CacheError:
        assert rows_of(back) == {}
    else:
        assert report.problem or report.left_out
        assert rows_of(back).get("pages", {}).items() <= rows_of(cache)["pages"].items()
    file.unlink()


def test_lines_that_are_no_rows_come_to_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_import, "_MOST_BAD_LINES", 20)
    report = import_rows(MemoryCache(), written(tmp_path / "file", b"\n" * 100_000), now=NOW)
    assert report.left_out == {"it is no JSON": 21}
    assert "the rest was not read" in report.problem


def test_a_store_that_fails_says_how_far_it_came(filled: MemoryCache, tmp_path: Path) -> None:
    class Full(MemoryCache):
        def put_many(self, space: str, rows: Any) -> None:
            if len(dict(self.scan(space))) >= 100:
                raise CacheError("the disk is full", fix="free some")
            super().put_many(space, rows)

    export_rows(filled, tmp_path / "rows", ["queries"])
    cache = Full()
    with pytest.raises(CacheError, match=r"the disk is full \(100 rows were imported before\)") as caught:
        import_rows(cache, tmp_path / "rows", now=NOW)
    assert caught.value.fix == "free some"
    assert len(dict(cache.scan("queries"))) == 100


def test_an_end_without_rows(tmp_path: Path) -> None:
    export_rows(MemoryCache(), tmp_path / "rows")
    report = import_rows(MemoryCache(), tmp_path / "rows", now=NOW)
    assert (report.stored, report.problem) == ({}, "")
    assert (tmp_path / "rows").read_bytes().startswith(header_line())
    assert b'"end"' in end_line(cache_import.End(0, ""))


# ---- checking ----------------------------------------------------------------------------------------


def test_good_rows_are_good(filled: MemoryCache) -> None:
    found = check_rows(filled, NOW)
    assert (found.damaged, found.told) == ({}, ())
    assert found.rows == {"pages": 120, "queries": 120, "some_plugin.things": 1, "stats": 1, "vectors": 1}


@pytest.mark.parametrize(
    ("space", "value", "reason"),
    [
        ("queries", b"", "its header cannot be read"),
        ("queries", query_row("q")[1][:-1], "its body cannot be read"),
        ("queries", query_row("q")[1].replace(b"stable", b"liquid"), "its freshness class is unknown"),
        ("queries", encode_row(NOW, {"query": "q"}, SearchResult(query="q")), "its result is empty"),
        ("queries", page_row("u")[1], "its body cannot be read"),
        ("pages", query_row("q")[1], "its body cannot be read"),
        ("findings", encode_row(NOW, {"query": "q"}), "its body cannot be read"),
        ("asked", encode_row(NOW, {"space": "queries"}), "its header lacks query, scope"),
        ("pages", page_row("u", text="a" * 40_000)[1][:-9], "its body cannot be inflated"),
        ("stats", b"{", "its counters cannot be read"),
        ("vectors", b"anything", ""),
        ("plugin.things", b"", ""),
    ],
)
def test_what_is_wrong_with_a_row_is_told(space: str, value: bytes, reason: str) -> None:
    assert check_row(space, value, NOW) == reason


def test_the_first_fifty_are_told_and_all_are_counted(filled: MemoryCache) -> None:
    for n in range(70):
        filled.put("pages", b"%d" % n, b"nonsense")
    found = check_rows(filled, NOW)
    assert (found.damaged, len(found.told)) == ({"pages": 70}, 50)
    assert found.rows["pages"] == 190
