"""What a control on the page reveals: accordions, tabs, slides. Hidden at the moment, and content."""

from __future__ import annotations

import re
from typing import Any

_REVEALED_BY = frozenset(
    {"aria-controls", "data-target", "data-bs-target", "data-controls", "popovertarget",
                "data-tab", "data-tab-target", "data-toggle-target", "href"}
)  # fmt: skip
_NAVIGATION = frozenset({"nav", "header", "footer", "aside"})
_NOT_PANELS = re.compile(
    r"(?:^|[\s_-])(?:modal|popup|pop-up|overlay|drawer|dialog|lightbox|cookies?|consent|tooltip|toast|menu|nav|"
    r"navbar|dropdown|offcanvas|off-canvas|minicart|cart|login|newsletter|spinner|loading|error|template|search)"
    r"(?:$|[\s_-])",
    re.I,
)
_CONTROLS = ("a", "button", "summary", "h2", "h3", "h4", "h5", "h6", "div", "span", "label", "li")
_NAMES = re.compile(
    r"(?:^|[\s_-])(?:accordion\w*|faq\w*|answer|collaps\w*|tab-?(?:pane|panel|content)\w*|tabs?|panel\w*|toggle\w*|"
    r"expand\w*|read-?more|more-?(?:text|content)|spoiler\w*|slides?|carousel\w*|details|body-?content)(?:$|[\s_-])",
    re.I,
)
_LONGEST_CONTROL = 300
_FEWEST_WORDS = 5


class Panels:
    """Knows which hidden elements of a page are panels."""

    def __init__(self, root: Any) -> None:
        self._revealed = _revealed(root)

    def hold(self, element: Any) -> bool:
        """Whether a hidden element is one, outside the navigation: named by a control, right after one that
        says so, named like one, or beside one of the same kind."""
        if element.tag in ("dialog", "tr", "td", "th", "option", "input"):
            return False
        return self._is_panel(element) and not _in_navigation(element)

    def _is_panel(self, element: Any) -> bool:
        if element.get("id") in self._revealed or element.get("role") == "tabpanel":
            return True
        names = f"{element.get('class') or ''} {element.get('id') or ''}"
        if _NOT_PANELS.search(names) or "popover" in element.attrib:
            return False
        previous = element.getprevious()
        if previous is not None and isinstance(previous.tag, str):
            control = len("".join(previous.itertext())) <= _LONGEST_CONTROL
            if control and any("aria-expanded" in each.attrib for each in previous.iter("*")):
                return True
        if not has_words(element, _FEWEST_WORDS):
            return False
        return bool(_NAMES.search(names)) or _has_open_sibling(element)


def has_words(element: Any, least: int) -> bool:
    """Whether an element's text has at least so many words; stops counting there."""
    count = 0
    for text in element.itertext():
        count += len(str(text).split())
        if count >= least:
            return True
    return False


def _has_open_sibling(element: Any) -> bool:
    """Whether an element of the same tag and first class is beside it: one of several tabs or slides."""
    own = (element.get("class") or "").split()
    if not own:
        return False
    return any(
        sibling is not None
        and sibling.tag == element.tag
        and (sibling.get("class") or "").split()[:1] == own[:1]
        for sibling in (element.getprevious(), element.getnext())
    )


def _revealed(root: Any) -> set[str]:
    """Ids of what a control outside the navigation opens."""
    found: set[str] = set()
    for element in root.iter(*_CONTROLS):
        for name, value in element.items():
            if name not in _REVEALED_BY or not value or (name == "href" and value[0] != "#"):
                continue
            if not _in_navigation(element):
                found.update(value.replace("#", " ").split())
    return found


def _in_navigation(element: Any) -> bool:
    return element.tag in _NAVIGATION or any(
        ancestor.tag in _NAVIGATION for ancestor in element.iterancestors()
    )
