"""The extractor of PDF files."""

from __future__ import annotations

from collections.abc import Iterable

from webfetch_core.api import Clock, Document, ExtractionStep, Page, PageError

from .blocks import blocks_of
from .flow import TextLine
from .furniture import furniture
from .markdown import write
from .mending import whole, with_bold_headings
from .metadata import iso_date, said
from .page import PageText
from .precheck import is_pdf, largest_stream
from .prose import words_within
from .reading import Reading, read
from .settings import ExtractPdfSettings
from .shape import shape_of

_NOT_A_PDF = 'it says "%PDF-" nowhere near its start, so it is no PDF, whatever its type says'
SPARED = 0.85
"""Part of the time that pages may be read in; the rest is for putting the text together."""


class PdfExtractor:
    """Turns a PDF into a document; several threads may use it, one at a time is served."""

    def __init__(self, settings: ExtractPdfSettings, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock

    def extract(self, page: Page) -> Document | None:
        """As ``extract_within``, with the time that the settings give."""
        return self.extract_within(page, self._settings.max_seconds)

    def extract_within(self, page: Page, seconds: float) -> Document | None:
        """Return the text of a PDF as Markdown; what was not reached in ``seconds`` is left out, and the
        document is flagged ``truncated``.

        Raises:
            PageError: no PDF (``unsupported_type``), a password is needed (``encrypted``), a stream is a
                bomb (``too_large``), nothing but images (``no_text_layer``), no text at all (``empty``),
                no legible text (``bad_encoding``), or damaged beyond reading (``bad_response``).
        """
        settings = self._settings
        end = self._clock.monotonic() + SPARED * min(seconds, settings.max_seconds)
        if not is_pdf(page.body):
            raise PageError(_NOT_A_PDF, kind="unsupported_type")
        if largest_stream(page.body, settings.max_stream_bytes) > 0:
            raise PageError(
                f"a compressed stream of the PDF becomes larger than {settings.max_stream_bytes:,} bytes",
                kind="too_large",
                fix="raise plugins.extract_pdf.max_stream_bytes if it is to be trusted",
            )
        reading = read(page.body, settings, lambda: end - self._clock.monotonic())
        if not any(found.flow for found in reading.pages):
            raise _without_text(reading)
        return _document(page.url, reading, settings)


def _without_text(reading: Reading) -> PageError:
    if reading.illegible:
        return PageError(
            f"the text of the PDF is illegible: what its fonts call the characters is not what they show "
            f"({_pages(reading.illegible)})",
            kind="bad_encoding",
            fix="it would have to be read from its images (OCR)",
        )
    if reading.protected and not any(page.images for page in reading.pages):
        return PageError(
            "the PDF is encrypted, and what can be read of it without a password has no text",
            kind="encrypted",
            fix="save a copy without protection and read that",
        )
    if any(page.drawn for page in reading.pages):
        return PageError(
            f"the PDF has no text layer: {_pages(len(reading.pages))} of images or shapes only",
            kind="no_text_layer",
            fix="it would have to be read from its images (OCR)",
        )
    if reading.truncated and not reading.pages:
        return PageError("no page of the PDF could be read in time", kind="timeout")
    return PageError(f"there is nothing on the PDF's {_pages(reading.count)}", kind="empty")


def _pages(count: int) -> str:
    return f"{count:,} page" + ("" if count == 1 else "s")


def _document(url: str, reading: Reading, settings: ExtractPdfSettings) -> Document:
    pages = reading.pages
    lines = [[item for item in page.flow if isinstance(item, TextLine)] for page in pages]
    flow = [item for page in pages for item in page.flow]
    beside = furniture(lines, [page.height for page in pages])
    kept = [line for of_page in lines for line in of_page if id(line) not in beside.dropped]
    shape = shape_of(kept)
    blocks = whole(blocks_of(flow, shape, reading.outline, beside))
    with_bold_headings(blocks, shape)
    text = write(blocks, words_within(line.text for line in kept))
    truncated = reading.truncated
    if len(text) > settings.max_chars:
        text, truncated = text[: settings.max_chars], True
    first = next((b for b in blocks[:12] if b.kind == "heading"), None)
    told = reading.information
    title = said(told.get("Title", "")) or (
        " ".join(" ".join(first.pieces).split()) if first is not None else ""
    )
    published = iso_date(told.get("CreationDate", "")) or iso_date(told.get("ModDate", ""))
    scanned = sum(1 for page in pages if not page.flow and page.drawn)
    return Document(
        url=url,
        text=text,
        title=title,
        metadata=_metadata(told, title, published, reading, scanned),
        links=tuple(dict.fromkeys(_links(pages)))[: settings.max_links],
        published=published,
        flags=tuple(_flags(reading, truncated, scanned)),
        steps=tuple(_steps(reading, text)),
    )


def _metadata(
    told: dict[str, str], title: str, published: str | None, reading: Reading, scanned: int
) -> dict[str, str]:
    found = {
        "title": title,
        "author": said(told.get("Author", "")),
        "description": said(told.get("Subject", "")),
        "keywords": said(told.get("Keywords", "")),
        "published": published or "",
        "pages": str(reading.count),
        "pages_dropped": str(reading.illegible or ""),
        "pages_without_text": str(scanned or ""),
    }
    return {name: value for name, value in found.items() if value}


def _links(pages: Iterable[PageText]) -> Iterable[str]:
    for page in pages:
        for url in page.links:
            if url.lower().startswith(("http://", "https://")):
                yield url


def _flags(reading: Reading, truncated: bool, scanned: int) -> Iterable[str]:
    if truncated:
        yield "truncated"
    if any(page.hidden for page in reading.pages):
        yield "hidden_text_removed"
    if reading.illegible or reading.missing:
        yield "pages_dropped"
    if scanned:
        yield "partly_scanned"
    if any(page.scan for page in reading.pages):
        yield "ocr_text"


def _steps(reading: Reading, text: str) -> Iterable[ExtractionStep]:
    read_by_first = len(reading.pages) - reading.rescued
    yield ExtractionStep(
        name=reading.engine,
        words=len(text.split()),
        won=read_by_first > 0,
        reason=f"{_pages(read_by_first)} of {reading.count:,} read",
    )
    if reading.retried:
        yield ExtractionStep(
            name="pdfplumber",
            won=reading.rescued > 0,
            reason=f"{_pages(reading.retried)} read again, {reading.rescued} with success",
        )
    if reading.illegible:
        yield ExtractionStep(name="legibility", reason=f"{_pages(reading.illegible)} dropped as illegible")
