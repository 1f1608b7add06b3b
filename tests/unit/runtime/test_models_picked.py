"""Models whose files nobody has pinned: chosen by the plugin, recorded when they first come."""

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from webfetch_core import manifests
from webfetch_core.artefacts import MODEL_PATH, Model, ModelFile, ModelSpec, find, store_folder
from webfetch_core.errors import NotConfigured, Unavailable
from webfetch_core.runtime.models import ModelStore
from webfetch_core.testing.hub import LoopbackHub
from webfetch_core.testing.site_server import Reply

REVISION = "0123456789abcdef0123456789abcdef01234567"
FILES = {
    "onnx/model.onnx": b"weights " * 40_000,
    "tokenizer.json": b'{"model": {}}',
    "config.json": b"{}",
    "README.md": b"not ours",
    "pytorch_model.bin": b"x" * 5_000,
}
WANTED = ["config.json", "onnx/model.onnx", "tokenizer.json"]


def pick(names: Sequence[str]) -> list[str]:
    if not any(name.endswith(".onnx") for name in names):
        raise ValueError("it has no ONNX file: export it first")
    return [name for name in names if name.endswith((".onnx", ".json")) and name != manifests.NAME]


SPEC = ModelSpec(name="acme--open", licence="", repo="acme/open", revision=REVISION, pick=pick)


@pytest.fixture
def hub() -> Iterator[LoopbackHub]:
    pytest.importorskip("huggingface_hub", reason="pulling needs huggingface_hub")
    with LoopbackHub() as hub:
        yield hub.add(SPEC.repo, REVISION, FILES)


def store(tmp_path: Path, hub: LoopbackHub | None = None, **environ: str) -> ModelStore:
    return ModelStore({**({"HF_ENDPOINT": hub.endpoint} if hub else {}), **environ}, tmp_path)


def folder_of(tmp_path: Path) -> Path:
    return store_folder({"WEBFETCH_HOME": str(tmp_path)}) / SPEC.folder


def test_what_is_picked_is_pulled_and_what_came_is_recorded(tmp_path: Path, hub: LoopbackHub) -> None:
    models = store(tmp_path, hub)
    assert models.state(SPEC).state == "missing"
    assert Model(SPEC).missing({"WEBFETCH_HOME": str(tmp_path)}) == (
        "the model acme--open is not on this machine: webfetch models pull acme--open"
    )
    paths = models.pull(SPEC)
    assert {name: path.read_bytes() for name, path in paths.items()} == {n: FILES[n] for n in WANTED}
    recorded = json.loads((folder_of(tmp_path) / manifests.NAME).read_text())
    assert recorded["files"] == {
        name: {"sha256": hashlib.sha256(FILES[name]).hexdigest(), "size": len(FILES[name])} for name in WANTED
    }
    assert recorded["source"] == {"repo": SPEC.repo, "revision": REVISION}
    connections = hub.site.connections
    assert models.pull(SPEC) == models.files(SPEC) == paths
    assert hub.site.connections == connections
    told = models.state(SPEC, verify=True)
    assert (told.state, told.source, told.size) == ("ready", "store", sum(len(FILES[n]) for n in WANTED))


@pytest.mark.parametrize("name", WANTED)
def test_a_file_that_changed_since_is_damaged_and_comes_again(
    tmp_path: Path, hub: LoopbackHub, name: str
) -> None:
    models = store(tmp_path, hub)
    path = models.pull(SPEC)[name]
    path.write_bytes(b"!" + FILES[name][1:])
    assert models.state(SPEC, verify=True).state == "damaged"
    with pytest.raises(NotConfigured, match="damaged") as told:
        models.files(SPEC)
    assert told.value.fix == "webfetch models pull acme--open"
    assert models.pull(SPEC)[name].read_bytes() == FILES[name]
    path = models.files(SPEC)[name]
    path.write_bytes(FILES[name][:-1])  # cut
    assert models.state(SPEC).state == "damaged"
    assert models.pull(SPEC)[name].read_bytes() == FILES[name]


@pytest.mark.parametrize("manifest", [None, b"", b"{", b"[]", b'{"format": 2, "files": {}}', b"\xff"])
def test_without_its_manifest_a_model_is_not_believed(
    tmp_path: Path, hub: LoopbackHub, manifest: bytes | None
) -> None:
    models = store(tmp_path, hub)
    models.pull(SPEC)
    path = folder_of(tmp_path) / manifests.NAME
    path.unlink() if manifest is None else path.write_bytes(manifest)
    assert find(SPEC, {"WEBFETCH_HOME": str(tmp_path)}) is None
    with pytest.raises(NotConfigured):
        models.files(SPEC)
    assert sorted(models.pull(SPEC)) == WANTED


