from __future__ import annotations

import json
import time
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from webfetch_core.models import Document
from webfetch_core.pipeline.chunking import WIDE_COST, chunk

CASES = Path(__file__).parents[4] / "shared" / "cases" / "inputs"


def cut(text: str, chars: int = 400, overlap: float = 0.1, title: str = ""):
    return chunk(Document(url="https://a.example/", text=text, title=title), chars=chars, overlap=overlap)


def joined(text: str, chunks) -> str:
    """The text again: each chunk without what the one before had, white space between them as it was."""
    out, done = [], 0
    for each in chunks:
        out.append(text[done : each.start] if each.start > done else "")
        out.append(text[max(done, each.start) : each.end])
        done = max(done, each.end)
    return "".join(out) + text[done:]


def check_invariants(text: str, chunks, chars: int) -> None:
    previous_start, done = -1, 0
    for each in chunks:
        each.text.encode("utf-8")
        assert each.text.strip()
        assert each.start > previous_start
        assert each.end > done
        assert text[done : each.start].strip() == ""
        if each.end - each.start == len(each.text):
            expected = "".join(
                "\ufffd" if "\ud800" <= c <= "\udfff" else c for c in text[each.start : each.end]
            )
            assert each.text == expected
        assert len(each.text) <= max(chars, 64)
        previous_start, done = each.start, each.end
    assert text[done:].strip() == ""


PROSE = (
    "The gate opened at noon. Water rose by two metres, and the crew wrote it down! "
    "Was that enough? Nobody could say; the ledger, kept since 1934, shows no such year. "
)


def test_limit_holds_with_overlap_included():
    chunks = cut(PROSE * 40)
    assert len(chunks) > 10
    assert all(len(each.text) <= 400 for each in chunks)
    overlaps = [a.end - b.start for a, b in pairwise(chunks)]
    assert all(0 <= size <= 40 for size in overlaps)
    assert any(overlaps)


def test_prose_ends_at_sentence_ends_and_begins_at_words():
    text = PROSE * 40
    for each in cut(text)[:-1]:
        assert each.text[-1] in ".!?"
        assert each.start == 0 or text[each.start - 1].isspace()


def test_no_overlap_when_it_is_zero():
    chunks = cut(PROSE * 20, overlap=0)
    assert all(a.end <= b.start for a, b in pairwise(chunks))


def test_title_url_and_heading_path_are_carried():
    text = "# Guide\n\n" + PROSE * 3 + "\n\n## Setup\n\n" + PROSE * 3 + "\n\n### Linux ##\n\n" + PROSE * 3
    chunks = cut(text, title="The guide")
    assert {each.title for each in chunks} == {"The guide"}
    assert {each.url for each in chunks} == {"https://a.example/"}
    paths = list(dict.fromkeys(each.heading_path for each in chunks))
    assert paths == [("Guide",), ("Guide", "Setup"), ("Guide", "Setup", "Linux")]


def test_a_passage_over_two_short_sections_has_the_path_that_both_share():
    chunks = cut("# Shop\n\n## Red\n\nRed costs 3.\n\n## Blue\n\nBlue costs 4.")
    assert [each.heading_path for each in chunks] == [("Shop",)]
    assert "## Blue" in chunks[0].text


