"""Turns of phrase that say one thing in several words, and the one word that is taken for them all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .tables import pairs, sets, table

Rules = Mapping[str, Sequence[tuple[tuple[str, ...], tuple[str, ...]]]]


def _rules(section: str) -> Rules:
    """By the first word, the longest first."""
    found: dict[str, list[tuple[tuple[str, ...], tuple[str, ...]]]] = {}
    for left, instead in table(section).items():
        key = tuple(left.split())
        found.setdefault(key[0], []).append((key, instead))
    for some in found.values():
        some.sort(key=lambda rule: -len(rule[0]))
    return found


CONTRACTED = table("contractions")
ALIASES = _rules("aliases")
QUESTIONS = _rules("questions")
HOWTO = sets("howto")
AGENTS = dict(pairs("agents"))
MEASURED = dict(pairs("measured"))
EVENTS = dict(pairs("events"))


def rewrite(words: Sequence[str], rules: Rules) -> list[tuple[str, int]]:
    """Replace what ``rules`` have, the longest first; each word that comes out has its place in ``words``."""
    found: list[tuple[str, int]] = []
    at = 0
    while at < len(words):
        for key, instead in rules.get(words[at], ()):
            if tuple(words[at : at + len(key)]) == key:
                found += [(word, at) for word in instead]
                at += len(key)
                break
        else:
            found.append((words[at], at))
            at += 1
    return found
