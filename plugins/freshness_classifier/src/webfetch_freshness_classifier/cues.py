"""Groups of English words that tell how fast an answer goes stale: each is one feature. Pure data."""

from __future__ import annotations

import re
from collections.abc import Mapping

from .topics import TOPICS
from .words import any_of

NOW = any_of(
    r"(?:right|just|even) now|as of (?:right )?now|until now|up to now",
    r"(?<!by )(?<!until )now(?= *$)|(?:open|closed|playing|happening|going on|available) now",
    r"(?:is|are|'s) (?:\w+ ){0,4}now(?! that)",
    r"today(?:'s)?|tonight(?:'s)?",
    r"at (?:the|this) (?:very )?moment",
    r"this (?:morning|afternoon|evening|hour|minute)(?:'s)?",
    r"breaking news|real-?time|real time|up to the minute",
    r"(?:in )?(?:the )?(?:last|past|next) (?:few |\d+ )?(?:minutes?|hours?)",
    r"live (?:scores?|stream|updates?|blog|results?|coverage|feed|odds|traffic|map|radar|commentary)",
    r"(?:scores?|results|updates|price|radar|stream) live",
)
"""The present hour or day is meant: realtime whatever else is said."""

_DO = r"(?:is|are|was|were|do|does|did|has|have|had|will|would|can|could|should)"

_WHEN: Mapping[str, re.Pattern[str]] = {
    "now": NOW,
    "these_days": any_of(
        r"tomorrow(?:'s)?|yesterday(?:'s)?|so far|to date|thus far",
        r"(?:this|last|next|past|coming) (?:night|week|weekend|month|few (?:days|weeks)|\d+ (?:days|"
        r"weeks)|monday|tuesday|wednesday|thursday|friday|saturday|sunday)(?:'s)?",
        r"(?:last|past|next) (?:week|weekend|month)(?:'s)?|recent days|days ago|(?<!most )recently|lately",
        r"on (?:monday|tuesday|wednesday|thursday|friday|saturday|sunday)(?! \d)",
    ),
    "this_year": any_of(
        r"this (?:year|season|summer|winter|spring|fall|autumn|quarter|semester)(?:'s)?",
        r"(?:current|ongoing) (?:year|season|quarter)|year to date",
    ),
    "last_year": any_of(
        r"(?:last|next|previous|past|coming|upcoming) (?:year|season|summer|winter|quarter)(?:'s)?"
    ),
    "years_back": any_of(
        r"(?:last|past|recent) (?:few |\w+ )?(?:years|decades?|seasons)|(?:last|past) century"
    ),
    "newest": any_of(
        r"latest|newest|most recent(?:ly)?|just (?:released|announced|launched|came out|won|died)"
    ),
    "recent": any_of(r"recent|new(?:ly)?|modern"),
    "next": any_of(r"next|upcoming|forthcoming|coming"),
    "last": any_of(r"last|previous|previously|former|preceding"),
    "current": any_of(
        r"current(?:ly)?|present(?:ly)?(?! (?:for|by|the|a))|reigning|incumbent|sitting|acting"
    ),
    "nowadays": any_of(r"nowadays|these days|in use|ongoing|active(?:ly)?|existing|living|alive|remaining"),
    "still": any_of(r"still|yet|any ?more|no longer|already|ever since|so far|as of"),
    "since": any_of(r"since|until|till|ago|left|remain(?:s|ing)?"),
    "future": any_of(
        r"will|going to|scheduled|expected|planned|plans? to|predict(?:ed|ion|ions)?|forecasts?|"
        r"when (?:is|are|does|do)"
    ),
    "ever": any_of(
        r"ever|of all[- ]time|all[- ]time|in history|on record|world records?|record(?:s)? (?:for|of)|"
        r"history of"
    ),
    "first": any_of(r"first|earliest|original(?:ly)?|inaugural|oldest known|began|initial(?:ly)?"),
    "old_times": any_of(
        r"ancient|medieval|middle ages|renaissance|world war(?: \w+)?|ww[i2]+|civil war|cold war|empire|"
        r"dynasty|century|centuries|prehistoric|colonial|victorian|roman|revolution(?:ary)?|"
        r"historical(?:ly)?|decades?|era|bc|bce|historic|soviet"
    ),
}

_FORM: Mapping[str, re.Pattern[str]] = {
    "ask_who": re.compile(r"^(?:\w+ )?who(?:se|m)?\b"),
    "ask_when": re.compile(
        r"^(?:when|(?:in|on|since|at) (?:what|which) (?:year|date|day|month|time|century)|what (?:year|"
        r"date))\b"
    ),
    "ask_where": re.compile(r"^(?:where|(?:in|at|on|from) (?:what|which) (?!year|date|day|month))"),
    "ask_what": re.compile(r"^(?:what|which)\b"),
    "ask_many": re.compile(r"^(?:about |in )?how (?:many|much)\b"),
    "ask_yes_no": re.compile(rf"^{_DO}\b"),
    "asks": re.compile(
        rf"^(?:\w+ )?(?:who|whose|whom|what|what's|who's|which|when|when's|where|why|how)\b|^{_DO}\b"
    ),
    "is": any_of(r"is|are|'s|am|what's|who's|where's|when's"),
    "was": any_of(r"was|were|did|had|wasn't|weren't|didn't"),
    "has": any_of(r"has|have|hasn't|haven't"),
    "does": any_of(r"do|does|don't|doesn't"),
    "was_early": re.compile(r"^(?:\S+ ){0,3}(?:was|were|did|had)\b"),
    "is_early": re.compile(r"^(?:\S+ ){0,3}(?:is|are)\b|^(?:what|who|where)'s\b"),
    "has_early": re.compile(r"^(?:\S+ ){0,6}(?:has|have)\b"),
    "past_verb": re.compile(
        r"^(?:who|what|which \S+|which \S+ \S+) (?:\w+ed|won|wrote|sang|led|built|made|took|gave|became|"
        r"shot|sank)\b"
    ),
    "if": any_of(r"if|would|could|suppose|hypothetically"),
}

CUES: Mapping[str, re.Pattern[str]] = {**_WHEN, **TOPICS, **_FORM}
"""Names and patterns, in the order of the features. A few words stand in two groups: the weights tell."""

SPEAKING = (*_WHEN, *TOPICS, "asks")
"""Cues of which a query has at least one, or its words say nothing."""
