"""A whole file, page by page: which engine serves, what is dropped, and when it is enough."""

from __future__ import annotations

from collections.abc import Callable

from attrs import Factory, define, evolve

from webfetch_core.api import PageError

from . import plumber_reader
from .info import information, outline
from .legibility import added, is_gibberish
from .page import PageText, laid_out
from .pdfium_reader import LOCK, OpenFailed, PdfiumPages
from .records import PageContent
from .repair import repaired
from .settings import ExtractPdfSettings

PASSWORD_NEEDED = 4
UNKNOWN_SECURITY = 5
MAX_MISSING = 200
"""Pages in a row that cannot be loaded, after which no further ones are tried."""
_RETRY_SHARE = 0.5
"""Part of the time left that pages may be read again in."""


@define(slots=True, kw_only=True)
class Reading:
    """What was read. ``count`` is how many pages the file has; ``retried`` pages were read again,
    ``rescued`` of them with success; ``illegible`` and ``missing`` pages are left out."""

    pages: list[PageText] = Factory(list)
    count: int = 0
    engine: str = "pdfium"
    information: dict[str, str] = Factory(dict)
    outline: dict[str, int] = Factory(dict)
    truncated: bool = False
    retried: int = 0
    rescued: int = 0
    illegible: int = 0
    missing: int = 0
    chars: int = 0
    protected: bool = False


def read(body: bytes, settings: ExtractPdfSettings, left: Callable[[], float]) -> Reading:
    """Read a file. ``left()`` says how many seconds remain; the first page is read in any case.

    Raises:
        PageError: it needs a password (``encrypted``) or is too damaged (``bad_response``).
    """
    with LOCK:
        try:
            pages = _opened(body)
        except OpenFailed as exc:
            if exc.code in (PASSWORD_NEEDED, UNKNOWN_SECURITY):
                raise _locked(exc.code) from None
            return _read_damaged(body, settings, left)
        with pages:
            reading = Reading(count=pages.count)
            reading.protected = pages.protected
            reading.information, reading.outline = information(pages.handle), outline(pages.handle)
            _read_pages(
                reading,
                lambda number: pages.read(number, settings.max_page_chars, settings.max_page_objects),
                settings,
                left,
            )
    _judge(reading, body, settings, left)
    if not reading.pages and reading.missing and settings.retry and left() > 0:
        return _read_damaged(body, settings, left)
    return reading


def _opened(body: bytes) -> PdfiumPages:
    try:
        return PdfiumPages(body)
    except OpenFailed as exc:
        if exc.code in (PASSWORD_NEEDED, UNKNOWN_SECURITY) or (mended := repaired(body)) is None:
            raise
        return PdfiumPages(mended)


def _read_pages(
    reading: Reading,
    read_page: Callable[[int], PageContent | None],
    settings: ExtractPdfSettings,
    left: Callable[[], float],
) -> None:
    missing = 0
    for number in range(min(reading.count, settings.max_pages)):
        if number and (left() <= 0 or reading.chars >= settings.max_chars):
            reading.truncated = True
            return
        content = read_page(number)
        if content is None:
            reading.missing += 1
            missing += 1
            if missing >= MAX_MISSING:
                reading.truncated = True
                return
            continue
        missing = 0
        page = laid_out(content)
        reading.truncated = reading.truncated or page.truncated
        reading.chars += page.legibility.characters
        reading.pages.append(page)
    reading.truncated = reading.truncated or reading.count > settings.max_pages


def _judge(reading: Reading, body: bytes, settings: ExtractPdfSettings, left: Callable[[], float]) -> None:
    """Drop illegible pages, those excepted that another engine can read."""
    with_text = [page for page in reading.pages if page.legibility.characters]
    all_gibberish = is_gibberish(added(page.legibility.letters for page in with_text))
    budget = left() * (1 - _RETRY_SHARE)
    kept = []
    for page in reading.pages:
        silent = not page.legibility.characters
        if not page.mute and (silent or (page.legibility.legible and not all_gibberish)):
            kept.append(page)
            continue
        better = None
        if settings.retry and left() > budget:
            reading.retried += 1
            better = _again(body, page, settings)
        if better is not None:
            reading.rescued += 1
            kept.append(better)
        elif silent:
            kept.append(page)
        else:
            reading.illegible += 1
    reading.pages = kept


def _again(body: bytes, page: PageText, settings: ExtractPdfSettings) -> PageText | None:
    content = plumber_reader.read(body, page.number, settings.max_page_chars)
    if content is None or not content.chars:
        return None
    again = laid_out(content)
    enough = again.legibility.characters >= 0.5 * page.legibility.characters
    return (
        again if again.legibility.legible and enough and not is_gibberish(again.legibility.letters) else None
    )


def _read_damaged(body: bytes, settings: ExtractPdfSettings, left: Callable[[], float]) -> Reading:
    """What the other engine, which is more patient with damage, makes of a file."""
    count = plumber_reader.page_count(body) if settings.retry else 0
    reading = Reading(count=count, engine="pdfplumber")
    _read_pages(
        reading, lambda number: plumber_reader.read(body, number, settings.max_page_chars), settings, left
    )
    _judge(reading, body, evolve(settings, retry=False), left)
    if not any(page.legibility.characters for page in reading.pages):
        raise PageError("the PDF is damaged: no page of it can be read", kind="bad_response")
    return reading


def _locked(code: int) -> PageError:
    if code == UNKNOWN_SECURITY:
        return PageError(
            "the PDF is encrypted in a way that is not supported",
            kind="encrypted",
            fix="save a copy without protection and read that",
        )
    return PageError(
        "the PDF is encrypted and opens with a password only",
        kind="encrypted",
        fix="save a copy without the password and read that",
    )
