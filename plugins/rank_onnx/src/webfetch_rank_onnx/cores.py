"""How many cores this process may use: affinity and container quota, not what the machine has."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

Read = Callable[[str], str | None]
"""Returns the text of a file, or None."""


def usable_cores(read: Read | None = None, affinity: int | None = None) -> int:
    """Return whole cores, at least one: the affinity mask, bounded by the quota of cgroup v2 or v1.

    A quota of one and a half cores gives one: a second stream would be stopped half of the time.
    """
    read = read or _read
    cores = affinity if affinity is not None else _affinity()
    quota = _quota_v2(read) or _quota_v1(read)
    return max(1, min(cores, int(quota))) if quota else max(1, cores)


def _affinity() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # only Linux has it
        return os.cpu_count() or 1


def _quota_v2(read: Read) -> float | None:
    parts = (read("/sys/fs/cgroup/cpu.max") or "").split()
    return _share(parts[0], parts[1]) if len(parts) == 2 else None


def _quota_v1(read: Read) -> float | None:
    folder = "/sys/fs/cgroup/cpu/cpu.cfs_"
    return _share(read(f"{folder}quota_us") or "", read(f"{folder}period_us") or "")


def _share(quota: str, period: str) -> float | None:
    try:
        share = int(quota) / int(period)
    except (ValueError, ZeroDivisionError):  # "max", or nothing there
        return None
    return share if share > 0 else None


def _read(path: str) -> str | None:
    try:
        return Path(path).read_text(encoding="ascii")
    except (OSError, ValueError):
        return None
