"""Text that a reader of the page does not see, and text that only seems so."""

from __future__ import annotations

import re
from typing import Any

from lxml import etree

_NEVER_HIDDEN = frozenset({"html", "body", "main", "head"})
_REVEALED_BY = ("aria-controls", "data-target", "data-bs-target", "data-controls", "href")
_NAVIGATION = frozenset({"nav", "header", "footer", "aside"})
_SLOT = re.compile(r"^[SP]:[0-9a-f]+$")
_FAR = re.compile(
    r"^-\s*(?:\d{4,}(?:\.\d+)?(?:px|pt)?|\d{2,}(?:\.\d+)?r?em|[1-9]\d{2,}(?:\.\d+)?(?:%|vw|vh))$"
)
_ZERO = re.compile(r"^0*(?:\.0+)?(?:px|em|rem|%|pt)?$|^0(?:\.0*)?(?:px|em|rem|%|pt)?$")
_WORD = re.compile(r"\w\w")


def declarations(style: str) -> dict[str, str]:
    """The declarations of a ``style`` attribute, lower case, without ``!important``."""
    found: dict[str, str] = {}
    for part in style.lower().split(";"):
        name, colon, value = part.partition(":")
        if colon:
            found[name.strip()] = value.replace("!important", "").strip()
    return found


def hides(style: dict[str, str]) -> bool:
    """Whether the declarations keep an element's text from being seen."""
    get = style.get
    if get("display") == "none" or get("visibility") in ("hidden", "collapse"):
        return True
    if "opacity" in style and _ZERO.match(style["opacity"]) and style["opacity"]:
        return True
    if "font-size" in style and _ZERO.match(style["font-size"]) and style["font-size"]:
        return True
    if get("position") in ("absolute", "fixed") and any(
        _FAR.match(style.get(side, "")) for side in ("left", "right", "top", "bottom")
    ):
        return True
    if _FAR.match(get("text-indent", "")):
        return True
    if "translate" in get("transform", "") and re.search(r"\(-\d{4,}px|\(-\d{3,}%", style["transform"]):
        return True
    if "scale(0)" in get("transform", "").replace(" ", ""):
        return True
    clipped = get("overflow") in ("hidden", "clip") or get("overflow-y") == "hidden"
    if clipped and any(
        re.match(r"^[01](?:px)?$", style.get(side, "")) for side in ("height", "max-height", "width")
    ):
        return True
    if re.match(r"rect\(\s*[01](px)?[\s,]+[01](px)?[\s,]+[01](px)?[\s,]+[01](px)?\s*\)", get("clip", "")):
        return True
    if re.match(r"inset\((?:50|100)%", get("clip-path", "")):
        return True
    colour = _colour(get("color", ""))
    ground = _colour(get("background-color", "") or get("background", ""))
    return bool(colour) and (colour == "transparent" or colour == ground)


_NAMES = {"white": "#ffffff", "black": "#000000", "#fff": "#ffffff", "#000": "#000000"}


def _colour(value: str) -> str:
    value = value.replace(" ", "")
    if re.match(r"rgba\(.*,0(?:\.0+)?\)$", value):
        return "transparent"
    if match := re.match(r"rgb\((\d+),(\d+),(\d+)\)$", value):
        return "#" + "".join(f"{int(part):02x}" for part in match.groups())
    if re.match(r"#[0-9a-f]{3}$", value):
        return "#" + "".join(character * 2 for character in value[1:])
    return _NAMES.get(value, value)


def place_streamed(root: Any) -> None:
    """Put server-streamed content (hidden ``S:n`` elements) where its script would put it (``B:n`` templates).

    What stands there meanwhile ("Loading...") goes.
    """
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


def remove_hidden(root: Any) -> tuple[list[Any], bool]:
    """Take hidden elements out of the tree.

    Panels that a control on the page reveals (accordions, tabs) and streaming slots are not hidden, unless
    they belong to navigation. Returns the elements taken out, and whether any of them had words.
    """
    revealed = _revealed(root)
    taken: list[Any] = []
    for element in list(root.iter(etree.Element)):
        if element.tag in _NEVER_HIDDEN or not _is_hidden(element):
            continue
        if (element.get("id") in revealed or element.get("role") == "tabpanel") and not _in_navigation(
            element
        ):
            continue
        if element.getparent() is not None:
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


def _is_hidden(element: Any) -> bool:
    attributes = element.attrib
    if not attributes:
        return False
    if "hidden" in attributes and attributes["hidden"].lower() != "until-found":
        return True
    if attributes.get("aria-hidden", "").lower() == "true":
        return True
    if element.tag == "dialog" and "open" not in attributes:
        return True
    style = attributes.get("style")
    return bool(style) and hides(declarations(style))


def _revealed(root: Any) -> set[str]:
    """Ids of what a control outside the navigation opens."""
    found = set()
    for element in root.iter(
        "a", "button", "summary", "h2", "h3", "h4", "h5", "h6", "div", "span", "label", "li"
    ):
        for name in _REVEALED_BY:
            value = element.get(name)
            if value and (name != "href" or value.startswith("#")) and not _in_navigation(element):
                found.update(value.replace("#", " ").split())
    return found


def _in_navigation(element: Any) -> bool:
    return element.tag in _NAVIGATION or any(
        ancestor.tag in _NAVIGATION for ancestor in element.iterancestors()
    )
