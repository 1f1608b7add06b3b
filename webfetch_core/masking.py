"""Striking places of this machine out of text for others. Pure; part of ``webfetch_core.api``."""

from __future__ import annotations

import re

MASK = "(a path)"

_PLACE = re.compile(
    r"""
      \bfile:[^\s'"<>]+
    # Web addresses, and what the local index calls its files, are no places of this machine: they stay.
    | (?P<address> \b(?: (?:https?|wss?|ftps?):/{1,2}[^\s/\\'"<>] | local:[^\s/\\'"<>] ) [^\s'"<>]* )
    | (?<=:)/{3,}[^\s'"<>]+  # "sqlite:////srv/x"
    # Between quotes a path may have blanks and the other kind of quote.
    | (?<!\w) (?P<quote>['"`]) (?: ~[\w.-]*[/\\] | /(?![/'"`]) | [A-Z]:[\\/] | \\\\ )
      (?: (?!(?P=quote)). )* (?P=quote)
    # Two names or more, or one below a home; a single one may be anything.
    | (?<![\w/.@\\-]) (?: ~[\w.-]*/ | /[\w.@+~%=-]+/ ) (?: [\w.@+~%=/-]* [\w@+~%=/-] )?
      (?: [ ] (?!and/or\b) [\w.-]+/ [\w.@+~%=/-]* )*  # "/People/Jane Doe/x"
    | (?<!\w) [A-Z]:[\\/](?!/) [^\s'"<>|]+
    | \\\\[\w.$?-]+\\ [^\s'"<>|]+
    """,
    re.VERBOSE | re.IGNORECASE,
)


def without_paths(text: str) -> str:
    """``text`` with ``(a path)`` for every path and ``file:`` URL of a machine, POSIX or Windows.

    For what a server tells its clients, and a model: an error's words may hold where something lies.
    Addresses (``https://a.example/b/c``, ``local:docs/a.md``) stay. A relative address (``/docs/a``)
    cannot be told from a path and goes too. Of a path with blanks that is not quoted, what stands behind
    its last slash goes up to the blank.
    """
    return _PLACE.sub(lambda found: found[0] if found["address"] else MASK, text)
