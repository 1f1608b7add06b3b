from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from webfetch_compress_sentences.lines import Kind
from webfetch_compress_sentences.units import MAX_UNIT_CHARS, split_units


def texts(text: str) -> list[str]:
    return [unit.text for unit in split_units(text)]


def kinds(text: str) -> list[Kind]:
    return [unit.kind for unit in split_units(text)]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("It is deep. It is cold! Is it? Yes.", ["It is deep.", "It is cold!", "Is it?", "Yes."]),
        ("Dr. A. B. Tarn met Mr. Holt at 5 p.m. on St. Mark St. in town.", None),
        (
            "The depth is 41.3 m. e.g. version 2.1.3 is out.",
            ["The depth is 41.3 m. e.g. version 2.1.3 is out."],
        ),
        ("It has 3.5 km, i.e. a lot. The end.", ["It has 3.5 km, i.e. a lot.", "The end."]),
        ('He said "stop." Then he left.', ['He said "stop."', "Then he left."]),
        ("Founded in 1990.[1] It grew.[2][3] Much.", ["Founded in 1990.[1]", "It grew.[2][3]", "Much."]),
        (
            "水深は四十一米です。門は六時に開く！本当？",
            ["水深は四十一米です。", "門は六時に開く！", "本当？"],
        ),
        ("他说：“好。”然后走了。", ["他说：“好。”", "然后走了。"]),
        ("यह झील है। यह गहरी है।", ["यह झील है।", "यह गहरी है।"]),
        ("one\n\ntwo", ["one", "two"]),
        ("Name: Black\nType: pulsar", ["Name: Black", "Type: pulsar"]),
        ("", []),
        (" \n\n ", []),
    ],
)
def test_sentences(text: str, parts: list[str] | None) -> None:
    assert texts(text) == ([text] if parts is None else parts)


def test_hard_wrapped_lines_are_joined() -> None:
    wrapped = (
        "The reservoir was built in the year\n1931 by the county and holds water for\nthe town. It is deep."
    )
    assert texts(wrapped) == [
        "The reservoir was built in the year 1931 by the county and holds water for the town.",
        "It is deep.",
    ]


def test_lines_by_nature_are_not_joined() -> None:
    text = (
        "# Depth of the lake\nThe lake lies to the north of the town\n- item\n| a | b |\n|---|---|\n| 1 | 2 |"
    )
    assert kinds(text) == [Kind.HEADING, Kind.PROSE, Kind.ITEM, Kind.ROW, Kind.ROW, Kind.ROW]


def test_an_item_runs_on_only_in_lower_case() -> None:
    assert texts("- a long item that is wrapped\nand goes on\nA new paragraph starts here now.") == [
        "- a long item that is wrapped and goes on",
        "A new paragraph starts here now.",
    ]
    assert texts("10. Marl pier, 1030 m\nThe field team walked the shore.")[0] == "10. Marl pier, 1030 m"


def test_code_is_one_unit_and_keeps_its_lines() -> None:
    fenced = "Run it:\n\n```sh\ncd  /srv\n\nls. Then\n```\nDone."
    assert texts(fenced) == ["Run it:", "```sh\ncd  /srv\n\nls. Then\n```", "Done."]
    indented = "Run it:\n\n    for x in y:\n        print(x)\n\nDone."
    assert texts(indented) == ["Run it:", "    for x in y:\n        print(x)", "Done."]
    assert texts("```\nnever closed\nat all") == ["```\nnever closed\nat all"]


@pytest.mark.parametrize(
    "text",
    [
        "step()\nstep()\n```\n\nIt is deep. It is cold.",  # odd, before a blank line
        "step()\n```\n## Depth\n\nIt is deep. It is cold.",
        "```\n\nIt is deep. It is cold.",
        "step()\n~~~\n\nIt is deep. It is cold.",
        "    step()\n   ````\n\nIt is deep. It is cold.\n\n````\nstep()",  # begins and ends in code
        "step()\n```\nIt is deep. It is cold.\n\n```sh\nls\n```",  # the next fence opens a block of sh
    ],
)
def test_text_that_begins_inside_a_fenced_block_has_its_prose_cut_all_the_same(text: str) -> None:
    units = split_units(text)
    assert units[0].kind is Kind.CODE
    assert [u.text for u in units if u.kind is Kind.PROSE] == ["It is deep.", "It is cold."]


