"""Classes and ids that the page's own style sheets hide for good."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from attrs import frozen

from .hiding import declarations, hides

_MAX_CHARS = 300_000
_SIMPLE = re.compile(r"([a-z][a-z0-9]*)?([.#])([\w-]+)\Z", re.I)
_NAME = re.compile(r"[.#]([\w-]+)")


@frozen
class HiddenNames:
    """Selectors of one class or id, with the tag that they are limited to (empty: any)."""

    classes: frozenset[tuple[str, str]] = frozenset()
    ids: frozenset[tuple[str, str]] = frozenset()

    def match(self, element: Any) -> bool:
        if not self.classes and not self.ids:
            return False
        tag, name = element.tag, element.get("id")
        if name and (("", name) in self.ids or (tag, name) in self.ids):
            return True
        names = (element.get("class") or "").split()
        return any(("", each) in self.classes or (tag, each) in self.classes for each in names)


def hidden_names(root: Any) -> HiddenNames:
    """Read the ``<style>`` elements.

    A name that another rule or a script on the page mentions is left alone: it may be shown (menus, tabs,
    entrance animations). Rules under conditions (``@media`` and the like) neither hide nor show here.
    """
    sheets = "\n".join(element.text or "" for element in root.iter("style"))[:_MAX_CHARS]
    if not sheets:
        return HiddenNames()
    hidden: dict[tuple[str, str], set[str]] = {}
    shown: set[str] = set()
    for selectors, body in _rules(sheets):
        hiding = hides(declarations(body))
        for selector in selectors.split(","):
            simple = _SIMPLE.match(selector.strip())
            if hiding and simple:
                hidden.setdefault((simple.group(2), simple.group(3)), set()).add(
                    (simple.group(1) or "").lower()
                )
            elif not hiding:
                shown.update(_NAME.findall(selector))
    if not hidden:
        return HiddenNames()
    scripts = "\n".join(element.text or "" for element in root.iter("script"))[:_MAX_CHARS]
    mentioned = set(re.findall(r"[\w-]+", scripts))
    found: dict[str, set[tuple[str, str]]] = {".": set(), "#": set()}
    for (sign, name), tags in hidden.items():
        if name not in shown and name not in mentioned:
            found[sign].update((tag, name) for tag in tags)
    return HiddenNames(frozenset(found["."]), frozenset(found["#"]))


def _rules(sheet: str) -> Iterator[tuple[str, str]]:
    """Selectors and declarations of the rules outside at-rules. One pass over the braces."""
    sheet = "".join(
        part.partition("*/")[2] if number else part for number, part in enumerate(sheet.split("/*"))
    )
    depth, position, prelude = 0, 0, ""
    for brace in re.finditer(r"[{}]", sheet):
        text = sheet[position : brace.start()]
        position = brace.end()
        if brace.group() == "{":
            if depth == 0:
                prelude = text.rpartition(";")[2].strip()
            depth += 1
            continue
        if depth == 1 and not prelude.startswith("@"):
            yield prelude, text
        depth = max(depth - 1, 0)
