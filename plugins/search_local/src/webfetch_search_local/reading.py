"""A file's bytes to the title, headings and text that are indexed."""

from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser

from attrs import frozen

from webfetch_core.api import Document, NotConfigured, Page, WebfetchError

from .files import is_binary

_HTML = ("text/html", "application/xhtml+xml")
_BOMS = (
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
_HEADING = re.compile(r"[ ]{0,3}#{1,6}[ \t]+(.+?)[ \t#]*$")
_FENCE = re.compile(r"\s*(?:(?:[-*+]|\d{1,9}[.)])\s+)?(`{3,}(?!.*`)|~{3,})\s*(.*)")


class Unreadable(Exception):
    """The file holds nothing to index; the message says why."""


@frozen(kw_only=True)
class Reading:
    """What a file says. ``text`` is Markdown or plain text."""

    title: str
    text: str
    headings: tuple[str, ...] = ()
    published: str = ""


def read_document(
    body: bytes, *, url: str, content_type: str, name: str, extract: Callable[[Page], Document | None]
) -> Reading:
    """Return the content of a file, by the extractors in use or, for text and HTML, without them.

    Args:
        url: what relative links in the file are relative to.
        name: the title of a document that has none.

    Raises:
        Unreadable: binary data, no text in it, or no extractor for its type.
    """
    is_text = content_type.startswith("text/") or content_type in _HTML
    if not body.strip():
        raise Unreadable("is empty")
    if is_text and is_binary(body):
        raise Unreadable("holds binary data")
    page = Page(url=url, final_url=url, body=body, content_type=content_type, fetched_by="local")
    document, reason = None, f"no installed extractor reads {content_type}"
    try:
        document = extract(page)
    except NotConfigured:
        pass
    except WebfetchError as exc:
        reason = exc.message
    except Exception as exc:  # one bad file must not end the indexing of all the others
        reason = f"extractor failed: {type(exc).__name__}: {exc}"
    if document is None or not document.text.strip():
        if not is_text:
            raise Unreadable(reason)
        document = _plain_document(body, url, content_type)
    if not document.text.strip():
        raise Unreadable("has no text")
    # A line of plain text that begins with # is a comment more often than a heading.
    headings = () if content_type == "text/plain" else tuple(headings_of(document.text))
    return Reading(
        title=" ".join(document.title.split()) or (headings[0] if headings else name),
        text=document.text,
        headings=headings,
        published=document.published or "",
    )


def headings_of(text: str) -> list[str]:
    """Return the ATX headings of Markdown ``text``; those in fenced code are code."""
    found, fence = [], ""
    for line in text.splitlines():
        mark = _FENCE.match(line)
        if mark and not fence:
            fence = mark.group(1)
        elif mark and mark.group(1).startswith(fence) and not mark.group(2):
            fence = ""
        elif not fence and (heading := _HEADING.match(line)):
            found.append(heading.group(1).strip())
    return found


def decode(body: bytes) -> str:
    """Return ``body`` as text by its byte-order mark, else as UTF-8; bad bytes are replaced."""
    encoding = next((name for bom, name in _BOMS if body.startswith(bom)), "utf-8")
    return body.decode(encoding, errors="replace")


def _plain_document(body: bytes, url: str, content_type: str) -> Document:
    text = decode(body)
    if content_type not in _HTML:
        return Document(url=url, text=text)
    stripper = _Stripper()
    stripper.feed(text)
    stripper.close()
    return Document(url=url, title=stripper.title.strip(), text=stripper.text)


class _Stripper(HTMLParser):
    """Text of an HTML page, its headings as Markdown; for when no extractor is installed."""

    _SILENT = frozenset({"script", "style", "noscript", "template", "svg"})
    _INLINE = frozenset(
        {"a", "abbr", "b", "bdi", "bdo", "cite", "code", "em", "font", "i", "kbd", "mark", "q", "s", "samp"}
        | {"small", "span", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr"}
    )

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.title = ""
        self._parts: list[str] = []
        self._silent = 0
        self._in_title = False

    @property
    def text(self) -> str:
        lines = (" ".join(line.split()) for line in "".join(self._parts).splitlines())
        return "\n".join(line for line in lines if line.strip("# "))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in self._SILENT:
            self._silent += 1
        self._in_title = tag == "title"
        if tag not in self._INLINE:
            self._parts.append("\n")
        if len(tag) == 2 and tag[0] == "h" and tag[1] in "123456":
            self._parts.append("#" * int(tag[1]) + " ")

    def handle_endtag(self, tag: str) -> None:
        if tag in self._SILENT:
            self._silent = max(0, self._silent - 1)
        if tag == "title":
            self._in_title = False
        if tag not in self._INLINE:
            self._parts.append("\n")

    def handle_data(self, data: str) -> None:
        if self._silent:
            return
        if self._in_title:
            self.title += data
        else:
            self._parts.append(data)
