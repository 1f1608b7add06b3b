"""The extractor of text that is not a web page: plain text, Markdown, JSON, XML and feeds."""

from __future__ import annotations

import json
import re

from webfetch_core.api import Document, Page

from . import charset, invisible
from .feeds import read_xml
from .settings import ExtractHtmlSettings

_MARKDOWN_TITLE = re.compile(r"^#[ \t]+(.{1,300})$", re.M)
_FRONT_MATTER = re.compile(r"\A---\n(.*?)\n---\n", re.S)


class TextExtractor:
    """Turns other text into a document; line breaks stay as they are."""

    def __init__(self, settings: ExtractHtmlSettings) -> None:
        self._settings = settings

    def extract(self, page: Page) -> Document | None:
        text = charset.decode(page.body, page.headers, page.content_type)
        flags = []
        if len(text) > self._settings.max_chars:
            text = text[: self._settings.max_chars]
            flags.append("truncated")
        text, suspicious = invisible.clean(text.replace("\r\n", "\n").replace("\r", "\n"))
        if suspicious:
            flags.append("invisible_unicode_removed")
        media_type = page.content_type.partition(";")[0].strip().lower()
        url = page.final_url or page.url
        links: tuple[str, ...] = ()
        if "json" in media_type:
            title, body = "", _pretty(text)
        elif "xml" in media_type:
            title, body, links = read_xml(text, url, self._settings.max_links)
            body, more = invisible.clean(body)
            if more and not suspicious:
                flags.append("invisible_unicode_removed")
        else:
            title, body = _titled(text)
        if not body.strip():
            return None
        return Document(
            url=page.url,
            text=body.strip("\n"),
            title=title,
            metadata={"title": title} if title else {},
            links=links,
            flags=tuple(flags),
        )


def _pretty(text: str) -> str:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return json.dumps(data, ensure_ascii=False, indent=2)


def _titled(text: str) -> tuple[str, str]:
    """Title (front matter, first level-one heading, or nothing) and the text without front matter."""
    title = ""
    if matter := _FRONT_MATTER.match(text):
        found = re.search(r"^title:\s*[\"']?(.+?)[\"']?\s*$", matter.group(1), re.M)
        title = found.group(1) if found else ""
        text = text[matter.end() :]
    if not title and (heading := _MARKDOWN_TITLE.search(text[:10_000])):
        title = heading.group(1).strip().rstrip("#").strip()
    return title, text
