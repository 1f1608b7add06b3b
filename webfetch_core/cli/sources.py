"""The table of sources under a search's text."""

from __future__ import annotations

from collections.abc import Mapping

from ..models import SearchHit, SearchResult
from ..pipeline.urls import host_of
from .output import cut, one_line, table


def sources_table(result: SearchResult, width: int, *, unicode: bool = True) -> list[str]:
    """One line a source, by rank: where it is, who found it at which rank, what became of it, its title."""
    quoted = {chunk.url for chunk in result.chunks}
    failed = {failure.url: failure.kind for failure in result.failed_urls}
    rows = [("#", "SOURCE", "FOUND BY", "OUTCOME", "TITLE")]
    for hit in result.hits:
        outcome = failed.get(hit.url) or ("quoted" if hit.url in quoted else "not quoted")
        place = cut(where(hit.url), max(width // 3, 16), unicode=unicode)
        rows.append((str(hit.rank), place, found_by(hit), outcome, one_line(hit.title)))
    return [cut(line, width, unicode=unicode) for line in table(rows)]


def found_by(hit: SearchHit) -> str:
    """``local #1, ddg #2``."""
    engines: Mapping[str, int] = hit.engines or ({hit.engine: hit.rank} if hit.engine else {})
    return ", ".join(f"{name} #{rank}" for name, rank in sorted(engines.items(), key=lambda e: (e[1], e[0])))


def where(url: str) -> str:
    """The host of a web page; the whole URL of a document of one's own, where the host says nothing."""
    return one_line((host_of(url) or url) if url.startswith("http") else url)
