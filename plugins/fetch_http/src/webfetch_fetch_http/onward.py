"""Redirects that a page makes itself: the Refresh header, meta refresh, a plain script."""

from __future__ import annotations

import re
from urllib.parse import urljoin, urlsplit

from .outline import Outline

MAX_DELAY_S = 5.0
"""A refresh later than this is for a reader, not a redirect."""

THIN_CHARS = 500
_SCRIPT_CHARS = 2_000

_REFRESH = re.compile(r"\s*(\d{1,6}(?:\.\d*)?|\.\d+)\s*[;,]?\s*(?:url\s*=)?\s*(.*)\Z", re.I | re.S)
_LITERAL = r"""(?:"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)')"""
_PLACE = r"(?<![\w.$])(?:(?:window|document|self|top|parent)\s*\.\s*)?location"
_ASSIGN = re.compile(
    rf"{_PLACE}(?:\s*\.\s*href)?\s*=(?!=)\s*(?:{_LITERAL}|([A-Za-z_$][\w$]*))\s*(?:[;,}})\n]|\Z)"
    rf"|{_PLACE}\s*\.\s*(?:replace|assign)\s*\(\s*(?:{_LITERAL}|([A-Za-z_$][\w$]*))\s*\)"
)
_CONDITION = re.compile(r"\b(?:if|switch|catch|while|for)\b|\?[^.\"']*:|&&|\|\|")


def onward(page: Outline, url: str, refresh_header: str = "") -> str | None:
    """Return the absolute http(s) URL that the page sends its reader to at once, or None.

    A page with text of its own is left only by a refresh outside of ``noscript`` that leads
    elsewhere; scripts are believed on thin pages, where they do one thing without a condition.
    """
    thin = page.chars < THIN_CHARS
    candidates = [(refresh_header, False)] if refresh_header else []
    for content, in_noscript in (*candidates, *page.refreshes):
        target = _target(content, url)
        if target is not None and (thin or (not in_noscript and not _same(target, url))):
            return target
    return _by_script(page.scripts, url) if thin else None


def _target(content: str, url: str) -> str | None:
    match = _REFRESH.match(content)
    if match is None or float(match[1]) > MAX_DELAY_S:
        return None
    place = match[2].strip()
    if place[:1] in "\"'" and place:
        place = place[1:].partition(place[0])[0]
    return _absolute(place, url) if place else None


def _by_script(scripts: str, url: str) -> str | None:
    code = _without_literals(scripts)
    if len(scripts) > _SCRIPT_CHARS or _CONDITION.search(code):
        return None
    found = list(_ASSIGN.finditer(scripts))
    if len(found) != 1:
        return None
    groups = found[0].groups()
    literal = next((g for g in (groups[0], groups[1], groups[3], groups[4]) if g is not None), None)
    name = groups[2] or groups[5]
    if literal is None and name:
        given = re.findall(rf"(?<![\w$.]){re.escape(name)}\s*=(?!=)\s*{_LITERAL}", scripts)
        literal = (given[0][0] or given[0][1]) if len(given) == 1 else None
    if not literal:
        return None
    return _absolute(literal.replace("\\/", "/").replace("\\u0026", "&"), url)


def _without_literals(code: str) -> str:
    return re.sub(_LITERAL, '""', code)


def _absolute(place: str, url: str) -> str | None:
    try:
        joined = urljoin(url, place.strip())
        parts = urlsplit(joined)
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not parts.netloc or "\\" in joined:
        return None
    return joined.partition("#")[0].replace(" ", "%20")


def _same(one: str, other: str) -> bool:
    return one.partition("#")[0].rstrip("/") == other.partition("#")[0].rstrip("/")
