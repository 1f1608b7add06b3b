"""Pages in a real Chromium that hang, poll, or never come; and what is left when the host has closed."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from case_runner import Case, Seen
from webfetch_fetch_browser.chromium import FIX, find

from webfetch_core import Settings, Webfetch
from webfetch_core.errors import WebfetchError
from webfetch_core.settings import NetSettings
from webfetch_core.testing import LoopbackSite

WARM = 4
"""Pages after which the browser and its helpers have all been started."""

PAGE_S = 14.0
"""What one page may take; the cases allow 15 seconds and more."""


def run(case: Case, tmp_path: Path) -> Seen:
    if find("", os.environ) is None:
        pytest.skip(f"no Chromium here: {FIX}")
    script = case.json("script.json") if (case.folder / "script.json").is_file() else {}
    settings = Settings(
        home=str(tmp_path / "home"),
        net=NetSettings(allow_hosts=("127.0.0.1",)),
        fetch=("browser",),
        extract_workers=0,
    )
    text, kind = "", None
    sizes: list[int] = []
    with LoopbackSite() as site:
        site.add("/ping", "pong").add("/never", hang=True)
        if not script:
            site.add("/page", (case.folder / "page.html").read_bytes())
        host = Webfetch(settings, environ=os.environ)
        host.warm_up("fetch", "extract")  # as a server does: a case is about pages, not about starting
        started = time.perf_counter()
        try:
            for _ in range(script.get("repeat", 1)):
                kind = None
                try:
                    url = site.url("/never" if script else "/page")
                    deadline_s = float(script.get("page_deadline_s", PAGE_S))
                    text = host.fetch(url, deadline_s=deadline_s, force_fresh=True).text
                except WebfetchError as exc:
                    text, kind = str(exc), exc.kind
                sizes.append(_resident_kb(_descendants()))
            took = time.perf_counter() - started
            open_pages = _open_pages(host)
        finally:
            host.close()
    measured = {
        "call_s": took,
        "child_processes_after": _settled(),
        "open_pages_after": open_pages,
        # From when the browser was there: before, there is nothing to grow.
        "rss_growth_mb": (sizes[-1] - sizes[min(WARM, len(sizes) - 1)]) / 1024,
    }
    # A page that never comes is a time-out each time; the case is about what is left behind.
    return Seen(text=text, error_kind=None if script and kind == "timeout" else kind, measured=measured)


def _open_pages(host: Webfetch) -> int:
    """Contexts that the browser still has, once the last page had the time to be closed; the empty one
    that is kept ready for the next page is nobody's."""
    (handle,) = (h for h in host._host.handles("fetch") if h.name == "browser")
    thread = handle.built._thread
    end = time.monotonic() + 20
    while True:
        current = thread._current
        left = len(current.browser.contexts) - (current.spare is not None) if current is not None else 0
        if not left or time.monotonic() > end:
            return left
        time.sleep(0.05)


def _settled() -> int:
    """How many processes of ours are alive when they had two seconds to end."""
    end = time.monotonic() + 2
    while (left := _descendants()) and time.monotonic() < end:
        time.sleep(0.05)
    return len(left)


def _descendants() -> list[int]:
    """Living children of this process and theirs; a browser's helpers are told by their group too."""
    parents: dict[int, tuple[int, int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError, IndexError):
                fields: list[Any] = (entry / "stat").read_text().rpartition(")")[2].split()
                if fields[0] != "Z":
                    parents[int(entry.name)] = (int(fields[1]), int(fields[2]))
    found: set[int] = set()
    grown = {os.getpid()}
    while grown:
        groups = {parents[pid][1] for pid in grown if pid in parents} - {os.getpgid(0)}
        grown = (
            {pid for pid, (parent, group) in parents.items() if parent in grown | found or group in groups}
            - found
            - {os.getpid()}
        )
        found |= grown
    return sorted(found)


def _resident_kb(pids: list[int]) -> int:
    """Memory in use: pages that several of them share are counted once in all."""
    total = 0
    for pid in [os.getpid(), *pids]:
        with suppress(OSError):
            for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    total += int(line.split()[1])
    return total
