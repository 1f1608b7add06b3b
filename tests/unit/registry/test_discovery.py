"""Entry points to candidates, from real ``.dist-info`` folders."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import pytest

from webfetch_core.registry.discovery import Candidate, discover
from webfetch_core.testing import fake_dist

CORE = "0.1.0"


def found(*path: Path) -> tuple[Candidate, ...]:
    return discover(CORE, [str(p) for p in path])


def test_a_plugin_is_found_with_its_dist_and_version(tmp_path: Path) -> None:
    fake_dist(tmp_path, "webfetch-search-mine", version="1.2", entry_points={"search_mine": "mine.plugin"})
    (row,) = found(tmp_path)
    assert (row.name, row.value, row.dist, row.version) == (
        "search_mine",
        "mine.plugin",
        "webfetch-search-mine",
        "1.2",
    )
    assert row.problem == "" and row.entry_point is not None


def test_nothing_is_imported(tmp_path: Path) -> None:
    fake_dist(
        tmp_path, "trap", entry_points={"trap": "trap_module"}, modules={"trap_module": "raise SystemExit(1)"}
    )
    assert [row.name for row in found(tmp_path)] == ["trap"]
    assert "trap_module" not in sys.modules


def test_other_groups_are_not_ours(tmp_path: Path) -> None:
    fake_dist(tmp_path, "other", entry_points={"x": "y"}, group="console_scripts")
    fake_dist(tmp_path, "near", entry_points={"x": "y"}, group="webfetch.vault")
    assert found(tmp_path) == ()


@pytest.mark.parametrize(
    ("group", "advice"), [("webfetch.v2", "webfetch-core"), ("webfetch.v0", "the plugin")]
)
def test_another_major_is_listed_with_what_to_upgrade(tmp_path: Path, group: str, advice: str) -> None:
    fake_dist(tmp_path, "webfetch-far", entry_points={"far": "far_module"}, group=group)
    (row,) = found(tmp_path)
    assert row.group == group and row.entry_point is None
    assert group in row.problem and CORE in row.problem and f"upgrade {advice}" in row.problem


def test_an_unmet_bound_on_the_core_is_a_problem(tmp_path: Path) -> None:
    fake_dist(tmp_path, "webfetch-new", entry_points={"new": "new"}, requires=["webfetch-core>=3"])
    (row,) = found(tmp_path)
    assert row.problem == "it needs webfetch-core>=3, found 0.1.0"


def test_the_same_dist_twice_on_the_path_counts_once(tmp_path: Path) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    for folder in (first, second):
        fake_dist(folder, "wf-good", entry_points={"good": "wf_good"})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [row.problem for row in found(first, second)] == [""]


def test_a_lib64_link_counts_once(tmp_path: Path) -> None:
    real = tmp_path / "lib" / "python" / "site-packages"
    fake_dist(real, "wf-good", entry_points={"good": "wf_good"})
    (tmp_path / "lib64").symlink_to("lib")
    link = tmp_path / "lib64" / "python" / "site-packages"
    for path in ((real, link), (link, real)):
        assert [row.problem for row in found(*path)] == [""]


def test_names_that_differ_only_in_punctuation_are_one_dist(tmp_path: Path) -> None:
    fake_dist(tmp_path / "a", "WebFetch_Search.Mine", entry_points={"mine": "m"})
    fake_dist(tmp_path / "b", "webfetch-search-mine", entry_points={"mine": "m"})
    assert [row.problem for row in found(tmp_path / "a", tmp_path / "b")] == [""]


def test_two_dists_with_one_plugin_name_are_both_refused(tmp_path: Path) -> None:
    fake_dist(tmp_path, "first-dist", entry_points={"same": "one"})
    fake_dist(tmp_path, "second-dist", entry_points={"same": "two"})
    rows = found(tmp_path)
    assert len(rows) == 2
    for row in rows:
        assert "first-dist and second-dist" in row.problem and "uninstall" in row.problem


def test_broken_neighbours_do_not_hide_a_plugin(tmp_path: Path) -> None:
    fake_dist(tmp_path, "wf-good", entry_points={"good": "wf_good"})
    (tmp_path / "halfgone-1.0.dist-info").mkdir()
    (tmp_path / "halfgone-1.0.dist-info" / "RECORD").touch()
    unrelated = fake_dist(tmp_path, "unrelated", group="console_scripts")
    (unrelated / "entry_points.txt").write_text(
        "[console_scripts]\nx = u:main\nx = u:main2\n[broken\n= nothing\n"
    )
    binary = fake_dist(tmp_path, "binary")
    (binary / "entry_points.txt").write_bytes(b"\xff\xfe\x00webfetch.v1")
    (tmp_path / "notes.dist-info").write_text("a file, not a folder")
    assert [row.name for row in found(tmp_path)] == ["good"]


def test_a_plugin_whose_own_entry_points_are_broken_is_named(tmp_path: Path) -> None:
    fake_dist(tmp_path, "wf-good", entry_points={"good": "wf_good"})
    broken = fake_dist(tmp_path, "wf-broken", entry_points={"broken": "x"})
    (broken / "entry_points.txt").write_text("[webfetch.v1]\nbroken = x\n[unclosed\n = y\n")
    rows = {row.name: row for row in found(tmp_path)}
    assert rows["good"].problem == ""
    others = [row for name, row in rows.items() if name != "good"]
    assert all(row.dist == "wf-broken" for row in others)


def test_a_plugin_without_metadata_does_not_stop_the_rest(tmp_path: Path) -> None:
    fake_dist(tmp_path, "wf-good", entry_points={"good": "wf_good"})
    nameless = fake_dist(tmp_path, "nameless", entry_points={"x": "y"})
    (nameless / "METADATA").unlink()
    assert "good" in [row.name for row in found(tmp_path)]


def test_a_path_that_is_not_there(tmp_path: Path) -> None:
    fake_dist(tmp_path, "wf-good", entry_points={"good": "wf_good"})
    file = tmp_path / "file"
    file.touch()
    rows = found(tmp_path / "absent", file, tmp_path)
    assert [row.name for row in rows] == ["good"]


def test_order_is_by_name_not_by_installation(tmp_path: Path) -> None:
    for name in ("zeta", "alpha", "mid"):
        fake_dist(tmp_path, f"wf-{name}", entry_points={name: name})
    assert [row.name for row in found(tmp_path)] == ["alpha", "mid", "zeta"]
