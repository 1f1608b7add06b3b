"""Where the file cannot be, and files that are somebody else's."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import lmdb
import pytest
from hypothesis import given
from hypothesis import strategies as st
from webfetch_cache_lmdb import mounts
from webfetch_cache_lmdb.cache import LmdbCache

from webfetch_core.api import CacheError

Store = Callable[..., LmdbCache]
Program = Callable[..., "subprocess.Popen[str]"]

MOUNTS = """\
22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:1 / / rw,relatime - ext4 /dev/vda1 rw
31 27 0:40 / /srv rw,relatime shared:5 master:1 - nfs4 files.example:/srv rw,vers=4.2
32 31 0:41 / /srv/disk rw,relatime - xfs /dev/vdb rw
33 27 0:42 / /mnt/my\\040share rw,relatime - cifs //files.example/share rw
34 27 0:43 / /mnt/far rw,nosuid - fuse.sshfs me@host.example: rw
35 27 0:44 / /mnt/c rw,noatime - 9p drvfs rw
36 27 0:45 / /mnt/ntfs rw - fuseblk /dev/sdb1 rw
37 27 0:46 / /mnt/twice rw - ext4 /dev/vdc rw
38 37 0:47 / /mnt/twice rw - nfs files.example:/twice rw
39 27 0:48 / /mnt/lz\\134x rw - nfs files.example:/x rw
"""


@pytest.mark.parametrize(
    ("path", "kind", "network"),
    [
        ("/var/lib/cache.lmdb", "ext4", False),
        ("/srv/me/cache.lmdb", "nfs4", True),
        ("/srv", "nfs4", True),
        ("/srvly/cache.lmdb", "ext4", False),
        ("/srv/disk/cache.lmdb", "xfs", False),
        ("/mnt/my share/cache.lmdb", "cifs", True),
        ("/mnt/far/x", "fuse.sshfs", True),
        ("/mnt/c/x", "9p", True),
        ("/mnt/ntfs/x", "fuseblk", False),
        ("/mnt/twice/x", "nfs", True),
        ("/mnt/lz\\x/y", "nfs", True),
    ],
)
def test_the_mount_that_holds_a_path(path: str, kind: str, network: bool) -> None:
    assert mounts.type_of(path, MOUNTS) == kind
    assert mounts.is_network(kind) is network


@pytest.mark.parametrize("kind", ["nfs", "NFS4", "smb3", "fuse.rclone", "fuse.s3fs", "lustre", "ceph"])
def test_network_types(kind: str) -> None:
    assert mounts.is_network(kind)


@pytest.mark.parametrize(
    "kind", ["", "ext4", "overlay", "tmpfs", "btrfs", "zfs", "fuse", "fuse.ntfs-3g", "nfsx"]
)
def test_types_of_this_machine(kind: str) -> None:
    assert not mounts.is_network(kind)


@given(st.text(), st.text(alphabet="/ab .\0\\", max_size=30))
def test_any_text_is_survived(text: str, path: str) -> None:
    mounts.type_of("/" + path, text)
    assert mounts.type_of("/" + path, text + "\n" + MOUNTS) is not None


def test_this_systems_own_table_is_read(tmp_path: Path) -> None:
    if not mounts.MOUNTINFO.exists():
        pytest.skip("no table of mounts on this system")
    assert mounts.type_of(str(tmp_path), mounts.MOUNTINFO.read_text(encoding="utf-8"))


@pytest.fixture
def on_nfs(path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """A system whose table says that the cache's folder is on NFS."""
    table = tmp_path / "mountinfo"
    folder = str(path.parent).replace(" ", "\\040")
    table.write_text(MOUNTS + f"40 27 0:49 / {folder} rw - nfs4 files.example:/cache rw\n", encoding="utf-8")
    monkeypatch.setattr(mounts, "MOUNTINFO", table)
    yield


@pytest.mark.usefixtures("on_nfs")
def test_a_network_file_system_is_refused_unless_told_otherwise(store: Store, path: Path) -> None:
    with pytest.raises(CacheError, match=r"network file system \(nfs4\).*local disk.*allow_network_path"):
        store()
    assert not path.exists()
    store(allow_network_path=True).put("pages", b"k", b"v")