def test_what_is_pinned_must_be_what_comes(tmp_path: Path, hub: LoopbackHub) -> None:
    def pinned(sha256: str) -> ModelSpec:
        file = ModelFile(name="tokenizer.json", sha256=sha256, size=len(FILES["tokenizer.json"]))
        return evolve(SPEC, files=(file,))

    right = pinned(hashlib.sha256(FILES["tokenizer.json"]).hexdigest())
    with pytest.raises(Unavailable, match=r"tokenizer.json of acme/open is not what was pinned"):
        store(tmp_path, hub).pull(pinned("0" * 64))
    assert sorted(store(tmp_path, hub).pull(right)) == WANTED
    # What lies there was pulled for another pin: it is not this model.
    assert find(pinned("0" * 64), {"WEBFETCH_HOME": str(tmp_path)}) is None


def test_a_large_file_must_be_what_the_hub_says_it_is(tmp_path: Path, hub: LoopbackHub) -> None:
    body = FILES["onnx/model.onnx"]
    hub.add(SPEC.repo, REVISION, {"onnx/model.onnx": body})
    hub._files[f"/{SPEC.repo}/resolve/{REVISION}/onnx/model.onnx"] = b"!" + body[1:]
    with pytest.raises(Unavailable, match="is not what was pinned"):
        store(tmp_path, hub).pull(SPEC)
    assert find(SPEC, {"WEBFETCH_HOME": str(tmp_path)}) is None


def test_a_repository_that_makes_no_model_says_why(tmp_path: Path, hub: LoopbackHub) -> None:
    bare = evolve(SPEC, repo="acme/bare")
    hub.add("acme/bare", REVISION, {"model.safetensors": b"x"})
    with pytest.raises(NotConfigured, match="acme/bare at 0123456789ab: it has no ONNX file"):
        store(tmp_path, hub).pull(bare)


def test_a_listing_that_leads_out_of_the_folder_is_refused(tmp_path: Path, hub: LoopbackHub) -> None:
    evil = evolve(SPEC, repo="acme/evil")
    hub.add("acme/evil", REVISION, {"../../out.onnx": b"x"})
    with pytest.raises(Unavailable, match="no folder can hold"):
        store(tmp_path, hub).pull(evil)


