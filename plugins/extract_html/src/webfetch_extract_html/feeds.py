"""RSS, Atom and other XML as text."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urljoin

from lxml import etree

from .fragments import as_text
from .xml_text import to_lines

_DECLARATION = re.compile(r"\A\s*<\?xml[^>]*\?>")
_MAX_ITEMS = 500


def read_xml(text: str, url: str, max_links: int) -> tuple[str, str, tuple[str, ...]]:
    """Return title, Markdown and links. A feed gives its entries, a site map its addresses as links, too;
    other XML its elements, one a line."""
    # No DTD, no entities of its own, no network: a feed is foreign input.
    parser = etree.XMLParser(
        recover=True, resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False
    )
    try:
        root = etree.fromstring(_DECLARATION.sub("", text).encode("utf-8", "replace"), parser)
    except (etree.XMLSyntaxError, ValueError):
        root = None
    if root is None:
        return "", text, ()
    elements = list(root.iter(etree.Element))
    entries = [each for each in elements if _name(each) in ("item", "entry")]
    if not entries:
        locations = [(each.text or "").strip() for each in elements if _name(each) == "loc"]
        found = dict.fromkeys(each for each in locations if each.startswith(("http://", "https://")))
        return _child_text(root, "title"), to_lines(root), tuple(found)[:max_links]
    channel = next(
        (each for each in root.iter() if isinstance(each.tag, str) and _name(each) == "channel"), root
    )
    title = _child_text(channel, "title")
    about = _child_text(channel, "description") or _child_text(channel, "subtitle")
    parts = ([f"# {title}"] if title else []) + ([f"> {about}"] if about and about != title else [])
    links: dict[str, None] = {}
    for entry in entries[:_MAX_ITEMS]:
        link = _link(entry, url)
        if link and len(links) < max_links:
            links.setdefault(link)
        parts.append(_entry(entry, link))
    return title, "\n\n".join(part for part in parts if part), tuple(links)


def _entry(entry: Any, link: str) -> str:
    heading = _child_text(entry, "title") or link
    dates = [_child_text(entry, name) for name in ("pubDate", "published", "updated", "date")]
    date = next((value for value in dates if value), "")  # as the feed writes it
    bodies = [_child_body(entry, name) for name in ("encoded", "content", "description", "summary")]
    body = max(bodies, key=len)
    author = _child_text(entry, "creator") or _author(entry)
    facts = " · ".join(fact for fact in (date, author, link) if fact)
    return "\n\n".join(part for part in (f"## {heading}" if heading else "", facts, body) if part)


def _name(element: Any) -> str:
    return str(etree.QName(element).localname)


def _child_body(element: Any, name: str) -> str:
    """The HTML of the first child of that name, escaped or not, as Markdown."""
    for child in element:
        if isinstance(child.tag, str) and _name(child) == name:
            if not len(child):
                return as_text(child.text or "")
            inner = (etree.tostring(each, encoding="unicode", method="html") for each in child)
            return as_text((child.text or "") + "".join(inner))
    return ""


def _author(entry: Any) -> str:
    for child in entry:
        if isinstance(child.tag, str) and _name(child) == "author":
            return _child_text(child, "name") if len(child) else " ".join((child.text or "").split())
    return ""


def _child_text(element: Any, name: str) -> str:
    """The text of the first child of that name; HTML in it, escaped or not, becomes text."""
    for child in element:
        if isinstance(child.tag, str) and _name(child) == name:
            if child.get("type") == "xhtml" or len(child):
                value = " ".join(child.itertext())
            else:
                value = child.text or ""
            return " ".join(as_text(value).split())
    return ""


def _link(entry: Any, url: str) -> str:
    for child in entry:
        if (
            isinstance(child.tag, str)
            and _name(child) == "link"
            and child.get("rel", "alternate") == "alternate"
        ):
            address = (child.get("href") or child.text or "").strip()
            try:
                link = urljoin(url, address) if address else ""
            except ValueError:
                link = ""
            if link.startswith(("http://", "https://")):
                return link
    return ""
