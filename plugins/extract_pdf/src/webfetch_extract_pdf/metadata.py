"""Title, author and date of a file, as far as they say anything."""

from __future__ import annotations

import re
from datetime import datetime

_DATE = re.compile(r"(?:D:)?(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?\s*(?:(Z)|([+-])(\d\d)'?(\d\d)?)?")
_PROGRAM = re.compile(r"^(?:microsoft (?:word|powerpoint|excel|publisher) - |powerpoint presentation)", re.I)
_NO_TITLE = re.compile(
    r"^(?:untitled(?:[ -]?\d*)?|unspecified|anonymous|\(?none\)?|unknown|title|document\d*|print|slide \d+|"
    r"[\w .\-]+\.(?:docx?|pptx?|xlsx?|indd|qxd|rtf|tex|dvi|ps|pdf|fm|p65|pmd|wpd|odt|cdr|ai))$",
    re.I,
)
_MAX_CHARS = 500


def iso_date(value: str) -> str | None:
    """Return a date such as ``D:20240131093000+01'00'`` in ISO 8601, as exact as it is given, or None."""
    found = _DATE.match(value.strip())
    if found is None:
        return None
    year, month, day, hour, minute, second, zulu, sign, off_hours, off_minutes = found.groups()
    try:
        datetime(
            int(year), int(month or 1), int(day or 1), int(hour or 0), int(minute or 0), int(second or 0)
        )
    except ValueError:
        return None
    if not 1970 <= int(year) <= 2100:
        return None
    date = "-".join(part for part in (year, month, day) if part)
    if hour is None or day is None:
        return date
    zone = "Z" if zulu else f"{sign}{off_hours}:{off_minutes or '00'}" if sign else ""
    return f"{date}T{hour}:{minute or '00'}:{second or '00'}{zone}"


def said(value: str) -> str:
    """A value as one line; empty when it only names a file, a program or nothing."""
    text = " ".join(value.replace("\x00", "").split())[:_MAX_CHARS]
    text = _PROGRAM.sub("", text).strip(" -")
    return "" if _NO_TITLE.match(text.strip("()[]<> ")) or not any(c.isalnum() for c in text) else text
