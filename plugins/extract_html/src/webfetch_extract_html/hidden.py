"""Text that a reader of the page does not see, and text that only seems so."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from .formulas import is_hidden_formula
from .ground import Grounds
from .hiding import declarations, fades_in, hides, is_small_type, pixels
from .inline import BLOCKS
from .instructions import reads_like_instruction
from .panels import Panels, has_words
from .streaming import place_streamed
from .stylesheet import DOUBTFUL, HIDDEN, SEEN, HiddenRules, hidden_rules

__all__ = ["drop", "place_streamed", "remove_hidden"]

_NEVER_HIDDEN = frozenset({"html", "body", "main", "head"})
_NO_TEXT = frozenset({"script", "style", "svg", "input", "template", "link", "noscript", "iframe", "meta"})
_HIDDEN_BY_NAME = frozenset({"sortkey"})
"""Classes that a site's style sheet elsewhere hides everywhere: MediaWiki's keys for sorting."""

_FOR_SCREEN_READERS = frozenset(
    {"sr-only", "visually-hidden", "visuallyhidden", "screen-reader-text", "u-hiddenVisually"}
)
_TELLING = frozenset({"hidden", "popover", "aria-hidden", "class", "style"})
"""The attributes that may say that an element is hidden."""

_WORD = re.compile(r"\w\w")
_ICON_WORDS = 20
"""Words from which what is kept from screen readers (``aria-hidden``) is a panel or a slide, not an icon."""

_FADING_WORDS = 40
"""Words from which an element without opacity is content that a script fades in."""

_SHORT = 1_500
"""Characters up to which a doubtful element goes as a whole when an order to a model is in it."""


def remove_hidden(root: Any) -> tuple[list[Any], bool]:
    """Take hidden elements out of the tree.

    Panels that a control on the page reveals (accordions, tabs), slides, entrance animations and streaming
    slots are not hidden, unless they belong to navigation; but of what may be seen or not, text that reads
    like an order to a language model goes. Returns the elements taken out, and whether any had words.
    """
    page = _Page(root)
    taken: list[Any] = []
    searched: Any = None
    for element in list(root.iter("*")):
        if element is root or element.tag in _NEVER_HIDDEN:
            continue
        verdict = page.verdict(element)
        if verdict == HIDDEN and not is_hidden_formula(element):
            taken.append(element)
        elif verdict == DOUBTFUL and not _is_within(element, searched):
            searched = element
            taken += _orders_in(element)
    had_words = False
    for element in taken:
        if element.tag not in _NO_TEXT:
            had_words = had_words or bool(_WORD.search(" ".join(element.itertext())))
        drop(element)
    return taken, had_words


def remove_orders(root: Any) -> bool:
    """Of a page that is kept though it is hidden: take out what is hidden and reads like an order to a
    language model. Returns whether there was any."""
    page = _Page(root)
    taken: list[Any] = []
    searched: Any = None
    for element in list(root.iter("*")):
        if not isinstance(element.tag, str) or element.tag in _NEVER_HIDDEN or _is_within(element, searched):
            continue
        if page.verdict(element):
            searched = element
            taken += _orders_in(element)
    for element in taken:
        drop(element)
    return bool(taken)


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


class _Page:
    """What is known of a page when one of its elements is judged."""

    def __init__(self, root: Any) -> None:
        self.rules: HiddenRules = hidden_rules(root)
        self.panels = Panels(root)
        self.grounds = Grounds(root)
        self.styles: dict[str, tuple[dict[str, str], bool]] = {}  # pages repeat them

    def verdict(self, element: Any) -> str:
        found = self._of_marks(element)
        if found == HIDDEN and self.panels.hold(element):
            return DOUBTFUL
        return found

    def _of_marks(self, element: Any) -> str:
        """By its attributes, its style and the page's style sheets."""
        tag, attributes = element.tag, dict(element.items())
        if tag == "dialog" and "open" not in attributes:
            return HIDDEN
        by_rule = self.rules.verdict(element)
        if by_rule == HIDDEN:
            return HIDDEN
        if attributes.keys().isdisjoint(_TELLING) and tag != "font":
            return DOUBTFUL if tag in ("details", "noscript") else by_rule
        if "hidden" in attributes:
            return DOUBTFUL if attributes["hidden"].lower() == "until-found" else HIDDEN
        if "popover" in attributes:
            return HIDDEN
        if attributes.get("aria-hidden", "").lower() == "true":
            return DOUBTFUL if has_words(element, _ICON_WORDS) else HIDDEN
        names = attributes.get("class", "").split()
        if not _HIDDEN_BY_NAME.isdisjoint(names):
            return HIDDEN
        style = attributes.get("style")
        found = self._of_style(element, style) if style else SEEN
        if found == SEEN and (tag == "font" or style):
            found = self.grounds.verdict(element)
        if found == SEEN and (tag in ("details", "noscript") or not _FOR_SCREEN_READERS.isdisjoint(names)):
            found = DOUBTFUL
        return found or by_rule

    def _of_style(self, element: Any, written: str) -> str:
        known = self.styles.get(written)
        if known is None:
            style = declarations(written)
            known = self.styles[written] = (style, hides(style))
        style, is_hiding = known
        if not is_hiding:
            return SEEN
        if fades_in(style):
            return DOUBTFUL
        rest = {name: value for name, value in style.items() if name not in ("opacity", "filter")}
        if len(rest) < len(style) and not hides(rest):
            return DOUBTFUL if has_words(element, _FADING_WORDS) else HIDDEN
        if is_small_type(style) and any(map(_resets_type, element.iterdescendants("*"))):
            return DOUBTFUL  # the size closes gaps between boxes whose text has its own
        return HIDDEN


def _is_within(element: Any, searched: Any) -> bool:
    return searched is not None and any(ancestor is searched for ancestor in element.iterancestors())


def _resets_type(element: Any) -> bool:
    style = element.get("style")
    size = pixels(declarations(style).get("font-size", "")) if style else None
    return size is not None and size > 5


def _orders_in(element: Any) -> Iterator[Any]:
    """What of a doubtful element reads like an order to a model: a short one whole, else parts."""
    text = " ".join(element.itertext())
    if not reads_like_instruction(text):
        return
    if len(text) <= _SHORT:
        yield element
        return
    for part in element.iterdescendants(*BLOCKS):
        if next(part.iterdescendants(*BLOCKS), None) is None and reads_like_instruction(
            " ".join(part.itertext())
        ):
            yield part
