"""Questions for an attribute under the name of that attribute: "who wrote" is "author of"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import evolve

from .items import Item
from .phrases import AGENTS, EVENTS, MEASURED

ASKS_WHEN = frozenset(("u:year", "date", "u:day", "u:month", "time", "year", "day", "month"))
_ONCE = frozenset(("price", "versus", "population", "location"))
_BORN = frozenset(("bear", "born"))


def attributes(kind: str, items: Sequence[Item]) -> tuple[str, list[Item]]:
    """Return a question's kind and items, with verbs that ask for an attribute named by it."""
    found = list(items)
    if kind == "who":
        found = _renamed(found, AGENTS)
    elif kind == "when":
        found = _renamed(found, EVENTS)
        if any(item.key.endswith("date") for item in found):
            found = [item for item in found if item.key not in ASKS_WHEN]
    elif kind == "where":
        found = _placed(found)
    elif kind == "price":
        kind, found = _measured(found)
    elif kind == "what" and any(item.key in ("mean", "standfor") for item in found):
        kind = "meaning"
        found = [evolve(item, key="meaning") if item.key in ("mean", "standfor") else item for item in found]
    seen: set[str] = set()
    once = []
    for item in found:  # "price" of "how much" and of "cost"
        if item.key not in _ONCE or item.key not in seen:
            once.append(item)
        seen.add(item.key)
    return kind, once


def _renamed(items: list[Item], names: Mapping[str, str]) -> list[Item]:
    """The one item that ``names`` has under its name there; of several, nobody knows which is asked."""
    places = [n for n, item in enumerate(items) if item.key in names]
    if len(places) == 1:
        n = places[0]
        items[n] = evolve(items[n], key=names[items[n].key], name=False)
    return items


def _placed(items: list[Item]) -> list[Item]:
    if any(item.key in _BORN for item in items):
        return [evolve(item, key="birthplace") if item.key in _BORN else item for item in items]
    verbless = all(item.name or item.kind != "word" for item in items)
    if items and verbless:
        return [Item("location", "where", -1, "word", False), *items]
    return items


def _measured(items: list[Item]) -> tuple[str, list[Item]]:
    """ "How much does it weigh" is no question for a price."""
    verbs = [item.key for item in items if item.key in MEASURED]
    if not verbs:
        return "price", items
    name = MEASURED[verbs[0]]
    rest = [item for item in items if item.key not in MEASURED and item.key != "price"]
    return "price" if name == "price" else "measure", [Item(name, name, items[0].at, "word", False), *rest]
