"""What is read after what: columns, rotated and vertical text, scripts from right to left."""

from __future__ import annotations

from typing import Any

import pytest

LEFT = [
    "The north wall of the harbour was raised twice in",
    "the last century, and each time the masons left the",
    "old stones in place beneath the new course. They",
    "can still be seen at low water from the ferry pier.",
]
RIGHT = [
    "Boats of more than nine tons moor at the long quay,",
    "where the water is deep enough at every tide, while",
    "smaller ones lie in the inner basin behind the lock",
    "gates. The harbour master keeps a list of them all.",
]


def joined(lines: list[str]) -> str:
    return " ".join(lines)


def test_columns_are_read_one_after_the_other(kit: Any) -> None:
    text = kit.text(kit.lines(50, 60, LEFT, 9), kit.lines(310, 60, RIGHT, 9))
    assert text == f"{joined(LEFT)}\n\n{joined(RIGHT)}"


def test_columns_on_base_lines_of_their_own_are_columns_too(kit: Any) -> None:
    text = kit.text(kit.lines(50, 60, LEFT, 9), kit.lines(310, 65, RIGHT, 9))
    assert text == f"{joined(LEFT)}\n\n{joined(RIGHT)}"


def test_three_columns(kit: Any) -> None:
    narrow = [["The gate was", "repaired in the", "spring of that", "year at a cost."],
              ["Nobody had the", "key to the east", "tower, so the", "door was forced."],
              ["In the end all", "three of the men", "who were there", "signed the book."]]  # fmt: skip
    text = kit.text(*(kit.lines(50 + 170 * n, 60, part, 10) for n, part in enumerate(narrow)))
    assert text == "\n\n".join(joined(part) for part in narrow)


def test_what_runs_across_the_columns_parts_them(kit: Any) -> None:
    text = kit.text(
        kit.show(50, 40, "A title that is set across both of the columns of this page", 16),
        kit.lines(50, 70, LEFT, 9),
        kit.lines(310, 70, RIGHT, 9),
        kit.show(
            50,
            140,
            "Between them stands a sentence that is as wide as the whole of the page and ends here.",
            11,
        ),
        kit.lines(50, 170, RIGHT, 9),
        kit.lines(310, 170, LEFT, 9),
    )
    found = [text.find(part) for part in ("A title", LEFT[0], RIGHT[0], "Between them")]
    assert found == sorted(found) and found[0] >= 0
    assert text.rfind(LEFT[0]) > text.rfind(RIGHT[0]) > text.find("Between them")


def test_words_never_span_two_base_lines(kit: Any) -> None:
    upper, lower = (
        ["upper", "line", "reads", "alpha", "then", "41", "m"],
        ["lower", "line", "reads", "beta", "then", "18", "m"],
    )
    parts = []
    for n, (one, other) in enumerate(zip(upper, lower, strict=True)):
        parts += [kit.show(60 + 45 * n, 60, one, 9), kit.show(60 + 45 * n, 70, other, 9)]
    text = kit.text(*parts)
    assert " ".join(upper) in text.replace(" | ", " ")
    assert " ".join(lower) in text.replace(" | ", " ")


@pytest.mark.parametrize("rotate", [90, 180, 270])
def test_rotated_pages_are_read_upright(kit: Any, rotate: int) -> None:
    document = kit.read(kit.Writer().page(kit.lines(50, 60, LEFT, 9), rotate=rotate).build())
    assert document.text == joined(LEFT)


@pytest.mark.parametrize("matrix", [(0, 1, -1, 0), (0, -1, 1, 0), (-1, 0, 0, -1)])
def test_text_that_is_drawn_turned_is_read_upright(kit: Any, matrix: tuple[int, ...]) -> None:
    dx, dy = {(0, 1, -1, 0): (12, 0), (0, -1, 1, 0): (-12, 0), (-1, 0, 0, -1): (0, -12)}[matrix]
    lines = [kit.show(300 + n * dx, 400 + n * dy, text, 9, matrix=matrix) for n, text in enumerate(LEFT)]
    assert kit.text(*lines) == joined(LEFT)


def test_a_page_of_both_directions_keeps_both(kit: Any) -> None:
    text = kit.text(
        kit.lines(80, 60, LEFT, 9), kit.show(30, 500, "Printed at the quay", 9, matrix=(0, 1, -1, 0))
    )
    assert text == f"{joined(LEFT)}\n\nPrinted at the quay"


def test_vertical_writing_is_read_column_by_column_from_the_right(kit: Any) -> None:
    columns = ["東京都の人口は多い", "京都は古い都である"]
    text = kit.text(*(kit.show(400 - 20 * n, 80, column, 12, "FV") for n, column in enumerate(columns)))
    assert text.replace("\n", "") == "".join(columns)


def test_text_from_right_to_left(kit: Any) -> None:
    words = ["שלום", "עולם", "טוב"]
    visual = " ".join(word[::-1] for word in reversed(words))  # as the glyphs stand from left to right
    assert kit.text(kit.show(100, 80, visual, 12, "FU")) == " ".join(words)


def test_numbers_and_latin_words_in_text_from_right_to_left_keep_their_order(kit: Any) -> None:
    visual = "2019 " + "תנשב"[::1] + " Acme " + "הרבח"[::1]
    assert kit.text(kit.show(100, 80, visual, 12, "FU")) == "חברה Acme בשנת 2019"


def test_ideographs_are_not_parted(kit: Any) -> None:
    text = kit.text(
        kit.show(50, 60, "计算复杂性理论是理论", 12, "FU"), kit.show(50, 76, "计算机科学的一个分支", 12, "FU")
    )
    assert text == "计算复杂性理论是理论计算机科学的一个分支"
