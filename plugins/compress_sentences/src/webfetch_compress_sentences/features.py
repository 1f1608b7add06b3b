"""What is known of each unit before it is scored: one list of numbers a unit, named by FEATURES. Pure."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from math import log

from webfetch_core.api import Chunk

from .layout import Placed
from .lines import Kind
from .question import Question
from .tables import facts_of_rows
from .words import stem, terms

FEATURES = (
    "coverage", "common_coverage", "coverage_gap", "title_coverage", "saturation", "share_of_terms", "bigram",
    "nearness", "coverage_before", "coverage_after", "chunk_coverage", "heading_coverage", "answer_type",
    "answer_with_title", "answer_with_coverage", "names", "numbers", "long_name", "time", "support", "rank",
    "first", "second", "place", "length", "short", "very_long", "heading", "row", "item", "code", "cut_start",
    "cut_end", "navigation", "colon", "question", "repeated", "pronoun", "title_echo", "only_title",
    "path_coverage", "answer_with_region", "head_row", "end_row", "extreme_row", "cell_asked",
    "row_after_match",
)  # fmt: skip
"""Names, in the order of the columns. The training script writes one coefficient for each."""

_MONTH = (
    r"jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?"
)
_YEAR = re.compile(r"\b(?:1[0-9]\d\d|20\d\d)\b")
_DATE = re.compile(
    rf"\b(?:{_MONTH})\b\.?,? ?\d|\d{{1,2}}\.? (?:{_MONTH})\b|\b\d{{1,4}}[-/.]\d{{1,2}}[-/.]\d{{1,4}}\b", re.I
)
_NUMBER = re.compile(
    r"(?<!\w)[$€£]?\d[\d,.]*|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty"
    r"|hundred|thousand|million|billion|dozen|first|second|third)\b",
    re.I,
)
NAME = re.compile(r"\b[A-ZÀ-Þ][\w'’.-]+(?:\s+(?:(?:of|the|de|van|von|la|and|for)\s+)?[A-ZÀ-Þ][\w'’.-]+)*")
_NAVIGATION = re.compile(
    r"\b(?:log ?in|sign (?:up|in)|cookies?|subscribe|privacy policy|terms of (?:use|service)|jump to|skip to"
    r"|add to cart|follow us|menu|copyright|all rights reserved|read more|advertisement|click here|newsletter)\b|\[edit\]|https?://",
    re.I,
)
_REGION = 2  # units on each side that make a unit's region
_REPEATS_WITHIN = 150  # units looked back at; bounds the work on a whole document
PRONOUN_START = re.compile(
    r"(?:It|Its|They|Their|Theirs|He|His|She|Her|Hers|This|These|That|Those|Such|Both|The (?:latter|former)"
    r"|However, (?:it|they|he|she))\b"
)
_ENDED = re.compile(r"[.!?。！？:;\"'”’)\]*_|]\s*\Z")


def features(
    question: Question,
    chunks: Sequence[Chunk],
    placed: Sequence[Placed],
    idf: Mapping[str, float],
    rare: float,
) -> list[list[float]]:
    """Return one row of ``FEATURES`` for each unit.

    Args:
        idf: weights of common terms; ``rare`` is that of any other.
    """
    said = [terms(p.unit.text) for p in placed]
    sets = [set(words) for words in said]
    titles = {c.url: set(terms(c.title)) for c in chunks}
    paths = [set(terms(" ".join(c.heading_path))) for c in chunks]
    table = facts_of_rows(question, placed)
    asked = question.terms
    weight = {t: idf.get(t, rare) for t in asked}
    total = sum(weight.values()) or 1.0
    here = {t: log(1 + len(placed) / (1 + sum(t in s for s in sets))) for t in asked}
    total_here = sum(here.values()) or 1.0
    common = [sum(weight[t] for t in asked if t in s) / total for s in sets]
    top = max(common, default=0.0)
    holds = [[t for t in asked if t in s] for s in sets]
    in_chunk: dict[int, set[str]] = {}
    for p, s in zip(placed, sets, strict=True):
        in_chunk.setdefault(p.owner, set()).update(s)
    found = [_findings(p, question) for p in placed]
    held_by: dict[str, set[str]] = {}
    for p, f in zip(placed, found, strict=True):
        for thing in f.names | f.numbers:
            held_by.setdefault(thing, set()).add(chunks[p.owner].url + str(p.owner))
    pairs = set(itertools.pairwise(asked))
    mean_length = sum(map(len, said)) / len(said) if said else 1.0
    seen: list[set[str]] = []
    heading = 0.0
    rows: list[list[float]] = []
    for i, p in enumerate(placed):
        text, words, mine, f = p.unit.text, said[i], sets[i], found[i]
        title = titles[chunks[p.owner].url]
        before = common[i - 1] if i and placed[i - 1].chain == p.chain else 0.0
        after = common[i + 1] if i + 1 < len(placed) and placed[i + 1].chain == p.chain else 0.0
        heading = 0.0 if p.first else heading
        counts = Counter(words)
        damping = 1.2 * (0.25 + 0.75 * len(words) / (mean_length or 1.0))
        fits = _fits(question.answer, f)
        titled = sum(weight[t] for t in asked if t in mine or t in title) / total
        row = table.get(i)
        region: set[str] = set()
        for k in range(max(0, i - _REGION), min(len(placed), i + _REGION + 1)):
            if placed[k].chain == p.chain:
                region.update(holds[k])
        support = max((len(held_by[x]) for x in f.names | f.numbers), default=0)
        values = {
            "coverage": sum(here[t] for t in asked if t in mine) / total_here,
            "common_coverage": common[i],
            "coverage_gap": common[i] - top,
            "title_coverage": titled,
            "saturation": sum(weight[t] * counts[t] * 2.2 / (counts[t] + damping) for t in asked) / total,
            "share_of_terms": sum(t in mine for t in asked) / max(1, len(asked)),
            "bigram": len(pairs & set(itertools.pairwise(words))) / max(1, len(pairs)),
            "nearness": _nearness(words, asked),
            "coverage_before": before,
            "coverage_after": after,
            "chunk_coverage": sum(weight[t] for t in asked if t in in_chunk[p.owner]) / total,
            "heading_coverage": heading,
            "answer_type": fits,
            "answer_with_title": fits * titled,
            "answer_with_coverage": fits * common[i],
            "names": min(3, len(f.names)) / 3,
            "numbers": min(3, len(f.numbers)) / 3,
            "long_name": float(any(" " in n for n in f.names)),
            "time": float(f.time),
            "support": min(4, support) / 4,
            "rank": min(p.rank, 8) / 4,
            "first": float(p.first),
            "second": float(i > 0 and placed[i - 1].first and placed[i - 1].chain == p.chain),
            "place": p.place,
            "length": min(len(text), 300) / 300,
            "short": float(len(text) < 25),
            "very_long": float(len(text) > 250),
            "heading": float(p.unit.kind is Kind.HEADING),
            "row": float(p.unit.kind is Kind.ROW),
            "item": float(p.unit.kind is Kind.ITEM),
            "code": float(p.unit.kind is Kind.CODE),
            "cut_start": float(p.first and text[:1].islower()),
            "cut_end": float(p.last and not _ENDED.search(text)),
            "navigation": float(bool(_NAVIGATION.search(text))),
            "colon": float(":" in text),
            "question": float(text.rstrip().endswith("?")),
            "repeated": max(
                (len(mine & s) / min(len(mine), len(s)) for s in seen[-_REPEATS_WITHIN:] if s), default=0.0
            )
            if len(mine) > 4
            else 0.0,
            "pronoun": float(bool(PRONOUN_START.match(text))),
            "title_echo": len(mine & title) / max(1, len(mine)),
            "only_title": float(bool(mine) and mine <= title),
            "path_coverage": sum(weight[t] for t in asked if t in paths[p.owner] and t not in title) / total,
            "answer_with_region": fits * sum(weight[t] for t in asked if t in region) / total,
            "head_row": float(row is not None and row.head),
            "end_row": float(row is not None and row.at_end),
            "extreme_row": float(row is not None and row.extreme),
            "cell_asked": row.cell_asked if row is not None else 0.0,
            "row_after_match": before if row is not None else 0.0,
        }
        seen.append(mine)
        if p.unit.kind is Kind.HEADING:
            heading = common[i]
        rows.append([values[name] for name in FEATURES])
    return rows


class _Findings:
    """Names, numbers and times that the query does not hold itself: what an answer may be."""

    __slots__ = ("names", "numbers", "time")

    def __init__(self, names: set[str], numbers: set[str], time: bool) -> None:
        self.names, self.numbers, self.time = names, numbers, time


def _findings(placed: Placed, question: Question) -> _Findings:
    text = placed.unit.text
    asked = set(question.terms)
    names = set()
    for found in NAME.finditer(text):
        name = found.group().rstrip(".'’-")
        if found.start() == 0 and " " not in name:
            continue  # any sentence begins with a capital
        if not set(terms(name)) <= asked:
            names.add(name)
    numbers = {n.strip(".,").lower() for n in _NUMBER.findall(text)}
    numbers = {n for n in numbers if stem(n) not in asked and n not in question.text}
    dated = any(y not in question.text for y in _YEAR.findall(text)) or bool(_DATE.search(text))
    return _Findings(names, numbers, dated)


def _fits(answer: str, found: _Findings) -> float:
    if answer == "time":
        return float(found.time)
    if answer == "number":
        return float(bool(found.numbers))
    if answer in ("who", "where"):
        return float(bool(found.names))
    if answer == "how":
        return 0.5
    return 0.75 if found.names or found.numbers else 0.25


def _nearness(words: Sequence[str], asked: Sequence[str]) -> float:
    """How close together the asked terms stand: their number over the span that holds them all."""
    at = [i for i, w in enumerate(words) if w in asked]
    distinct = len({words[i] for i in at})
    return distinct / (at[-1] - at[0] + 1) if distinct > 1 else 0.0
