from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from webfetch_search_local.files import FoundFile, LeftOut, Skipped, admit, is_binary, media_type, read, walk
from webfetch_search_local.settings import LocalSettings


def names(folder: Path, **settings: Any) -> list[str]:
    return [item.path for item in walk(folder, LocalSettings(**settings)) if isinstance(item, FoundFile)]


def reasons(folder: Path, **settings: Any) -> dict[str, str]:
    return {
        item.path: item.reason
        for item in walk(folder, LocalSettings(**settings))
        if isinstance(item, Skipped)
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for path in (
        "b.md",
        "a/x.HTML",
        "a/.hidden.md",
        ".git/c.md",
        "node_modules/d.md",
        "env/lib/e.md",
        "f.py",
    ):
        file = tmp_path / "root" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("text")
    (tmp_path / "root" / "env" / "pyvenv.cfg").write_text("")
    (tmp_path / "secret.md").write_text("secret")
    return tmp_path / "root"


def test_what_is_content(folder: Path) -> None:
    assert names(folder) == ["a/x.HTML", "b.md"]


def test_patterns_and_extensions_are_settings(folder: Path) -> None:
    assert names(folder, exclude=("a", ".*"), extensions=(".md", ".py")) == [
        "b.md",
        "f.py",
        "node_modules/d.md",
    ]
    assert names(folder, exclude=("a/*", "node_modules", ".git")) == ["b.md"]


def test_well_known_names_need_no_ending(folder: Path) -> None:
    for name in ("README", "a/Changelog", "LICENSE.bin", "READMEX", "Makefile"):
        (folder / name).write_text("text")
    assert names(folder) == ["README", "a/Changelog", "a/x.HTML", "b.md"]
    assert names(folder, names=("makefile",)) == ["Makefile", "a/x.HTML", "b.md"]
    assert admit(folder, "README", LocalSettings()) and not admit(folder, "Makefile", LocalSettings())


def test_what_is_of_another_type_is_told(folder: Path) -> None:
    (folder / "in.md").symlink_to("b.md")
    (folder / "Makefile").write_text("text")
    os.mkfifo(folder / "pipe.md")
    left = {i.path: i.kind for i in walk(folder, LocalSettings()) if isinstance(i, LeftOut)}
    assert left == {"f.py": ".py", "in.md": "link", "Makefile": "no ending", "pipe.md": "no regular file"}


def test_links_are_not_followed_and_never_out_of_the_folder(folder: Path) -> None:
    (folder / "in.md").symlink_to("b.md")
    (folder / "out.md").symlink_to("../secret.md")
    (folder / "loop").symlink_to(".")
    (folder / "up").symlink_to("..")
    (folder / "dangling.md").symlink_to("nowhere.md")
    assert names(folder) == ["a/x.HTML", "b.md"]
    assert names(folder, follow_symlinks=True) == ["a/x.HTML", "b.md", "in.md"]
    loose = LocalSettings(follow_symlinks=True)
    assert admit(folder, "in.md", loose)
    assert not admit(folder, "in.md", LocalSettings())
    assert not admit(folder, "out.md", loose)
    assert not admit(folder, "up/secret.md", loose)


def test_pipes_are_never_opened(folder: Path) -> None:
    os.mkfifo(folder / "pipe.md")
    assert "pipe.md" not in names(folder)
    with pytest.raises(OSError, match="regular"):
        read(folder, "pipe.md", 100)


def test_large_files_and_too_many_are_reported(folder: Path) -> None:
    (folder / "big.md").write_bytes(b"x" * 5_000_000)
    assert "5,000,000 bytes is more than 4,194,304" in reasons(folder)["big.md"]
    assert names(folder, max_files=1) == ["a/x.HTML"]
    assert "only the first 1 files" in reasons(folder, max_files=1)["."]


def test_a_missing_folder_is_reported(tmp_path: Path) -> None:
    assert "cannot be read" in reasons(tmp_path / "none")["."]


@pytest.mark.parametrize(
    "path",
    [
        "",
        ".",
        "..",
        "../secret.md",
        "a/../../secret.md",
        "/etc/passwd",
        "a//x.HTML",
        "b.md\0",
        "f.py",
        ".git/c.md",
    ],
)
def test_what_is_not_admitted(folder: Path, path: str) -> None:
    assert not admit(folder, path, LocalSettings())


def test_everything_walked_is_admitted(folder: Path) -> None:
    assert all(admit(folder, path, LocalSettings()) for path in names(folder))


def test_reading_is_bounded_and_stays_inside(folder: Path) -> None:
    assert read(folder, "b.md", 4) == b"text"
    with pytest.raises(OSError, match="more than 3 bytes"):
        read(folder, "b.md", 3)
    with pytest.raises(FileNotFoundError):
        read(folder, "../secret.md", 100)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("a.md", "text/markdown"),
        ("A.HTM", "text/html"),
        ("a.rst", "text/plain"),
        ("a.pdf", "application/pdf"),
        ("a.strange", "text/plain"),
        ("Makefile", "text/plain"),
    ],
)
def test_media_types(path: str, kind: str) -> None:
    assert media_type(path) == kind


def test_binary_is_told_from_wide_text() -> None:
    assert is_binary(b"\x89PNG\0\0")
    assert not is_binary("wide".encode("utf-16"))
    assert not is_binary("schön".encode("latin-1"))
