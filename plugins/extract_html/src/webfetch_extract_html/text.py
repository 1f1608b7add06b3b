"""The extractor of text that is not a web page: plain text, Markdown, JSON, XML, feeds and CSV."""

from __future__ import annotations

import re

from attrs import evolve, frozen

from webfetch_core.api import Document, Page

from . import charset, invisible
from .csv_text import to_table
from .dates import iso_date
from .feeds import read_xml
from .instructions import instruction_patterns
from .json_text import read_json
from .settings import ExtractHtmlSettings

_MARKDOWN_TITLE = re.compile(r"^#[ \t]+(.{1,300})$|^(?!\s)(.{1,300})\n=+[ \t]*$", re.M)
_FRONT_MATTER = re.compile(r"\A(---|\+\+\+)\n(.*?)\n\1[ \t]*(?:\n|\Z)", re.S)
_FIELD = re.compile(r"^([A-Za-z_]+)[ \t]*[:=][ \t]*(.+?)[ \t]*$", re.M)
_MARKDOWN_FILE = re.compile(r"\.(?:md|markdown|mdown|mkd)(?:$|[?#])", re.I)
_HEADING = re.compile(r"^#{1,2} ", re.M)
_FENCE = re.compile(r"^(?:```|~~~).*?^(?:```|~~~)[ \t]*$", re.M | re.S)
_XHTML = re.compile(
    r"\s*(?:<\?xml[^>]*\?>)?\s*(?:<!--.*?-->\s*)?(?:<!doctype html[^>]*>\s*)?<html[\s>]", re.I | re.S
)


@frozen(kw_only=True)
class _Read:
    """What a text says, and of itself."""

    text: str
    title: str = ""
    description: str = ""
    author: str = ""
    published: str | None = None
    links: tuple[str, ...] = ()
    plain: bool = False
    """Whether the text is no Markdown: its lines and its indentation are what they are."""


class TextExtractor:
    """Turns other text into a document; line breaks of plain text stay as they are."""

    def __init__(self, settings: ExtractHtmlSettings) -> None:
        self._settings = settings

    def extract(self, page: Page) -> Document | None:
        text = charset.decode(page.body, page.headers, page.content_type)
        media_type = page.content_type.partition(";")[0].strip().lower()
        if "xml" in media_type and _XHTML.match(text[:4_000]):
            from .html import HtmlExtractor

            return HtmlExtractor(self._settings).extract(page)
        flags = []
        if len(text) > self._settings.max_chars:
            text = text[: self._settings.max_chars]
            flags.append("truncated")
        text, dirty = invisible.clean(text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n"))
        read = self._read(text, media_type, page.final_url or page.url)
        body, more = invisible.clean(read.text)  # escapes may have spelled more of them
        if dirty or more:
            flags.append("invisible_unicode_removed")
        if not body.strip():
            return None
        orders = instruction_patterns(body)
        if orders:
            flags.append("instruction_like_text")
        metadata = {
            "title": read.title,
            "description": read.description,
            "author": read.author,
            "published": read.published or "",
            "text_format": "plain" if read.plain else "",
            "instruction_patterns": ", ".join(f"{name} {count}" for name, count in orders.items()),
        }
        return Document(
            url=page.url,
            text=body.strip("\n"),
            title=read.title,
            metadata={name: value for name, value in metadata.items() if value},
            links=read.links,
            published=read.published,
            flags=tuple(flags),
        )

    def _read(self, text: str, media_type: str, url: str) -> _Read:
        if "json" in media_type:
            title, body, links = read_json(text)
            links = links[: self._settings.max_links]
            return _Read(text=body, title=title, links=links, plain=not title and not links)
        if "xml" in media_type:
            title, body, links = read_xml(text, url, self._settings.max_links)
            return _Read(text=body, title=title, links=links, plain=not _HEADING.search(body))
        if media_type in ("text/csv", "text/tab-separated-values"):
            table = to_table(text)
            return _Read(text=table, plain=table == text)
        # Plain text may be Markdown, as files of source code hosts are: a title line is one in both.
        return evolve(_markdown(text), plain=media_type == "text/plain" and not _MARKDOWN_FILE.search(url))


def _markdown(text: str) -> _Read:
    """The text without front matter (YAML or TOML), and what that, or the first title line, says."""
    fields: dict[str, str] = {}
    if matter := _FRONT_MATTER.match(text):
        fields = {name.lower(): value.strip("\"'") for name, value in _FIELD.findall(matter[2])}
        if fields:
            text = text[matter.end() :]
    title = fields.get("title", "")
    if not title and (heading := _MARKDOWN_TITLE.search(_FENCE.sub("", text[:10_000]))):
        title = (heading[1] or heading[2]).strip().rstrip("#").strip()
    return _Read(
        text=text,
        title=title,
        description=fields.get("description") or fields.get("summary") or "",
        author=fields.get("author", ""),
        published=iso_date(fields.get("date") or fields.get("published") or ""),
    )