def test_a_text_that_ends_inside_a_fenced_block_begins_in_code() -> None:
    assert kinds("step()\n\nstep. Step()\n```") == [Kind.CODE]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Run:\n```\nls. Then\n", [Kind.PROSE, Kind.CODE]),  # never closed
        ("```\nls. Then\n```", [Kind.CODE]),
        ("```\n\nls. Then\n\n```\n\nDone.", [Kind.CODE, Kind.PROSE]),
        ("````md\n```sh\nls\n```\n````\nDone.", [Kind.CODE, Kind.PROSE]),
        ("````\n```sh\nls\n```\n````\nDone.", [Kind.CODE, Kind.PROSE]),
        ("~~~\n```\nls\n~~~\nDone.", [Kind.CODE, Kind.PROSE]),
        ("- Run it:\n\n      ```sh\n      ls. Then\n      ```\n- Done.", [Kind.ITEM, Kind.CODE, Kind.ITEM]),
        ("1. ```sh\n   ls\n   ```\n2. Done.", [Kind.CODE, Kind.ITEM]),
        ("```ls``` lists. It is short.", [Kind.PROSE, Kind.PROSE]),
    ],
)
def test_fences(text: str, expected: list[Kind]) -> None:
    assert kinds(text) == expected


def test_a_wrapped_item_is_one_line() -> None:
    text = (
        "4. **Pages are fetched.** Every answer is fused at once.\n   When a page fails, the next\n\t"
        "rank takes its place: see above.\n   - the inner one, also\n     Wrapped here.\n5. Next"
    )
    units = split_units(text)
    assert [(u.line, u.text) for u in units] == [
        (0, "4. **Pages are fetched.**"),
        (0, "Every answer is fused at once."),
        (0, "When a page fails, the next rank takes its place: see above."),
        (1, "- the inner one, also Wrapped here."),
        (2, "5. Next"),
    ]
    assert {u.kind for u in units} == {Kind.ITEM}


def test_a_long_item_runs_on_flush_with_the_margin() -> None:
    text = "- The reservoir above the old town was sounded by the crew of\nOrvane twice in that year."
    assert texts(text) == [" ".join(text.split("\n"))]


def test_a_paragraph_of_an_item_is_no_code() -> None:
    assert kinds("1. Open the gate.\n\n    Then wait for the water.\n\n        step()\n\nDone.") == [
        Kind.ITEM,
        Kind.PROSE,
        Kind.CODE,
        Kind.PROSE,
    ]


def test_line_breaks_that_are_meant_are_kept() -> None:
    assert texts("The harbour office of Orvane  \n41 Pier Street, second floor") == [
        "The harbour office of Orvane",
        "41 Pier Street, second floor",
    ]
    assert len(texts("The harbour office of Orvane\r\n41 Pier Street, second floor")) == 1


def test_rows_know_their_header_and_lose_their_padding() -> None:
    units = split_units("| Model    | rpm  |\n|----------|------|\n| V-310    | 1450 |")
    assert [u.header for u in units] == [2, 2, 2]
    assert [u.text for u in units] == ["| Model | rpm |", "|---|---|", "| V-310 | 1450 |"]


def test_overlong_sentences_are_cut_at_a_clause() -> None:
    text = ("a clause of some length without any end to it at all; " * 12).strip()
    parts = texts(text)
    assert max(map(len, parts)) <= MAX_UNIT_CHARS
    assert all(part.endswith(";") for part in parts)
    assert max(map(len, texts("x" * 1000))) <= MAX_UNIT_CHARS


marks = st.sampled_from(["```\n", "\n~~~ sh\n", "- a ", "\n   b", "\n\n", "    ", "\r\n"])


@given(
    st.lists(st.one_of(st.text(alphabet="ab .\n|-#`1A。 \t", max_size=60), marks), max_size=12).map("".join)
)
def test_units_lie_in_order_in_their_text_and_lose_no_word(text: str) -> None:
    units = split_units(text)
    assert all(0 <= u.start < u.end <= len(text) for u in units)
    assert all(a.end <= b.start for a, b in itertools.pairwise(units))
    covered = "".join(text[u.start : u.end] for u in units)
    assert "".join(covered.split()) == "".join(text.split())
    assert all(u.text.split() == text[u.start : u.end].split() or "-" in u.text for u in units)


@given(st.text(max_size=300))
def test_any_text_can_be_split(text: str) -> None:
    assert all(unit.text.strip() for unit in split_units(text))
