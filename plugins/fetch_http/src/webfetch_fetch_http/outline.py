"""The bare outline of a small HTML page: enough to tell a page from a wall. Linear in its input."""

from __future__ import annotations

import re
from html import unescape

from attrs import frozen

MAX_BYTES = 1_000_000
"""Larger pages are not outlined: walls and redirectors are small."""

ENOUGH_CHARS = 2_000
"""With this much visible text a page is no wall, and reading on would tell nothing."""

_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9:-]*)")
_ATTRIBUTE = re.compile(r"""([a-zA-Z][\w:-]*)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""")
_RAW = frozenset({"script", "style", "textarea", "title", "iframe", "noembed", "noframes", "xmp"})
_HIDDEN = frozenset({"noscript", "template", "svg", "select", "math", "object"})


@frozen(kw_only=True)
class Outline:
    """Attributes:
    title: of the document.
    heading: text of the first h1, else of the first h2.
    text: visible text.
    chars: length of the visible text. Beyond ENOUGH_CHARS the page is not read further.
    scripts: inline scripts so far, joined.
    markup: the whole page in lower case.
    refreshes: ``content`` of each meta refresh, and whether it stands in a noscript.
    password: there is an input for a password.
    controls: there is a form or a button.
    """

    title: str = ""
    heading: str = ""
    text: str = ""
    chars: int = 0
    scripts: str = ""
    markup: str = ""
    refreshes: tuple[tuple[str, bool], ...] = ()
    password: bool = False
    controls: bool = False


def attributes(tag: str) -> dict[str, str]:
    """Read the attributes of a start tag; names in lower case, entities resolved."""
    return {
        match[1].lower(): unescape(match[2] or match[3] or match[4] or "")
        for match in _ATTRIBUTE.finditer(tag)
    }


def outline(body: bytes) -> Outline:
    """Return the outline of ``body``, read as UTF-8 with bad bytes replaced."""
    html = body.decode("utf-8", "replace")
    low = html.lower()
    if len(low) != len(html):  # a few letters grow in lower case; offsets must not shift
        low = "".join(c.lower() if c.isascii() else c for c in html)
    text: list[str] = []
    scripts: list[str] = []
    refreshes: list[tuple[str, bool]] = []
    headings: dict[str, list[str]] = {}
    titles: list[str] = []
    hidden = chars = at = 0
    inside = ""
    password = controls = noscript = False
    while at < len(html):
        start = html.find("<", at)
        piece = html[at : start if start >= 0 else None]
        if not hidden and piece and not piece.isspace():
            chars += len(" ".join(piece.split()))
            text.append(piece)
            if inside:
                headings[inside].append(piece)
        if start < 0 or chars > ENOUGH_CHARS:
            break
        if html.startswith("<!--", start):
            end = html.find("-->", start + 4)
            at = end + 3 if end >= 0 else len(html)
            continue
        match = _TAG.match(html, start)
        end = html.find(">", start)
        if end < 0:
            break
        at = end + 1
        if match is None:
            continue
        closing, name = bool(match[1]), match[2].lower()
        if name in _RAW and not closing:
            stop = low.find(f"</{name}", at)
            inner = html[at : stop if stop >= 0 else None]
            if name == "script":
                scripts.append(inner)
            elif name == "title" and not hidden:
                titles.append(inner)
            at = stop if stop >= 0 else len(html)
        elif name in _HIDDEN:
            hidden = max(hidden - 1, 0) if closing else hidden + (html[end - 1] != "/")
            noscript = (not closing) if name == "noscript" else noscript
        elif name in ("h1", "h2"):
            if closing:
                inside = ""
            elif not hidden and name not in headings:
                headings[name], inside = [], name
        elif name == "meta" and not closing:
            found = attributes(html[start : end + 1])
            if found.get("http-equiv", "").strip().lower() == "refresh":
                refreshes.append((found.get("content", ""), noscript))
        elif name == "input" and not closing:
            password = password or attributes(html[start : end + 1]).get("type", "").lower() == "password"
        controls = controls or name in ("form", "button")
    heading = next((" ".join(headings[h]) for h in ("h1", "h2") if headings.get(h)), "")
    return Outline(
        title=_clean(titles[0] if titles else ""),
        heading=_clean(heading),
        text=_clean(" ".join(text)),
        chars=chars,
        scripts="\n".join(scripts),
        markup=low,
        refreshes=tuple(refreshes),
        password=password,
        controls=controls,
    )


def _clean(text: str) -> str:
    return " ".join(unescape(text).split())
