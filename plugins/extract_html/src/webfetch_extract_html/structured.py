"""Content that a page carries as data: JSON-LD and the state of a script framework."""

from __future__ import annotations

import json
import re
from typing import Any

from lxml import etree

from .head import Head, nodes_of

_STATE_IDS = ("__NEXT_DATA__", "__NUXT_DATA__", "__APOLLO_STATE__")
_TEXT_FIELDS = ("articleBody", "reviewBody")
_SENTENCE = re.compile(r"\w+(?:[^\w<>{}]+\w+){7,}")
_MAX_CHARS = 200_000


def structured_text(root: Any, head: Head) -> str:
    """Return the prose in the page's data, paragraph by paragraph; empty when there is none."""
    return _from_json_ld(head) or _from_state(root)


def _from_json_ld(head: Head) -> str:
    best = ""
    for item in head.data:
        for node in nodes_of(item):
            for name in _TEXT_FIELDS:
                value = node.get(name)
                if isinstance(value, str) and len(value) > len(best):
                    best = _plain(value)
    return best


def _from_state(root: Any) -> str:
    for script in root.iter("script"):
        kind = (script.get("type") or "").lower()
        if script.text and (script.get("id") in _STATE_IDS or kind == "application/json"):
            try:
                state = json.loads(script.text)
            except (ValueError, RecursionError):
                continue
            if text := _prose(state):
                return text
    return ""


def _prose(state: Any) -> str:
    """Strings that read like sentences, in order, each once."""
    found: dict[str, None] = {}
    stack = [state]
    size = 0
    while stack and size < _MAX_CHARS:
        node = stack.pop()
        if isinstance(node, dict):
            stack.extend(reversed(list(node.values())))
        elif isinstance(node, list):
            stack.extend(reversed(node))
        elif isinstance(node, str) and len(node) > 30 and not node.startswith(("{", "http")):
            text = _plain(node)
            if _SENTENCE.search(text[:2_000]):
                size += len(text)
                found.setdefault(text)
    return "\n\n".join(found)


def _plain(value: str) -> str:
    """The text of a string that may be HTML."""
    if "<" not in value and "&" not in value:
        return value.strip()
    tree = etree.fromstring(f"<div>{value}</div>", etree.HTMLParser(encoding="utf-8"))
    if tree is None:
        return ""
    for element in list(tree.iter("script", "style")):
        element.text = None
    parts = []
    for element in tree.iter():
        if element.tag in ("p", "div", "li", "br", "h1", "h2", "h3", "h4"):
            parts.append("\n")
        parts += [element.text or ""]
        if element.tail:
            parts.append(element.tail)
    return re.sub(r"\s*\n\s*", "\n\n", "".join(parts)).strip()