def test_a_heading_never_stands_alone():
    for filler in range(300, 420, 7):
        chunks = cut("word " * (filler // 5) + "\n\n## Setup\n\n### Linux\n\n" + PROSE * 4)
        for each in chunks:
            lines = [line for line in each.text.splitlines() if line.strip()]
            assert not lines[-1].startswith("#")


def test_headings_with_nothing_below_are_kept():
    assert [each.text for each in cut("# One\n\n## Two")] == ["# One\n\n## Two"]


def test_hash_marks_in_code_are_no_headings():
    text = "# Top\n\n```sh\n# not a heading\nmake\n```\n\n" + PROSE * 6
    assert {each.heading_path for each in cut(text)} == {("Top",)}


def test_table_rows_stay_whole_and_the_header_is_repeated():
    rows = [f"| harbour {i} | {i}.1 m | low tide at {i % 24:02}:15 |" for i in range(60)]
    header = "| Harbour | Height | Tide |\n| --- | --- | --- |\n"
    text = "Tides of the coast.\n\n" + header + "\n".join(rows) + "\n\nMeasured in 2026."
    chunks = cut(text)
    assert len(chunks) > 4
    seen = []
    for each in chunks:
        assert len(each.text) <= 400
        table = [line for line in each.text.splitlines() if line.startswith("|")]
        assert table[0] == "| Harbour | Height | Tide |"
        assert table.count("| Harbour | Height | Tide |") == 1
        assert set(table[2:]) <= set(rows)
        assert table[2:]
        assert text[each.start : each.end] == each.text.removeprefix(header)[-(each.end - each.start) :]
        seen += table[2:]
    assert list(dict.fromkeys(seen)) == rows


def test_a_row_longer_than_the_limit_is_cut_at_words():
    row = "| " + "salt pan " * 100 + "| 4 |"
    chunks = cut(f"| Name | No |\n| --- | --- |\n{row}\n| next | 5 |")
    assert all(len(each.text) <= 400 for each in chunks)
    assert all(not each.text.endswith(("sal", "pa")) for each in chunks)


def test_code_lines_stay_whole_with_their_indentation():
    code = "\n".join(f"    step_{i}(gate, level={i}, wait=True)" for i in range(60))
    text = f"Run it:\n\n```python\n{code}\n```\n\nDone."
    lines = set(text.split("\n"))
    chunks = cut(text)
    assert len(chunks) > 4
    for each in chunks:
        assert set(each.text.split("\n")) <= lines


@pytest.mark.parametrize(
    ("before", "opener", "indent", "closer"),
    [
        ("", "```python", "", "```"),
        ("", "~~~", "", "~~~~"),
        ("", "````md", "", "````"),
        ("- Run it:\n", "```sh", "      ", "```"),
        ("1. ", "```sh title=x", "   ", "```"),
        ("", "```", "  ", "```  "),
        ("", "```python", "", None),
    ],
)
def test_a_passage_inside_a_fenced_block_has_the_fence_in_front(before, opener, indent, closer):
    code = [f"{indent}step_{i}(gate, level={i})  # ``` ~~~ in it" for i in range(60)]
    code[20] = f"{indent}```py of a longer fence" if opener.startswith(("````", "~~~")) else code[20]
    first = f"{before}{opener}" if before.endswith(" ") else f"{before}{indent}{opener}"
    end = [] if closer is None else [f"{indent}{closer}", "", "Done. " + PROSE * 8]
    text = "\n".join([PROSE, "", first, *code, *end])
    chunks = cut(text)
    began, ended = text.index(first), text.index(code[-1])
    inside = [each for each in chunks if began + len(first) < each.start <= ended]
    assert len(inside) > 4
    for each in inside:
        assert each.text == f"{opener}\n{text[each.start : each.end]}"
        assert len(each.text) <= 400
    after = [each for each in chunks if each.start > ended]
    assert bool(after) == bool(closer)
    assert all(each.text == text[each.start : each.end] for each in after)


def test_what_is_no_fence_opens_none():
    for line in ("```code``` in a line", "    ```", "text ```", "``", "> said"):
        chunks = cut(f"Before.\n\n{line}\n\n" + PROSE * 8)
        assert len(chunks) > 2
        assert all(each.end - each.start == len(each.text) for each in chunks)


def test_the_end_of_a_block_stays_with_its_last_line():
    for lines in range(20, 60):
        code = "\n".join(f"gauge {i} reads {i % 7}" for i in range(lines))
        text = f"```\n{code}\n```\n\n{PROSE * 4}"
        assert all(not each.text.startswith("```\n```") for each in cut(text))


def test_a_fence_too_long_for_the_limit_is_not_repeated():
    text = f"```{'x' * 60}\n" + "step(gate)\n" * 60 + "```"
    assert all(len(each.text) <= 80 for each in cut(text, chars=80))


def test_wrapped_prose_is_not_cut_at_its_line_breaks():
    words = (PROSE * 30).split()
    lines, line = [], ""
    for word in words:
        if len(line) + len(word) > 72:
            lines.append(line)
            line = ""
        line = f"{line} {word}".strip()
    for each in cut("\n".join([*lines, line]))[:-1]:
        assert each.text[-1] in ".!?"


@pytest.mark.parametrize("overlap", [0, 0.1, 0.5])
def test_text_without_spaces_ends_at_sentence_marks(overlap):
    text = "水位在夜间上升，闸门随后打开。工作人员记录了每小时的读数！" * 80
    chunks = cut(text, overlap=overlap)
    assert all(len(each.text) * WIDE_COST <= 400 + WIDE_COST for each in chunks)
    ends = [each.text[-1] in "。！？" for each in chunks]
    assert sum(ends) / len(ends) > 0.9
    check_invariants(text, chunks, 400)


@pytest.mark.parametrize(
    "unit",
    [
        "👩‍👩‍👧‍👦",
        "🇩🇪",
        "👍🏽",
        "e\u0301\u0323",
        "กำ",
        "นี่",
        "क्षि",
        "각",
        "각".encode().decode(),
        "🏴\U000e0067\U000e0062\U000e007f",
        "1\ufe0f\u20e3",
    ],
)
@pytest.mark.parametrize("chars", [1, 2, 7, 50])
def test_graphemes_are_never_cut(unit, chars):
    text = unit * 200
    chunks = cut(text, chars=chars)
    assert {each.text.replace(unit, "") for each in chunks} == {""}
    assert joined(text, chunks) == text


def test_right_to_left_text_is_cut_at_words():
    text = "ارتفع منسوب المياه ليلا وفتحت البوابة بعد ذلك؟ " * 40
    words = set(text.split())
    for each in cut(text):
        assert set(each.text.split()) <= words


def test_lone_surrogates_are_replaced():
    chunks = cut("gate \ud83d open " * 60)
    assert chunks
    for each in chunks:
        assert "\ufffd" in each.text.encode("utf-8").decode("utf-8")


def test_an_endless_grapheme_is_cut_like_text():
    chunks = cut("a" + "\u0301" * 5_000)
    assert all(len(each.text) <= 400 for each in chunks)


def test_nothing_in_nothing_out():
    assert cut("") == []
    assert cut(" \n\n\t ") == []


@pytest.mark.parametrize(("chars", "overlap"), [(0, 0.1), (400, 0.6), (400, -0.1)])
def test_bad_limits_are_refused(chars, overlap):
    with pytest.raises(ValueError, match="must be"):
        cut("text", chars=chars, overlap=overlap)


@pytest.mark.parametrize(
    "text",
    [
        PROSE * 6_000,
        "x" * 1_000_000,
        "🇩🇪" * 250_000,
        "量" * 500_000,
        "| a | b |\n| --- | --- |\n" + "| 1 | 2 |\n" * 100_000,
        "# h\n" * 200_000,
        " " * 1_000_000 + "end",
        "word\n" * 200_000,
        "```\n" + "x = 1\n" * 150_000,
        "!" * 1_000_000,
        "# a" + " " * 1_000_000 + "b",
        "| a |\n" + " " * 1_000_000 + "b",
    ],
    ids=[
        "prose",
        "unbroken",
        "flags",
        "cjk",
        "table",
        "headings",
        "blanks",
        "lines",
        "code",
        "marks",
        "heading",
        "row",
    ],
)
def test_a_megabyte_takes_linear_time(text):
    began = time.perf_counter()
    cut(text)
    assert time.perf_counter() - began < 60  # about a second; a quadratic step would take minutes


pieces = st.one_of(
    st.text(max_size=60),
    st.sampled_from(
        [
            "# A\n",
            "## B ##\n",
            "\n\n",
            "| a | b |\n",
            "| --- | --- |\n",
            "```\n",
            "~~~~ sh\n",
            "   ```\n",
            "- item\n",
            "   ",
            "👩‍👧",
            "🇩🇪",
            "。",
            "\r\n",
            "\ud800",
        ]
    ),
    st.text(alphabet="abc ,.\n", min_size=20, max_size=300),
)


@settings(deadline=None, max_examples=300)
@example("00\n ```", 3, 0.5)
@given(st.lists(pieces, max_size=25).map("".join), st.integers(1, 120), st.sampled_from([0, 0.1, 0.3, 0.5]))
def test_nothing_is_lost_and_the_limit_holds(text, chars, overlap):
    chunks = cut(text, chars=chars, overlap=overlap)
    check_invariants(text, chunks, chars)
    assert joined(text, chunks) == text


@settings(deadline=None, max_examples=150)
@given(st.lists(pieces, max_size=25).map("".join))
def test_the_limit_is_strict_at_a_usual_size(text):
    assert all(len(each.text) <= 80 for each in cut(text, chars=80))


@pytest.mark.parametrize("case", ["C148", "C150", "C152", "C337", "C338"])
def test_shared_cases(case):
    folder = CASES / case
    if not folder.exists():
        pytest.skip("the shared cases are not here")
    text = (folder / "text.txt").read_text("utf-8")
    config = json.loads((folder / "config.json").read_text())
    expected = json.loads((folder / "expected.json").read_text())
    size = config["chunk_size"]
    chunks = cut(text, chars=size, overlap=config.get("overlap", size // 10) / size)
    bounds = expected["bounds"]
    if "chunk_len_max" in bounds:
        assert max(len(each.text) for each in chunks) <= bounds["chunk_len_max"]
    assert len(chunks) >= bounds.get("min_chunks", 1)
    if "borders_at_sentence_share_min" in bounds:
        share = sum(each.text[-1] in "。！？" for each in chunks) / len(chunks)
        assert share >= bounds["borders_at_sentence_share_min"]
    if "tokens_max" in bounds:
        assert max(len(each.text) for each in chunks) + 2 <= bounds["tokens_max"]
    if expected.get("lossless"):
        assert joined(text, chunks) == text
