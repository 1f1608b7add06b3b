"""How a page is best cut into passages: the same questions asked of the same pages, cut in different ways.

    python evals/chunking.py [--questions N] [--meaning N] [--variants core_400_10,windows_400_10]

Serves and indexes the mini web as ``miniweb.py`` does, takes the ten pages that each question finds, and
where the page with the answer is among them cuts all ten, ranks the passages and looks where the answer is:

- ``hit``: it stands whole in the best passages up to 2,000 characters, which is five of 400;
- ``r5``, ``r30``: one of the first 5 or 30 passages holds it (larger passages have it easier here);
- ``ndcg``: nDCG@10 of the passages of the right page that hold it;
- ``shown`` and ``chars``: the answer stands in the excerpts that a search would show (the core's selection:
  neighbours, near-duplicates, cap by page), and how many characters those have.

BM25 ranks every variant over all questions; BM25 and the bi-encoder together, fused as the core does, rank
over the first ``--meaning`` questions, since every way of cutting has vectors of its own, and the bi-encoder
reads the 100 passages that BM25 likes best, as it does in a search with little time. Half of the
questions are for choosing (``tune``), the other half for telling (``report``); which is which hangs on the
question alone. Floors are on ``report``. Data: as for ``miniweb.py``.
"""

from __future__ import annotations

import argparse
import hashlib
import math
import random
import re
import sys
import tarfile
import tempfile
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import quote

from attrs import evolve, frozen
from common import DATA, answered, finish, mean, need, rows
from miniweb import Site, build_index, open_webfetch
from rerank import biencoder
from webfetch_rank_bm25.ranker import Bm25Ranker
from webfetch_rank_bm25.settings import Bm25Settings

from webfetch_core import Document
from webfetch_core.errors import WebfetchError
from webfetch_core.models import Chunk
from webfetch_core.pipeline.candidates import PAGE_PRIOR
from webfetch_core.pipeline.cascade import Step, run
from webfetch_core.pipeline.chunking import chunk
from webfetch_core.pipeline.ranking import passage_of
from webfetch_core.pipeline.selection import select
from webfetch_core.settings import ChunkSettings, RankingSettings

BUDGET = 2_000
"""Characters for ``hit``: five passages of DESIGN's 400."""
READ = 100
"""Passages that the bi-encoder scores of a list."""
RULES = RankingSettings()
DEFAULT = f"core_{ChunkSettings().chars}_{round(100 * ChunkSettings().overlap)}"
FIGURES = ("hit", "r5", "r30", "ndcg", "shown", "chars")

Span = tuple[int, int]
Score = Callable[[str, Sequence[str]], Sequence[float]]


@frozen(kw_only=True)
class Question:
    text: str
    answers: tuple[str, ...]
    right: frozenset[str]
    """URLs of the pages that the answer is known to be on."""
    pages: tuple[Document, ...]
    """What the question found, best first."""

    @property
    def part(self) -> str:
        return "report" if hashlib.sha256(self.text.encode()).digest()[0] % 2 else "tune"


@frozen(kw_only=True)
class Variant:
    cut: Callable[[Document], list[Chunk]]
    tell: Callable[[Chunk], str] = passage_of
    """What the rankers see of a passage."""


# ---- ways of cutting ---------------------------------------------------------------------------------


