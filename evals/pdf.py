"""What is made of PDF files: paragraphs and their order, tables, hidden text, and files that must be refused.

Reads every file with webfetch's ``extract_pdf`` and, in the same run, with pdfplumber
(``extract_text``, ``extract_tables``) and pypdfium2 (``get_text_range``), and compares:

- ``pdf_synth`` (files whose text is known): paragraphs found whole (nine tenths of their runs of four
  words), consecutive paragraphs in the right order, table cells and rows, text that no reader of the page
  sees and that must not come out, files that must be refused as garbage or for want of a password;
- ``icdar13`` (public documents with tables marked by hand): cells found, rows whole on one line, and the
  F1 of adjacency relations, the measure of that competition (Goebel et al., 2013);
- ``pdf_edge`` (test files of PDF libraries): lines on which two of three other extractors agree, files
  without a text layer told as such, files that need a password told as such, nothing that crashes or hangs.

    python evals/pdf.py [--only synth|icdar|edge] [--show N]

Data: a folder ``tables_pdf`` with ``pdf_synth.tar.xz``, ``pdf_edge.tar.xz``, ``icdar13_pdfs.tar.xz`` and
their rows (``pdf_synth.jsonl.xz``: ``file``, ``expect``, ``expected_paragraphs``, ``expected_table``,
``must_not_contain``; ``icdar13_tables.jsonl.xz``: ``file``, ``tables`` of ``regions`` of ``cells``;
``pdf_edge.jsonl``: ``file``, ``categories``, ``password``, ``silver_snippets``). The documents of the
competition are in tabulapdf/tabula-java's test resources, the others in jsvine/pdfplumber,
pdfminer/pdfminer.six, tabulapdf/tabula-java and py-pdf/sample-files. Any files with rows of this form
will do.
"""

from __future__ import annotations

import argparse
import io
import logging
import re
import tarfile
import tempfile
import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from attrs import Factory, define
from common import DATA, finish, median, need, rows

from webfetch_core import Settings, Webfetch
from webfetch_core.errors import WebfetchError

HOW = "See the docstring of this script for where its files come from."
READERS = ("webfetch", "pdfplumber", "pypdfium2")
SHINGLE = 4
WHOLE = 0.9
"""Share of a paragraph's runs of words that must be there: a hyphen more or less does no harm."""
HANG_S = 60.0

Rows = list[list[str]]


@define
class Output:
    """What a reader made of a file; ``refused`` is the kind of its error, or ``raised`` for another's."""

    text: str = ""
    tables: list[Rows] = Factory(list)
    refused: str = ""
    flags: tuple[str, ...] = ()
    pages: int = 0
    took_s: float = 0.0
    busy_s: float = 0.0


# ---- readers --------------------------------------------------------------------------------------------


def with_webfetch(wf: Webfetch, body: bytes) -> Output:
    try:
        document = wf.extract(body, content_type="application/pdf")
    except WebfetchError as exc:
        return Output(refused=exc.kind)
    if document is None:
        return Output(refused="empty")
    pages = int(document.metadata.get("pages", "1"))
    return Output(
        text=document.text, tables=markdown_tables(document.text), flags=document.flags, pages=pages
    )


def with_pdfplumber(body: bytes) -> Output:
    import pdfplumber

    found = Output()
    try:
        with pdfplumber.open(io.BytesIO(body)) as document:
            found.pages = len(document.pages)
            texts = []
            for page in document.pages:
                texts.append(page.extract_text() or "")
                found.tables += [[[cell or "" for cell in row] for row in t] for t in page.extract_tables()]
                page.close()
            found.text = "\n".join(texts)
    except Exception as exc:
        found.refused = f"raised {type(exc).__name__}"
    return found


def with_pypdfium2(body: bytes) -> Output:
    import pypdfium2

    found = Output()
    try:
        document = pypdfium2.PdfDocument(body)
        found.pages = len(document)
        found.text = "\n".join(document[n].get_textpage().get_text_range() for n in range(found.pages))
        document.close()
    except Exception as exc:
        found.refused = f"raised {type(exc).__name__}"
    return found


def markdown_tables(text: str) -> list[Rows]:
    tables: list[Rows] = []
    inside = False
    for line in text.splitlines():
        if not line.startswith("| "):
            inside = False
            continue
        cells = [c.strip().replace("\\|", "|") for c in re.split(r"(?<!\\)\|", line)[1:-1]]
        if all(re.fullmatch(r"-{3,}", c) for c in cells):
            continue
        if not inside:
            tables.append([])
            inside = True
        tables[-1].append(cells)
    return tables


# ---- measures -------------------------------------------------------------------------------------------