def test_a_cut_download_goes_on_and_is_never_half_a_model(tmp_path: Path, hub: LoopbackHub) -> None:
    piece = 10 * 1024 * 1024
    body = bytes(range(256)) * (piece // 256) + b"the rest"
    hub.add(SPEC.repo, REVISION, {"onnx/model.onnx": body})
    hub.cut_after = piece + 4
    models = store(tmp_path, hub)
    try:
        models.pull(SPEC)
    except Unavailable:
        assert find(SPEC, {"WEBFETCH_HOME": str(tmp_path)}) is None
        models.pull(SPEC)
    assert models.files(SPEC)["onnx/model.onnx"].read_bytes() == body
    assert any(f"bytes={piece}-" in line for line in hub.downloads)


def test_offline_means_not_one_connection(tmp_path: Path, hub: LoopbackHub) -> None:
    with pytest.raises(NotConfigured, match="HF_HUB_OFFLINE"):
        store(tmp_path, hub, HF_HUB_OFFLINE="1").pull(SPEC)
    assert hub.site.connections == 0


@pytest.mark.parametrize("status", [401, 404, 503])
def test_a_hub_that_refuses_to_list_is_told_with_its_status(
    tmp_path: Path, hub: LoopbackHub, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    hub.status = status
    with pytest.raises(Unavailable, match=f"the files of acme/open: the hub answered {status}"):
        store(tmp_path, hub).pull(SPEC)


# ---- folders of the operator's ---------------------------------------------------------------------


def laid_out(folder: Path) -> Path:
    for name, body in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(body)
    return folder


def test_a_folder_is_taken_as_it_is(tmp_path: Path) -> None:
    spec = ModelSpec(name="mine", licence="", path=str(laid_out(tmp_path / "mine")), pick=pick)
    models = store(tmp_path)
    assert sorted(models.files(spec)) == WANTED
    assert (models.state(spec).state, models.state(spec).path) == ("unverified", spec.path)


def test_a_folder_with_a_manifest_is_held_to_it(tmp_path: Path) -> None:
    folder = laid_out(tmp_path / "mine")
    manifests.write(folder, manifests.listed(folder, WANTED), {})
    spec = ModelSpec(name="mine", licence="", path=str(folder), pick=pick)
    models = store(tmp_path)
    assert sorted(models.files(spec)) == WANTED
    assert models.state(spec, verify=True).state == "ready"
    (folder / "tokenizer.json").write_bytes(b"!" + FILES["tokenizer.json"][1:])
    with pytest.raises(NotConfigured, match=r"tokenizer.json of the model mine is damaged") as told:
        models.files(spec)
    assert str(folder) in told.value.fix
    assert (folder / "tokenizer.json").exists()  # not ours to move


def test_a_folder_that_makes_no_model_says_why(tmp_path: Path) -> None:
    (tmp_path / "bare").mkdir()
    spec = ModelSpec(name="bare", licence="", path=str(tmp_path / "bare"), pick=pick)
    told = Model(spec).missing({}) or ""
    assert "it has no ONNX file" in told and str(tmp_path / "bare") in told
    with pytest.raises(NotConfigured, match="it has no ONNX file"):
        store(tmp_path).files(spec)


def test_a_folder_of_far_too_many_files_is_no_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webfetch_core.artefacts.MOST_FILES", 3)
    spec = ModelSpec(name="home", licence="", path=str(laid_out(tmp_path / "home")), pick=pick)
    assert "more than 3 files" in (Model(spec).missing({}) or "")


def test_the_operators_own_copy_wins(tmp_path: Path) -> None:
    laid_out(tmp_path / "own" / SPEC.name)
    models = store(tmp_path, None, **{MODEL_PATH: str(tmp_path / "own")})
    assert sorted(models.files(SPEC)) == WANTED


ROW = {"type": "file", "path": "model.onnx", "size": 4, "oid": "0" * 40}


@pytest.mark.parametrize(
    "row",
    [
        {**ROW, "size": None},
        {**ROW, "size": float("inf")},
        {**ROW, "path": None},
        {**ROW, "path": 7},
        {**ROW, "lfs": {"oid": "../../x", "size": 4, "pointerSize": 1}},
        {**ROW, "lfs": {"oid": 5, "size": 4, "pointerSize": 1}},
    ],
)
def test_a_listing_of_nonsense_is_refused(tmp_path: Path, hub: LoopbackHub, row: dict[str, object]) -> None:
    reply = Reply(body=json.dumps([row]).encode(), headers={"Content-Type": "application/json"})
    hub.site.add(f"/api/models/{SPEC.repo}/tree/{REVISION}", lambda request: reply)
    with pytest.raises(Unavailable, match="no folder can hold"):
        store(tmp_path, hub).pull(SPEC)


def test_a_listing_without_end_is_given_up(
    tmp_path: Path, hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webfetch_core.runtime.models_hub.MOST_FILES", 5)
    path = f"/api/models/{SPEC.repo}/tree/{REVISION}"
    headers = {"Content-Type": "application/json", "Link": f'<{hub.endpoint}{path}>; rel="next"'}
    hub.site.add(path, lambda request: Reply(body=json.dumps([ROW, ROW]).encode(), headers=headers))
    with pytest.raises(Unavailable, match="more than 5 files"):
        store(tmp_path, hub).pull(SPEC)
    assert len(hub.downloads) == 3


@pytest.mark.parametrize(
    "text",
    [
        '{"format": 1, "files": {"a": {"size": 1e999, "sha256": "x"}}}',
        '{"format": 1, "files": {"a": {"size": [], "sha256": "x"}}}',
        '{"format": 1, "files": {"../a": {"size": 1, "sha256": "x"}}}',
        '{"format": 1, "files": []}',
        "[" * 100_000,
        "[]",
    ],
)
def test_a_manifest_of_nonsense_is_none(tmp_path: Path, text: str) -> None:
    folder = folder_of(tmp_path)
    folder.mkdir(parents=True)
    (folder / manifests.NAME).write_text(text)
    assert manifests.read(folder) is None
    assert store(tmp_path).state(SPEC, verify=True).state == "missing"


def test_a_walk_through_a_disk_ends_early(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webfetch_core.artefacts.MOST_FILES", 3)
    for number in range(50):  # folders count, too
        (tmp_path / "home" / f"folder{number}").mkdir(parents=True)
    walked: list[Any] = []
    walk = os.walk

    def counted(*args: Any, **options: Any) -> Iterator[Any]:
        for step in walk(*args, **options):
            walked.append(step)
            yield step

    monkeypatch.setattr("os.walk", counted)
    spec = ModelSpec(name="home", licence="", path=str(tmp_path / "home"), pick=pick)
    assert "more than 3 files" in (Model(spec).missing({}) or "")
    assert len(walked) <= 3  # one step for each time that it was asked


@pytest.mark.parametrize("path", ["/" + "a" * 5_000, "/x\0y", "/dev/null"])
def test_a_path_that_can_be_no_folder_has_no_model(tmp_path: Path, path: str) -> None:
    spec = ModelSpec(name="odd", licence="", path=path, pick=pick)
    assert "there is no folder" in (Model(spec).missing({}) or "")
    assert store(tmp_path).state(spec).state == "missing"


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may read everything")
def test_a_folder_that_may_not_be_read_says_so(tmp_path: Path) -> None:
    folder = laid_out(tmp_path / "closed")
    folder.chmod(0)
    try:
        spec = ModelSpec(name="closed", licence="", path=str(folder), pick=pick)
        assert "cannot be read" in (Model(spec).missing({}) or "")
    finally:
        folder.chmod(0o700)
