"""Are the cells of a table still cells, and its rows rows, when a page has become text?

Reads ``tables_pdf/wtq_tables.jsonl.xz`` (rows: ``kind``, ``html`` of one table, ``rows`` with row 0 the
header, spanned cells repeated, ``questions`` with answers). Each table stands between two paragraphs of a
page. Tables in PDF files are measured by ``pdf.py``.

Cell recall and precision compare the cells of Markdown rows with the true ones, as multisets; a true cell
that a merged header or a title line carries counts as found. Row integrity: all cells of a true row stand
in order on one line of the output. Answers: one of a question's answers occurs as whole words.
A question counts if the true cells have one of its answers.
Compared are letters and digits only, NFKC, lower case.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Callable

from common import DATA, answered, finish, need, normal, rows
from webfetch_extract_html.html import HtmlExtractor
from webfetch_extract_html.settings import ExtractHtmlSettings

from webfetch_core.api import Page

HOW = "It is one of the project's evaluation sets (tables and PDF), made of WikiTableQuestions."
BEFORE = "The table below lists the entries with their figures as they were published at the time. " * 3
AFTER = "Figures are as of the date of publication and may have been changed by the office since then. " * 3
_BAR = re.compile(r"(?<!\\)\|")


def page_of(table: str) -> str:
    return (
        "<!doctype html><html><head><title>Entries</title></head><body><article><h1>Entries</h1>"
        f"<p>{BEFORE}</p>{table}<p>{AFTER}</p></article></body></html>"
    )


def ours() -> Callable[[str], str]:
    extractor = HtmlExtractor(ExtractHtmlSettings())

    def extract(page: str) -> str:
        document = extractor.extract(Page(url="https://t.example/a", body=page.encode()))
        return document.text if document else ""

    return extract


def trafilatura() -> Callable[[str], str]:
    from trafilatura import extract

    return lambda page: extract(page, include_tables=True, output_format="markdown") or ""


def resiliparse() -> Callable[[str], str] | None:
    try:
        from resiliparse.extract.html2text import extract_plain_text
    except ImportError:
        return None
    return lambda page: str(extract_plain_text(page, main_content=True))


def cells_of(text: str) -> Counter[str]:
    """The cells of the output's rows; of a merged header also its parts."""
    found: Counter[str] = Counter()
    for line in text.split("\n"):
        if "|" not in line and "\t" not in line:
            continue
        for cell in re.split(r"\t+", line) if "|" not in line else _BAR.split(line.strip().strip("|")):
            found[normal(cell)] += 1
    return found


def in_order(row: list[str], line: str) -> bool:
    position = 0
    for cell in row:
        position = line.find(cell, position)
        if position < 0:
            return False
        position += len(cell)
    return True


def measure(truth: list[list[str]], text: str) -> Counter[str]:
    """Counts of one table: cells wanted, found and given; rows, and rows that are whole."""
    wanted = Counter(cell for row in truth for each in row if (cell := normal(each)))
    given = cells_of(text)
    lines = [normal(line) for line in text.split("\n")]
    whole = 0
    for row in truth:
        cells = [cell for each in row if (cell := normal(each))]
        whole += any(in_order(cells, line) for line in lines)
    return Counter(
        wanted=sum(wanted.values()),
        found=sum((wanted & given).values()),
        given=sum(count for cell, count in given.items() if cell),
        rows=len(truth),
        whole=whole,
    )


def html_tables(extract: Callable[[str], str]) -> dict[str, Counter[str]]:
    """Counts by kind of table, and of all."""
    totals: dict[str, Counter[str]] = {}
    for row in rows(need(DATA / "tables_pdf" / "wtq_tables.jsonl.xz", HOW)):
        text = extract(page_of(row["html"]))
        counts = measure(row["rows"], text)
        for question in row.get("questions", ()):
            if answered("\n".join(cell for line in row["rows"] for cell in line), question["answers"]):
                counts["questions"] += 1
                counts["answered"] += answered(text, question["answers"])
        for kind in ("all", row["kind"]):
            totals.setdefault(kind, Counter()).update(counts)
    return totals


def ratio(counts: Counter[str], part: str, whole: str) -> float:
    return counts[part] / counts[whole] if counts[whole] else 0.0


def report(name: str, totals: dict[str, Counter[str]]) -> dict[str, float]:
    for kind, counts in totals.items():
        shares = [
            ratio(counts, *pair)
            for pair in (
                ("found", "wanted"),
                ("found", "given"),
                ("whole", "rows"),
                ("answered", "questions"),
            )
        ]
        print(f"{name:12} {kind:10} " + " ".join(f"{share:9.4f}" for share in shares))
    counts = totals["all"]
    return {
        "html_cell_recall": ratio(counts, "found", "wanted"),
        "html_cell_precision": ratio(counts, "found", "given"),
        "html_row_integrity": ratio(counts, "whole", "rows"),
        "html_answers": ratio(counts, "answered", "questions"),
    }


def main() -> None:
    logging.disable(logging.CRITICAL)
    figures: dict[str, float] = {}
    peers = {"webfetch": ours(), "trafilatura": trafilatura(), "resiliparse": resiliparse()}
    print(f"{'HTML':12} {'kind':10} {'recall':>9} {'precision':>9} {'rows':>9} {'answers':>9}")
    for name, extract in peers.items():
        if extract is None:
            print(f"{name:12} is not installed")
            continue
        measured = report(name, html_tables(extract))
        if name == "webfetch":
            figures = measured
    finish("tables", figures)


if __name__ == "__main__":
    main()
