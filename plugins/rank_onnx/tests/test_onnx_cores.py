"""How many streams: what the process may use, from files of a control group and the affinity mask."""

from __future__ import annotations

import os

import pytest
from webfetch_rank_onnx.cores import usable_cores

V2 = "/sys/fs/cgroup/cpu.max"
V1_QUOTA, V1_PERIOD = "/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "/sys/fs/cgroup/cpu/cpu.cfs_period_us"


@pytest.mark.parametrize(
    ("files", "affinity", "cores"),
    [
        ({}, 8, 8),
        ({V2: "max 100000\n"}, 8, 8),
        ({V2: "200000 100000\n"}, 8, 2),
        ({V2: "150000 100000\n"}, 8, 1),
        ({V2: "50000 100000\n"}, 8, 1),  # half a core is still one stream
        ({V2: "800000 100000\n"}, 2, 2),  # the mask is narrower than the quota
        ({V2: "garbage"}, 4, 4),
        ({V2: "100000 0"}, 4, 4),
        ({V1_QUOTA: "300000\n", V1_PERIOD: "100000\n"}, 8, 3),
        ({V1_QUOTA: "-1\n", V1_PERIOD: "100000\n"}, 8, 8),
        ({V2: "max 100000", V1_QUOTA: "100000", V1_PERIOD: "100000"}, 8, 1),
    ],
)
def test_quota_and_mask_bound_each_other(files: dict[str, str], affinity: int, cores: int) -> None:
    assert usable_cores(files.get, affinity) == cores


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="the platform has no affinity masks")
def test_the_mask_of_this_process_counts() -> None:
    mask = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(mask)})
        assert usable_cores() == 1
    finally:
        os.sched_setaffinity(0, mask)
