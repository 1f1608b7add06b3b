"""Whether a text is in a language that the vocabulary was made for. Pure.

A model can be given any text: words that its vocabulary lacks come in pieces, down to single letters, and
its cosines then say little. On xquad in eleven languages (``evals/rerank.py``) the bi-encoder alone has an
nDCG@10 of .27 to .85 where BM25 has .82 to 1.00, and the two together have less than BM25 alone.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

READS = 0.45
"""Least share of letters in words that the vocabulary has whole. Lists of English passages have .54 to .96
(also of names, code and chemistry, or mistyped in every third word), those in other languages at most .39."""
READS_QUERY = 0.2
"""The same of a query, which is short and may be all names: English ones have .27 and more."""
ENOUGH_LETTERS = 40
"""Passages with fewer letters together say nothing of their language."""
ENOUGH_LETTERS_OF_QUERY = 12
SAMPLE = 64
"""How many passages are looked at, evenly spread."""
SAMPLE_CHARS = 400

_WORD = re.compile(r"[^\W\d_]+")


class Reader:
    """Knows the whole words of a WordPiece vocabulary. Thread-safe: it only reads."""

    def __init__(self, vocabulary: Iterable[str]) -> None:
        """Take all tokens; pieces (``##s``), marks (``[CLS]``) and letters beyond ASCII are no words."""
        self._words = frozenset(
            token
            for token in vocabulary
            if not token.startswith(("##", "[")) and (len(token) > 1 or token.isascii())
        )

    def objection(self, query: str, passages: Sequence[str]) -> str:
        """Say why the model should not be asked; empty where it may. Milliseconds, however long the list."""
        step = max(1, -(-len(passages) // SAMPLE))
        share, letters = self._share(passage[:SAMPLE_CHARS] for passage in passages[::step])
        if letters >= ENOUGH_LETTERS and share < READS:
            return f"{share:.0%} of the text is in words of its vocabulary, which is of one language"
        share, letters = self._share([query[:SAMPLE_CHARS]])
        if letters >= ENOUGH_LETTERS_OF_QUERY and share < READS_QUERY:
            return f"{share:.0%} of the query is in words of its vocabulary, which is of one language"
        return ""

    def _share(self, texts: Iterable[str]) -> tuple[float, int]:
        """(share of letters in whole words, number of letters)."""
        known = letters = 0
        for text in texts:
            for word in _WORD.findall(_folded(text)):
                letters += len(word)
                known += len(word) * (word in self._words)
        return known / max(letters, 1), letters


def _folded(text: str) -> str:
    """Lower case without accents, as BERT's uncased models read."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFD", text.lower())
    return "".join(c for c in decomposed if unicodedata.category(c) != "Mn")
