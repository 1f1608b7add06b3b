"""From DuckDuckGo's HTML (the html page and the lite page) to hits. Pure.

What the page *is* is read from its structure alone: it repeats the query, so no text in it
proves anything.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import Any
from urllib.parse import SplitResult, unquote_to_bytes, urlsplit

from attrs import frozen
from lxml import etree
from lxml import html as lxml_html

from webfetch_core.api import SearchHit

_OWN_HOST = "duckduckgo.com"
_WRAPPER_PATHS = ("/l/", "/l")
_AD_PATH = "/y.js"
_EMPTY_MARKS = frozenset({"no-results", "result--no-result"})


@frozen(kw_only=True)
class Reading:
    """What a page holds. ``known_layout`` is whether any result node, ads included, was there."""

    hits: tuple[SearchHit, ...] = ()
    challenge: bool = False
    says_empty: bool = False
    known_layout: bool = False


def parse(html: bytes | str) -> list[SearchHit]:
    """Return the page's hits in its own order, ads left out; an empty list for any other page."""
    return list(read(html).hits)


def read(html: bytes | str) -> Reading:
    """Read one page. Never raises on markup, whatever it is."""
    root = _tree(html)
    if root is None:
        return Reading()
    hits: dict[str, SearchHit] = {}
    known = False
    for link, snippet, sponsored in _results(root):
        known = True
        url = "" if sponsored else target_url(link.get("href") or "")
        if not url and snippet is not None and not sponsored:
            url = target_url(snippet.get("href") or "")
        if url:
            hits.setdefault(url, SearchHit(url=url, title=_text(link), snippet=_text(snippet)))
    return Reading(
        hits=tuple(hits.values()),
        challenge=_is_challenge(root),
        says_empty=any(_EMPTY_MARKS & _classes(node) for node in root.iter(etree.Element)),
        known_layout=known,
    )


def target_url(href: str) -> str:
    """Return the address a result link leads to, or "" for an ad or a link of the engine's own.

    A ``/l/?uddg=`` wrapper is decoded once; any other address is given back as it stands.
    """
    href = href.strip()
    absolute = f"https:{href}" if href.startswith("//") else href
    if absolute.startswith("/"):
        absolute = f"https://{_OWN_HOST}{absolute}"
    parts = _split(absolute)
    if parts is None:
        return ""
    if _own(parts.hostname) and parts.path in _WRAPPER_PATHS:
        pairs = (pair.partition("=") for pair in parts.query.split("&"))
        target = _decode_once(next((value for key, _, value in pairs if key == "uddg"), ""))
    elif absolute is href or href.startswith("//"):
        target = absolute
    else:
        return ""  # a path on the engine's own host: its navigation
    parts = _split(target)
    if parts is None or (_own(parts.hostname) and parts.path in (*_WRAPPER_PATHS, _AD_PATH)):
        return ""
    return target


def _split(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        return parts if parts.scheme in ("http", "https") and parts.hostname else None
    except ValueError:
        return None


def _own(host: str | None) -> bool:
    return host == _OWN_HOST or (host or "").endswith(f".{_OWN_HOST}")


def _decode_once(value: str) -> str:
    raw = unquote_to_bytes(value)
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:  # an address in another charset: keep its bytes as escapes
        return "".join(chr(b) if b < 0x80 else f"%{b:02X}" for b in raw)


# ---- nodes ---------------------------------------------------------------------------------------


def _tree(html: bytes | str) -> Any:
    raw = html.encode("utf-8", "replace") if isinstance(html, str) else html
    raw = raw.replace(b"\0", b" ")
    if not raw.strip():
        return None
    parser = lxml_html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, collect_ids=False)
    try:
        return lxml_html.document_fromstring(raw, parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError, ValueError):
        return None


def _results(root: Any) -> Iterator[tuple[Any, Any, bool]]:
    """Yield (title link, snippet node or None, whether it is an ad) in document order."""
    for link in root.iter("a"):
        classes = _classes(link)
        if "result__a" in classes:
            box = _box(link)
            yield link, _first(box, "result__snippet"), "result--ad" in _classes(box)
        elif "result-link" in classes:  # the lite page: one table row a result, the snippet in the next
            row = _ancestor(link, "tr")
            sponsored = row is not None and "result-sponsored" in _classes(row)
            yield link, _lite_snippet(row), sponsored


def _box(link: Any) -> Any:
    """The result node that a title link stands in; its nearest block where the class is gone."""
    for node in link.iterancestors():
        if {"result", "web-result", "result--ad"} & _classes(node):
            return node
    return link.getparent()


def _ancestor(node: Any, tag: str) -> Any:
    return next(node.iterancestors(tag), None)


def _lite_snippet(row: Any) -> Any:
    while row is not None and (row := row.getnext()) is not None:
        if _first(row, "result-link") is not None:
            return None
        found = _first(row, "result-snippet")
        if found is not None:
            return found
    return None


def _first(node: Any, name: str) -> Any:
    return next((n for n in node.iter(etree.Element) if name in _classes(n)), None)


def _is_challenge(root: Any) -> bool:
    for node in root.iter(etree.Element):
        if any(name.startswith("anomaly-modal") for name in _classes(node)):
            return True
        if node.tag == "form" and (
            node.get("id") == "challenge-form" or "anomaly.js" in (node.get("action") or "")
        ):
            return True
    return False


def _classes(node: Any) -> set[str]:
    return set((node.get("class") or "").split())


def _text(node: Any) -> str:
    """The node's text: tags gone, entities decoded once (by the parser), blanks folded."""
    if node is None:
        return ""
    folded = " ".join("".join(node.itertext()).split())
    return unicodedata.normalize("NFC", "".join(c for c in folded if unicodedata.category(c) != "Cc"))
