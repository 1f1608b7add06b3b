"""Pages whose content others lost, doubled or misread."""

from __future__ import annotations

import re
import time
from pathlib import Path

from case_runner import Case, Seen

from webfetch_core import Settings, Webfetch
from webfetch_core.errors import WebfetchError

LINK = re.compile(r"\]\(((?:[^()\s]|\([^()\s]*\))+)\)")
URL = "https://t.example/dir/page.html"


def run(case: Case, tmp_path: Path) -> Seen:
    options = case.expected.get("options", {})
    unknown = set(options) - {"include_links"}
    assert not unknown, f"options that the adapter does not know: {unknown}"
    table = {"extract_html": {"links_in_text": True}} if options.get("include_links") else {}
    with Webfetch(Settings(home=str(tmp_path), plugins=table), environ={}) as host:
        started = time.perf_counter()
        try:
            document = host.extract((case.folder / "page.html").read_bytes(), url=URL)
        except WebfetchError as exc:
            return Seen(text=str(exc), error_kind=exc.kind)
        took = time.perf_counter() - started
    if document is None:
        return Seen(text="nothing readable", error_kind="empty")
    text = f"# {document.title}\n\n{document.text}" if document.title not in document.text else document.text
    if options.get("include_links"):  # where links are wanted, their targets are text too
        text += "\n" + "\n".join(LINK.findall(text))
    return Seen(
        text=text, measured={"call_s": took}, facts={"flags": document.flags, "table": _table(case, text)}
    )


def _table(case: Case, text: str) -> object:
    """The shape of the first Markdown table that has the header which is asked for."""
    wanted = case.expected.get("table", {})
    rows = [
        [cell.strip() for cell in line.strip().strip("|").split("|")]
        for line in text.splitlines()
        if line.strip().startswith("|")
    ]
    for at, row in enumerate(rows):
        if row == wanted.get("header"):
            widths = {len(cells) for cells in rows[at:]}
            return {"header": row, "rows_width": widths.pop() if len(widths) == 1 else sorted(widths)}
    return None
