"""Tables of pages: spans, headers, titles, cells with structure, tables for layout, and bounds."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from webfetch_extract_html import dom, tables
from webfetch_extract_html.blocks import segment
from webfetch_extract_html.hidden import place_streamed, remove_hidden
from webfetch_extract_html.inline import flat_text
from webfetch_extract_html.markdown import render


def markdown(html: str) -> str:
    root = dom.parse(html)
    place_streamed(root)
    dom.strip_comments(root)
    remove_hidden(root)
    return render(segment(root))


def table(rows: str, **attributes: str) -> str:
    written = "".join(f' {name}="{value}"' for name, value in attributes.items())
    return markdown(f"<table{written}>{rows}</table>")


def test_several_header_rows_become_one():
    text = table(
        "<tr><th rowspan=2>Year</th><th colspan=2>Charts</th></tr><tr><th>US</th><th>UK</th></tr>"
        "<tr><td>2001</td><td>3</td><td>4</td></tr>"
    )
    assert text == "| Year | Charts / US | Charts / UK |\n| --- | --- | --- |\n| 2001 | 3 | 4 |"


def test_a_header_over_the_whole_table_is_its_title():
    text = table(
        "<caption>Levels</caption><tr><th colspan=3>Orvane, 2026</th></tr><tr><th>Month</th><th>"
        "High</th><th>Low</th>"
        "</tr><tr><td>May</td><td>4</td><td>1</td></tr>"
    )
    assert text == "Levels\nOrvane, 2026\n\n| Month | High | Low |\n| --- | --- | --- |\n| May | 4 | 1 |"


def test_a_section_row_below_the_header_is_no_header():
    text = table(
        "<tr><th>Year</th><th>Place</th></tr><tr><th colspan=2>Representing Orvane</th></tr>"
        "<tr><td>2001</td><td>3rd</td></tr>"
    )
    assert text.startswith(
        "| Year | Place |\n| --- | --- |\n| Representing Orvane | Representing Orvane |\n| 2001 "
    )


def test_columns_without_text_of_their_own_go():
    text = table(
        "<tr><th colspan=2>Title</th><th>Discs</th></tr><tr><td bgcolor=red></td><td>One</td><td>2</td></tr>"
        "<tr><td></td><td>Two</td><td>3</td></tr>"
    )
    assert text == "| Title | Discs |\n| --- | --- |\n| One | 2 |\n| Two | 3 |"


def test_a_long_text_across_the_whole_table_is_written_once():
    note = "Figures are those of the harbour office and were revised in the spring of the following year. "
    text = table(
        f"<tr><td>a</td><td>1</td></tr><tr><td>b</td><td>2</td></tr><tr><td colspan=2>{note}</td></tr>"
    )
    assert text.count("harbour office") == 1


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        ("<ul><li>09:20</li><li>15:10</li></ul>", "09:20; 15:10"),
        ("<p>one</p><p>two</p>", "one two"),
        ("Davis<br>Wade", "Davis Wade"),
        ("Theo Marsh<br>Anna Quill", "Theo Marsh; Anna Quill"),
        ("Main Street 4,<br>Orvane Bay", "Main Street 4, Orvane Bay"),
        ("a | b", "a \\| b"),
        ("<img alt='yes'>", "yes"),
        ("<img alt=flag> Orvane", "Orvane"),
        ("54,232<sup><a href='#n1'>[1]</a></sup>", "54,232"),
        ("<span style='display:none'>Quill, Anna</span>Anna Quill", "Anna Quill"),
        ("<span class=sortkey>Quill, Anna</span>Anna Quill", "Anna Quill"),
        ("<code>a b</code>", "`a b`"),
        ("<table><tr><td>i</td><td>j</td></tr><tr><td>k</td></tr></table>", "i j; k"),
        ("<select><option>no</select>yes", "yes"),
    ],
)
def test_a_cell_is_one_line(cell, text):
    rows = "".join(f"<tr><td>r{n}</td><td>{n}</td></tr>" for n in range(4))
    assert f"| x | {text} |" in table(
        f"<tr><th>k</th><th>v</th></tr><tr><td>x</td><td>{cell}</td></tr>{rows}"
    )


def test_line_breaks_in_headers_are_blanks():
    assert "| Average Attendance |" in table(
        "<tr><th>Average<br>Attendance</th><th>b</th></tr><tr><td>1<td>2</tr>"
    )


def test_a_table_that_holds_small_tables_is_a_table_and_one_around_the_page_is_not():
    rows = "".join(f"<tr><td>Club {n}</td><td>{n}</td><td>{n * 2}</td></tr>" for n in range(5))
    title = "<tr><td colspan=3><table><tr><td></td><td>League of 2014</td></tr></table></td></tr>"
    assert "| Club 3 | 3 | 6 |" in table(title + rows)
    layout = table(
        f"<tr><td>Home</td><td><table><tr><th>k</th><th>v</th></tr><tr><td>a</td><td>1</td></tr>"
        f"</table><p>{'word ' * 80}</p></td></tr>"
    )
    assert "| a | 1 |" in layout
    assert "Home\n\n" in layout


def test_elements_with_the_roles_of_a_table_are_one():
    text = markdown(
        "<div role=table><div role=rowgroup><div role=row><span role=columnheader>A</span><span "
        "role=columnheader>B"
        "</span></div></div><div role=row><span role=cell>1</span><span role=cell aria-colspan=1>"
        "2</span></div></div>"
    )
    assert text == "| A | B |\n| --- | --- |\n| 1 | 2 |"


def test_wide_and_long_tables_lose_no_cell_of_their_own():
    wide = table("<tr>" + "".join(f"<td>c{n}</td>" for n in range(1_500)) + "</tr><tr><td>x</td></tr>")
    assert "| c1499 |" in wide
    long = table("".join(f"<tr><td>r{n}</td><td>{n}</td></tr>" for n in range(30_000)))
    assert "| r29999 | 29999 |" in long


def test_spans_cannot_blow_a_table_up():
    text = "word " * 2_000
    page = f"<tr><td colspan=1000 rowspan=65534>{text}</td><td>b</td></tr>" + "<tr><td>c</td></tr>" * 200
    assert len(table(page)) < 2_000_000


SPANS = st.lists(
    st.lists(
        st.tuples(st.integers(0, 4), st.integers(0, 4), st.text("abc", min_size=1, max_size=3)),
        min_size=1,
        max_size=4,
    ),
    min_size=1,
    max_size=5,
)


@given(SPANS)
@settings(max_examples=150, deadline=None)
def test_every_cell_is_in_its_row_whatever_the_spans(spans):
    rows = "".join(
        "<tr>"
        + "".join(f"<td colspan={wide} rowspan={down}>{text}</td>" for wide, down, text in row)
        + "</tr>"
        for row in spans
    )
    root = dom.parse(f"<table>{rows}</table>")
    grid = tables.grid_of(tables.rows_of(root.find(".//table")), flat_text)
    assert len(grid) == len(spans)
    for line, row in zip(grid, spans, strict=True):
        texts = [value for value, _ in line]
        for _, _, text in row:
            assert text in texts


@pytest.mark.timeout(60)  # each would take minutes if a pass over it were not linear
@pytest.mark.parametrize(
    "rows",
    [
        "<tr>" + "<td>x</td>" * 1_000 + "</tr>" + "<tr><td>1</td><td>b</td></tr>" * 10_000,
        "<tr><td><table>" * 60 + "<tr><td>1</td><td>b</td></tr>" * 5_000,
    ],
    ids=["one wide row", "nested"],
)
def test_odd_shapes_take_linear_time_and_space(rows):
    text = table(rows)
    assert "| 1 | b |" in text
    assert len(text) < 2_000_000
