"""The text of an element on one line or a few: words kept apart, inline code and formulas kept."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urljoin

from lxml import etree

_SKIPPED = (
    "script style template svg iframe select input textarea object canvas audio video map head "
    "datalist embed applet noframes"
)
SKIPPED = frozenset(_SKIPPED.split())
_BLOCKS = (
    "address article aside blockquote body button caption center dd details dialog dir div dl dt fieldset "
    "figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol p pre "
    "section summary table tbody td tfoot th thead tr ul"
)
BLOCKS = frozenset(_BLOCKS.split())
_JOINED = frozenset({"a", "span", "label", "time", "cite"})
_SPACES = re.compile(r"[ \t\r\f\v\xa0]*\n[ \t\r\f\v\xa0]*|[ \t\r\f\v\xa0]+")
_LINES = re.compile(r" *\n[ \n]*")
_BREAK = "\x1e"
URL_START, URL_END = "\x02", "\x03"
"""Stand around the address of a link until the words have been counted without it."""


class InlineText:
    """Collects text runs; ``take`` gives them back as text with single blanks."""

    def __init__(self, base: str = "", links: bool = False) -> None:
        self._base = base
        self._links = links
        self._parts: list[str] = []
        self._last = ""
        self._code = 0

    def add(self, text: str | None, *, after_tag: bool = False) -> None:
        if not text:
            return
        if after_tag and not self._code and self._joins_words(text[0]):
            self._parts.append(" ")
        self._parts.append(text)
        self._last = text[-1]

    def _joins_words(self, first: str) -> bool:
        """``by<b>A.`` and ``2024<b>Deep`` are two words, whatever the source says."""
        return first.isupper() and (self._last.islower() or self._last.isdigit())

    def separate(self) -> None:
        """Keep the next run from touching the last one, if both are of word characters."""
        if self._last.isalnum() and not self._code:
            self._parts.append("\x1f")
            self._last = " "

    def line_break(self) -> None:
        self._parts.append(_BREAK)
        self._last = " "

    def open(self, element: Any) -> None:
        """What precedes the text of an inline element."""
        tag = element.tag
        if tag == "br":
            self.line_break()
        elif tag in ("code", "kbd", "samp", "tt"):
            if not self._code:
                self.add("`", after_tag=True)
            self._code += 1
        elif tag == "sup" and self._last.isalnum() and _is_exponent(element):
            self.add("^")
        elif tag == "q":
            self.add('"')
        elif self._links and tag == "a" and link_of(element, self._base):
            self._parts.append("[")

    def close(self, element: Any) -> None:
        """What follows it, before its tail."""
        tag = element.tag
        if tag in ("code", "kbd", "samp", "tt"):
            self._code -= 1
            if not self._code:
                self.add("`")
        elif tag == "q":
            self.add('"')
        elif self._links and tag == "a" and (url := link_of(element, self._base)):
            self._parts.append(f"{URL_START}{url.replace(' ', '%20')}{URL_END}")
            self._last = ")"
        if tag in _JOINED and not element.tail:
            following = element.getnext()
            if following is not None and following.tag in _JOINED:
                self.separate()

    def take(self) -> str:
        if not self._parts:
            return ""
        text = _SPACES.sub(" ", "".join(self._parts)).replace("\x1f", " ").replace(_BREAK, "\n")
        self._parts.clear()
        self._last = ""
        return _LINES.sub("\n", re.sub(" {2,}", " ", text)).strip().replace("``", "")


def _is_exponent(element: Any) -> bool:
    text = "".join(element.itertext()).strip()
    return bool(re.fullmatch(r"[-+−–]?\d{1,3}|n|[a-z]", text))


def link_of(element: Any, base: str) -> str | None:
    """The absolute http(s) address of a link; None for anything else."""
    href = (element.get("href") or "").strip()
    if not href or href.startswith("#"):
        return None
    try:
        url = urljoin(base, href)
    except ValueError:
        return None
    return url if url.lower().startswith(("http://", "https://")) else None


def formula(element: Any) -> str:
    """A formula as LaTeX in dollar signs where the page has it, else its text."""
    latex = ""
    for annotation in element.iter("{*}annotation", "annotation"):
        if "tex" in (annotation.get("encoding") or "").lower():
            latex = (annotation.text or "").strip()
    latex = latex or (element.get("alttext") or "").strip()
    if latex:
        return f"${latex}$"
    return re.sub(r"\s+", " ", " ".join(element.itertext())).strip()


def flat_text(element: Any, base: str = "", links: bool = False) -> str:
    """All text of an element on one line; list items are set apart by semicolons."""
    out = InlineText(base, links)
    items = 0
    walker = etree.iterwalk(element, events=("start", "end"))
    for event, node in walker:
        tag = node.tag
        if event == "start":
            if not isinstance(tag, str) or tag in SKIPPED:
                walker.skip_subtree()
                continue
            if tag == "math":
                out.add(formula(node))
                walker.skip_subtree()
                continue
            if node is not element and tag in BLOCKS:
                if tag == "li":
                    out.add("; " if items and node.getprevious() is not None else " ")
                    items += 1
                else:
                    out.add(" ")
            elif node is not element:
                out.open(node)
            if tag == "img" and len(node.get("alt") or "") > 0 and not (element.text_content() or "").strip():
                out.add(node.get("alt"))
            out.add(node.text, after_tag=node is not element)
        elif node is not element:
            if isinstance(tag, str) and tag not in SKIPPED and tag != "math":
                if tag in BLOCKS:
                    out.add(" ")
                else:
                    out.close(node)
            out.add(node.tail, after_tag=True)
    return out.take().replace("\n", " ").replace(" ; ", "; ").strip()
