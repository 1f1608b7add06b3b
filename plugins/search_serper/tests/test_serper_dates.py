from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from webfetch_search_serper.dates import iso_date

NOW = datetime(2026, 11, 30, 1, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("5 days ago", "2026-11-25"),
        ("1 day ago", "2026-11-29"),
        ("a day ago", "2026-11-29"),
        ("2 hours ago", "2026-11-29"),
        ("an hour ago", "2026-11-30"),
        ("40 mins ago", "2026-11-30"),
        ("3 weeks ago", "2026-11-09"),
        ("Yesterday", "2026-11-29"),
        ("today", "2026-11-30"),
        ("Nov 3, 2026", "2026-11-03"),
        ("November 3, 2026", "2026-11-03"),
        ("Sept. 3, 2026", "2026-09-03"),
        ("3 Nov 2026", "2026-11-03"),
        ("03. Nov 2026", "2026-11-03"),
        ("2026-11-03", "2026-11-03"),
        ("2026-11-03T10:00:00Z", "2026-11-03"),
        ("  Nov  3,  2026 ", "2026-11-03"),
        # Those that name no certain day.
        ("2 months ago", None),
        ("1 year ago", None),
        ("11/03/2026", None),
        ("vor 5 Tagen", None),
        ("3 de nov. de 2026", None),
        ("Nov 31, 2026", None),
        ("Mär 3, 2026", None),
        ("2026-13-03", None),
        ("2026", None),
        ("", None),
        ("٣ days ago", "2026-11-27"),
    ],
)
def test_the_day_that_a_text_names(text: str, day: str | None) -> None:
    assert iso_date(text, NOW) == day


@given(st.one_of(st.text(max_size=20), st.from_regex(r"\d{1,4} (days?|hours|weeks) ago", fullmatch=True)))
def test_any_text_is_survived(text: str) -> None:
    day = iso_date(text, NOW)
    assert day is None or datetime.fromisoformat(day)
