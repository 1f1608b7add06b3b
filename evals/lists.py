"""Whether compression keeps the entries of lists, and what the rule for lists costs ordinary questions.

    python evals/lists.py [--budgets 700,900,1100,1300] [--without-embeddings]

``seed_evals/list_chunks.jsonl``: 12 queries that want a list, each with its entries (any of several
spellings) and twelve chunks of live searches, best first. Scored as the README of seed_evals says: item
recall is the share of a query's entries of which a spelling is a substring of the rendered text (NFKC, lower
case, punctuation to blanks; titles included), tokens are characters / 4 of that text, one header a source.
Beside it, in the same run: no compression, and the same compressor with its rule for lists switched off.

Then the questions of ``qa_results/dev.jsonl.xz`` that the rule takes for a list: answers kept with it and
without it.

The rule's constants were chosen on these 12 queries and on the plural questions of ``qa_results`` train; the
12 are all there are, so their figures say that the rule works here, not how well it works elsewhere.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from attrs import asdict, evolve, frozen
from common import DATA, finish, mean, need, normal, rows
from compression import DEFAULT, DEV, HOW, Compress, biencoder, kept, read, rendered, with_budget
from webfetch_compress_sentences import compressor as compressor_module
from webfetch_compress_sentences.compressor import SentenceCompressor
from webfetch_compress_sentences.question import Question, read_question

from webfetch_core.api import Chunk

LISTS = DATA / "seed_evals" / "list_chunks.jsonl"
TOPS = (5, 10, 12)
SHIPPED_TOP = 5
"""Excerpts that a search gives by default."""


@frozen(kw_only=True)
class Wanted:
    """A query, the spellings of each of its entries, and the chunks found."""

    query: str
    items: tuple[tuple[str, ...], ...]
    chunks: tuple[Chunk, ...]


@frozen(kw_only=True)
class Line:
    """One arm: mean item recall, how many lists are whole, mean tokens."""

    arm: str
    top: int
    budget: int
    recall: float
    whole: int
    tokens: float

    def text(self) -> str:
        label = f"{self.arm}, top {self.top}" + (f", {self.budget} characters" if self.budget else "")
        return f"{label:<52} {self.recall:.3f}  {self.whole:>2} whole  {self.tokens:7.1f} tokens"


def wanted() -> list[Wanted]:
    return [
        Wanted(
            query=row["query"],
            items=tuple(tuple(spellings) for spellings in row["items"]),
            chunks=tuple(Chunk(text=c["text"], url=c["url"], title=c["title"]) for c in row["chunks"]),
        )
        for row in rows(need(LISTS, HOW))
    ]


def recall(text: str, items: Sequence[Sequence[str]]) -> float:
    """Share of ``items`` of which a spelling is in ``text``."""
    plain = normal(text)
    return sum(any(normal(spelling) in plain for spelling in item) for item in items) / len(items)


def measure(arm: str, table: Sequence[Wanted], top: int, compress: Compress, budget: int = 0) -> Line:
    """Print a line and return it."""
    texts = [rendered(compress(one.query, one.chunks[:top])) for one in table]
    shares = [recall(text, one.items) for text, one in zip(texts, table, strict=True)]
    line = Line(
        arm=arm,
        top=top,
        budget=budget,
        recall=round(mean(shares), 3),
        whole=sum(share == 1 for share in shares),
        tokens=round(mean([len(text) // 4 for text in texts]), 1),
    )
    print(line.text(), flush=True)
    return line


@contextmanager
def rule_off() -> Iterator[None]:
    """Questions that want a list are read as any other."""

    def ordinary(query: str) -> Question:
        return evolve(read_question(query), wants_list=False)

    compressor_module.read_question = ordinary
    try:
        yield
    finally:
        compressor_module.read_question = read_question


def main() -> None:
    parser = argparse.ArgumentParser(description="entries of lists kept, and tokens, after compression")
    parser.add_argument("--budgets", default=",".join(map(str, sorted({700, 900, DEFAULT, 1_300}))))
    parser.add_argument("--without-embeddings", action="store_true")
    args = parser.parse_args()
    budgets = [int(text) for text in args.budgets.split(",")]
    embed = None if args.without_embeddings else biencoder()
    arms = {"words": SentenceCompressor()}
    if embed is not None:
        arms["words and meaning"] = SentenceCompressor(embed=embed)
    table = wanted()
    unread = [one.query for one in table if not read_question(one.query).wants_list]
    print(f"{len(table)} queries that want a list; not taken for one: {unread or 'none'}\n")
    lines = [measure("no compression", table, top, lambda query, chunks: chunks) for top in TOPS]
    for arm, compressor in arms.items():
        for top in TOPS:
            for budget in budgets if top == SHIPPED_TOP else [DEFAULT]:
                run = partial(with_budget, compressor, budget)
                lines.append(measure(arm, table, top, run, budget))
        with rule_off():
            run = partial(with_budget, compressor, DEFAULT)
            lines.append(measure(f"{arm}, rule off", table, SHIPPED_TOP, run, DEFAULT))
    figures: dict[str, Any] = {}
    for line in lines:
        if line.top == SHIPPED_TOP and line.budget in (0, DEFAULT):
            key = line.arm.replace(" ", "_").replace(",", "")
            figures |= {f"{key}_recall": line.recall, f"{key}_tokens": line.tokens}
    if DEV.is_file():
        figures |= ordinary_questions(arms)
    figures["lists"] = [asdict(line) for line in lines]
    finish("lists", figures)


def ordinary_questions(arms: dict[str, SentenceCompressor]) -> dict[str, Any]:
    """What the rule does to the development questions that it takes for lists."""
    table = [row for row in read(DEV) if read_question(row.query).wants_list]
    figures: dict[str, Any] = {"taken_for_lists": len(table)}
    print(f"\ndevelopment questions that are taken for lists: {len(table)}")

    def hits(compressor: SentenceCompressor) -> int:
        return sum(
            kept(rendered(compressor.compress(row.query, row.chunks, DEFAULT)), row.answers) for row in table
        )

    for arm, compressor in arms.items():
        with rule_off():
            without = hits(compressor)
        key = arm.replace(" ", "_")
        figures |= {f"{key}_ordinary_kept": hits(compressor), f"{key}_ordinary_kept_rule_off": without}
        print(f"{arm}: {figures[f'{key}_ordinary_kept']} kept, {without} with the rule off")
    return figures


if __name__ == "__main__":
    main()