def tokens(text: str) -> list[str]:
    """Words without case and punctuation; each ideograph is one."""
    folded = unicodedata.normalize("NFKC", text).lower()
    return re.findall(r"[\u3400-\u9fff]|[^\W_\u3400-\u9fff]+", folded)


def squeezed(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKC", text).lower() if c.isalnum())


def paragraph_at(words: list[str], places: dict[tuple[str, ...], int]) -> int | None:
    """Where a paragraph stands in a text (``places``: its runs of words); None when it is not whole."""
    size = min(SHINGLE, len(words))
    runs = [tuple(words[i : i + size]) for i in range(len(words) - size + 1)]
    found = [places[run] for run in runs if run in places]
    # The median: single runs of words may come earlier in the text by chance.
    return sorted(found)[len(found) // 2] if runs and len(found) >= WHOLE * len(runs) else None


def paragraphs(expected: Sequence[str], text: str) -> tuple[int, int, int]:
    """(paragraphs found, pairs of consecutive found ones, pairs in order)."""
    words = tokens(text)
    places: dict[tuple[str, ...], int] = {}
    for size in range(1, SHINGLE + 1):
        for i in range(len(words) - size + 1):
            places.setdefault(tuple(words[i : i + size]), i)
    at = [paragraph_at(tokens(paragraph), places) for paragraph in expected if tokens(paragraph)]
    there = [place for place in at if place is not None]
    pairs = list(pairwise(there))
    return len(there), len(pairs), sum(a < b for a, b in pairs)


def cells_found(expected: Sequence[str], text: str) -> int:
    padded = f" {' '.join(tokens(text))} "
    return sum(f" {' '.join(tokens(cell))} " in padded for cell in expected)


def rows_whole(expected: Sequence[Sequence[str]], text: str) -> int:
    """Rows whose cells stand on one line of the text, in their order."""
    lines = [squeezed(line) for line in text.splitlines()]
    count = 0
    for row in expected:
        parts = [squeezed(cell) for cell in row if squeezed(cell)]
        pattern = re.compile(".*".join(map(re.escape, parts)))
        count += any(pattern.search(line) for line in lines)
    return count


def relations(table: Rows) -> Counter[tuple[str, str, str]]:
    """Each cell with its nearest neighbour to the right and below, blanks passed over."""
    grid = [[squeezed(cell) or ("-" if cell.strip() else "") for cell in row] for row in table]
    found: Counter[tuple[str, str, str]] = Counter()
    for r, row in enumerate(grid):
        for c, cell in enumerate(row):
            if not cell:
                continue
            right = next((other for other in row[c + 1 :] if other), None)
            if right is not None:
                found[cell, right, "right"] += 1
            below = next(
                (grid[k][c] for k in range(r + 1, len(grid)) if c < len(grid[k]) and grid[k][c]), None
            )
            if below is not None:
                found[cell, below, "below"] += 1
    return found


def expanded(region: dict[str, Any]) -> Rows:
    """A region's cells as rows, spans filled with their text."""
    cells = region["cells"]
    height = 1 + max(c["end_row"] if c["end_row"] is not None else c["row"] for c in cells)
    width = 1 + max(c["end_col"] if c["end_col"] is not None else c["col"] for c in cells)
    grid = [[""] * width for _ in range(height)]
    for cell in cells:
        grid[cell["row"]][cell["col"]] = cell["text"]
    return grid


def adjacency(truth: Sequence[Rows], found: Sequence[Rows]) -> tuple[int, int, int]:
    """(relations right, in the truth, found). Doubles of a span on our side are blanked first."""
    wanted: Counter[tuple[str, str, str]] = Counter()
    got: Counter[tuple[str, str, str]] = Counter()
    for table in truth:
        wanted += relations(table)
    for table in found:
        got += relations(once(table))
    return (wanted & got).total(), wanted.total(), got.total()


def once(table: Rows) -> Rows:
    """A table in which a text that fills several neighbouring cells stands in the first of them only."""
    lines = []
    for r, row in enumerate(table):
        line = []
        for c, cell in enumerate(row):
            wordy = any(ch.isalpha() for ch in cell) and len(cell) > 2
            left = c > 0 and row[c - 1] == cell
            above = r > 0 and c < len(table[r - 1]) and table[r - 1][c] == cell and r < 4
            line.append("" if wordy and (left or above) else cell)
        lines.append(line)
    return lines


# ---- the run --------------------------------------------------------------------------------------------


class Bench:
    """Reads files with every reader in turn and keeps the times."""

    def __init__(self, wf: Webfetch) -> None:
        self.readers: dict[str, Callable[[bytes], Output]] = {
            "webfetch": lambda body: with_webfetch(wf, body),
            "pdfplumber": with_pdfplumber,
            "pypdfium2": with_pypdfium2,
        }
        self.times: dict[str, list[float]] = {name: [] for name in READERS}
        self.slowest = 0.0

    def read(self, file: Path) -> dict[str, Output]:
        body = file.read_bytes()
        found = {}
        for name, reader in self.readers.items():
            started, busy = time.perf_counter(), time.process_time()
            found[name] = reader(body)
            found[name].took_s = time.perf_counter() - started
            found[name].busy_s = time.process_time() - busy
        self.slowest = max(self.slowest, found["webfetch"].took_s)
        pages = max(output.pages for output in found.values())
        for name, output in found.items():
            if pages and output.text:
                self.times[name].append(1000 * output.busy_s / pages)
        return found


def synth(folder: Path, data: Path, bench: Bench, show: int) -> dict[str, float]:
    names = ("paragraphs", "pairs", "ordered", "cells", "rows", "hits", "got", "leaks", "refused", "blocks")
    totals = {name: Counter(dict.fromkeys(names, 0)) for name in READERS}
    expected: Counter[str] = Counter()
    for row in rows(data / "pdf_synth.jsonl.xz"):
        outputs = bench.read(folder / row["file"])
        refuse = row["expect"] in ("garbled", "no_text", "error_without_password")
        if row["expect"] == "text_or_error":
            continue
        expected["refuse"] += refuse
        wanted = [p for p in row.get("expected_paragraphs") or [] if tokens(p)] if not refuse else []
        table = row.get("expected_table") or []
        expected["paragraphs"] += len(wanted)
        expected["canaries"] += len(row.get("must_not_contain") or [])
        flat = [cell for line in table for cell in line if tokens(cell)]
        lines = [line for line in table if sum(bool(squeezed(c)) for c in line) >= 2]
        expected["cells"] += len(flat)
        expected["rows"] += len(lines)
        for name, output in outputs.items():
            total = totals[name]
            there, pairs, ordered = paragraphs(wanted, output.text)
            total["paragraphs"] += there
            total["pairs"] += pairs
            total["ordered"] += ordered
            total["cells"] += cells_found(flat, output.text)
            whole = rows_whole(lines, output.text)
            total["rows"] += whole
            right, of, got = adjacency([table] if table else [], output.tables if table else [])
            total["hits"] += right
            total["got"] += got
            expected["relations"] += of if name == "webfetch" else 0
            total["leaks"] += sum(canary in output.text for canary in row.get("must_not_contain") or [])
            refused = bool(output.refused) or not output.text.strip()
            total["refused"] += refuse and refused
            if name == "webfetch":
                parts = [" ".join(tokens(part)) for part in output.text.split("\n\n")]
                total["blocks"] += sum(any(" ".join(tokens(p)) in part for part in parts) for p in wanted)
                if show and (
                    there < len(wanted) or ordered < pairs or whole < len(lines) or refused != refuse
                ):
                    print(f"  {row['id']}: {there}/{len(wanted)} paragraphs, {ordered}/{pairs} in order, "
                          f"{whole}/{len(lines)} rows, {output.refused}")  # fmt: skip
    figures: dict[str, float] = {}
    for name, total in totals.items():
        figures |= {
            f"synth_paragraph_recall.{name}": total["paragraphs"] / expected["paragraphs"],
            f"synth_order.{name}": total["ordered"] / max(total["pairs"], 1),
            f"synth_cell_recall.{name}": total["cells"] / expected["cells"],
            f"synth_row_integrity.{name}": total["rows"] / expected["rows"],
            f"synth_adjacency_f1.{name}": f1(total["hits"], expected["relations"], total["got"]),
            f"synth_hidden_leaks.{name}": total["leaks"] / expected["canaries"],
            f"synth_refused.{name}": total["refused"] / expected["refuse"],
        }
    figures["synth_paragraph_blocks.webfetch"] = totals["webfetch"]["blocks"] / expected["paragraphs"]
    return figures


def f1(hits: int, truth: int, found: int) -> float:
    return 2 * hits / (truth + found) if truth + found else 0.0


def icdar(folder: Path, data: Path, bench: Bench, show: int) -> dict[str, float]:
    totals = {name: Counter(dict.fromkeys(("cells", "rows", "hits", "got"), 0)) for name in READERS}
    expected: Counter[str] = Counter()
    worst: list[tuple[float, str]] = []
    for row in rows(data / "icdar13_tables.jsonl.xz"):
        outputs = bench.read(folder / row["file"])
        grids = [expanded(region) for table in row["tables"] for region in table["regions"]]
        flat = [cell for grid in grids for line in grid for cell in line if tokens(cell)]
        lines = [line for grid in grids for line in grid if sum(bool(squeezed(c)) for c in line) >= 2]
        expected["cells"] += len(flat)
        expected["rows"] += len(lines)
        for name, output in outputs.items():
            total = totals[name]
            total["cells"] += cells_found(flat, output.text)
            whole = rows_whole(lines, output.text)
            total["rows"] += whole
            right, of, got = adjacency(grids, output.tables)
            total["hits"] += right
            total["got"] += got
            if name == "webfetch":
                expected["relations"] += of
                note = f"{row['file']}: {whole}/{len(lines)} rows, relations {right} of {of}, {got} found"
                worst.append((f1(right, of, got), note))
    for score, note in sorted(worst)[:show]:
        print(f"  {score:.2f} {note}")
    figures: dict[str, float] = {}
    for name, total in totals.items():
        figures |= {
            f"icdar_cell_recall.{name}": total["cells"] / expected["cells"],
            f"icdar_row_integrity.{name}": total["rows"] / expected["rows"],
            f"icdar_adjacency_f1.{name}": f1(total["hits"], expected["relations"], total["got"]),
        }
    return figures


def edge(folder: Path, data: Path, bench: Bench, show: int) -> dict[str, float]:
    totals = {name: Counter(dict.fromkeys(("snippets", "told", "locked", "crashed"), 0)) for name in READERS}
    expected: Counter[str] = Counter()
    for row in rows(data / "pdf_edge.jsonl"):
        outputs = bench.read(folder / row["file"])
        textless = row["extractors_with_text"] == 0 and "encrypted" not in row["categories"]
        # A user password is known for some of the files; some of them open without it all the same.
        locked = bool(row["password"]) and outputs["pypdfium2"].refused != ""
        snippets = [] if locked else row["silver_snippets"]
        expected["snippets"] += len(snippets)
        expected["textless"] += textless
        expected["locked"] += locked
        for name, output in outputs.items():
            total = totals[name]
            plain = squeezed(output.text)
            missing = [s for s in snippets if squeezed(s) not in plain]
            total["snippets"] += len(snippets) - len(missing)
            total["told"] += textless and output.refused in ("no_text_layer", "empty")
            total["locked"] += locked and output.refused == "encrypted"
            if name == "webfetch":
                total["crashed"] += output.refused in ("plugin_error", "timeout") or output.took_s > HANG_S
                if show and (missing or (textless and not output.refused)):
                    print(f"  {row['file']}: {output.refused or 'text'}; missing {missing[:3]}")
                if show and output.refused and not textless and not locked:
                    print(f"  {row['file']}: refused as {output.refused} {row['categories']}")
    figures: dict[str, float] = {}
    for name, total in totals.items():
        figures[f"edge_snippet_recall.{name}"] = total["snippets"] / expected["snippets"]
    ours = totals["webfetch"]
    figures["edge_no_text_told.webfetch"] = ours["told"] / expected["textless"]
    figures["edge_encrypted_told.webfetch"] = ours["locked"] / max(expected["locked"], 1)
    figures["edge_crashed.webfetch"] = ours["crashed"]
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", choices=("synth", "icdar", "edge"))
    parser.add_argument("--show", type=int, default=0, help="name this many of the worst files")
    args = parser.parse_args()
    data = need(DATA / "tables_pdf" / "pdf_synth.jsonl.xz", HOW).parent
    logging.getLogger("pdfminer").setLevel(logging.ERROR)
    figures: dict[str, Any] = {}
    settings = Settings(
        extract_workers=0, plugins={"extract_pdf": {"max_seconds": 60.0}}, fetch_timeout_s=60.0
    )
    with tempfile.TemporaryDirectory(prefix="webfetch-pdf-") as work, Webfetch(settings) as wf:
        bench = Bench(wf)
        parts = {"synth": ("pdf_synth", synth), "icdar": ("icdar13_pdfs", icdar), "edge": ("pdf_edge", edge)}
        for name, (archive, measure) in parts.items():
            if args.only and args.only != name:
                continue
            with tarfile.open(need(data / f"{archive}.tar.xz", HOW)) as packed:
                packed.extractall(work, filter="data")
            figures |= measure(Path(work), data, bench, args.show)
        for name in READERS:
            figures[f"cpu_ms_per_page.{name}"] = median(bench.times[name])
        figures["slowest_file_s"] = bench.slowest
    report(figures)
    finish("pdf", figures)


def report(figures: dict[str, float]) -> None:
    print(f"\n{'':28}" + "".join(f"{name:>12}" for name in READERS))
    for measure in dict.fromkeys(key.partition(".")[0] for key in figures):
        shown = [figures.get(f"{measure}.{name}") for name in READERS]
        if measure in figures:
            shown[0] = figures[measure]
        print(f"{measure:28}" + "".join(f"{'-' if v is None else format(v, '.3f'):>12}" for v in shown))


if __name__ == "__main__":
    main()
