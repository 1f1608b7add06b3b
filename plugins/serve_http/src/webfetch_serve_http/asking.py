"""What every dialect asks for, and a search's result by page, best first. Pure but for the calls."""

from __future__ import annotations

import re
from collections.abc import Sequence

from attrs import evolve, field, frozen

from webfetch_core import Chunk, SearchHit, SearchResult, Webfetch
from webfetch_core.api import Freshness

from .faults import clean

FINDING = "model-finding:"
"""Scheme of what a model saved. The imitated APIs have no word for unverified: they never get one."""
GAP = "\n[...]\n"
MAX_CONTENT_CHARS = 6_000


@frozen(kw_only=True)
class Asked:
    """A search as any dialect may want it."""

    query: str
    limit: int = 10
    freshness: Freshness | None = None
    include_domains: tuple[str, ...] = ()
    exclude_domains: tuple[str, ...] = ()
    language: str | None = None
    country: str | None = None
    force_fresh: bool = False


@frozen(kw_only=True)
class Row:
    """A page of a result. ``content`` is its excerpts, or the engine's snippet where it has none; ``score``
    is in (0, 1], falls from row to row, and says nothing but the place."""

    url: str
    title: str
    content: str
    snippet: str
    score: float
    published: str | None = None
    engine: str = ""
    engines: tuple[tuple[str, int], ...] = field(default=())


def search(wf: Webfetch, asked: Asked, seconds: float) -> SearchResult:
    """Search; what models saved counts for nothing here."""
    result = _search(wf, asked, seconds)
    if result.provenance.kind.value == "finding":
        result = _search(wf, evolve(asked, force_fresh=True), seconds)
    return result


def _search(wf: Webfetch, asked: Asked, seconds: float) -> SearchResult:
    # A search for three pages reads ten all the same: it is answered no later, by better passages, and
    # its cached answer serves whoever asks for another number.
    return wf.search(
        asked.query,
        max(asked.limit, wf.settings.limit),
        asked.freshness,
        force_fresh=asked.force_fresh,
        include_domains=asked.include_domains,
        exclude_domains=asked.exclude_domains,
        language=asked.language,
        country=asked.country,
        deadline_s=seconds,
    )


def presentable(result: SearchResult) -> SearchResult:
    """``result`` without paths of this machine in what it tells of the run."""
    return evolve(
        result,
        notes=tuple(clean(note) for note in result.notes),
        attempts=tuple(evolve(a, reason=clean(a.reason)) if a.reason else a for a in result.attempts),
        failed_urls=tuple(evolve(f, reason=clean(f.reason)) for f in result.failed_urls),
        trace=tuple(evolve(s, note=clean(s.note)) if s.note else s for s in result.trace),
    )


def rows_of(result: SearchResult, limit: int, skip: int = 0) -> list[Row]:
    """The pages of ``result``: first those that are quoted, by their best passage, then the other hits."""
    chunks: dict[str, list[Chunk]] = {}
    for chunk in result.chunks:
        if not chunk.url.startswith(FINDING):
            chunks.setdefault(chunk.url, []).append(chunk)
    hits = {hit.url: hit for hit in result.hits}
    urls = [*chunks, *(url for url in hits if url not in chunks)]
    return [
        _row(url, chunks.get(url, ()), hits.get(url), place)
        for place, url in enumerate(urls[skip : skip + limit], skip)
    ]


def _row(url: str, chunks: Sequence[Chunk], hit: SearchHit | None, place: int) -> Row:
    snippet = hit.snippet if hit is not None else ""
    content = GAP.join(chunk.text.strip() for chunk in chunks)[:MAX_CONTENT_CHARS] or snippet
    title = (hit.title if hit is not None else "") or next((c.title for c in chunks if c.title), "")
    return Row(
        url=url,
        title=title or url,
        content=content,
        snippet=snippet or content[:300],
        score=round(0.99 * 0.95**place, 6),
        published=hit.published if hit is not None else None,
        engine=(hit.engine if hit is not None else "") or "webfetch",
        engines=tuple(sorted(hit.engines.items(), key=lambda pair: (pair[1], pair[0]))) if hit else (),
    )


# ---- what other APIs call it ---------------------------------------------------------------------

_RANGES = {
    **dict.fromkeys(("hour", "day", "h", "d"), Freshness.REALTIME),
    **dict.fromkeys(("week", "month", "w", "m"), Freshness.RECENT),
    **dict.fromkeys(("year", "y"), None),
}
"""A year is wider than any class but the one without a filter."""


def freshness_of(time_range: str) -> Freshness | None:
    """The class for ``day``, ``w`` and the like; None for what is none of them."""
    return _RANGES.get(time_range.lower())


def freshness_of_days(days: float) -> Freshness | None:
    """The class for the last ``days`` days."""
    return Freshness.REALTIME if days <= 2 else Freshness.RECENT if days <= 45 else None


_LOCALE = re.compile(r"([A-Za-z]{2})(?:[-_]([A-Za-z]{2}))?\Z")


def locale_of(text: str) -> tuple[str | None, str | None]:
    """Language and country of ``en`` or ``en-US``; of ``all``, ``auto`` and the like, none."""
    found = _LOCALE.match(text)
    if found is None:
        return None, None
    return found[1].lower(), found[2].upper() if found[2] else None


def told_partial(result: SearchResult) -> str | None:
    """A warning where a result is not all that there might have been."""
    return "the time was up before every engine and page had answered" if result.partial else None
