from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from webfetch_search_local.manifest import Manifest, ManifestDamaged, load, save

from webfetch_core.api import CacheError, SearchRequest


@pytest.fixture
def kept(bench: Any) -> Any:
    bench.write("a.md", "zymurgy")
    bench.index("add", str(bench.docs))
    return bench


def damage(folder: Path, pattern: str, how: str) -> None:
    for file in folder.glob(pattern):
        data = file.read_bytes()
        file.write_bytes(
            {"empty": b"", "half": data[: len(data) // 2], "noise": bytes(b ^ 0x5A for b in data)}[how]
        )


@pytest.mark.parametrize("how", ["empty", "half", "noise"])
@pytest.mark.parametrize("pattern", ["meta.json", "*.store", "*.term", "*.idx", "*.fast"])
def test_a_damaged_index_is_set_aside_and_made_anew(kept: Any, pattern: str, how: str) -> None:
    damage(kept.data / "docs" / "store-1", pattern, how)
    with pytest.raises(CacheError) as caught:
        kept.search("zymurgy")
    assert "index 'docs' is damaged" in caught.value.message
    assert "webfetch index refresh docs" in caught.value.fix
    aside = kept.data / "docs.corrupt-1"
    assert str(aside) in caught.value.message and any(aside.iterdir())
    assert kept.index_json("list")["indexes"][0]["state"] == "unusable"
    kept.index("refresh", "docs")
    assert kept.found("zymurgy") == ["a.md"]
    assert any(aside.iterdir())


def test_damage_that_opening_does_not_see_is_found_by_the_search(kept: Any, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "b.md").write_text("zymurgy")
    kept.index("add", str(other))
    (file,) = (kept.data / "docs" / "store-1").glob("*.store")
    data = bytearray(file.read_bytes())
    data[:8] = b"\xff" * 8  # the block of documents; the footer stays whole
    file.write_bytes(data)
    with pytest.raises(CacheError, match=r"index 'docs' is damaged.*docs.corrupt-1.*refresh docs"):
        kept.search("zymurgy")
    assert kept.found("zymurgy") == ["b.md"]
    kept.index("refresh")
    assert sorted(kept.found("zymurgy")) == ["a.md", "b.md"]


def test_a_second_damage_gets_its_own_name(kept: Any) -> None:
    for number in (1, 2):
        damage(next((kept.data / "docs").glob("store-*")), "meta.json", "half")
        kept.index("refresh")
        assert (kept.data / f"docs.corrupt-{number}").is_dir()
        assert kept.found("zymurgy") == ["a.md"]


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"null", b'{"schema": 1}', b'{"schema": 99, "files": {}}', b"\xff", b"[" * 100_000],
)
def test_a_damaged_manifest_is_set_aside(kept: Any, content: bytes) -> None:
    (kept.data / "docs" / "manifest.json").write_bytes(content)
    with pytest.raises(CacheError, match=r"docs.corrupt-1.*webfetch index add PATH --name docs"):
        kept.search("zymurgy")
    assert (kept.data / "docs.corrupt-1" / "manifest.json").read_bytes() == content
    kept.index("add", str(kept.docs))
    assert kept.found("zymurgy") == ["a.md"]


def test_a_store_outside_of_the_index_is_not_believed(kept: Any) -> None:
    file = kept.data / "docs" / "manifest.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "store": "../../elsewhere"}))
    with pytest.raises(CacheError, match="damaged"):
        kept.search("zymurgy")


def test_a_damaged_index_does_not_silence_the_others(kept: Any, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "b.md").write_text("zymurgy")
    kept.index("add", str(other))
    damage(kept.data / "docs" / "store-1", "meta.json", "noise")
    assert kept.found("zymurgy") == ["b.md"]


def test_an_index_of_another_version_asks_for_a_refresh(kept: Any) -> None:
    file = kept.data / "docs" / "manifest.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "store_format": 0}))
    with pytest.raises(CacheError, match=r"made by another version.*refresh docs"):
        kept.search("zymurgy")
    kept.index("refresh")
    assert kept.found("zymurgy") == ["a.md"]
    assert [p.name for p in (kept.data / "docs").glob("store-*")] == ["store-2"]


def test_a_manifest_is_replaced_as_a_whole(tmp_path: Path) -> None:
    manifest = Manifest(name="n", folder="/f\udcff", store="store-1", urls={"a\udcff": "https://x.example/"})
    save(tmp_path, manifest)
    assert load(tmp_path) == manifest
    assert [p.name for p in tmp_path.iterdir()] == ["manifest.json"]
    assert load(tmp_path / "none") is None
    (tmp_path / "manifest.json").write_text('{"schema": 1, "files": {"a": 1}}')
    with pytest.raises(ManifestDamaged):
        load(tmp_path)


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX users and modes")
def test_an_index_is_opened_where_nothing_can_be_written(kept: Any) -> None:
    """As in an image that was built once and runs read-only, by another user."""
    script = textwrap.dedent(
        """
        import os, sys
        from pathlib import Path
        from webfetch_search_local.library import Library
        import tantivy
        if os.getuid() == 0:
            os.setgroups([]), os.setgid(65534), os.setuid(65534)
        view = Library(lambda: Path(sys.argv[1])).open("docs").store.view()
        print(view.count, len(view.search({"zymurgi": {"body": 1.0}}, 5)))
        """
    )
    with TemporaryDirectory() as place:
        root = Path(place) / "search_local"
        shutil.copytree(kept.data, root)
        for folder, _, files in os.walk(place):
            for name in files:
                Path(folder, name).chmod(0o444)
            Path(folder).chmod(0o555)
        try:
            done = subprocess.run(
                [sys.executable, "-c", script, str(root)],
                capture_output=True,
                text=True,
                timeout=30,
                check=False,
            )
        finally:
            for folder, _, _ in os.walk(place):
                Path(folder).chmod(0o755)
    assert done.stdout.split() == ["1", "1"], done.stderr


def test_readers_go_on_while_an_index_is_refreshed(kept: Any) -> None:
    engine = kept.engine()
    for number in range(5):
        kept.write(f"{number}.md", "zymurgy")
        kept.index("refresh")
        assert len(engine.search(SearchRequest(query="zymurgy"))) == number + 2
