"""Dates as pages write them, in ISO 8601. Pure; a date that could be read in two ways is none."""

from __future__ import annotations

import re
from datetime import UTC, datetime

_ISO = re.compile(
    r"(\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]))"
    r"(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)\s?(Z|UTC|GMT|[+-]\d\d(?::?\d\d)?)?)?"
)
_COMPACT = re.compile(r"(\d{4})(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?!\d)")
_YEAR_FIRST = re.compile(r"(\d{4})[/.年-]\s?(\d{1,2})[/.月-]\s?(\d{1,2})日?(?!\d)")
_DAY_FIRST = re.compile(r"(\d{1,2})([/.-])(\d{1,2})\2(\d{4})(?!\d)")
_EPOCH = re.compile(r"(\d{10})(?:\d{3})?$")
_DAY_MONTH = re.compile(
    r"(?<!\d)(\d{1,2})(?:st|nd|rd|th|er|º|\.)?\s+(?:de\s+|of\s+)?([^\W\d_]{3,12})\.?,?\s+"
    r"(?:de\s+)?(\d{4})(?!\d)"
)
_MONTH_DAY = re.compile(r"([^\W\d_]{3,12})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})(?!\d)")
_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "jan january januar janvier enero janeiro gennaio januari styczeń stycznia января ene janv",
            "feb february februar février fevrier febrero fevereiro febbraio februari luty lutego февраля "
            "fév",
            "mar march märz maerz mars marzo março marco maart marzec marca марта mär",
            "apr april avril abril aprile kwiecień kwietnia апреля abr avr",
            "may mai mayo maio maggio mei maj maja мая",
            "jun june juni juin junio junho giugno czerwiec czerwca июня",
            "jul july juli juillet julio julho luglio lipiec lipca июля juil",
            "aug august août aout agosto augustus sierpień sierpnia августа ago",
            "sep sept september septembre septiembre setembro settembre wrzesień września сентября",
            "oct october oktober octobre octubre outubro ottobre październik października октября okt",
            "nov november novembre noviembre novembro listopad listopada ноября",
            "dec december dezember décembre decembre diciembre dezembro dicembre grudzień grudnia декабря "
            "dez déc",
        ),
        1,
    )
    for name in names.split()
}
_FIRST_YEAR, _LAST_YEAR = 1_900, 2_100
_LONGEST = 120


def iso_date(value: str) -> str | None:
    """The ISO 8601 date or date-time in ``value``, or None.

    ISO stays as precise as it is written. ``05/03/2026`` is None (March or May?), ``25/03/2026`` is not.
    Ten or thirteen digits are seconds or milliseconds since 1970, in UTC.
    """
    value = value.strip()[:_LONGEST]
    if match := _ISO.match(value.replace("/", "-")):
        day, time, zone = match.groups()
        zone = "Z" if zone in ("UTC", "GMT") else zone or ""
        return f"{day}T{time}{zone}" if time else day
    if match := _COMPACT.match(value):
        return _day(match[1], match[2], match[3])
    if match := _EPOCH.match(value):
        return datetime.fromtimestamp(int(match[1]), UTC).isoformat().replace("+00:00", "Z")
    if match := _YEAR_FIRST.search(value):
        return _day(match[1], match[2], match[3])
    if match := _DAY_FIRST.search(value):
        first, second = int(match[1]), int(match[3])
        if match[2] == "." or first > 12 or first == second:
            return _day(match[4], match[3], match[1])
        return _day(match[4], match[1], match[3]) if second > 12 else None
    for pattern, day_at, month_at in ((_DAY_MONTH, 1, 2), (_MONTH_DAY, 2, 1)):
        for match in pattern.finditer(value):
            month = _MONTHS.get(match[month_at].lower())
            if month:
                return _day(match[3], str(month), match[day_at])
    return None


def _day(year: str, month: str, day: str) -> str | None:
    try:
        found = datetime(int(year), int(month), int(day))
    except ValueError:
        return None
    return found.date().isoformat() if _FIRST_YEAR <= found.year <= _LAST_YEAR else None
