"""A word of content, or an amount, as questions are compared by."""

from __future__ import annotations

from attrs import frozen


@frozen
class Item:
    """A word of content, or an amount, in its place.

    Attributes:
        key: what it is compared by: its lemma, or the one spelling of an amount.
        word: as written, in lower case.
        at: its place among all words.
        kind: ``word``, ``number``, ``ordinal``, ``unit``, ``month``, ``day``.
        name: looks like the name of something, so that nothing else can stand for it.
        prep: the preposition before it, whichever it is.
        marker: the preposition it depends on, where that tells its role.
    """

    key: str
    word: str
    at: int
    kind: str
    name: bool
    marker: str = ""
    prep: str = ""
