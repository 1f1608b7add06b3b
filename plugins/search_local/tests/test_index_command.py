from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from webfetch_search_local.locks import exclusive
from webfetch_search_local.manifest import load
from webfetch_search_local.settings import LocalSettings

from webfetch_core.api import CacheError, ConfigError, Document


def test_add_list_refresh_remove(bench: Any) -> None:
    bench.write("a.md", "zymurgy")
    bench.write("b.md", "brewing")
    assert bench.index("list") == "no folder is indexed; run `webfetch index add PATH`\n"
    added = bench.index("add", str(bench.docs))
    assert added.startswith(
        f"docs: 2 documents of {bench.docs} (2 added, 0 updated, 0 removed, 0 unchanged, 0 skipped)"
    )
    listed = bench.index("list").splitlines()
    assert listed[0].split() == ["NAME", "DOCUMENTS", "SKIPPED", "UPDATED", "FOLDER", "STATE"]
    assert listed[1].split() == ["docs", "2", "0", "2023-11-14T22:13:20+00:00", str(bench.docs), "ready"]
    bench.write("a.md", "zymurgy and more")
    (bench.docs / "b.md").unlink()
    bench.write("c.md", "coopering")
    row = bench.index_json("refresh", "docs")["indexes"][0]
    assert (row["added"], row["updated"], row["removed"], row["unchanged"], row["documents"]) == (
        1,
        1,
        1,
        0,
        2,
    )
    assert bench.found("brewing") == []
    assert bench.found("zymurgy more") == ["a.md"]
    assert bench.found("coopering") == ["c.md"]
    assert "was not touched" in bench.index("remove", "docs")
    assert (bench.docs / "a.md").exists()
    assert bench.index_json("list") == {"schema_version": 1, "indexes": []}


def test_json_of_the_list(bench: Any) -> None:
    bench.write("a.md", "x")
    bench.index("add", str(bench.docs), "--name", "notes", "--base-url", "https://x.example/")
    assert bench.index_json("list")["indexes"] == [
        {
            "name": "notes",
            "folder": str(bench.docs),
            "documents": 1,
            "skipped": 0,
            "left_out": {},
            "base_url": "https://x.example/",
            "mapped_urls": 0,
            "updated": "2023-11-14T22:13:20+00:00",
            "state": "ready",
            "reason": "",
        }
    ]


def test_refresh_reads_only_what_changed(bench: Any) -> None:
    seen: list[str] = []

    def extract(page: Any) -> Document:
        seen.append(page.url)
        return Document(url=page.url, text=page.body.decode())

    bench.context.extract = extract
    for name in "abc":
        bench.write(f"{name}.md", name * 3)
    bench.index("add", str(bench.docs))
    assert len(seen) == 3
    bench.index("refresh")
    os.utime(bench.docs / "a.md", (1, 1))  # another time, the same bytes
    row = bench.index_json("refresh")["indexes"][0]
    assert (row["unchanged"], row["updated"], len(seen)) == (3, 0, 3)
    bench.write("b.md", "new text")
    bench.index("refresh")
    assert seen[3:] == ["local:docs/b.md"]


def test_what_is_skipped_is_told_and_tried_again(bench: Any) -> None:
    bench.write("big.md", b"x" * 5_000_000)
    bench.write("binary.txt", b"\0\1")
    bench.write("paper.pdf", b"%PDF-1.7")
    bench.write("evil\x1b[31m\n.md", b"\0")
    told = bench.index("add", str(bench.docs))
    assert "skipped big.md: 5,000,000 bytes is more than 4,194,304" in told
    assert "skipped binary.txt: holds binary data" in told
    assert "skipped paper.pdf: no installed extractor reads application/pdf" in told
    assert "\x1b" not in told and r"evil\x1b[31m\n.md" in told
    bench.context.extract = lambda page: Document(url=page.url, text="zymurgy", title="Paper")
    assert bench.index_json("refresh")["indexes"][0]["added"] == 1
    assert [hit.title for hit in bench.search("zymurgy")] == ["Paper"]


def test_files_of_other_types_are_told(bench: Any) -> None:
    bench.write("a.md", "zymurgy")
    for name in (
        "a.json",
        "b.JSON",
        "sub/c.json",
        "a.csv",
        "Makefile",
        ".hidden.json",
        "node_modules/x.json",
    ):
        bench.write(name, "zymurgy")
    (bench.docs / "link.md").symlink_to("a.md")
    os.mkfifo(bench.docs / "pipe.md")
    told = "7 files of other types left out (.json 3, .csv 1, link 1, no ending 1, no regular file 1)"
    assert f"  {told}\n" in bench.index("add", str(bench.docs))
    assert f"\ndocs: {told}\n" in bench.index("list")
    (bench.docs / "a.csv").unlink()
    (bench.docs / "link.md").unlink()
    assert bench.index_json("refresh")["indexes"][0]["left_out"] == {
        ".json": 3,
        "no ending": 1,
        "no regular file": 1,
    }
    assert "(.json 3, no ending 1, no regular file 1)" in bench.index("list")


