"""What a query is read as: folded words, and the years among them, counted from now. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from datetime import datetime

from attrs import frozen

READ = 600
"""Characters that are looked at; a longer text is no question."""

HOME_YEAR = 2026
"""The year that all texts are brought to before they are embedded: that of the training."""
_A_WHILE_AGO = "2016"
"""Stands for any year since which something lasts: which one it is makes no difference."""

_WORD = re.compile(r"[$€£¥₹]?[^\W_]+(?:['.,:/&–-][^\W_]+)*(?:[%+#°]+| ?[$€£¥₹](?!\w))?")
_YEAR = re.compile(r"(1[0-9]{3}|20[0-9]{2})(?:[-–/]([0-9]{4}|[0-9]{2}))?('?s)?\Z")
_LONG_AGO = re.compile(
    r"(?<!\w)(?:(?:1?\d(?:st|nd|rd|th)|20th) century|\d+ ?bce?|the '?[3-9]0s|antiquity)(?!\w)"
)


def any_of(*patterns: str) -> re.Pattern[str]:
    """Any of the patterns as whole words of :attr:`Query.text`."""
    return re.compile(r"(?<!\w)(?:" + "|".join(patterns) + r")(?!\w)")


def listed(words: str) -> frozenset[str]:
    """The words of a text, which keeps long lists readable."""
    return frozenset(words.split())


SINCE = listed("since seit depuis desde dal dall'anno sinds sedan od")
"""Before a year from which something lasts until now, in English and other languages."""

_NO_YEAR_BEFORE = listed("""
    port rfc iso route highway error code form model boeing rtx gtx flight room section article no
    number windows page line top about over under than least
""")
_NO_YEAR_AFTER = listed("""
    usd eur gbp jpy cny inr chf cad aud dollars dollar euros euro pounds yen yuan rupees pesos won
    mah mb gb tb km miles mile meters metres kg lbs grams calories kcal rpm watts watt volts hours
    minutes seconds
    days weeks years people users words steps points units pieces feet ft mg ml btu mhz hz
""")


@frozen(kw_only=True)
class Query:
    """A query as the classifier reads it.

    Attributes:
        text: words in small letters, one blank between them, no punctuation around them.
        words: the same as a list.
        embedded: ``text`` with its years moved as if now were ``HOME_YEAR``.
        latest: the latest year that is named, less the current one; None where none is.
        long_ago: a century or an age of the past is named.
        since: a year is named from which something reaches to the present.
    """

    text: str
    words: Sequence[str]
    embedded: str
    latest: int | None
    long_ago: bool
    since: bool


def read_query(query: str, now: datetime) -> Query:
    """Read ``query`` as of ``now``. Case and punctuation make no difference."""
    folded = unicodedata.normalize("NFKC", query[:READ]).casefold()
    words = _WORD.findall(folded.translate(_QUOTES))
    moved = list(words)
    years: list[int] = []
    since = False
    for at, word in enumerate(words):
        found = _YEAR.match(word)
        if not found or not _is_year(words, at):
            continue
        if SINCE & set(words[max(0, at - 3) : at]):
            since = True
            moved[at] = _A_WHILE_AGO
        else:
            moved[at] = _moved(word, HOME_YEAR - now.year)
            years.append(_last_year(found))
    text = " ".join(words)
    return Query(
        text=text,
        words=words,
        embedded=" ".join(moved),
        latest=max(years) - now.year if years else None,
        long_ago=bool(_LONG_AGO.search(text)),
        since=since,
    )


_QUOTES = {ord("’"): "'", ord("‘"): "'", ord("`"): "'", ord("´"): "'"}


def _is_year(words: Sequence[str], at: int) -> bool:
    before = words[at - 1] if at else ""
    after = words[at + 1] if at + 1 < len(words) else ""
    return before not in _NO_YEAR_BEFORE and after not in _NO_YEAR_AFTER


def _last_year(found: re.Match[str]) -> int:
    """The last year of a span, "2023-24" and "1990s" among them."""
    year = int(found[1])
    if found[2]:
        year = max(year, int(found[2]) if len(found[2]) == 4 else year // 100 * 100 + int(found[2]))
    return year + 9 if found[3] and year % 10 == 0 else year


def _moved(word: str, by: int) -> str:
    """``word`` with the years in it ``by`` years later."""
    return re.sub(r"\d{4}", lambda m: f"{int(m[0]) + by:04}", word) if by else word
