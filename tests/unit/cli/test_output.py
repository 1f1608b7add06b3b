import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webfetch_core.cli.explain import waterfall
from webfetch_core.cli.output import harmless, put, table, told_size, told_time, width_of, wrapped
from webfetch_core.models import Span


@given(st.text())
def test_a_terminal_never_gets_a_control_character(text: str) -> None:
    shown = harmless(text)
    assert not any(ord(c) < 32 or 127 <= ord(c) < 160 for c in shown.replace("\n", "").replace("\t", ""))
    if text.isprintable():
        assert shown == text


@given(st.text(), st.sampled_from(["ascii", "cp1252", "utf-8", "shift_jis"]))
def test_any_text_can_be_written_to_any_console(text: str, encoding: str) -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding, errors="strict", newline="")
    put(stream, text)
    stream.flush()
    assert raw.getvalue().decode(encoding).endswith("\n")


def test_columns_are_aligned_and_the_last_runs_on_below_itself() -> None:
    assert table([("a", "bb"), ("ccc", "d")]) == ["a    bb", "ccc  d"]
    assert table([]) == []
    lines = table([("name", "one two three four five six seven eight")], width=31)
    assert lines == ["name  one two three four five", "      six seven eight"]


@given(st.text(alphabet="ab ", min_size=1), st.integers(30, 60))
def test_wrapping_loses_no_word(text: str, width: int) -> None:
    text = " ".join(text.split())
    assert " ".join(" ".join(wrapped("- ", text, width)).split()) == f"- {text}".strip()


def test_sizes_and_times() -> None:
    assert [told_size(n) for n in (0, 999, 1_000, 2_500_000, 3 * 10**9, 10**13)] == [
        "0 B",
        "999 B",
        "1.0 kB",
        "2.5 MB",
        "3.0 GB",
        "10000.0 GB",
    ]
    assert [told_time(t) for t in (0.0004, 0.031, 1.239)] == ["0.4 ms", "31 ms", "1.24 s"]


def test_bars_share_one_scale() -> None:
    trace = (
        Span(stage="search", name="ddg", start_s=0.0, end_s=0.5),
        Span(stage="fetch", name="http", start_s=0.5, end_s=1.0, note="timeout too slow https://x.example/p"),
    )
    first, second = waterfall(trace, 100, unicode=False)
    assert first.startswith("search ddg")
    assert second.startswith("fetch http x.example")
    assert second.endswith("timeout too slow")
    assert first.index("#") < second.index("#")
    assert first.count("#") == second.count("#")
    assert waterfall((), 100) == []


@given(
    st.lists(
        st.tuples(st.floats(0, 10), st.floats(0, 10), st.text(max_size=80)).map(
            lambda t: Span(stage="s", name=t[2], start_s=min(t[0], t[1]), end_s=max(t[0], t[1]), note=t[2])
        ),
        max_size=5,
    ),
    st.integers(40, 160),
)
def test_every_span_has_one_line_and_a_bar(trace: list[Span], width: int) -> None:
    lines = waterfall(trace, width, unicode=False)
    assert len(lines) == len(trace)
    assert all("\n" not in line for line in lines)
    if trace and max(span.end_s for span in trace) > 0:
        assert all("#" in line for line in lines)


@pytest.mark.parametrize("columns", ["²", "９" * 3, "9" * 5_000, "-5", "0", "x", ""])
def test_a_width_that_is_no_number_is_passed_over(columns: str) -> None:
    assert 40 <= width_of({"COLUMNS": columns}) <= 160
