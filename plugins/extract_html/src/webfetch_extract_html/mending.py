"""Trees of pages whose tags do not match, brought nearer to what browsers show."""

from __future__ import annotations

import re
from typing import Any

_CONTENT = ("p", "h1", "h2", "h3", "article", "section", "table", "ul", "ol", "main")
_SWALLOWING = ("select", "iframe", "svg", "textarea")
"""Elements that are left out whole; one that was never closed has the rest of the page in it."""

_DRAWN = ("title", "desc", "text", "style", "defs", "metadata", "symbol")
_RAW = ("iframe", "textarea", "noembed")
"""What these hold is read as bare text; without an end that is the rest of the page."""

_UNCLOSED_TITLE = re.compile(r"<title\b[^<>]*>[^<]*", re.I)
_BREAK_RUN = re.compile(r"<br\s*/?>\s*(?:<br\s*/?>\s*){3,}", re.I)
_EMPTY_RUN = re.compile(r"<(p|div|span)>\s*</\1>\s*(?:<(p|div|span)>\s*</\2>\s*){3,}", re.I)
"""Both begin with a character of their own: that is searched for ten times as fast as a repetition."""

_ASKS_FOR_SCRIPTS = re.compile(r"java\s*script|enable|browser|cookies|activ", re.I)
_OF_HEAD = frozenset(
    {"title", "meta", "link", "base", "style", "script", "noscript", "template", "basefont", "bgsound"}
)
_FEWEST_WORDS = 8


def mend_source(text: str) -> str:
    """The source without floods of empty elements, and with its title closed."""
    text = _EMPTY_RUN.sub("<br><br>", _BREAK_RUN.sub("<br><br>", text))
    opening = _UNCLOSED_TITLE.search(text)
    if opening and not re.search(r"</title", text, re.I):
        text = f"{text[: opening.end()]}</title>{text[opening.end() :]}"
    folded = text.lower()
    for name in _RAW:
        if f"<{name}" in folded and not re.search(rf"</{name}\b", text, re.I):
            text = re.sub(rf"<{name}\b[^<>]*>", " ", text, flags=re.I)
    return text


def mend(root: Any) -> None:
    """Free what an unclosed element swallowed, and what stands only where frames or scripts are off."""
    _begin_body(root)
    for element in list(root.iter(*_SWALLOWING)):
        if next(element.iter(*_CONTENT), None) is not None:
            _free(element)
    if next(root.iter("frameset"), None) is not None:
        for element in list(root.iter("noframes")):
            element.tag = "div"
    _open_noscript(root)


def _begin_body(root: Any) -> None:
    """End the head before the first element that none has: pages may leave the tag ``body`` out, and
    libxml2 does not know that ``article`` and its kin begin one."""
    head = root.find("head") if root.tag == "html" else None
    if head is None:
        return
    children = list(head)
    first = next(
        (
            place
            for place, child in enumerate(children)
            if isinstance(child.tag, str) and child.tag not in _OF_HEAD
        ),
        None,
    )
    if first is None:
        return
    body = root.find("body")
    if body is None:
        body = root.makeelement("body")
        head.addnext(body)
    moved = children[first:]
    if body.text and body.text.strip():
        moved[-1].tail = (moved[-1].tail or "") + body.text
        body.text = None
    body[:0] = moved


def _free(element: Any) -> None:
    if element.tag == "svg":
        for part in list(element.iter(*_DRAWN)):
            part.clear(keep_tail=True)
    for option in list(element.iter("option", "optgroup")):
        if next(option.iter(*_CONTENT), None) is not None:
            option.tag = "div"
    element.tag = "div"


def _open_noscript(root: Any) -> None:
    """Where nothing else has words, the text for readers without scripts is the page's."""
    found = list(root.iter("noscript"))
    if not found:
        return
    body = root.find(".//body")
    words = 0
    for element in (body if body is not None else root).iter():
        if isinstance(element.tag, str) and element.tag not in ("script", "style", "noscript", "title"):
            inside = any(ancestor.tag == "noscript" for ancestor in element.iterancestors())
            words += 0 if inside else len(((element.text or "") + " " + (element.tail or "")).split())
        if words >= _FEWEST_WORDS:
            return
    for element in found:
        text = " ".join(element.itertext())
        if len(text.split()) >= _FEWEST_WORDS and not _ASKS_FOR_SCRIPTS.search(text) and "<" not in text:
            element.tag = "div"
