"""The wait for pages: none without a page, then the nearer of two clocks, with a grace for late starts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webfetch_core.pipeline.window import AFTER_HITS_S, AFTER_MOST_S, AFTER_PAGE_S, GRACE_S, Window


def test_there_is_no_end_while_there_is_nothing_to_show() -> None:
    window = Window()
    assert window.ends_at() is None
    window.hits_came(10.0)
    assert window.ends_at() is None


@pytest.mark.parametrize(
    ("page_after_s", "end_after_s"),
    [
        (0.0, AFTER_PAGE_S),
        (0.05, 0.05 + AFTER_PAGE_S),
        (0.5, AFTER_HITS_S),
        (AFTER_HITS_S, AFTER_HITS_S + GRACE_S),
        (4.0, 4.0 + GRACE_S),
    ],
)
def test_the_nearer_clock_ends_it_and_a_late_first_page_gets_company(
    page_after_s: float, end_after_s: float
) -> None:
    window = Window()
    window.hits_came(100.0)
    window.page_came(100.0 + page_after_s)
    assert window.ends_at() == pytest.approx(100.0 + end_after_s)


def test_only_the_first_of_each_counts() -> None:
    window = Window()
    for now in (1.0, 2.0):
        window.hits_came(now)
        window.page_came(now)
    assert window.ends_at() == pytest.approx(1.0 + AFTER_PAGE_S)


def test_the_first_answer_from_the_web_gets_the_time_that_a_local_one_had() -> None:
    window = Window()
    window.hits_came(0.0)
    window.page_came(0.1)
    window.restart(0.9)
    assert window.ends_at() == pytest.approx(0.9 + AFTER_PAGE_S)


def test_once_most_are_there_the_last_ones_get_a_moment() -> None:
    window = Window()
    window.hits_came(0.0)
    window.page_came(0.1)
    window.most_came(0.4)
    window.most_came(0.45)
    assert window.ends_at() == pytest.approx(0.4 + AFTER_MOST_S)
    window.restart(0.46)
    assert window.ends_at() == pytest.approx(0.46 + AFTER_PAGE_S)


@given(st.floats(0, 100), st.floats(0, 100))
def test_it_never_ends_before_the_grace_nor_after_the_longer_wait(hits_at: float, wait: float) -> None:
    window = Window()
    window.hits_came(hits_at)
    window.page_came(hits_at + wait)
    end = window.ends_at()
    assert end is not None
    assert hits_at + wait + GRACE_S - 1e-9 <= end <= hits_at + wait + AFTER_PAGE_S + 1e-9
