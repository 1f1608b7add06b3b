"""What a query asks for: its terms, the type of its answer, whether it wants a list. Pure."""

from __future__ import annotations

import re

from attrs import frozen

from .words import query_terms

_TYPES = (
    (
        "time",
        r"\bwhen\b|\b(?:what|which) (?:year|date|day|month|decade|century)\b|\byear\b|\bdate\b|how long ago",
    ),
    (
        "number",
        r"\bhow (?:many|much|tall|high|old|long|far|big|large|fast|deep|heavy|wide|often)\b|\bnumber of\b"
        r"|\b(?:population|percent(?:age)?|price|cost|dimensions?|height|depth|weight|age|salary|score|distance"
        r"|length|size|speed|temperature|rate|area|duration)\b",
    ),
    (
        "who",
        r"\bwho(?:m|se)?\b|\b(?:what|which) (?:\w+ )?(?:person|man|woman|actor|actress|author|player"
        r"|president|singer|artist|director|king|queen|leader|writer|composer|character"
        r"|scientist)\b|\bname of the\b"
        r"|\b(?:first|last|full|middle|maiden) name\b",
    ),
    (
        "where",
        r"\bwhere\b|\b(?:what|which) (?:city|country|state|place|town|county|location|constellation|region"
        r"|village|river|island|province|district|continent|university|school|college|museum|stadium|street)\b",
    ),
    ("how", r"\bwhy\b|\bhow (?:do|does|did|is|are|was|were|to|can)\b"),
)
_TYPES_COMPILED = tuple((name, re.compile(pattern)) for name, pattern in _TYPES)

_LIST = re.compile(
    r"\btop[- ]?\d+\b"
    r"|\b(?:list|lists|names|members|examples|types|kinds|steps|ingredients|winners|all) (?:of|the|in|for)\b"
    r"|\blist\b|\ball (?:\w+ )?\w+s\b"
    r"|\b\d+ (?:largest|biggest|longest|tallest|highest|best|most|richest|fastest)\b"
    r"|\b(?:largest|biggest|longest|tallest|highest|best|richest|fastest|most \w+) \w+s\b"
    r"|\b(?:what|which|who) (?:are|were) (?:the )?(?:\w+ ){0,3}\w+s\b"
)


@frozen(kw_only=True)
class Question:
    """``answer`` is ``time number who where how`` or ``what``."""

    text: str
    terms: tuple[str, ...]
    answer: str
    wants_list: bool


def read_question(query: str) -> Question:
    """Read a query; English cues only, other languages get ``what``."""
    lower = f" {query.lower()} "
    answer = next((name for name, pattern in _TYPES_COMPILED if pattern.search(lower)), "what")
    return Question(
        text=query, terms=tuple(query_terms(query)), answer=answer, wants_list=bool(_LIST.search(lower))
    )