def test_a_system_without_the_table_refuses_nothing(
    store: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(mounts, "MOUNTINFO", tmp_path / "nothing")
    store().put("pages", b"k", b"v")


# ---- formats -----------------------------------------------------------------------------------------


def test_a_file_of_lmdb_1_is_named_as_such_and_left_alone(store: Store, path: Path) -> None:
    path.parent.mkdir()
    try:
        other = lmdb.open(str(path), subdir=False, lib_version=1)
    except lmdb.Error as exc:  # a build of the binding without it
        pytest.skip(str(exc))
    with other, other.begin(write=True) as txn:
        txn.put(b"their", b"data")
    before = path.read_bytes()
    with pytest.raises(CacheError, match=r"file format of LMDB 1\.0 \(.*\), not that of 0\.9.*move it"):
        store()
    assert path.read_bytes() == before
    assert not list(path.parent.glob("*.corrupt-*"))


def test_which_lmdb_is_used_is_not_left_to_the_environment(path: Path) -> None:
    code = (
        "import sys; from pathlib import Path\n"
        "from webfetch_cache_lmdb.cache import LmdbCache\n"
        "from webfetch_cache_lmdb.settings import LmdbSettings\n"
        "LmdbCache(Path(sys.argv[1]), LmdbSettings(), log=None).close()\n"
    )
    environ = {**os.environ, "LMDB_DEFAULT_LIB_VERSION": "1"}
    subprocess.run([sys.executable, "-c", code, str(path)], env=environ, check=True, timeout=60)
    with lmdb.open(str(path), subdir=False, readonly=True, lock=False) as found:
        assert found.lib_version()[0] == 0


@pytest.mark.parametrize(
    ("found", "fix"),
    [
        (b"webfetch-cache 3", "a newer version wrote it: upgrade webfetch-cache-lmdb"),
        (b"webfetch-cache 1", "another version wrote it"),
        (b"something else", "another version wrote it"),
        (b"", "another version wrote it"),
    ],
)
def test_caches_of_other_formats(store: Store, path: Path, found: bytes, fix: str) -> None:
    cache = store()
    environment: Any = cache._environment
    environment.write(lambda txn, layout: txn.put(b"format", found, db=layout.meta))
    cache.close()
    with pytest.raises(CacheError, match=fix):
        store()
    assert not list(path.parent.glob("*.corrupt-*"))


# ---- what may not be written -------------------------------------------------------------------------

needs_users = pytest.mark.skipif(not hasattr(os, "setuid"), reason="no users on this system")
NOBODY = (
    "if os.geteuid() == 0: os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"
    "try: opened(sys.argv[1])\n"
    "except CacheError as exc: said(exc)\n"
)


@needs_users
@pytest.mark.parametrize("which", ["cache.lmdb", "cache.lmdb-lock", "cache.lmdb-guard"])
def test_a_file_that_may_not_be_written_is_named(
    which: str, program: Program, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("shared")
    for parent in (folder, *folder.parents[:2]):
        parent.chmod(0o755 if os.geteuid() == 0 else 0o700)
    folder.chmod(0o777)
    path = folder / "cache.lmdb"
    made = program("opened(sys.argv[1]).close()", path)
    assert made.wait(60) == 0
    for file in folder.iterdir():
        file.chmod(0o666)
    (folder / which).chmod(0o444)
    out, _ = program(NOBODY, path).communicate(timeout=60)
    assert "Permission denied" in out
    assert f"make {folder / which} writable, or set plugins.cache_lmdb.path" in out


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Mount a small file system with some options: ``mounted("ro")``."""
    folder = tmp_path / "mount"
    folder.mkdir()
    done = []

    def mount(options: str) -> Path:
        command = ["mount", "-t", "tmpfs", "-o", f"size=1m,{options}", "tmpfs", str(folder)]
        try:
            done.append(subprocess.run(command, capture_output=True, timeout=30, check=False).returncode == 0)
        except OSError:
            done.append(False)
        if not done[0]:
            pytest.skip("this user may not mount a file system")
        return folder

    yield mount
    if done and done[0]:
        subprocess.run(["umount", str(folder)], check=True, timeout=30)


def test_a_file_system_that_is_read_only_is_named(mounted: Callable[[str], Path], program: Program) -> None:
    out, _ = program(NOBODY.partition("\n")[2], mounted("ro") / "cache.lmdb").communicate(timeout=60)
    assert "Read-only file system" in out and "set plugins.cache_lmdb.path to a file elsewhere" in out


def test_a_disk_without_a_byte_left_is_an_error_to_every_opener(
    mounted: Callable[[str], Path], program: Program
) -> None:
    """LMDB writes to the lock file through a map: a hole in it would end the process."""
    folder = mounted("rw")
    made, new = folder / "made.lmdb", folder / "new.lmdb"
    holder = program(
        "c = opened(sys.argv[1]); c.put('pages', b'k', b'v'); said('ready'); told(); c.close()", made
    )
    assert holder.stdout is not None and holder.stdout.readline() == "ready\n"
    with suppress(OSError), (folder / "ballast").open("wb", buffering=0) as ballast:
        while ballast.write(b"\1" * 4_096):
            pass
    readers = [
        program(
            "c = opened(sys.argv[1])\n"
            "handle = c._environment._handle\n"
            "txns = [handle.begin() for _ in range(100)]\n"  # each takes a place in the lock file
            "said(c.get('pages', b'k'))\n"
            "try: c.put('pages', b'l', random.Random(1).randbytes(200_000))\n"
            "except CacheError as exc: said(exc)\n",
            made,
        )
        for _ in range(2)
    ]
    for reader in readers:
        out, _ = reader.communicate(timeout=60)
        assert reader.returncode == 0 and out.startswith("b'v'\n") and "disk space" in out
    out, _ = program(NOBODY.partition("\n")[2], new).communicate(timeout=60)
    assert "No space left on device" in out and "free some disk space" in out
    (folder / "ballast").unlink()
    last = program("opened(sys.argv[1]).put('pages', b'k', b'v'); said('stored')", new)
    assert last.communicate(timeout=60)[0] == "stored\n"
    holder.communicate("end\n", timeout=60)
    assert holder.returncode == 0
