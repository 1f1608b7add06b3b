"""The part of CSS selectors that pages hide text with: compounds of tag, id, class and attribute, and
the descendant, child and sibling combinators.

Anything else is not understood, and then its rule is no evidence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from attrs import frozen

_MAX_LENGTH = 300
_PART = re.compile(
    r"(?P<tag>^\*|^[a-z][\w-]*)|#(?P<id>[\w-]+)|\.(?P<class>[\w-]+)|"
    r"\[\s*(?P<attribute>[\w-]+)\s*(?:(?P<how>[~|^$*]?=)\s*(?P<quote>[\"']?)(?P<value>[^\"'\]]*)(?P=quote)\s*)?\]",
    re.I,
)
_COMBINATOR = re.compile(r"\s*([>+~])\s*|\s+")


@frozen
class Compound:
    """What one element has to be."""

    tag: str = ""
    ids: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    attributes: tuple[tuple[str, str, str], ...] = ()

    @property
    def key(self) -> str:
        """What to look it up by: ``#id``, ``.class``, ``[`` or the tag."""
        if self.ids:
            return f"#{self.ids[0]}"
        if self.classes:
            return f".{self.classes[0]}"
        return "[" if self.attributes else self.tag

    @property
    def names(self) -> Iterator[str]:
        yield from self.ids
        yield from self.classes

    def fits(self, tag: str, name: str | None, classes: frozenset[str]) -> bool:
        """Whether an element of this tag, id and classes may match; its other attributes are not asked."""
        if self.tag not in ("", "*") and tag != self.tag:
            return False
        return all(name == each for each in self.ids) and classes.issuperset(self.classes)

    def matches(self, element: Any) -> bool:
        if self.tag not in ("", "*") and element.tag != self.tag:
            return False
        if self.ids and any(element.get("id") != each for each in self.ids):
            return False
        if self.classes:
            have = (element.get("class") or "").split()
            if any(each not in have for each in self.classes):
                return False
        return all(_has(element.get(name), how, value) for name, how, value in self.attributes)


def _has(have: str | None, how: str, value: str) -> bool:
    if have is None:
        return False
    if not how:
        return True
    if how == "=":
        return have == value
    if not value:
        return False
    if how == "~=":
        return value in have.split()
    if how == "|=":
        return have == value or have.startswith(f"{value}-")
    if how == "^=":
        return have.startswith(value)
    return have.endswith(value) if how == "$=" else value in have


@frozen
class Selector:
    """Compounds from the element outwards, each with how it is reached from the one before."""

    steps: tuple[tuple[str, Compound], ...]

    @property
    def subject(self) -> Compound:
        return self.steps[0][1]

    def matches(self, element: Any) -> bool:
        if not self.subject.matches(element):
            return False
        for how, compound in self.steps[1:]:
            element = _reached(element, how, compound)
            if element is None:
                return False
        return True


def _reached(element: Any, how: str, compound: Compound) -> Any | None:
    """The nearest element that fits; greedy, so a rare selector of several steps is missed."""
    if how == ">":
        candidates = [element.getparent()]
    elif how == "+":
        candidates = [element.getprevious()]
    elif how == "~":
        candidates = list(element.itersiblings(preceding=True))[:50]
    else:
        candidates = list(element.iterancestors())
    return next((each for each in candidates if each is not None and compound.matches(each)), None)


def parse(text: str) -> Selector | None:
    """Read one selector; None where it has more than is understood (pseudo-classes, nesting)."""
    text = text.strip()
    if not text or len(text) > _MAX_LENGTH or ":" in text or "&" in text:
        return None
    pieces = _COMBINATOR.split(text) if "[" not in text else [text]
    compounds, hows = pieces[::2], [how or " " for how in pieces[1::2]]
    steps: list[tuple[str, Compound]] = []
    for number, piece in enumerate(reversed(compounds)):
        compound = _compound(piece)
        if compound is None:
            return None
        steps.append((hows[len(hows) - number] if number else "", compound))
    return Selector(tuple(steps))


def _compound(text: str) -> Compound | None:
    tag, ids, classes, attributes = "", [], [], []
    position = 0
    for match in _PART.finditer(text):
        if match.start() != position:
            return None
        position = match.end()
        tag = (match["tag"] or tag).lower()
        ids += [match["id"]] if match["id"] else []
        classes += [match["class"]] if match["class"] else []
        if match["attribute"]:
            attributes.append((match["attribute"].lower(), match["how"] or "", match["value"] or ""))
    if position != len(text):
        return None
    return Compound(tag, tuple(ids), tuple(classes), tuple(attributes))
