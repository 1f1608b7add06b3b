"""The extractor of web pages."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from attrs import define

from webfetch_core.api import Document, Page

from . import charset, dom, hidden, invisible
from .banners import remove_banners
from .blocks import Block, segment, tokens_of
from .head import Head, read_head
from .inline import link_of
from .markdown import render
from .settings import ExtractHtmlSettings
from .steps import PageView, Step, choose, readability_step, trafilatura_step
from .structured import structured_text

CHAIN: tuple[Step, ...] = (trafilatura_step, readability_step)
_THIN_WORDS = 40
"""Below this many words a page has not shown its content."""


class HtmlExtractor:
    """Turns a web page into Markdown. Stateless: any number of threads may use it."""

    def __init__(self, settings: ExtractHtmlSettings, chain: Sequence[Step] = CHAIN) -> None:
        self._settings = settings
        self._chain = tuple(chain)

    def extract(self, page: Page) -> Document | None:
        url = page.final_url or page.url
        text = charset.decode(page.body, page.headers, page.content_type)
        if charset.is_binary(text):
            return None
        flags: list[str] = []
        if len(text) > self._settings.max_chars:
            text = dom.without_bulk(text)
        if len(text) > self._settings.max_chars:
            text = text[: self._settings.max_chars]
            flags.append("truncated")
        root = dom.parse(text)
        if root is None:
            return None
        head = read_head(root)
        base = _join(url, head.base)
        content = self._content(root, base, head, flags)
        body = render(content.blocks)
        words = len(tokens_of(body))
        if words < _THIN_WORDS:
            found = structured_text(root, head)
            if len(tokens_of(found)) > 2 * words:
                body = found
                flags.append("structured_data")
        if not tokens_of(body):
            if len(tokens_of(head.description)) < 5:
                return None
            flags.append("metadata_only")
        return self._document(page.url, head, body, content, base, flags)

    def _content(self, root: Any, base: str, head: Head, flags: list[str]) -> _Content:
        hidden.place_streamed(root)
        dom.strip_comments(root)
        seen = copy.deepcopy(root)
        _, had_words = hidden.remove_hidden(seen)
        remove_banners(seen)
        blocks = segment(seen, base=base, links=self._settings.links_in_text)
        if had_words:
            flags.append("hidden_text_removed")
            if sum(len(block.tokens) for block in blocks) < _THIN_WORDS:
                # Everything is hidden until a script runs: better of low trust than nothing.
                everything = segment(root, base=base, links=self._settings.links_in_text)
                if sum(len(block.tokens) for block in everything) > 5 * _THIN_WORDS:
                    flags[:] = [*flags[:-1], "hidden_text_kept"]
                    seen, blocks = root, everything
        view = PageView(url=base, root=seen, blocks=blocks, kinds=head.kinds)
        selection, step = choose(view, self._chain)
        kept = [block for block, keep in zip(blocks, selection, strict=True) if keep]
        return _Content(blocks=_without_repeats(kept), step=step)

    def _document(
        self, url: str, head: Head, body: str, content: _Content, base: str, flags: list[str]
    ) -> Document:
        title, dirty_title = invisible.clean(head.title)
        description, dirty_description = invisible.clean(head.description)
        body, dirty_body = invisible.clean(body)
        if dirty_title or dirty_description or dirty_body:
            flags.append("invisible_unicode_removed")
        text = _with_head(title, description, body)
        metadata = {
            "title": title,
            "description": description,
            "published": head.published or "",
            "language": head.language,
            "site_name": invisible.clean(head.site_name)[0],
            "extracted_by": content.step,
        }
        return Document(
            url=url,
            text=text,
            title=title,
            metadata={name: value for name, value in metadata.items() if value},
            links=_links(content.blocks, base, self._settings.max_links),
            published=head.published,
            flags=tuple(dict.fromkeys(flags)),
        )


@define(kw_only=True)
class _Content:
    blocks: list[Block]
    step: str


def _join(url: str, base: str) -> str:
    from urllib.parse import urljoin

    try:
        return urljoin(url, base) if base else url
    except ValueError:
        return url


def _without_repeats(blocks: list[Block]) -> list[Block]:
    """Leave out long blocks that were there before, word for word."""
    seen: set[tuple[str, ...]] = set()
    kept = []
    for block in blocks:
        key = tuple(block.tokens)
        if len(key) >= 8 and block.kind != "code":
            if key in seen:
                continue
            seen.add(key)
        kept.append(block)
    return kept


def _with_head(title: str, description: str, body: str) -> str:
    """Put title and description before the text, each once."""
    lines = []
    first, _, rest = body.partition("\n")
    if title:
        heading = first.lstrip("# ").strip() if first.startswith("#") else ""
        if heading and tokens_of(heading) and " ".join(tokens_of(heading)) in " ".join(tokens_of(title)):
            body = rest.lstrip("\n")
        lines.append(f"# {title}")
    if description and not _occurs(description, body) and tokens_of(description) != tokens_of(title):
        lines.append(f"> {description}")
    if body:
        lines.append(body)
    return "\n\n".join(lines)


def _occurs(text: str, within: str) -> bool:
    """Whether nearly all three-word runs of ``text`` are in ``within``."""
    words, others = tokens_of(text), tokens_of(within)
    if len(words) < 3:
        return " ".join(words) in " ".join(others)
    runs = set(zip(others, others[1:], others[2:], strict=False))
    grams = list(zip(words, words[1:], words[2:], strict=False))
    return sum(gram in runs for gram in grams) >= 0.8 * len(grams)


def _links(blocks: Sequence[Block], base: str, most: int) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for block in blocks:
        for anchor in block.element.iter("a"):
            if len(found) >= most:
                return tuple(found)
            if url := link_of(anchor, base):
                found.setdefault(invisible.clean(url)[0])
        parent = block.element if block.element.tag == "a" else None
        if parent is None:
            parent = next((each for each in block.element.iterancestors("a")), None)
        if parent is not None and len(found) < most and (url := link_of(parent, base)):
            found.setdefault(invisible.clean(url)[0])
    return tuple(found)