def test_one_file_of_another_type_and_many(bench: Any) -> None:
    bench.write("x.aa", "x")
    assert "1 file of other types left out (.aa 1)" in bench.index("add", str(bench.docs))
    for ending in "bcdefghi":
        bench.write(f"x.{ending}", "x")
    assert "9 files of other types left out (.aa 1, .b 1, .c 1, .d 1, .e 1, .f 1, others 3)" in bench.index(
        "refresh"
    )
    bench.write("a.md", "x")
    bench.write("x.\x1b[31m", "x")
    assert "\x1b" not in bench.index("refresh") + bench.index("list")


def test_the_same_folder_is_indexed_once_unless_a_second_name_is_given(bench: Any, tmp_path: Path) -> None:
    bench.write("sub/a.md", "zymurgy")
    bench.index("add", str(bench.docs), "--name", "notes")
    (tmp_path / "alias").symlink_to(bench.docs)
    for path in (bench.docs, tmp_path / "alias", bench.docs / "sub" / ".."):
        with pytest.raises(
            ConfigError, match=r"is indexed already, as 'notes' \(.*index refresh notes.*--name"
        ):
            bench.index("add", str(path))
    assert [row["name"] for row in bench.index_json("list")["indexes"]] == ["notes"]
    again = bench.index("add", str(bench.docs), "--name", "again")
    assert "note: the same folder is indexed as 'notes' too: what both hold is found twice" in again
    inner = bench.index("add", str(bench.docs / "sub"))
    assert f"note: {bench.docs} is indexed as 'notes' too" in inner


def test_an_index_whose_folder_is_gone_is_missing(bench: Any, tmp_path: Path) -> None:
    bench.write("a.md", "zymurgy")
    bench.index("add", str(bench.docs))
    moved = tmp_path / "elsewhere" / "docs"
    moved.parent.mkdir()
    bench.docs.rename(moved)
    row = bench.index_json("list")["indexes"][0]
    assert (row["state"], row["documents"]) == ("missing", 1)
    told = bench.index("list")
    assert f"missing: index docs: {bench.docs} does not exist (put it back, or run" in told
    assert "`webfetch index remove docs`" in told
    with pytest.raises(ConfigError, match="put it back, or run `webfetch index remove docs`"):
        bench.index("refresh")
    with pytest.raises(ConfigError, match="run `webfetch index remove docs` first, or give another name"):
        bench.index("add", str(moved))
    assert bench.found("zymurgy") == ["a.md"]
    bench.index("remove", "docs")
    bench.index("add", str(moved))
    assert bench.index_json("list")["indexes"][0]["state"] == "ready"


def test_a_damaged_index_is_left_alone_by_an_add_of_another_folder(bench: Any, tmp_path: Path) -> None:
    bench.index("add", str(bench.docs))
    (bench.data / "docs" / "manifest.json").write_text("{")
    (tmp_path / "other").mkdir()
    bench.index("add", str(tmp_path / "other"))
    assert (bench.data / "docs" / "manifest.json").read_text() == "{"


def test_the_settings_hold_for_the_command(bench: Any) -> None:
    bench.write("a.md", "x")
    bench.write("b.foo", "y")
    bench.context.settings = LocalSettings(extensions=(".foo",))
    bench.index("add", str(bench.docs))
    assert bench.found("y") == ["b.foo"]
    assert bench.found("x") == []


def test_a_file_that_no_longer_reads_leaves_the_index(bench: Any) -> None:
    bench.write("a.md", "zymurgy")
    bench.index("add", str(bench.docs))
    bench.write("a.md", b"\0\0zymurgy")
    bench.index("refresh")
    assert bench.found("zymurgy") == []


def test_wrong_arguments_are_named(bench: Any) -> None:
    file = bench.write("a.md", "x")
    bench.index("add", str(bench.docs))
    for words, told in (
        (("add", str(file)), "is not a folder"),
        (("add", str(bench.docs / "none")), "does not exist"),
        (("add", "nul\0"), "cannot be read"),
        (("add", str(bench.docs)), "is indexed already, as 'docs'.*refresh docs"),
        (("add", str(bench.docs), "--name", "DOCS"), "there is an index 'docs' already"),
        (("add", str(bench.docs), "--name", "../up"), "is no name for an index"),
        (("add", str(bench.docs), "--name", "docs.corrupt-1"), "is no name for an index"),
        (("add", str(bench.docs), "--name", "b", "--base-url", "docs.example"), "is not a web address"),
        (("add", str(bench.docs), "--name", "b", "--url-map", str(bench.docs / "none")), "cannot be read"),
        (("remove", "nope"), "no index 'nope'.*the indexes are: docs"),
        (("remove", ".."), "no index '..'"),
        (("refresh", "nope"), "no index 'nope'"),
    ):
        with pytest.raises(ConfigError, match=told):
            bench.index(*words)
    assert bench.index_json("list")["indexes"][0]["state"] == "ready"


def test_refresh_without_an_index(bench: Any) -> None:
    with pytest.raises(ConfigError, match="no index to refresh"):
        bench.index("refresh")


