"""One page under many addresses, and many pages under similar ones."""

from __future__ import annotations

from pathlib import Path

from case_runner import Case, Seen

from webfetch_core.pipeline.urls import canonical, clean, unwrap


def run(case: Case, tmp_path: Path) -> Seen:
    if (case.folder / "pairs.json").is_file():
        listed = case.json("pairs.json")
        same = listed["same"]
        wrong = [(a, b) for a, b in listed["pairs"] if (canonical(a) == canonical(b)) is not same]
    else:
        work = clean if case.op.startswith("clean_url") else unwrap
        rows = case.json("io.json")["cases"]
        wrong = [(given, work(given)) for given, right in rows if work(given) != right]
    return Seen(text=str(wrong), error_kind="judged wrongly" if wrong else None)
