"""How fast the answer to a query goes stale, told from its words. English cues; pure.

A wrong "stable" keeps an old price for months, a wrong "realtime" costs one search: so cues of
the present are asked first, and what no cue speaks for is left open (None, read as recent).
"""

from __future__ import annotations

import re
import unicodedata
from datetime import datetime

from ..models import Freshness


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile(r"(?<!\w)(?:" + "|".join(patterns) + r")(?!\w)")


_MONEY = "(?:usd|eur|gbp|jpy|cny|inr|chf|cad|aud|btc|eth|dollars?|euros?|pounds?|yen|yuan|rupees?|bitcoin)"

_PRESENT = _any(
    r"(?:right |as of |until |up to |till )?now(?! that)",
    r"today(?:'s)?",
    r"tonight(?:'s)?",
    r"tomorrow(?:'s)?",
    r"yesterday(?:'s)?",
    r"at (?:the|this) moment",
    r"this (?:morning|afternoon|evening|week|weekend|month|season|quarter)(?:'s)?",
    r"(?:last|past|next) (?:night|week|weekend|month|few (?:hours|days)|\d+ (?:hours|days))(?:'s)?",
    r"so far",
    r"to date",
    r"breaking(?: news)?",
    r"live (?:score|scores|stream|updates?|blog|results?|coverage|feed|odds|traffic|map)",
    r"(?:score|scores|results|stream|updates|price) live",
    r"real[- ]?time",
    r"who(?: is|'s) the current",
    r"current(?:ly)? (?:\w+ ){0,3}(?:price|rate|rates|yield|score|record|standings?|rank|ranking|weather|"
    r"temperature|time|status|value|cost|population|number|net worth|market cap|leader|holder)",
    r"(?:status|outage|open|closed|down|playing|trending|still)(?: \w+){0,3} (?:now|today|currently)",
)
"""The present is meant whatever else is said."""

_MOVING = _any(
    r"weather|forecast|temperature (?:in|at)|air quality|uv index|pollen",
    r"(?:stock|share|spot|gas|petrol|fuel|oil|gold|silver|house|ticket|crypto)? ?prices?",
    r"quotes? (?:for|of) \w+ stock|stocks?|market cap(?:itali[sz]ation)?|net worth|nasdaq|dow jones|s&p 500",
    r"exchange rates?|interest rates?|mortgage rates?|inflation rate|federal funds rate|yield",
    rf"{_MONEY} (?:to|in|into) {_MONEY}",
    r"scores?|standings?|league table|leaderboards?|top scorers?|fixtures|line-?ups?|odds|rankings?",
    r"(?:ranked|rank|no\.?|number) (?:1|one|first)",
    r"traffic|delays?|flight status|departures?|arrivals?|outages?",
    r"headlines?|news",
    r"box office|billboard|charts?",
    r"how old (?:is|are)",
    r"(?:how many|number of) (?:\w+ ){0,3}(?:followers|subscribers|citations|views|downloads|stars)",
    r"h-index",
    r"this year's",
    r"(?:next|last|previous) (?:game|match|race|episode|season|election|launch|eclipse|full moon|meeting)",
    r"last time",
    r"how (?:long|many (?:days|weeks|months|years)) (?:\w+ ){0,3}(?:since|until|till|left|ago)",
)
"""Moves by the hour or the day, unless a past year says when."""

_NEWEST = _any(
    r"latest|newest|most recent(?:ly)?|current(?:ly)?|reigning|this year|last year|(?:at|in|of) the last"
)
_CONTEST = _any(
    r"w[io]n|wins|winners?|winning|champions?|championships?|finalists?|awards?|title holder",
    r"league|episodes?",
    r"most[- ](?:popular|liked|viewed|watched|streamed|followed)|(?:best|top)[- ]selling",
    r"(?:highest|top)[- ]grossing",
)
_TALLY = _any(
    r"how many (?:[\w-]+ ){1,6}(?:has|have) (?:.+ )?(?:scored|won|published|visited|played|"
    r"been (?:confirmed|discovered|recorded|reported|killed))",
    r"richest|most (?:popular|liked|followed)",
)
"""Contests are decided and tallies grow at no set time: the newest one may be an hour old."""

_RECENT = _any(
    r"latest|newest|most recent(?:ly)?|recent(?:ly)?|upcoming|new|newly",
    r"current(?:ly)?|nowadays|these days|still|yet|any ?more|this year|next year|last year",
    r"releases?|release date|versions?|updates?|changelog|roadmap|beta|announce(?:d|ment)?",
    r"best|top(?: \d+)?|cheapest|reviews?|alternatives?|recommended|benchmarks?",
    r"comparison|compared?|vs\.?|versus",
    r"who(?: is|'s| are) the",
    r"(?:ceo|president|prime minister|mayor|governor|chairman|head|captain|coach|champion|holder) of",
    r"how much (?:does|do|is|are)|costs?|fees?|salary",
    r"opening hours|schedule|deadline|vacanc(?:y|ies)|hiring|trends?|trending|popular",
)
"""Changes by the week or the month."""

