"""The paragraph for the system prompt."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

from webfetch_core import system_note


def test_it_has_the_date_in_words_and_figures() -> None:
    note = system_note(datetime(2026, 12, 1, 23, 59))
    assert note.startswith("Today is Tuesday, 1 December 2026 (2026-12-01). ")


def test_it_changes_with_the_day_and_not_with_the_hour() -> None:
    morning, night = datetime(2026, 2, 3, 1), datetime(2026, 2, 3, 23)
    assert system_note(morning) == system_note(night) != system_note(night + timedelta(hours=1))


def test_the_users_day_counts() -> None:
    tokyo = datetime(2026, 1, 1, 2, tzinfo=timezone(timedelta(hours=9)))
    assert "Thursday, 1 January 2026" in system_note(tokyo)
