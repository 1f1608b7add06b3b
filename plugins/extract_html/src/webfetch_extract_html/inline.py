"""The text of an element on one line or a few: words kept apart, inline code and formulas kept."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urljoin

from attrs import define
from lxml import etree

from .formulas import formula_of

_SKIPPED = (
    "script style template svg iframe select input textarea object canvas audio video map head "
    "datalist embed applet noframes noembed progress meter title option xml"
)
SKIPPED = frozenset(_SKIPPED.split())
_BLOCKS = (
    "address article aside blockquote body button caption center dd details dialog dir div dl dt fieldset "
    "figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li listing main menu nav "
    "ol p plaintext pre search section summary table tbody td tfoot th thead tr ul xmp"
)
BLOCKS = frozenset(_BLOCKS.split())
CODE_TAGS = ("code", "samp", "kbd", "tt")
_JOINED = frozenset({"a", "span", "label", "time", "cite"})
_STRUCK = frozenset({"s", "strike", "del"})
_APART = {"li": "; ", "tr": "; ", "option": "; "}
"""What sets the parts of a flattened element apart; other blocks get a blank."""

MARK_TAGS = frozenset({"sup", "rp", "span", "a"})
"""The elements that may be a mark of the page's apparatus."""

_REFERENCE = re.compile(r"\[\s*(?:\d{1,4}|citation needed|edit)\s*\]", re.I)
_PERMALINK = frozenset({"", "¶", "#", "§", "🔗", "⚓", "link", "permalink"})
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_LONGEST_MARK = 30
_MOST_OPEN = 20
"""Links within links beyond which they are a fault of the page."""


_UNSPACED = "\u3000-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uff60"
_WRAPPED = re.compile(rf"(?<=[{_UNSPACED}])[ \t\r\f]*\n[ \t\r\f\n]*(?=[{_UNSPACED}])")
"""A line break in the source between two characters of a script without spaces is none in the text."""

_UNSPACED_CHARACTER = re.compile(f"[{_UNSPACED}\u0e00-\u0eff]")
_SPACES = re.compile(r"[ \t\r\f\v\xa0]*\n[ \t\r\f\v\xa0]*|[ \t\r\f\v\xa0]+")
_BLANKS = "\n\t\xa0\x1f\r\f\v"
_LINES = re.compile(r" *\n[ \n]*")
_BREAK, _PARAGRAPH = "\x1e", "\x1d"
_BREAKS = re.compile(rf"{_BREAK} ?(?:{_BREAK} ?)+")
URL_START, URL_END = "\x02", "\x03"
"""Stand around the address of a link until the words have been counted without it."""


@define
class _Link:
    url: str
    at: int
    """Index of its opening bracket among the parts; -1 once its text has been given away."""


