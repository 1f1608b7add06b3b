from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from webfetch_compress_sentences.compressor import SentenceCompressor
from webfetch_compress_sentences.layout import lay_out
from webfetch_compress_sentences.question import read_question
from webfetch_compress_sentences.tables import RowFacts, facts_of_rows

from webfetch_core.api import Chunk

BRIDGES = """| Bridge | Opened | Length |
| --- | --- | --- |
| Alder | 1911 | 1,204 m |
| Birch | 1890 | 310 m |
| Cedar \\| East | 1954 | 87 m |
"""


def facts(query: str, text: str = BRIDGES) -> list[RowFacts]:
    found = facts_of_rows(read_question(query), lay_out([Chunk(text=text, url="https://a.example/b")]))
    return [found[i] for i in sorted(found)]


def test_the_head_is_told_from_the_body() -> None:
    assert [f.head for f in facts("bridges")] == [True, True, False, False, False]


@pytest.mark.parametrize(
    ("query", "row"),
    [("which bridge is listed first", 2), ("what is the last bridge", 4), ("which bridge is red", None)],
)
def test_a_first_and_a_last_are_the_ends_of_the_body(query: str, row: int | None) -> None:
    assert [i for i, f in enumerate(facts(query)) if f.at_end] == ([] if row is None else [row])


@pytest.mark.parametrize(
    ("query", "row"),
    [
        ("bridge with the highest length", 2),
        ("bridge with the smallest length", 4),
        ("which opened bridge is the greatest", 4),
        ("the highest mountain", None),
    ],
)
def test_an_extreme_is_that_of_a_column_the_query_names(query: str, row: int | None) -> None:
    assert [i for i, f in enumerate(facts(query)) if f.extreme] == ([] if row is None else [row])


def test_a_cell_counts_only_whole() -> None:
    assert [f.cell_asked > 0 for f in facts("when was Birch built")] == [False, False, False, True, False]
    assert not any(f.cell_asked for f in facts("cedar"))


def test_two_tables_have_two_heads_and_prose_has_no_facts() -> None:
    text = f"{BRIDGES}\nThe rivers are others.\n\n{BRIDGES}"
    assert [f.head for f in facts("rivers", text)].count(True) == 4
    assert len(facts("rivers", text)) == 10


def test_a_table_at_the_very_end_and_one_without_a_body() -> None:
    assert [f.head for f in facts("bridge", "| Bridge | Opened |\n| --- | --- |")] == [True, True]
    assert len(facts("first bridge", "Bridges.\n\n| Alder | 1911 |")) == 1


@given(st.text(alphabet="|-ab1, \n\\", max_size=120))
@settings(deadline=None, max_examples=80)
def test_any_text_has_facts_for_its_rows_and_no_others(text: str) -> None:
    placed = lay_out([Chunk(text=text, url="https://a.example/b")])
    found = facts_of_rows(read_question("which a has the most b, first and last"), placed)
    assert set(found) == {i for i, p in enumerate(placed) if p.unit.kind == "row"}


def test_the_asked_row_is_kept_out_of_a_long_excerpt() -> None:
    rows = [f"| Stop {n} | {1900 + n} | {500 - 3 * n} |" for n in range(40)]
    table = "\n".join(["| Name | Opened | Riders |", "| --- | --- | --- |", *rows])
    around = "The line was planned early and built late, and the old town had wished for it. " * 8
    chunk = Chunk(text=f"{around}\n\n{table}\n\n{around}", url="https://a.example/l", title="Harbour line")
    for query, row in (
        ("what is the last stop on the Harbour line", rows[-1]),
        ("which stop of the Harbour line has the most riders", rows[0]),
        ("when was Stop 23 of the Harbour line opened", rows[23]),
    ):
        kept = SentenceCompressor().compress(query, [chunk], 400)[0].text
        assert row in kept
        assert "| Name | Opened | Riders |" in kept
