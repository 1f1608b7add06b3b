"""What of a result is handed out: compressed, but for a model's own words, and within a budget."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import BadQuery, WebfetchError
from ..models import Chunk, ProvenanceKind, SearchResult
from ..runtime.host import Host
from ..runtime.replies import check_compressed
from ..settings import BudgetSettings
from .findings import is_finding
from .render import CHARS_PER_TOKEN, render

COMPRESS_S = 2.0
"""How long a compressor may take: it comes on top of a search's deadline, and without it the excerpts
are merely longer."""


def written(host: Host, result: SearchResult, tokens: int | None, full: bool) -> str:
    """The text of a result; see ``Webfetch.render``."""
    settings = host.settings
    return render(
        result,
        budget_chars(settings.budget, tokens, full),
        chunks=excerpts(host, result, tokens, full),
        merge_sources=settings.render.merge_sources,
        header=settings.render.header,
    )


def excerpts(host: Host, result: SearchResult, tokens: int | None, full: bool) -> Sequence[Chunk]:
    """The chunks of it that are shown; see ``Webfetch.excerpts``."""
    if not result.chunks or full or result.provenance.kind is ProvenanceKind.FINDING:
        return result.chunks
    budget = min(budget_chars(host.settings.budget, tokens, full), host.settings.budget.compressed)
    return compressed(host, result.query, result.chunks, budget // CHARS_PER_TOKEN) or result.chunks


def budget_chars(budget: BudgetSettings, tokens: int | None, full: bool) -> int:
    """Characters for a rendered text."""
    default = budget.full if full else budget.tool
    return default if tokens is None else max(tokens, 50) * CHARS_PER_TOKEN


def compressed(host: Host, query: str, chunks: Sequence[Chunk], tokens: int | None) -> list[Chunk]:
    """Chunks cut down to what answers ``query``; see ``Webfetch.compress``."""
    budget = host.settings.budget.compressed if tokens is None else tokens * CHARS_PER_TOKEN
    if budget < 1:
        raise BadQuery(f"budget_tokens must be at least 1; got {tokens!r}")
    findings = [chunk for chunk in chunks if is_finding(chunk.url)]
    pages = tuple(chunk for chunk in chunks if not is_finding(chunk.url))
    left = budget - sum(len(chunk.text) for chunk in findings)
    return [*findings, *_compressed(host, query, pages, left)] if left > 0 else findings


def _compressed(host: Host, query: str, given: tuple[Chunk, ...], budget: int) -> list[Chunk]:
    for handle in host.handles("compress")[:1] if given else ():
        deadline = host.deadline(min(host.settings.deadline_s, COMPRESS_S))
        try:
            return list(
                host.caller.call(
                    handle,
                    lambda compressor: compressor.compress(query, given, budget),
                    scope=host.scope("compress"),
                    deadline=deadline,
                    check=lambda value: check_compressed(value, given, budget),
                    count=len,
                )
            )
        except WebfetchError:
            deadline.raise_if_cancelled()
            continue
    return list(given)