def test_names_are_made_safe(bench: Any, tmp_path: Path) -> None:
    for name, expected in (
        ("My Notes (old)", "My-Notes-old"),
        ("文档", "文档"),
        ("...", "folder"),
        ("a.corrupt-3", "a"),
    ):
        folder = tmp_path / "many" / name if name != "..." else tmp_path / "many" / "(.)"
        folder.mkdir(parents=True)
        (folder / "x.md").write_text("zymurgy")
        assert bench.index_json("add", str(folder))["indexes"][0]["name"] == expected
    assert len(bench.search("zymurgy")) == 4


def test_a_vanished_folder_leaves_its_index_alone(bench: Any) -> None:
    bench.write("a.md", "zymurgy")
    bench.index("add", str(bench.docs))
    bench.docs.rename(bench.docs.with_name("moved"))
    with pytest.raises(ConfigError, match=r"index docs: .* does not exist"):
        bench.index("refresh")
    assert bench.found("zymurgy") == ["a.md"]


def test_refresh_of_all_goes_on_past_a_fault(bench: Any, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        bench.index("add", str(tmp_path / name))
    (tmp_path / "one").rmdir()
    (tmp_path / "two" / "a.md").write_text("zymurgy")
    with pytest.raises(ConfigError, match="index one"):
        bench.index("refresh")
    assert bench.found("zymurgy") == ["a.md"]


def test_unused_paths_of_a_url_map_are_told(bench: Any) -> None:
    bench.write("a.md", "x")
    maps = bench.docs.parent / "map.jsonl"
    maps.write_text('{"path": "typo.md", "url": "https://x.example/"}\n')
    assert "1 paths of the URL map are not indexed, such as typo.md" in bench.index(
        "add", str(bench.docs), "--url-map", str(maps)
    )


def test_an_index_cut_short_leaves_the_old_one_in_use(bench: Any) -> None:
    bench.write("a.md", "zymurgy")
    bench.index("add", str(bench.docs))
    bench.write("a.md", "brewing")
    bench.write("b.md", "brewing")

    def interrupted(page: Any) -> None:
        raise KeyboardInterrupt

    working, bench.context.extract = bench.context.extract, interrupted
    with pytest.raises(KeyboardInterrupt):
        bench.index("refresh")
    assert bench.found("zymurgy") == ["a.md"]
    bench.context.extract = working
    bench.index("refresh")
    assert bench.found("zymurgy") == []
    assert bench.found("brewing") == ["a.md", "b.md"]


def test_an_add_cut_short_is_no_index_and_can_be_done_again(bench: Any) -> None:
    bench.write("a.md", "zymurgy")

    def interrupted(page: Any) -> None:
        raise KeyboardInterrupt

    working, bench.context.extract = bench.context.extract, interrupted
    with pytest.raises(KeyboardInterrupt):
        bench.index("add", str(bench.docs))
    assert bench.index_json("list")["indexes"] == []
    assert [entry.name for entry in bench.data.iterdir()] == [".locks"]
    bench.context.extract = working
    bench.index("add", str(bench.docs))
    assert bench.found("zymurgy") == ["a.md"]


def test_a_commit_without_its_manifest_is_done_again(bench: Any) -> None:
    bench.write("a.md", "zymurgy")
    bench.index("add", str(bench.docs))
    before = (bench.data / "docs" / "manifest.json").read_bytes()
    extra = bench.write("b.md", "zymurgy")
    bench.index("refresh")
    (bench.data / "docs" / "manifest.json").write_bytes(before)  # as if killed in between
    assert bench.found("zymurgy") == ["a.md"]
    extra.unlink()
    row = bench.index_json("refresh")["indexes"][0]
    assert (row["documents"], row["updated"]) == (1, 1)
    manifest = load(bench.data / "docs")
    assert manifest is not None and list(manifest.files) == ["a.md"]


def test_one_writer_at_a_time(bench: Any) -> None:
    bench.write("a.md", "zymurgy")
    bench.index("add", str(bench.docs))
    with exclusive(bench.data / ".locks" / "docs.lock"):
        for words in (("refresh", "docs"), ("remove", "docs"), ("add", str(bench.docs), "--name", "Docs")):
            with pytest.raises(CacheError, match="another process is indexing"):
                bench.index(*words)
        assert bench.found("zymurgy") == ["a.md"]


def test_another_process_is_indexing(bench: Any) -> None:
    bench.write("a.md", "zymurgy")
    bench.index("add", str(bench.docs))
    holder = textwrap.dedent(
        """
        import sys
        from pathlib import Path
        from webfetch_search_local.store import Store
        with Store.open(Path(sys.argv[1])).writer() as writer:
            print("held", flush=True)
            sys.stdin.readline()
        """
    )
    process = subprocess.Popen(
        [sys.executable, "-c", holder, str(bench.data / "docs" / "store-1")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None and process.stdout.readline() == "held\n"
        with pytest.raises(CacheError, match="another process is indexing"):
            bench.index("refresh")
        assert bench.found("zymurgy") == ["a.md"]
    finally:
        process.communicate("\n", timeout=10)
    bench.index("refresh")
    assert json.loads((bench.data / "docs" / "manifest.json").read_text())["name"] == "docs"
