"""When a page was published, in the forms of the imitated APIs. Pure.

Engines and extractors say it in ISO 8601, as a day, or to the second with or without an offset; an engine of
others may say it as mail does. Without an offset it counts as UTC. What is no date comes to None.
"""

from __future__ import annotations

from datetime import UTC, date, datetime
from email.utils import format_datetime

from webfetch_core.api import iso_date


def http_date(published: str | None) -> str | None:
    """``Tue, 10 Nov 2026 07:00:00 GMT`` (RFC 1123), in UTC as it says."""
    moment = _in_utc(published)
    return None if moment is None else format_datetime(moment, usegmt=True)


def utc_clock(published: str | None) -> datetime | None:
    """The moment in UTC without an offset, as SearXNG tells times."""
    moment = _in_utc(published)
    return None if moment is None else moment.replace(tzinfo=None)


def days_since(day: str, today: date) -> int | None:
    """Days from ``2026-11-10`` to ``today``, 0 for what is yet to come."""
    moment = _in_utc(day)
    return None if moment is None else max((today - moment.date()).days, 0)


def _in_utc(published: str | None) -> datetime | None:
    iso = iso_date(published)
    if iso is None:
        return None
    try:
        moment = datetime.fromisoformat(iso)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
