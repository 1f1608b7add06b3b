"""The compressor: lay out, score, choose, write."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit

import attrs

from webfetch_core.api import Chunk

from .closeness import with_cosines
from .features import features
from .layout import Placed, lay_out
from .meaning import MOST, READ_WEIGHT, Embed, ScorePairs, cosines, read, reads, standard, told
from .model import Model, load_model
from .question import Question, read_question
from .selection import choose

SPREAD_WITHOUT_WORDS = 3.0
"""What a standard deviation of the cosines is worth where no unit has a word of the query."""


class SentenceCompressor:
    """Keeps the units (sentences, items, rows, code blocks) that answer the query. Stateless."""

    def __init__(
        self,
        model: Model | None = None,
        embed: Embed | None = None,
        score_pairs: ScorePairs | None = None,
    ) -> None:
        """Take the linear scorers, by default those that ship, and what a host has besides.

        Args:
            embed: unit vectors of texts, from a bi-encoder; it may raise, hang or be slow.
            score_pairs: scores of a query and passages, from a cross-encoder; the same holds.
        """
        self._model = model or load_model()
        self._embed = embed
        self._score_pairs = score_pairs

    def compress(self, query: str, chunks: Sequence[Chunk], budget: int) -> list[Chunk]:
        """See :class:`webfetch_core.api.Compressor`.

        ``budget`` also pays for one ``[Source: title | host]`` header a source. A chunk of which
        nothing is kept is left out; a sentence that spans two chunks goes to the one that holds
        most of it. Nothing but blank chunks, or a budget below 1, gives an empty list.
        """
        if budget <= 0:
            return []
        costs: dict[str, int] = {}
        for chunk in chunks:  # the header is that of the first one kept, which may be any
            costs[chunk.url] = max(header_cost(chunk), costs.get(chunk.url, 0))
        if sum(len(c.text) + 1 for c in chunks) + sum(costs.values()) <= budget:
            return [c for c in chunks if c.text.strip()]
        placed = lay_out(chunks)
        if not placed:
            return []
        question = read_question(query)
        scores, floor = self._scores(question, chunks, placed)
        titles = {chunk.url: chunk.title for chunk in reversed(chunks)}
        kept = choose(question, placed, scores, budget, costs, titles, floor)
        if not kept:  # not one unit and its header fit: the best one without a header, cut if need be
            best = max(range(len(placed)), key=lambda i: (scores[i], -i))
            return [attrs.evolve(chunks[placed[best].owner], text=_cut(placed[best].unit.text, budget))]
        return _written(chunks, placed, kept)

    def _scores(
        self, question: Question, chunks: Sequence[Chunk], placed: Sequence[Placed]
    ) -> tuple[list[float], float]:
        """One score a unit, and how far below the best one a unit is filling."""
        rows = features(question, chunks, placed, self._model.idf, self._model.rare)
        # Where no unit holds a word of the query: the beginnings, best chunk first.
        spoken = any(row[0] for row in rows)
        scores = self._model.scores(rows) if spoken else [-100.0 * p.place - p.rank for p in placed]
        floor = self._model.floor
        if len(placed) < 2 or not question.text.strip():
            return scores, floor
        texts = [told(chunks[p.owner].title, p.unit.text) for p in placed]
        if self._embed is not None and reads(texts, self._model.idf):
            order = sorted(range(len(placed)), key=lambda i: (-scores[i], i))[:MOST]
            known = cosines(question.text, [texts[i] for i in order], self._embed)
            if known:
                floor = self._model.floor_with_meaning
                if spoken:
                    told_of = self._model.scores_with_meaning(with_cosines(rows, placed, order, known))
                else:  # the weights were learned beside words; here meaning is all there is
                    told_of = [SPREAD_WITHOUT_WORDS * value for value in standard(known)]
                scores = _known_first(scores, order, told_of)
        if self._score_pairs is not None:
            before, scores = scores, read(question.text, texts, scores, self._score_pairs)
            floor *= 1.0 if scores == before else 1.0 + READ_WEIGHT  # they are spread wider by as much
        return scores, floor


def _known_first(scores: Sequence[float], order: Sequence[int], told_of: Sequence[float]) -> list[float]:
    """The scores ``told_of`` the first of ``order``; the other units come after those, by ``scores``."""
    by_unit = dict(zip(order, told_of, strict=False))
    others = [score for i, score in enumerate(scores) if i not in by_unit]
    shift = min(told_of) - max(others, default=0.0) - 1.0
    return [by_unit.get(i, score + shift) for i, score in enumerate(scores)]


def header_cost(chunk: Chunk) -> int:
    """Characters of the header line that opens the chunk's source."""
    if not chunk.title and not chunk.url:
        return 0
    try:
        host = urlsplit(chunk.url).hostname or chunk.url
    except ValueError:
        host = chunk.url
    return len(f"[Source: {chunk.title} | {host}]\n")


def _written(chunks: Sequence[Chunk], placed: Sequence[Placed], kept: set[int]) -> list[Chunk]:
    texts: dict[int, str] = {}
    before: dict[int, Placed] = {}
    for i in sorted(kept):
        here = placed[i]
        text = here.unit.text
        last = before.get(here.owner)
        if last is None:
            texts[here.owner] = text
        else:
            texts[here.owner] += (" " if last.unit.line == here.unit.line else "\n") + text
        before[here.owner] = here
    return [attrs.evolve(chunk, text=texts[n]) for n, chunk in enumerate(chunks) if n in texts]


def _cut(text: str, limit: int) -> str:
    text = text.strip()
    if len(text) <= limit:
        return text
    blank = text.rfind(" ", 0, limit + 1)
    return text[: blank if blank > 0 else limit].rstrip() or text[:limit]
