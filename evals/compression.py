"""Whether answers survive compression, and at what length.

    python evals/compression.py [--budgets 700,900,1100,1300] [--set captured|dev] [--without-embeddings]

Two sets, each row a query, its answers and five chunks, best first:

- captured: ``seed_evals/compression_chunks.jsonl``, 50 results of live searches; 29 of them hold the answer.
- dev: ``qa_results/dev.jsonl.xz``, 597 results that all do.

Scored as the README of seed_evals says: an answer is kept when one of its variants is a substring of the
rendered text (NFKC, lower case, punctuation to blanks; titles included), tokens are characters / 4 of that
text, one header a source. Beside it, in the same run: everything (no compression), and the first half of
every chunk.
"""

from __future__ import annotations

import argparse
import calendar
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any
from urllib.parse import urlsplit

from attrs import evolve, frozen
from common import DATA, finish, median, need, normal, rows
from webfetch_compress_sentences.compressor import SentenceCompressor

from webfetch_core.api import Chunk, Embeddings
from webfetch_core.runtime.models import ModelStore

CAPTURED = DATA / "seed_evals" / "compression_chunks.jsonl"
DEV = DATA / "qa_results" / "dev.jsonl.xz"
HOW = "It is one of the sets of this project's data; any rows of that form will do."
MAX_CHARS = 8_000

Compress = Callable[[str, Sequence[Chunk]], Sequence[Chunk]]


@frozen(kw_only=True)
class Row:
    """One result, and what its answer looks like."""

    query: str
    answers: tuple[str, ...]
    chunks: tuple[Chunk, ...]


def read(path: Path) -> list[Row]:
    """Read a set. Answers are given as they are, without thousands commas, and dates in other orders."""
    return [
        Row(
            query=row["query"],
            answers=tuple(v for answer in row["answers"] for v in variants(answer)),
            chunks=tuple(Chunk(text=c["text"], url=c["url"], title=c["title"]) for c in row["chunks"]),
        )
        for row in rows(need(path, HOW))
    ]


_MONTHS = tuple(month.lower() for month in calendar.month_name[1:])


def variants(answer: str) -> Iterator[str]:
    """Yield the spellings under which an answer counts."""
    yield answer
    if re.search(r"\d,\d{3}", answer):
        yield answer.replace(",", "")
    words = normal(answer).split()
    if len(words) == 3 and words[2].isdigit() and len(words[2]) == 4:
        for day, month in ((words[0], words[1]), (words[1], words[0])):
            if day.isdigit() and month in _MONTHS:
                yield f"{day} {month} {words[2]}"
                yield f"{month} {day} {words[2]}"


def rendered(chunks: Sequence[Chunk]) -> str:
    """Sources in the order they come, each under one header, as far as ``MAX_CHARS`` go."""
    by_url: dict[str, list[Chunk]] = {}
    for chunk in chunks:
        by_url.setdefault(chunk.url, []).append(chunk)
    parts: list[str] = []
    for url, some in by_url.items():
        header = f"[Source: {some[0].title} | {urlsplit(url).netloc or url}]\n"
        part = header + "\n".join(chunk.text for chunk in some) + "\n"
        if parts and sum(map(len, parts)) + len(part) > MAX_CHARS:
            break
        parts.append(part)
    return "\n".join(parts)


def kept(text: str, answers: Sequence[str]) -> bool:
    plain = normal(text)
    return any(normal(answer) in plain for answer in answers if normal(answer))


def halves(query: str, chunks: Sequence[Chunk]) -> list[Chunk]:
    """The first half of every chunk: what cutting costs that does not read."""
    return [evolve(chunk, text=chunk.text[: len(chunk.text) // 2]) for chunk in chunks]


def biencoder() -> Callable[[Sequence[str]], Embeddings] | None:
    """What embeds, or None with the reason printed."""
    try:
        from webfetch_rank_onnx import minilm
        from webfetch_rank_onnx.biencoder import BiEncoder
        from webfetch_rank_onnx.settings import RankOnnxSettings
        from webfetch_rank_onnx.specs import MINILM
    except ImportError as exc:
        print(f"rows with embeddings: not available here ({exc})")
        return None
    store = ModelStore({}, Path("nowhere"))
    return BiEncoder(minilm.load(store.files(MINILM), RankOnnxSettings()), None).embed


def measure(name: str, table: Sequence[Row], compress: Compress) -> tuple[int, float]:
    """Print a line; return how many answers are kept, and the mean of tokens."""
    hits, tokens, times = 0, [], []
    for row in table:
        started = perf_counter()
        chunks = compress(row.query, row.chunks)
        times.append(perf_counter() - started)
        text = rendered(chunks)
        hits += kept(text, row.answers)
        tokens.append(len(text) // 4)
    mean = sum(tokens) / len(tokens)
    print(
        f"{name:<34} {hits:>4} of {len(table)}  {mean:6.1f} tokens  {1000 * median(times):7.1f} ms",
        flush=True,
    )
    return hits, mean


def main() -> None:
    parser = argparse.ArgumentParser(description="answers kept, and tokens, after compression")
    parser.add_argument("--budgets", default="700,900,1100,1300")
    parser.add_argument("--set", choices=("captured", "dev"), help="one set alone")
    parser.add_argument("--without-embeddings", action="store_true")
    args = parser.parse_args()
    budgets = [int(text) for text in args.budgets.split(",")]
    embed = None if args.without_embeddings else biencoder()
    figures: dict[str, Any] = {}
    for name, path in (("captured", CAPTURED), ("dev", DEV)):
        if args.set not in (None, name):
            continue
        table = read(path)
        print(f"\n{name}: {len(table)} results")
        hits, tokens = measure("everything", table, lambda query, chunks: chunks)
        figures |= {f"{name}_everything_kept": hits, f"{name}_everything_tokens": round(tokens, 1)}
        measure("first half of each chunk", table, halves)
        for label, made in (("words", None), ("words and meaning", embed)):
            if label != "words" and made is None:
                continue
            compressor = SentenceCompressor(embed=made)
            for budget in budgets:
                run = partial(_with_budget, compressor, budget)
                hits, tokens = measure(f"{label}, {budget} characters", table, run)
                key = f"{name}_{label.replace(' ', '_')}_{budget}"
                figures |= {f"{key}_kept": hits, f"{key}_tokens": round(tokens, 1)}
    finish("compression", figures)


def _with_budget(
    compressor: SentenceCompressor, budget: int, query: str, chunks: Sequence[Chunk]
) -> Sequence[Chunk]:
    return compressor.compress(query, chunks, budget)


if __name__ == "__main__":
    main()
