"""Content that a page gives to readers without scripts only."""

from __future__ import annotations

from typing import Any

from lxml import etree

from .inline import SKIPPED

MIN_CHARS = 300
"""Shorter fallbacks are notices ("please enable JavaScript") and pictures."""


def place_noscript(root: Any) -> bool:
    """Turn ``<noscript>`` elements into plain ones where they hold the page.

    That is where they have at least ``MIN_CHARS`` characters of text and more than all the rest: forums and
    shops that draw themselves with scripts serve their content there. Returns whether they were turned.
    """
    fallbacks = list(root.iter("noscript"))
    inside = sum(_size(each) for each in fallbacks)
    if inside < MIN_CHARS or inside <= _size(root):
        return False
    for each in fallbacks:
        each.tag = "div"
    return True


def _size(element: Any) -> int:
    """Characters of an element's text, blanks folded, without programs and inner ``<noscript>``."""
    size = 0
    walker = etree.iterwalk(element, events=("start", "end"))
    for event, node in walker:
        tag = node.tag
        skipped = not isinstance(tag, str) or tag in SKIPPED or (tag == "noscript" and node is not element)
        if event == "start":
            if skipped:
                walker.skip_subtree()
            elif node.text:
                size += len(" ".join(node.text.split()))
        elif node is not element and node.tail:
            size += len(" ".join(node.tail.split()))
    return size