class InlineText:
    """Collects text runs; ``take`` gives them back as text with single blanks.

    Two line breaks in a row are a paragraph's end. A link or code that is open when the text is taken is
    closed there: the rest of it belongs to another block.
    """

    def __init__(self, base: str = "", links: bool = False) -> None:
        self._base = base
        self._links = links
        self._parts: list[str] = []
        self._last = ""
        self._code = 0
        self._open: list[_Link | None] = []

    def add(self, text: str | None, *, after_tag: bool = False) -> None:
        if not text:
            return
        if (
            after_tag
            and text[0].isupper()
            and not self._code
            and (self._last.islower() or self._last.isdigit())
        ):
            self._parts.append(" ")  # ``by<b>A.`` and ``2024<b>Deep`` are two words, whatever the source says
        self._parts.append(text)
        self._last = text[-1]

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
        elif tag in CODE_TAGS:
            if not self._code:
                self.add("`", after_tag=True)
            self._code += 1
        elif tag in ("sub", "sup"):
            if tag == "sup" and self._last.isalnum() and _is_exponent(element):
                self.add("^")
            self._last = ""  # H2O is one word
        elif tag == "q":
            self.add('"')
        elif tag == "rt" and not _has_parentheses(element):
            self.add("(")
        elif tag in _STRUCK:
            self._parts.append("~~")
        elif tag == "img" and (sign := _picture_sign(element)):
            self.add(sign)
        elif "-" in tag:
            self.separate()
        elif self._links and tag == "a":
            url = link_of(element, self._base) if len(self._open) < _MOST_OPEN else None
            self._open.append(_Link(url, len(self._parts)) if url else None)
            if url:
                self._parts.append("[")

    def close(self, element: Any) -> None:
        """What follows it, before its tail."""
        tag = element.tag
        if tag in CODE_TAGS:
            self._code = max(self._code - 1, 0)
            if not self._code:
                self.add("`")
        elif tag in ("sub", "sup"):
            self._last = ""
        elif tag == "q":
            self.add('"')
        elif tag == "rt" and not _has_parentheses(element):
            self.add(")")
        elif tag in _STRUCK:
            self._parts.append("~~")
        elif "-" in tag:
            self.separate()
        elif self._links and tag == "a" and self._open and (link := self._open.pop()):
            self._end_link(link)
        if tag in _JOINED and not element.tail:
            following = element.getnext()
            if (
                following is not None
                and following.tag in _JOINED
                and (tag == "a" or not _UNSPACED_CHARACTER.match(self._last))
            ):
                self.separate()

    def _end_link(self, link: _Link) -> None:
        if link.at < 0:
            return
        if self._has_text(link):
            self._parts.append(f"{URL_START}{_written_url(link.url)}{URL_END}")
            self._last = ")"
        else:
            self._parts[link.at] = ""

    def _has_text(self, link: _Link) -> bool:
        return link.at >= 0 and any(part.strip(" \n\t[`") for part in self._parts[link.at + 1 :])

    def is_filled(self) -> bool:
        """Whether :meth:`take` has anything to look at."""
        return bool(self._parts)

    def take(self) -> str:
        if not self._parts:
            return ""
        waiting = [link for link in self._open if link and not self._has_text(link)]
        for link in reversed(self._open):
            if link:
                self._end_link(link)
                link.at = -1
        if self._code:
            self._parts.append("`")
        text = "".join(self._parts)
        self._parts.clear()
        for link in waiting:  # it begins with the next block
            link.at = len(self._parts)
            self._parts.append("[")
        if self._code:
            self._parts.append("`")
        self._last = ""
        return _tidy(text)


def _tidy(text: str) -> str:
    """Blanks folded, marks of line breaks written out. Asks before it searches: most texts need little."""
    if text.isspace():
        return ""
    if "\n" in text and not text.isascii():
        text = _WRAPPED.sub("", text)
    if _BREAK in text:
        text = _SPACES.sub(" ", text).replace("\x1f", " ")
        text = _BREAKS.sub(_PARAGRAPH, text).replace(_BREAK, "\n")
    else:
        for sign in _BLANKS:
            if sign in text:
                text = text.replace(sign, " ")
    if "  " in text:
        text = re.sub(" {2,}", " ", text)
    if "\n" in text:
        text = _LINES.sub("\n", text)
    if _PARAGRAPH in text:
        text = re.sub(rf" ?{_PARAGRAPH}[ \n]*", "\n\n", text)
    return text.replace("``", "").replace("~~~~", "").strip()


def is_mark(element: Any) -> bool:
    """Whether an inline element is a mark of the page's apparatus: the number of a reference, what edits a
    section, the sign that links to a heading."""
    tag = element.tag
    if tag == "sup":
        anchor = next(element.iter("a"), None)
        if anchor is None or "#" not in (anchor.get("href") or ""):
            return False
        return bool(_REFERENCE.fullmatch(_short_text(element)))
    if tag == "rp":  # no browser shows it; parentheses stand for the layout that is lost
        return len(_short_text(element)) > 1
    if tag == "span":
        return "mw-editsection" in (element.get("class") or "").split()
    if tag == "a" and (element.get("href") or "").startswith("#"):
        names = element.get("class") or ""
        if "headerlink" in names or "anchor" in names or _in_heading(element):
            return _short_text(element).lower() in _PERMALINK
    return False


def _in_heading(element: Any) -> bool:
    parent = element.getparent()
    return parent is not None and parent.tag in _HEADINGS


