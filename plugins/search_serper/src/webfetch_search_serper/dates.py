"""From the dates that Google shows to ISO 8601. Pure."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_AGO = re.compile(r"(\d{1,3}|an?) (min(?:ute)?|hour|day|week)s? ago\Z", re.IGNORECASE)
_UNITS = {
    "min": timedelta(minutes=1),
    "minute": timedelta(minutes=1),
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
    "week": timedelta(weeks=1),
}
_MONTH_FIRST = re.compile(r"([a-z]{3,9})\.? (\d{1,2}),? (\d{4})\Z", re.IGNORECASE)
_DAY_FIRST = re.compile(r"(\d{1,2})\.? ([a-z]{3,9})\.?,? (\d{4})\Z", re.IGNORECASE)
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}")


def iso_date(text: str, now: datetime) -> str | None:
    """The day that ``text`` names (``5 days ago``, ``Nov 3, 2026``, ``3 Nov 2026``), or None.

    What names no certain day is None: months and years ago, other languages than English,
    ``11/03/2026``.

    Args:
        now: the moment of the answer; days are counted in its zone.
    """
    text = " ".join(text.split())
    if text.lower() in ("today", "just now"):
        return now.date().isoformat()
    if text.lower() == "yesterday":
        return (now - timedelta(days=1)).date().isoformat()
    if m := _AGO.match(text):
        count = int(m[1]) if m[1].isdigit() else 1
        return (now - count * _UNITS[m[2].lower()]).date().isoformat()
    if m := _MONTH_FIRST.match(text):
        return _day(m[3], m[1], m[2])
    if m := _DAY_FIRST.match(text):
        return _day(m[3], m[2], m[1])
    if m := _ISO.match(text):
        try:
            return date.fromisoformat(m[0]).isoformat()
        except ValueError:
            return None
    return None


def _day(year: str, month: str, day: str) -> str | None:
    try:
        return date(int(year), _MONTHS.index(month[:3].lower()) + 1, int(day)).isoformat()
    except ValueError:
        return None