_SETTLED = _any(
    r"defin(?:e|ition)(?: of)?|meaning of|what does .+ (?:mean|stand for)|etymology|synonyms?|antonyms?",
    r"history of|origins? of|biography|timeline of|causes? of|plot of|summary of",
    r"(?:boiling|melting|freezing) point|formula|theorem|proof of|atomic (?:number|mass)",
    r"speed of (?:light|sound)",
    r"capital of|height of|length of|depth of|distance (?:from|between)|area of",
    r"how (?:do|does|did) .+ work|how to|why (?:is|are|do|does|did|was|were)|explain|difference between",
    r"who (?:\w+ )?(?:founded|invented|discovered|wrote|painted|composed|directed|killed|built|designed|"
    r"created|proposed|was|were)",
    r"who(?: is|'s) the (?:author|founder|inventor|creator|composer|father|mother)",
    r"author of",
    r"(?:when|where|what year) (?:did|was|were)|what (?:was|were)|was .+ (?:born|founded|built|written)",
    r"first (?:\w+ ){1,6}(?:to|in)",
    r"(?:world war|civil war|revolution|ancient|medieval|empire|dynasty|century)",
    r"convert \d[\d.,]* \w+ to|square root|\d+ ?[-+*/^] ?\d+",
)
"""Will not change."""

_CHANGING = _any(
    r"latest|newest|most recent(?:ly)?|recent(?:ly)?|upcoming|current(?:ly)?|still|yet|this year|next|last",
    r"best|top|cheapest|most|highest|lowest|biggest|largest|richest|oldest|fastest|longest|versions?|updates?",
)
"""Keeps even a settled sort of question open ("where was the most recent summit held")."""

_BY_THE_YEAR = _any(r"(?:this|last|next) year(?:'s)?")
_TURN_DAYS = 14  # so long a recent answer is shown at the most, stale at the end, by the default lifetimes
"""In the first days of a year, what was found of "this year" before may be of another one."""

_READ = 1_000  # characters; a longer text is no question, and the patterns need not be quick on it

_YEAR = re.compile(r"(?<![\w.,$€£-])(1[0-9]{3}|20[0-9]{2})(?:(?:[-–/])(\d{2,4}))?('?s)?(?![\w%]|[.,]\d)")
_LONG_AGO = _any(
    r"(?:\d{1,2}(?:st|nd|rd|th) century)", r"\d+ ?(?:bc|bce)", r"(?:the )?'?\d0s", r"in antiquity"
)
_SINCE = re.compile(r"(?<!\w)since (?:\w+ ){0,3}?\Z")


def classify_keywords(query: str, now: datetime) -> Freshness | None:
    """Return the class that the query's words speak for, or None when they are silent.

    Years count from ``now``: one before last year's settles a question ("bitcoin price in 2013"),
    this one's or a coming one's keeps it open.
    """
    text = " ".join(unicodedata.normalize("NFKC", query[:_READ]).replace("’", "'").casefold().split())
    turned = now.timetuple().tm_yday <= _TURN_DAYS and _BY_THE_YEAR.search(text)
    if _PRESENT.search(text) or turned:
        return Freshness.REALTIME
    years = list(_years(text))
    if years and max(years) >= now.year - 1:
        return Freshness.REALTIME if _MOVING.search(text) and max(years) >= now.year else Freshness.RECENT
    if years or _LONG_AGO.search(text):
        return Freshness.STABLE
    if _MOVING.search(text) or _TALLY.search(text) or (_NEWEST.search(text) and _CONTEST.search(text)):
        return Freshness.REALTIME
    if _SETTLED.search(text) and not _CHANGING.search(text):
        return Freshness.STABLE
    if _RECENT.search(text):
        return Freshness.RECENT
    return None


def _years(text: str) -> list[int]:
    """Years named; "since 2015" reaches to the present and is none."""
    found = []
    for match in _YEAR.finditer(text):
        if _SINCE.search(text[: match.start()]):
            continue
        year = int(match[1])
        if match[2]:
            end = int(match[2]) if len(match[2]) == 4 else year // 100 * 100 + int(match[2][-2:])
            year = max(year, end)
        found.append(year + 9 if match[3] and year % 10 == 0 else year)
    return found
