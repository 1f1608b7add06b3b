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

_BLANK = " \t\n\r\"'“‘.,;:!?¿-*"
_MANY = r"(?:\d{1,3}|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|several)"
_THINGS = r"(?!(?:was|is|does|has|this|his|its|as)\b)\w+(?<![siu])s\b"
"""A plural, as far as its ending tells."""
_SUPERLATIVE = (
    r"(?:largest|biggest|longest|tallest|highest|oldest|best|richest|fastest|smallest|shortest|lowest"
    r"|youngest|worst|latest|(?:most|least) \w+)(?:[- ]\w+)?"
)
_UP_TO = r"(?:(?!of\b|in\b|the\b|do\b|did\b)[\w'-]+ ){{0,{}}}"
"""Words before a plural that do not part it from what stands before them."""

_LIST = re.compile(
    rf"^(?:please )?(?:list|enumerate|name (?:all|some|{_MANY}|the (?:{_MANY}|{_THINGS})))\b"
    rf"|^(?:give|show|tell) (?:me |us )?(?:a list|lists|the names|examples|all|some|{_MANY})\b"
    r"|^(?:a |the |full |complete )*lists? of\b"
    rf"|\btop[- ]?{_MANY} {_UP_TO.format(4)}{_THINGS}"
    rf"|\b{_MANY} {_SUPERLATIVE} {_UP_TO.format(2)}{_THINGS}"
    rf"|\b(?:what|which|who) (?:are|were) (?:(?:some of |all )?the |all |some )?{_UP_TO.format(4)}{_THINGS}"
    rf"|^(?:what|which) {_UP_TO.format(2)}{_THINGS} (?:are|were|have|do|did|can|should|belong|make)\b"
    r"|^(?!.*\b(?:who|what|which|how|when|where|why|whose)\b)(?:all |the |all the )?"
    rf"(?:{_SUPERLATIVE} {_UP_TO.format(2)}{_THINGS}"
    rf"|{_UP_TO.format(3)}{_THINGS} (?:of|in|since|from|for|by|between|to)\b)"
)
_ONE = re.compile(
    r"\b(?:on|of|in) (?:the|this|that|a) list\b"  # one entry of a list is asked for
    r"|\b(?:who|which|what)\b.*\b(?:has|have|had|won|scored|with|got|holds|made) the (?:most|least|fewest)\b"
    r"|\b(?:who|which|what)\b.*\bthe only\b"
    r"|\b(?:in|of|from|between|among|reach|at|than|win|won) (?:the |its |a |an )?(?:top|\d+ \w+est)\b"
    r"|\bhow (?:many|much)\b|\bwhat\W*$|\bwhom\b|\b(?:at least|give an?|name an?) (?:one|example)\b"
    r"|\b(?:called|named|termed|known as|referred to(?: as)?)\W*$"
    r"|\b(?:of|in|to|for|from|with|on|at|by|as|into|about)\W*$"  # what that takes is one thing
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
    plural = _LIST.search(lower.strip(_BLANK)) is not None and _ONE.search(lower) is None
    return Question(text=query, terms=tuple(query_terms(query)), answer=answer, wants_list=plural)