def _short_text(element: Any) -> str:
    """The text of an element that should have little; more than that is cut."""
    parts: list[str] = []
    size = 0
    for text in element.itertext():
        parts.append(str(text))
        size += len(text)
        if size > 10 * _LONGEST_MARK:
            break
    return " ".join("".join(parts).split())


def _is_exponent(element: Any) -> bool:
    text = "".join(element.itertext()).strip()
    return bool(re.fullmatch(r"[-+−–]?\d{1,3}|n|[a-z]", text))


def _has_parentheses(element: Any) -> bool:
    """Whether the page itself writes them around this reading of a character (``<rp>``)."""
    previous = element.getprevious()
    return previous is not None and previous.tag == "rp"


def _picture_sign(element: Any) -> str:
    """The character that an emoji's picture stands for."""
    alt = (element.get("alt") or "").strip()
    return alt if 0 < len(alt) <= 8 and min(alt) > "\u203b" and not alt.isalpha() else ""


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


def _written_url(url: str) -> str:
    """The address as it may stand in a Markdown link; one that is fine stays byte for byte."""
    url = re.sub(r"\s", lambda match: "%20" if match.group() == " " else "", url)
    depth = 0
    for sign in url:
        depth += (sign == "(") - (sign == ")")
        if depth < 0:
            break
    return url if depth == 0 else url.replace("(", "%28").replace(")", "%29")


def flat_text(element: Any, base: str = "", links: bool = False) -> str:
    """All text of an element on one line; list items and rows are set apart by semicolons."""
    out = InlineText(base, links)
    pending = ""
    written = False
    alone = _only_pictures(element)
    lines = "; " if element.tag == "td" and _is_list_of_lines(element) else " "

    def add(text: str | None, after_tag: bool) -> None:
        nonlocal pending, written
        if text and pending and text.strip():
            out.add(pending if written else " ")
            pending = ""
        if text and text.strip():
            written = True
        out.add(text, after_tag=after_tag)

    walker = etree.iterwalk(element, events=("start", "end"))
    skipped: set[Any] = set()
    for event, node in walker:
        tag = node.tag
        if event == "start":
            known = None if not isinstance(tag, str) else formula_of(node)
            if known is not None:
                add(known, False)
            if known is not None or not isinstance(tag, str) or tag in SKIPPED or is_mark(node):
                skipped.add(node)
                walker.skip_subtree()
                continue
            if node is not element and tag in BLOCKS:
                pending = _APART.get(tag) or pending or " "
            elif node is not element:
                if tag == "br":
                    pending = pending or (lines if written else " ")
                else:
                    if pending:
                        out.add(pending if written else " ")
                        pending = ""
                    out.open(node)
            if alone and tag == "img":
                add(node.get("alt"), False)
            add(node.text, node is not element)
        elif node is not element:
            if node in skipped:
                skipped.discard(node)
            elif tag == "br":
                pass
            elif tag in BLOCKS:
                pending = _APART.get(tag) or pending or " "
            else:
                out.close(node)
            add(node.tail, True)
    text = re.sub(r"\s*\n\s*", " ", out.take())
    return re.sub(r" ;|;(?: ;)+", ";", text).strip(" ")


def _is_list_of_lines(cell: Any) -> bool:
    """Whether line breaks set entries apart and not the words of one: each has several words and begins
    anew."""
    if cell.find(".//br") is None:
        return False
    lines = [""]
    for event, node in etree.iterwalk(cell, events=("start", "end")):
        if event == "start" and node.tag == "br":
            lines.append("")
        lines[-1] += (node.text if event == "start" else node.tail if node is not cell else "") or ""
    lines = [" ".join(line.split()) for line in lines if line.strip()]
    return (
        len(lines) > 1
        and all(len(line.split()) > 1 and (line[0].isupper() or line[0].isdigit()) for line in lines)
        and not any(line.endswith((",", "-", "–", ":", "&")) for line in lines[:-1])
    )


def _only_pictures(element: Any) -> bool:
    """Whether an element has pictures and no text: their descriptions then stand for it."""
    return element.find(".//img") is not None and not "".join(element.itertext()).strip()
