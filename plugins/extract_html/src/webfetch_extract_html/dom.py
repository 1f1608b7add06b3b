"""From text to a tree that is safe to walk: parsed once and of bounded depth."""

from __future__ import annotations

import re
from typing import Any

from lxml import etree

from .mending import mend, mend_source

MAX_ATTRIBUTES = 500
"""Of one tag: libxml2 compares each with all before it, and a flood of them takes it hours."""

MAX_DEPTH = 200
"""Deeper elements are unwrapped: libxml2 stops reading at 2,048 levels, and other tools recurse."""

_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9:-]*+)([^<>]*+)>")
_LONG = 4_096
_LONG_TAG = re.compile(rf"<[a-zA-Z][a-zA-Z0-9:-]*+([^<>]{{{_LONG},}})")
_ATTRIBUTE = re.compile(r"""[^\s"'=<>]+(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'<>]+))?""")
_BULK = re.compile(r"<script\b|<style\b|<svg\b|<!--", re.I)
_BULK_ENDS = {
    "<script": re.compile(r"</script[^<>]*>", re.I),
    "<style": re.compile(r"</style[^<>]*>", re.I),
    "<svg": re.compile(r"</svg[^<>]*>", re.I),
    "<!--": re.compile("-->"),
}
_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_CONTROLS = bytes({*range(32)} - {9, 10, 13})
_END_OF_PAGE = re.compile(r"</(?:body|html)\s*>", re.I)
"""Browsers go on reading behind these; libxml2 would drop what follows."""
_VOID_TAGS = "area base br col embed hr img input link meta param source track wbr"
_VOID = frozenset(_VOID_TAGS.split())


def parse(text: str) -> Any | None:
    """Return the root element, or None when there is no element at all."""
    text = _END_OF_PAGE.sub("", _without_floods(_legal(text)))
    text = mend_source(text)
    root = _parse(text)
    if root is None or _depth_exceeds(root, MAX_DEPTH):
        root = _parse(_flattened(text))
    if root is not None:
        mend(root)
    return root


def _legal(text: str) -> str:
    """The text with blanks for characters that no tree can hold. Few have any, which bytes tell soonest."""
    try:
        raw = text.encode("utf-8")
    except UnicodeEncodeError:
        return _ILLEGAL.sub(" ", text)
    clean = len(raw.translate(None, _CONTROLS)) == len(raw) and "\ufffe" not in text and "\uffff" not in text
    return text if clean else _ILLEGAL.sub(" ", text)


def _without_floods(text: str) -> str:
    """The source with at most ``MAX_ATTRIBUTES`` in each tag."""
    if any(len(part) > _LONG and _LONG_TAG.match(f"<{part}") for part in text.split("<")):
        return _LONG_TAG.sub(_without_flood, text)
    return text


def _without_flood(match: re.Match[str]) -> str:
    attributes = _ATTRIBUTE.findall(match[1])
    if len(attributes) <= MAX_ATTRIBUTES:
        return match[0]
    name = match[0][: match.start(1) - match.start()]
    return f"{name} {' '.join(attributes[:MAX_ATTRIBUTES])}"


def without_bulk(text: str) -> str:
    """The source without style sheets, scripts, drawings and comments: these go first when it is too long."""
    parts: list[str] = []
    position = 0
    unclosed: set[str] = set()  # looked for once: a million opening tags must not mean a million searches
    for match in _BULK.finditer(text):
        name = match.group().lower()
        if match.start() < position or name in unclosed:
            continue
        closing = _BULK_ENDS[name].search(text, match.end())
        if closing is None:
            unclosed.add(name)
            continue
        parts.append(text[position : match.start()])
        position = closing.end()
    return "".join([*parts, text[position:]])


def strip_comments(root: Any) -> None:
    """Remove comments and processing instructions; the text after them stays."""
    etree.strip_tags(root, etree.Comment, etree.ProcessingInstruction)


def _parse(text: str) -> Any | None:
    # Not lxml.html's parser: its elements are of Python classes, looked up anew at each access.
    parser = etree.HTMLParser(encoding="utf-8", huge_tree=True, remove_pis=True)
    try:
        root = etree.fromstring(text.encode("utf-8"), parser)
    except (etree.ParserError, etree.XMLSyntaxError, ValueError):
        return None
    return root if root is not None and isinstance(root.tag, str) else None


def _depth_exceeds(root: Any, limit: int) -> bool:
    depth = 0
    for event, _ in etree.iterwalk(root, events=("start", "end")):
        depth += 1 if event == "start" else -1
        if depth > limit:
            return True
    return False


def _flattened(text: str) -> str:
    """The source without the tags that open below ``MAX_DEPTH`` and their ends; the text stays."""
    parts: list[str] = []
    stack: list[tuple[str, bool]] = []
    position = 0
    for match in _TAG.finditer(text):
        closing, name, rest = match.group(1), match.group(2).lower(), match.group(3)
        if name in _VOID or rest.endswith("/"):
            continue
        kept = True
        if not closing:
            kept = len(stack) < MAX_DEPTH - 50
            stack.append((name, kept))
        else:
            for back in range(len(stack) - 1, max(len(stack) - 20, -1), -1):
                if stack[back][0] == name:
                    kept = stack[back][1]
                    del stack[back:]
                    break
        if not kept:
            parts += [text[position : match.start()], " "]
            position = match.end()
    return "".join([*parts, text[position:]])
