"""Tables, drawn or not: rows whole, cells in their columns."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

ROWS = [
    ["Station", "Year", "Depth", "Flow"],
    ["Port Arden", "1950", "41.3", "917.2"],
    ["Port Brill", "1951", "40.3", "832.1"],
    ["Port Corve", "1952", "11.2", "302.6"],
    ["Port Drome", "1953", "79.5", "305.1"],
]
WIDTHS = [120, 60, 60, 60]


def markdown(rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([lines[0], "| " + " | ".join(["---"] * len(rows[0])) + " |", *lines[1:]])


@pytest.mark.parametrize("ruled", [True, False])
def test_a_table_is_markdown(kit: Any, ruled: bool) -> None:
    assert kit.text(kit.table(60, 60, WIDTHS, ROWS, ruled=ruled)) == markdown(ROWS)


@pytest.mark.parametrize("ruled", [True, False])
def test_empty_cells_keep_their_place(kit: Any, ruled: bool) -> None:
    rows = [list(row) for row in ROWS]
    rows[2][2] = rows[3][1] = rows[4][3] = ""
    assert kit.text(kit.table(60, 60, WIDTHS, rows, ruled=ruled)) == markdown(rows)


def test_text_around_a_table_stays_outside(kit: Any) -> None:
    text = kit.text(
        kit.show(60, 50, "The gauges were read every spring by the keeper of the lock, who wrote them down."),
        kit.table(60, 70, WIDTHS, ROWS, ruled=False),
        kit.show(
            60, 180, "After the flood of 1954 they were read no more, and the book was lost in the end."
        ),
    )
    before, table, after = text.split("\n\n")
    assert (
        before.endswith("wrote them down.")
        and table == markdown(ROWS)
        and after.startswith("After the flood")
    )


def test_two_tables_are_two(kit: Any) -> None:
    boats = [["Boat", "Time", "Berth"], ["Vane", "06:40", "B2"]]
    fees = [["Berth", "Fee"], ["B1", "14"], ["B2", "18"]]
    text = kit.text(
        kit.table(200, 60, [80, 80], fees, ruled=True),
        kit.show(78, 130, "Changes of the day"),
        kit.table(170, 140, [80, 80, 80], boats, ruled=True),
    )
    assert text == "\n\n".join([markdown(fees), "Changes of the day", markdown(boats)])


def test_spans_are_resolved(kit: Any) -> None:
    y, h = 60, 16
    cells = [
        (60, y, 80, 2 * h, "Region"), (140, y, 120, h, "Exports"), (260, y, 120, h, "Imports"),
        *((140 + 60 * n, y + h, 60, h, year) for n, year in enumerate(["2019", "2020", "2019", "2020"])),
        (60, y + 2 * h, 80, h, "North"),
        *((140 + 60 * n, y + 2 * h, 60, h, v) for n, v in enumerate(["1,204", "1,310", "988", "1,002"])),
    ]  # fmt: skip
    text = kit.text(
        *(kit.box(x, y, w, height, stroke=True) for x, y, w, height, _ in cells),
        *(kit.show(x + 3, y + 11, text, 9) for x, y, _, _, text in cells),
    )
    assert text == markdown(
        [
            ["Region", "Exports", "Exports", "Imports", "Imports"],
            ["Region", "2019", "2020", "2019", "2020"],
            ["North", "1,204", "1,310", "988", "1,002"],
        ]
    )


def test_cells_of_several_lines_are_one_cell(kit: Any) -> None:
    rows = [
        ("Item", ["Note"]),
        ("Clock", ["Rebuilt in 1931", "after the fire"]),
        ("Bell", ["Weighs 412 kg and was", "cast in Delft"]),
    ]
    y, parts = 60, []
    for name, note in rows:
        height = 12 * len(note) + 6
        parts += [kit.box(60, y, 80, height, stroke=True), kit.box(140, y, 140, height, stroke=True)]
        parts += [kit.show(63, y + 11, name, 9), kit.lines(143, y + 11, note, 9)]
        y += height
    assert kit.text(*parts) == markdown([[name, " ".join(note)] for name, note in rows])


def test_a_header_of_several_lines_is_one_header(kit: Any) -> None:
    text = kit.text(
        kit.lines(163, 50, ["Mean", "depth", "(m)"], 9, 11),
        kit.lines(243, 50, ["Flow", "per", "year"], 9, 11),
        kit.table(60, 80, [100, 80, 80], [[row[0], row[2], row[3]] for row in ROWS[1:]], ruled=False),
    )
    assert text.splitlines()[0] == "|  | Mean depth (m) | Flow per year |"


def test_lines_between_columns_alone_do_not_lose_the_columns_without(kit: Any) -> None:
    """A grid that is drawn around the label and the rest: the text tells the other columns."""
    height = 16 * len(ROWS)
    text = kit.text(
        kit.table(60, 60, WIDTHS, ROWS, ruled=False),
        kit.box(60, 60, 118, height, stroke=True),
        kit.box(178, 60, 190, height, stroke=True),
        *(kit.box(60, 60 + 16 * n, 308, 16, stroke=True) for n in range(len(ROWS))),
    )
    assert text == markdown(ROWS)


def test_rows_within_one_drawn_row_are_rows(kit: Any) -> None:
    height = 16 * (len(ROWS) - 1)
    edges = [60, 180, 240, 300, 360]
    text = kit.text(
        kit.table(60, 60, WIDTHS, ROWS, ruled=False),
        *(kit.box(a, 60, b - a, 16, stroke=True) for a, b in pairwise(edges)),
        *(kit.box(a, 76, b - a, height, stroke=True) for a, b in pairwise(edges)),
    )
    assert text == markdown(ROWS)


@pytest.mark.parametrize("repeated", [True, False])
@pytest.mark.parametrize("ruled", [True, False])
def test_a_table_goes_on_on_the_next_page(kit: Any, repeated: bool, ruled: bool) -> None:
    rows = [ROWS[0], *([f"Port {n:03}", str(1900 + n), f"{n}.5", str(7 * n)] for n in range(1, 91))]
    first, rest = rows[:46], rows[46:]
    writer = kit.Writer()
    writer.page(kit.table(60, 60, WIDTHS, first, ruled=ruled))
    writer.page(kit.table(60, 60, WIDTHS, ([ROWS[0]] if repeated else []) + rest, ruled=ruled))
    assert kit.read(writer.build()).text == markdown(rows)


def test_a_frame_around_text_is_no_table(kit: Any) -> None:
    lines = [
        "Boats of more than nine tons moor at the long quay,",
        "where the water is deep enough at every tide.",
    ]
    text = kit.text(kit.box(50, 50, 400, 60, stroke=True), kit.lines(60, 70, lines))
    assert text == " ".join(lines)


def test_bullets_are_no_column(kit: Any) -> None:
    items = ["Leadership award for the design", "Finalist of the harbour prize", "Member of the lock board"]
    parts = []
    for n, item in enumerate(items):
        parts += [
            kit.show(60, 60 + 14 * n, "\x95".encode("latin-1").decode("cp1252")),
            kit.show(110, 60 + 14 * n, item),
        ]
    assert kit.text(*parts) == "\n".join(f"- {item}" for item in items)


def test_bars_within_cells_are_escaped(kit: Any) -> None:
    rows = [["Key", "Value"], ["a|b", "1"], ["c", "2"]]
    assert "| a\\|b | 1 |" in kit.text(kit.table(60, 60, [100, 100], rows, ruled=True))
