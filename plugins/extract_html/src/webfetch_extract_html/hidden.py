"""Text that a reader of the page does not see, and text that only seems so."""

from __future__ import annotations

import re
from typing import Any

from lxml import etree

from .formulas import is_hidden_formula
from .hiding import declarations, hides
from .stylesheet import HiddenNames, hidden_names

_NEVER_HIDDEN = frozenset({"html", "body", "main", "head"})
_REVEALED_BY = ("aria-controls", "data-target", "data-bs-target", "data-controls", "href")
_NAVIGATION = frozenset({"nav", "header", "footer", "aside"})
_CONTROLS = ("a", "button", "summary", "h2", "h3", "h4", "h5", "h6", "div", "span", "label", "li")
_LONGEST_CONTROL = 300
_HIDDEN_BY_NAME = frozenset({"sortkey"})
"""Classes that a site's style sheet elsewhere hides everywhere: MediaWiki's keys for sorting."""

_SLOT = re.compile(r"^[SP]:[0-9a-f]+$")
_WORD = re.compile(r"\w\w")


def place_streamed(root: Any) -> None:
    """Put server-streamed content (hidden ``S:n`` elements) where its script would (``B:n`` templates).

    What stands there meanwhile ("Loading...") goes. Declarative shadow trees are opened, too.
    """
    open_shadows(root)
    slots = {
        element.get("id"): element for element in root.iter("div") if _SLOT.match(element.get("id") or "")
    }
    if not slots:
        return
    for name, slot in slots.items():
        slot.attrib.pop("hidden", None)
        marks = root.xpath(".//template[@id=$name]", name=name.replace("S:", "B:").replace("P:", "B:"))
        if not marks:
            continue
        following = marks[0].getnext()
        while following is not None:
            after = following.getnext()
            ends = following.tag is etree.Comment and (following.text or "").strip() == "/$"
            following.getparent().remove(following)
            if ends:
                break
            following = after
        marks[0].addnext(slot)


def open_shadows(root: Any) -> None:
    """Put declarative shadow trees where browsers show them: in place of their template, with the host's
    own children in their slots."""
    for template in list(root.iter("template")):
        host = template.getparent()
        if host is None or not (template.get("shadowrootmode") or template.get("shadowroot")):
            continue
        template.tag = "div"
        slots = list(template.iter("slot"))
        for child in [each for each in host if each is not template and isinstance(each.tag, str)]:
            name = child.get("slot") or ""
            slot = next((each for each in slots if (each.get("name") or "") == name), None)
            if slot is not None:
                slot.append(child)


def remove_hidden(root: Any) -> tuple[list[Any], bool]:
    """Take hidden elements out of the tree.

    Panels that a control on the page reveals (accordions, tabs) and streaming slots are not hidden, unless
    they belong to navigation. Returns the elements taken out, and whether any of them had words.
    """
    revealed = _revealed(root)
    names = hidden_names(root)
    taken: list[Any] = []
    for element in list(root.iter(etree.Element)):
        if element.tag in _NEVER_HIDDEN or not _is_hidden(element, names):
            continue
        if _is_panel(element, revealed) and not _in_navigation(element):
            continue
        if element.getparent() is not None and not is_hidden_formula(element):
            taken.append(element)
    had_words = False
    for element in taken:
        if element.tag not in ("script", "style", "svg", "input", "template", "link", "noscript", "iframe"):
            had_words = had_words or bool(_WORD.search(" ".join(element.itertext())))
        drop(element)
    return taken, had_words


def drop(element: Any) -> None:
    """Remove an element and keep the text after it."""
    parent = element.getparent()
    if parent is None:
        return
    if element.tail:
        previous = element.getprevious()
        if previous is not None:
            previous.tail = (previous.tail or "") + " " + element.tail
        else:
            parent.text = (parent.text or "") + " " + element.tail
        element.tail = None
    parent.remove(element)


def _is_hidden(element: Any, names: HiddenNames) -> bool:
    attributes = element.attrib
    if element.tag == "dialog" and "open" not in attributes:
        return True
    if not attributes:
        return False
    if "hidden" in attributes and attributes["hidden"].lower() != "until-found":
        return True
    if attributes.get("aria-hidden", "").lower() == "true":
        return True
    if names.match(element) or not _HIDDEN_BY_NAME.isdisjoint(attributes.get("class", "").split()):
        return True
    style = attributes.get("style")
    return bool(style) and hides(declarations(style))


def _is_panel(element: Any, revealed: set[str]) -> bool:
    """A tab or accordion panel: named by a control, or right after one that says so."""
    if element.get("id") in revealed or element.get("role") == "tabpanel":
        return True
    previous = element.getprevious()
    if previous is None or len("".join(previous.itertext())) > _LONGEST_CONTROL:
        return False
    return any("aria-expanded" in each.attrib for each in previous.iter(etree.Element))


def _revealed(root: Any) -> set[str]:
    """Ids of what a control outside the navigation opens."""
    found = set()
    for element in root.iter(*_CONTROLS):
        for name in _REVEALED_BY:
            value = element.get(name)
            if value and (name != "href" or value.startswith("#")) and not _in_navigation(element):
                found.update(value.replace("#", " ").split())
    return found


def _in_navigation(element: Any) -> bool:
    return element.tag in _NAVIGATION or any(
        ancestor.tag in _NAVIGATION for ancestor in element.iterancestors()
    )
