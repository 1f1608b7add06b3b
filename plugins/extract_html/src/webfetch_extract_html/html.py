"""The extractor of web pages."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attrs import define, evolve, frozen

from webfetch_core.api import Document, ExtractionStep, Page

from . import charset, dom, invisible
from .blocks import Block, tokens_of
from .content import MODEL_FILE, Content, find_content
from .files import file_links
from .head import Head, read_head
from .inline import link_of
from .instructions import instruction_patterns, reads_like_instruction
from .markdown import render
from .prepare import Prepared, prepare
from .settings import ExtractHtmlSettings
from .steps import PageView, Step, readability_step, trafilatura_step
from .structured import structured

CHAIN: tuple[Step, ...] = (trafilatura_step, readability_step)
FEW_WORDS = 40
"""Below this many words a page has not shown its content: its data is looked at."""
_SHORT_WORD, _NEW_SHARE = 3, 0.7
"""A description that says the same as the text costs word F1; with these bounds it costs .002."""


@frozen(kw_only=True)
class Opened:
    """A page read: its head, the base of its links, and what a reader sees of it. ``root`` is all of it."""

    root: Any
    head: Head
    base: str
    prepared: Prepared
    flags: tuple[str, ...]

    @property
    def view(self) -> PageView:
        """What the steps that look for the content are shown."""
        return PageView(
            url=self.base,
            root=self.prepared.root,
            blocks=self.prepared.blocks,
            kinds=self.head.kinds,
            title=self.head.title,
            description=self.head.description,
        )


def open_page(page: Page, settings: ExtractHtmlSettings) -> Opened | None:
    """Decode, parse and cut a page into blocks; None when it is not text or has no element."""
    text = charset.decode(page.body, page.headers, page.content_type)
    if charset.is_binary(text):
        return None
    flags: tuple[str, ...] = ()
    if len(text) > settings.max_chars:
        text = dom.without_bulk(text)
    if len(text) > settings.max_chars:
        text = text[: settings.max_chars]
        flags = ("truncated",)
    root = dom.parse(text)
    if root is None:
        return None
    head = read_head(root)
    base = _join(page.final_url or page.url, head.base)
    prepared = prepare(root, base=base, links=settings.links_in_text)
    return Opened(root=root, head=head, base=base, prepared=prepared, flags=flags + prepared.flags)


@define(kw_only=True)
class Found:
    """What becomes the document: the blocks, their Markdown (without the head), and how they were found."""

    opened: Opened
    blocks: list[Block]
    body: str
    content: Content
    steps: list[ExtractionStep]
    flags: list[str]


class HtmlExtractor:
    """Turns a web page into Markdown. Stateless: any number of threads may use it.

    Args:
        chain: the steps that stand in where the classifier is unsure.
        model_file: the classifier's model; None leaves the choice to ``chain``.
    """

    def __init__(
        self,
        settings: ExtractHtmlSettings,
        chain: Sequence[Step] = CHAIN,
        model_file: Path | None = MODEL_FILE,
    ) -> None:
        self._settings = settings
        self._chain = tuple(chain)
        self._model_file = model_file

    def extract(self, page: Page) -> Document | None:
        found = self.find(page)
        return None if found is None else self.document(page.url, found)

    def find(self, page: Page) -> Found | None:
        """Look for the content of a page; None when there is no page."""
        opened = open_page(page, self._settings)
        if opened is None:
            return None
        blocks = opened.prepared.blocks
        content = find_content(opened.view, self._chain, self._model_file)
        kept = _without_repeats([b for b, keep in zip(blocks, content.selection, strict=True) if keep])
        found = Found(
            opened=opened,
            blocks=kept,
            body=render(kept),
            content=content,
            steps=list(content.steps),
            flags=list(opened.flags),
        )
        _fill(found)
        return found

    def document(self, url: str, found: Found) -> Document | None:
        """Put the head before what was found; None when the page says nothing."""
        if not tokens_of(found.body):
            if len(tokens_of(found.opened.head.description)) < 5:
                return None
            found.flags.append("metadata_only")
        head = found.opened.head
        title, dirty_title = invisible.clean(head.title)
        description, dirty_description = invisible.clean(head.description)
        body, dirty_body = invisible.clean(found.body)
        tokens = tokens_of(body)
        if dirty_title or dirty_description or dirty_body:
            found.flags.append("invisible_unicode_removed")
        if reads_like_instruction(description) and not _occurs(tokens_of(description), tokens):
            description = ""  # nobody sees it on the page
            found.flags.append("hidden_text_removed")
        text = _with_head(title, description, body)
        orders = instruction_patterns(text)
        if orders:
            found.flags.append("instruction_like_text")
        content = found.content
        metadata = {
            "title": title,
            "description": description,
            "published": head.published or "",
            "language": head.language,
            "site_name": invisible.clean(head.site_name)[0],
            "author": invisible.clean(head.author)[0],
            "modified": head.modified or "",
            "canonical": invisible.clean(head.canonical_url(found.opened.base))[0],
            "extracted_by": content.step,
            "instruction_patterns": ", ".join(f"{name} {count}" for name, count in orders.items()),
            "page_type_confidence": f"{content.confidence:.2f}" if content.page_type else "",
        }
        words = len(tokens_of(text)) - len(tokens)
        if words > 0:
            why = "title and description stand before the text" if body else "nothing but the head was found"
            found.steps.append(ExtractionStep(name="metadata", words=words, won=not body, reason=why))
        return Document(
            url=url,
            text=text,
            title=title,
            page_type=content.page_type,
            metadata={name: value for name, value in metadata.items() if value},
            links=_links(found.blocks, found.opened.base, self._settings.max_links),
            published=head.published,
            flags=tuple(dict.fromkeys(found.flags)),
            steps=tuple(found.steps),
            files=file_links(found.opened.prepared.root, found.opened.base),
        )


def _fill(found: Found) -> None:
    """Take the page's data instead where the text is thin and the data has twice as much."""
    words = len(tokens_of(found.body))
    if words >= FEW_WORDS:
        return
    source, text = structured(found.opened.root, found.opened.head)
    size = len(tokens_of(text))
    if size > 2 * words:
        found.steps = [evolve(step, won=False) for step in found.steps]
        found.body = text
        found.flags.append("structured_data")
        reason = f"the page shows {words} words, its {source.replace('_', '-')} more"
    else:
        reason = f"no more than twice the {words} words shown" if size else "the page has no data with text"
    found.steps.append(
        ExtractionStep(name="structured_data", words=size, won=size > 2 * words, reason=reason)
    )


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
    if description and _adds(description, body) and tokens_of(description) != tokens_of(title):
        lines.append(f"> {description}")
    if body:
        lines.append(body)
    return "\n\n".join(lines)


def _adds(description: str, body: str) -> bool:
    """Whether a description says what the text does not: a number, or most of its longer words.

    It always does beside a thin text. Where words are not told from each other by their length (as in
    scripts without blanks), it adds if a fifth of its three-word runs are new.
    """
    words, others = tokens_of(description), tokens_of(body)
    known = set(others)
    if len(others) < FEW_WORDS:
        return not _occurs(words, others)
    if any(word not in known and any(map(str.isdigit, word)) for word in words):
        return True
    longer = {word for word in words if len(word) > _SHORT_WORD}
    if 5 * sum(len(word) > _SHORT_WORD for word in words) < len(words):
        return not _occurs(words, others)
    return len(longer - known) >= _NEW_SHARE * len(longer)


def _occurs(words: Sequence[str], others: Sequence[str]) -> bool:
    """Whether nearly all three-word runs of ``words`` are among ``others``."""
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
