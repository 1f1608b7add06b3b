"""Telling a network file system, where LMDB's locks and maps do not hold, from a local disk."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

MOUNTINFO = Path("/proc/self/mountinfo")
"""The mounts that this process sees; Linux alone has it (proc(5) describes the lines)."""

NETWORK_TYPES = frozenset(
    {
        "9p", "acfs", "afs", "beegfs", "ceph", "cifs", "coda", "davfs", "glusterfs", "gpfs", "lustre",
        "ncpfs", "nfs", "nfs4", "ocfs2", "pvfs2", "smb2", "smb3", "smbfs", "virtiofs",
    }
)  # fmt: skip
"""Types of file systems that other machines may write to, or whose locks another machine keeps."""
_NETWORK_FUSE = frozenset(
    {
        "blobfuse", "blobfuse2", "ceph", "ceph-fuse", "curlftpfs", "davfs", "davfs2", "gcsfuse", "glusterfs",
        "goofys", "juicefs", "moosefs", "mfs", "nfs", "ossfs", "rclone", "s3fs", "s3ql", "smbnetfs", "sshfs",
    }
)  # fmt: skip
_ESCAPE = re.compile(r"\\([0-7]{3})")


def network_type(path: Path) -> str:
    """Return the type of the network file system that ``path`` would be on, or an empty string.

    Empty as well where the system does not say (other systems than Linux).
    """
    try:
        text = MOUNTINFO.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return ""
    found = type_of(str(path), text)
    return found if is_network(found) else ""


def type_of(path: str, mountinfo: str) -> str:
    """Return the type of the file system that an absolute path without links is on.

    ``mountinfo`` is the text of :data:`MOUNTINFO`; lines that do not look like it are passed over.
    Of the mounts that hold the path the deepest counts, of several on one folder the last.
    """
    best, found = -1, ""
    wanted = PurePosixPath(path)
    for line in mountinfo.splitlines():
        before, _, after = line.partition(" - ")
        fields, kind = before.split(" "), after.split(" ")[0]
        if len(fields) < 6 or not kind:
            continue
        mount = PurePosixPath(_ESCAPE.sub(lambda m: chr(int(m[1], 8)), fields[4]))
        if (mount == wanted or mount in wanted.parents) and len(mount.parts) >= best:
            best, found = len(mount.parts), kind
    return found


def is_network(kind: str) -> bool:
    """Whether a file system of this type is shared with other machines."""
    name, _, sub = kind.lower().partition(".")
    return name in NETWORK_TYPES or (name in ("fuse", "fuseblk") and sub in _NETWORK_FUSE)
