"""PDF files that other readers mixed up, lost, refused or choked on."""

from __future__ import annotations

import re
import time
from pathlib import Path

from case_runner import Case, Seen

from webfetch_core import Settings, Webfetch
from webfetch_core.errors import WebfetchError

AS_THE_CASES_SAY = {"truncated": "partial"}
"""Flags of ours that the cases have another word for."""


def run(case: Case, tmp_path: Path) -> Seen:
    assert case.op == "extract_pdf(bytes)"
    body = (case.folder / "doc.pdf").read_bytes()
    settings = Settings(home=str(tmp_path), extract_workers=1, fetch_timeout_s=50.0)
    with Webfetch(settings, environ={}) as host:
        started = time.perf_counter()
        try:
            document = host.extract(body, url="https://t.example/doc.pdf", content_type="application/pdf")
        except WebfetchError as exc:
            # An error is never put into the page cache: only documents are.
            return Seen(text=str(exc), error_kind=exc.kind, facts={"cacheable": False})
        took = time.perf_counter() - started
        worker_mb = _peak_mb(host)
    assert document is not None
    return Seen(
        text=document.text,
        measured={"call_s": took, "peak_rss_growth_mb": worker_mb},
        facts={
            "flags": [AS_THE_CASES_SAY.get(flag, flag) for flag in document.flags],
            "capped": "truncated" in document.flags,
            "table": _tables(document.text, case.expected.get("table", {})),
        },
    )


def _peak_mb(host: Webfetch) -> float:
    """The most memory that the one worker ever held: all of it is this file's, so it bounds the growth."""
    workers = host.host.workers()
    assert workers is not None, "PDF files are extracted in a worker"
    [pid] = workers.pids
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    assert found is not None
    return int(found[1]) / 1024


def _tables(text: str, wanted: dict[str, object]) -> dict[str, object]:
    """What is asked for of the tables, as it was found."""
    blocks: list[list[list[str]]] = [[]]
    for line in text.splitlines():
        if line.startswith("|"):
            blocks[-1].append([cell.strip() for cell in line.strip("|").split("|")])
        elif blocks[-1]:
            blocks.append([])
    tables = [block for block in blocks if block]
    found: dict[str, object] = {}
    if "tables" in wanted:
        found["tables"] = len(tables)
    if "header" in wanted:
        found["header"] = tables[0][0] if tables else None
    if "data_rows" in wanted:
        found["data_rows"] = len(tables[0]) - 2 if tables else 0
    return found