def windows(document: Document, chars: int, overlap: float) -> list[Chunk]:
    """The baseline: windows of equal size, moved to the next white space, blind to what the text is."""
    text, spans, start = document.text, [], 0
    while start < len(text):
        stop = min(start + chars, len(text))
        if stop < len(text) and (blank := text.rfind(" ", start + chars // 2, stop)) > 0:
            stop = blank
        spans.append((start, stop))
        if stop == len(text):
            break
        start = max(stop - int(chars * overlap), start + 1)
        blank = text.find(" ", start, stop)
        start = blank + 1 if blank >= 0 else start
    return list(_chunks(document, spans))


def packed(document: Document, units: Iterable[Span], chars: int) -> list[Chunk]:
    """Whole units together while they fit; a unit that alone is too long is cut by windows."""
    spans: list[Span] = []
    for start, stop in units:
        if stop - start > chars:
            part = evolve(document, text=document.text[start:stop])
            spans += [(start + c.start, start + c.end) for c in windows(part, chars, 0.0)]
        elif spans and stop - spans[-1][0] <= chars:
            spans[-1] = (spans[-1][0], stop)
        else:
            spans.append((start, stop))
    return list(_chunks(document, spans))


def paragraphs(text: str) -> Iterator[Span]:
    for match in re.finditer(r"(?:[^\n]|\n(?!\s*\n))+", text):
        yield match.span()


def sentences(text: str) -> Iterator[Span]:
    for line in re.finditer(r"[^\n]+", text):
        for match in re.finditer(r"\S.*?(?:[.!?][\"')\]]*(?=\s)|$)", line[0]):
            yield line.start() + match.start(), line.start() + match.end()


def _chunks(document: Document, spans: Iterable[Span]) -> Iterator[Chunk]:
    for start, stop in spans:
        if text := document.text[start:stop].strip():
            yield Chunk(text=text, url=document.url, title=document.title, start=start, end=stop)


def _core(chars: int, overlap: float) -> Callable[[Document], list[Chunk]]:
    return lambda document: chunk(document, chars=chars, overlap=overlap)


VARIANTS: dict[str, Variant] = {
    "windows_400_10": Variant(cut=lambda document: windows(document, 400, 0.10)),
    **{
        f"core_{chars}_{round(100 * overlap)}": Variant(cut=_core(chars, overlap))
        for chars, overlap in [(300, 0.1), (400, 0.0), (400, 0.1), (400, 0.2), (600, 0.1), (800, 0.1)]
    },
    "core_400_10_no_headings": Variant(cut=_core(400, 0.1), tell=lambda c: f"{c.title}\n{c.text}"),
    "core_400_10_text_alone": Variant(cut=_core(400, 0.1), tell=lambda c: c.text),
    "paragraphs_400": Variant(cut=lambda document: packed(document, paragraphs(document.text), 400)),
    "paragraphs_800": Variant(cut=lambda document: packed(document, paragraphs(document.text), 800)),
    "sentences_400": Variant(cut=lambda document: packed(document, sentences(document.text), 400)),
}


# ---- measuring ---------------------------------------------------------------------------------------


def measure(
    question: Question, variant: Variant, scorers: dict[str, Score], cut: dict[str, list[Chunk]]
) -> dict[str, float]:
    """The figures of one question under one way of cutting; ``cut`` remembers pages by URL."""
    chunks: list[Chunk] = []
    for page in question.pages:
        if page.url not in cut:
            cut[page.url] = variant.cut(page)
        chunks += cut[page.url]
    places = {page.url: place for place, page in enumerate(question.pages, start=1)}

    def score(kind: str, some: Sequence[str], order: Sequence[int]) -> Sequence[float | None]:
        if kind == "lexical":
            return scorers[kind](question.text, some)
        read = order[:READ]
        values = dict(zip(read, scorers[kind](question.text, [some[i] for i in read]), strict=True))
        return [values.get(place) for place in range(len(some))]

    ranking = run(
        (Step(kinds=tuple(scorers), keep=len(chunks), weights={"lexical": RULES.lexical_weight}),),
        [variant.tell(piece) for piece in chunks],
        score,
        fusion=RULES.fusion,
        prior=[1 / (1 + PAGE_PRIOR * (places[piece.url] - 1)) for piece in chunks],
    )
    order = [scored.index for scored in ranking.scored]
    holds = [
        chunks[place].url in question.right and answered(chunks[place].text, question.answers)
        for place in order
    ]
    shown = select(
        order[: RULES.shortlist],
        chunks,
        {page.url: page.text for page in question.pages},
        keep=RULES.keep,
        per_source=RULES.per_source,
        near_duplicate=RULES.near_duplicate,
        context=RULES.context,
        max_chars=RULES.excerpt_chars,
    )
    best = "\n".join(chunks[place].text for place in order[: BUDGET // 10])[:BUDGET]
    return {
        "hit": answered(best, question.answers),
        "r5": any(holds[:5]),
        "r30": any(holds[:30]),
        "ndcg": _ndcg(holds),
        "shown": answered("\n".join(f"{c.title}\n{c.text}" for c in shown), question.answers),
        "chars": sum(len(c.text) for c in shown),
    }


def _ndcg(holds: Sequence[bool]) -> float:
    best = sum(1 / math.log2(place + 2) for place in range(min(sum(holds), 10)))
    return sum(held / math.log2(place + 2) for place, held in enumerate(holds[:10])) / best if best else 0.0


def table(
    title: str, questions: Sequence[Question], names: Sequence[str], scorers: dict[str, Score], key: str
) -> dict[str, float]:
    """Print one block; return the figures of the half that is told."""
    print(f"\n{title}\n{'':26}{'part':>8}{'n':>5}" + "".join(f"{name:>8}" for name in FIGURES))
    figures: dict[str, float] = {}
    for name in names:
        parts: dict[str, list[dict[str, float]]] = defaultdict(list)
        cut: dict[str, list[Chunk]] = {}
        for question in questions:
            parts[question.part].append(measure(question, VARIANTS[name], scorers, cut))
        for part in ("tune", "report"):
            values = {figure: mean([row[figure] for row in parts[part]]) for figure in FIGURES}
            shown = "".join(f"{values[f]:8.0f}" if f == "chars" else f"{values[f]:8.3f}" for f in FIGURES)
            print(f"{name:26}{part:>8}{len(parts[part]):5}{shown}", flush=True)
            if part == "report":
                figures |= {f"{key}_{name}_{figure}": round(value, 4) for figure, value in values.items()}
    if {DEFAULT, "windows_400_10"} <= set(names):
        gain = figures[f"{key}_{DEFAULT}_hit"] - figures[f"{key}_windows_400_10_hit"]
        figures[f"{key}_default_over_windows"] = round(gain, 4)
    return figures


def meaning() -> Score | None:
    """The bi-encoder's scorer; None where it is not installed."""
    try:
        score: Score = biencoder().score
    except ImportError:
        return None
    return score


def gather(limit: int, seed: int = 7) -> list[Question]:
    """Ask the mini web's questions; keep those whose page is among the ten that were found and read."""
    how = "See the docstring of miniweb.py for the form of the data."
    data = need(DATA / "mini_web" / "qa.jsonl", how).parent
    asked = [q for q in rows(data / "qa.jsonl") if q["tier"] == "A"]
    random.Random(seed).shuffle(asked)
    read: dict[str, Document | None] = {}
    questions: list[Question] = []
    with ExitStack() as stack:
        work = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="webfetch-chunking-")))
        with tarfile.open(data / "pages.tar.xz") as archive:
            archive.extractall(work, filter="data")
        site = Site(work / "pages", seed)
        threading.Thread(target=site.serve_forever, daemon=True).start()
        stack.callback(site.shutdown)
        base = f"http://127.0.0.1:{site.server_address[1]}/"
        files = {
            meta["page_id"]: meta["file"].removeprefix("pages/")
            for meta in rows(data / "pages_meta.jsonl.xz")
        }
        home = work / "home"
        home.mkdir()
        build_index(home, work / "pages", base, list(files.values()))
        wf = stack.enter_context(open_webfetch(home, 20.0, rank=("bm25",)))
        for number, row in enumerate(asked[:limit], start=1):
            hits = [hit.url for hit in wf.search(row["question"]).hits[:10]]
            for url in hits:
                if url not in read:
                    try:
                        read[url] = wf.fetch(url)
                    except WebfetchError:
                        read[url] = None
            pages = tuple(page for url in hits if (page := read[url]) is not None)
            right = frozenset(base + quote(files[p]) for p in row["page_ids"] if p in files)
            if right & {page.url for page in pages}:
                questions.append(
                    Question(text=row["question"], answers=tuple(row["answers"]), right=right, pages=pages)
                )
            if number % 100 == 0:
                print(f"  asked {number}", file=sys.stderr, flush=True)
    return questions


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--questions", type=int, default=10_000)
    parser.add_argument("--meaning", type=int, default=60, help="questions for the bi-encoder; 0: none")
    parser.add_argument("--variants", default=",".join(VARIANTS))
    args = parser.parse_args()
    names = args.variants.split(",")
    if unknown := set(names) - set(VARIANTS):
        parser.error(f"no such variant: {', '.join(sorted(unknown))}; there are {', '.join(VARIANTS)}")
    questions = gather(args.questions)
    lexical: dict[str, Score] = {"lexical": Bm25Ranker(Bm25Settings()).score}
    figures: dict[str, Any] = {"questions": len(questions), "default": DEFAULT}
    figures |= table("BM25", questions, names, lexical, "bm25")
    if args.meaning and (score := meaning()) is not None:
        figures |= table(
            f"BM25 and bi-encoder ({RULES.fusion})",
            questions[: args.meaning],
            names,
            lexical | {"biencoder": score},
            "both",
        )
    elif args.meaning:
        print("\nbi-encoder: not available here")
    finish("chunking", figures)


if __name__ == "__main__":
    main()
