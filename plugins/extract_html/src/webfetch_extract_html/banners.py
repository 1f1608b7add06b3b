"""Consent banners: text about cookies that lies over a page and is no part of it."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

_LONGEST = 6_000
_LEFT_WORDS = 5
_NAMES = re.compile(
    r"(?:cookie|gdpr|ccpa|privacy|rgpd|dsgvo)s?[-_ ]?(?:\w+[-_ ])??"
    r"(?:consent|banner|notice|bar|popup|modal|dialog|overlay|wall|window|message|law|notification|disclaimer|"
    r"box|container|alert|layer|manager|toast)\b"
    r"|\b(?:cookie-?)?consent(?:[-_]\w+)?\b|\bcc-(?:window|banner|dialog|revoke)\b"
    r"|\b(?:onetrust|didomi|usercentrics|truste|cookiebot|cybotcookiebot\w*|osano|klaro|iubenda|borlabs|cookiefirst|"
    r"termly|qc-cmp2?|sp_message|fc-consent|tarteaucitron\w*|axeptio|cookieyes|cky|moove_gdpr)[-_\w]*",
    re.I,
)
_SUBJECT = re.compile(
    r"cookie|consent|kakor|informasjonskapsler|evästee|ciasteczk|soubory cookie|sütik|çerez|クッキー|쿠키|"
    r"файл\w* куки|куки|datenschutz|privacy|tracking",
    re.I,
)
_KINDS = frozenset({"div", "section", "aside", "dialog", "form", "footer", "header", "p", "ul", "span"})
_CONTENT = ("main", "article", "h1")
_NAMED_BY = ("id", "class", "role", "aria-label", "data-nosnippet")
_NAMELESS = " " * (len(_NAMED_BY) - 1)


def remove_banners(root: Any) -> bool:
    """Take consent banners out of the tree; say whether there was one.

    One names itself by id, class, role or label, says what it is about, and holds neither the main part nor
    the heading of the page. A page that is nothing else keeps it.
    """
    body = root.find("body") if root.tag == "html" else root
    found = [each for each in (body if body is not None else root).iter(*_KINDS) if _is_banner(each)]
    outer = [each for each in found if not any(parent in found for parent in each.iterancestors())]
    if not outer:
        return False
    total = _words(root)
    taken = False
    for banner in outer:
        words = _words(banner)
        if total - words < _LEFT_WORDS:
            continue
        total -= words
        _take_out(banner)
        taken = True
    return taken


def _is_banner(element: Any) -> bool:
    name = " ".join([element.get(key, "") for key in _NAMED_BY])
    if name == _NAMELESS or len(name) > 1_000 or not _is_named(name):
        return False
    if next(element.iter(*_CONTENT), None) is not None:
        return False
    text = "".join(element.itertext())
    return len(text) <= _LONGEST and bool(_SUBJECT.search(text))


@lru_cache(maxsize=10_000)
def _is_named(name: str) -> bool:
    return bool(_NAMES.search(name))


def _words(element: Any) -> int:
    count = 0
    for each in element.iter():
        if each.text and isinstance(each.tag, str) and each.tag not in ("script", "style"):
            count += len(each.text.split())
        if each.tail and each is not element:
            count += len(each.tail.split())
    return count


def _take_out(element: Any) -> None:
    parent = element.getparent()
    if parent is None:
        return
    if element.tail:
        before = element.getprevious()
        if before is not None:
            before.tail = (before.tail or "") + element.tail
        else:
            parent.text = (parent.text or "") + element.tail
    parent.remove(element)
