"""The pairs of queries that the paraphrase model learns from, and those it is judged on while it learns.

Sources, all with a licence under which what was learned may be shipped:

- templates and lists of our own (``paraphrase_made``, ``paraphrase_deeds``, ``paraphrase_lists``);
- questions asked of Wikipedia tables (``wtq_question_table``, CC-BY-SA-4.0) and real search queries
  (``nq_qed_dev_rest``, CC-BY-SA-3.0), reworded and corrupted by rule (``paraphrase_rules``);
- ``checklist_qqp_mft_rest`` (MIT), ``cannot_negation`` (CC-BY-SA-4.0), ``conjnli`` (MIT).

Quora's pairs, MRPC, SICK and STS are not among them: their terms do not allow it. The files lie in
``../shared/train``; its README tells where each comes from.
"""

from __future__ import annotations

import json
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from common import DATA, need, rows
from paraphrase_deeds import about_deeds, about_roles
from paraphrase_made import Pair, about_things, dressed, held
from paraphrase_rules import content, keywords, overlap, reword, typed
from paraphrase_traps import corrupt

TRAIN = DATA.parent / "train"
HOW = "It is built by the scripts that gather the evaluation data."
HELD_TOPICS = 10
"""One table, query or sentence in so many is held out."""

OTHERS = 0.3
"""How much seldomer than who did what to whom another test of CheckList is taken."""

SHARES: dict[str, float] = {
    "things": 0.38, "deeds": 0.10, "roles": 0.11, "tables": 0.21, "searches": 0.04, "checklist": 0.07,
    "negation": 0.04, "nli": 0.01, "unrelated": 0.02, "same": 0.02,
}  # fmt: skip
"""How much of the training pairs is of each source."""


def _rows(name: str) -> list[dict[str, str]]:
    return list(rows(need(TRAIN / name, HOW)))


def from_questions(
    asked: Sequence[tuple[str, Sequence[Sequence[str]]]], rng: random.Random
) -> Iterator[Pair]:
    """Without end: real questions reworded, or corrupted; each comes with columns of a table, whose cells
    may stand for each other."""
    while True:
        q, columns = rng.choice(asked)
        q = q.strip()
        roll = rng.random()
        if roll < 0.5:
            second = typed(q, rng) if rng.random() < 0.4 else reword(q, rng)
            first = (reword(q, rng, most=1) or q) if rng.random() < 0.2 else q
            if second and content(second) and len(content(q) ^ content(second)) <= 6:
                yield Pair(a=first, b=second, label=1, kind="real reworded")
            continue
        changed = other_cell(q, columns, rng) if roll < 0.68 else None
        found = (changed, "entity") if changed else corrupt(q, rng)
        if not found:
            continue
        second, kind = found
        if rng.random() < 0.45:  # so that a rewording is no sign of the same question
            second = reword(second, rng, most=2) or second
        yield Pair(a=q, b=second, label=0, kind=f"real {kind}")


def other_cell(q: str, columns: Sequence[Sequence[str]], rng: random.Random) -> str | None:
    """The question with a cell of the table that it names replaced by another of the same column."""
    fitting = []
    for column in columns:
        distinct = list(dict.fromkeys(c for c in column if 3 <= len(c) <= 40))
        for cell in distinct:
            if not cell.isdigit() and re.search(rf"(?<!\w){re.escape(cell)}(?!\w)", q, re.I):
                fitting += [(cell, other) for other in distinct if not content(other) & content(cell)]
    if not fitting:
        return None
    cell, other = rng.choice(fitting)
    if overlap(q, other) > 0.6:
        return None
    return re.sub(rf"(?<!\w){re.escape(cell)}(?!\w)", lambda _: other.lower(), q, count=1, flags=re.I)


def table_questions(of_held: bool) -> list[tuple[str, list[list[str]]]]:
    found = []
    for row in rows(need(TRAIN / "wtq_question_table.jsonl.xz", HOW)):
        if held(row["title"], HELD_TOPICS) != of_held:
            continue
        lines = [line.split(" | ") for line in row["table"].splitlines()[1:]]
        width = max((len(line) for line in lines), default=0)
        columns = [[line[n].strip() for line in lines if n < len(line)] for n in range(width)]
        found += [(q, columns) for q in row["questions"] if 15 <= len(q) <= 140]
    return found


def of_one_table(of_held: bool, rng: random.Random) -> Iterator[Pair]:
    """Two questions of one table which share words, and of which each has two the other has not."""
    by_table: dict[str, list[str]] = defaultdict(list)
    for row in rows(need(TRAIN / "wtq_question_table.jsonl.xz", HOW)):
        if held(row["title"], HELD_TOPICS) == of_held:
            by_table[row["title"]] += row["questions"]
    tables = [qs for qs in by_table.values() if len(qs) > 1]
    while True:
        a, b = rng.sample(rng.choice(tables), 2)
        x, y = content(a), content(b)
        if overlap(a, b) >= 0.25 and len(x - y) >= 2 and len(y - x) >= 2:
            if rng.random() < 0.3:
                a = keywords(a, rng) or a
            if rng.random() < 0.3:
                b = keywords(b, rng) or b
            yield Pair(a=a, b=b, label=0, kind="real other question")


def tables(rng: random.Random, of_held: bool) -> Iterator[Pair]:
    made, met = from_questions(table_questions(of_held), rng), of_one_table(of_held, rng)
    while True:
        yield next(met if rng.random() < 0.12 else made)


def searches(rng: random.Random, of_held: bool) -> Iterator[Pair]:
    path = need(TRAIN / "nq_qed_dev_rest.jsonl", HOW)
    asked = [json.loads(line)["q"] for line in path.read_text(encoding="utf-8").splitlines()]
    return from_questions([(q, ()) for q in asked if held(q, HELD_TOPICS) == of_held], rng)


def checklist(rng: random.Random, of_held: bool) -> Iterator[Pair]:
    """Each test as often as another, and as many pairs of either label."""
    tests: dict[tuple[int, str], list[Pair]] = defaultdict(list)
    for row in _rows("checklist_qqp_mft_rest.jsonl.xz"):
        if held(row["id"], HELD_TOPICS) == of_held and "Reflexivity" not in row["test"]:
            pair = Pair(a=row["q1"], b=row["q2"], label=int(row["label"]), kind=f"checklist: {row['test']}")
            tests[pair.label, row["test"]].append(pair)
    by_label = {label: [ps for (other, _), ps in sorted(tests.items()) if other == label] for label in (0, 1)}
    while True:
        some = rng.choice(by_label[rng.randrange(2)])
        if "SRL" in some[0].kind or rng.random() < OTHERS:
            yield rng.choice(some)


def negation(rng: random.Random, of_held: bool) -> Iterator[Pair]:
    """The paraphrases are few, and are taken as often as the negations; the false claims of WikiFactCheck are
    taken with their sentence reworded, too."""
    by_label: dict[int, list[Pair]] = {0: [], 1: []}
    for row in _rows("cannot_negation.jsonl.xz"):
        if held(row["a"], HELD_TOPICS) == of_held and max(len(row["a"]), len(row["b"])) <= 160:
            label = 1 - int(row["negated"])
            by_label[label].append(Pair(a=row["a"], b=row["b"], label=label, kind="statement"))
    while True:
        roll = rng.random()
        pair = rng.choice(by_label[int(roll < 0.4)])
        if 0.4 <= roll < 0.55:
            same = reword(pair.a, rng, (keywords,), 1)
            if same:
                yield Pair(a=pair.a, b=same, label=1, kind="statement")
            continue
        yield pair


def nli(rng: random.Random, of_held: bool) -> Iterator[Pair]:
    """What is true does not make two sentences one, so only those are taken where one does not follow."""
    found = [
        Pair(a=row["a"], b=row["b"], label=0, kind="statement")
        for row in _rows("conjnli.jsonl.xz")
        if row["nli"] != "entailment" and len(row["a"]) <= 160 and held(row["a"], HELD_TOPICS) == of_held
    ]
    while True:
        pair = rng.choice(found)
        same = reword(pair.a, rng, (keywords,), 1) if rng.random() < 0.4 else None
        yield Pair(a=pair.a, b=same, label=1, kind="statement") if same else pair


def unrelated(rng: random.Random, of_held: bool) -> Iterator[Pair]:
    made = [about_things(rng, of_held), about_deeds(rng, of_held), searches(rng, of_held)]
    while True:
        one, other = (next(rng.choice(made)) for _ in range(2))
        if overlap(one.a, other.b) < 0.5:
            yield Pair(a=one.a, b=other.b, label=0, kind="unrelated")


def same(rng: random.Random, of_held: bool) -> Iterator[Pair]:
    """A query and itself."""
    made = [about_things(rng, of_held), about_deeds(rng, of_held), tables(rng, of_held)]
    while True:
        q = next(rng.choice(made)).a
        yield Pair(a=q, b=rng.choice((q, f"{q}?", q)), label=1, kind="same")


SOURCES: dict[str, Callable[[random.Random, bool], Iterator[Pair]]] = {
    "things": about_things, "deeds": about_deeds, "roles": about_roles, "tables": tables,
    "searches": searches, "checklist": checklist, "negation": negation, "nli": nli, "unrelated": unrelated,
    "same": same,
}  # fmt: skip
BARE = frozenset({"checklist", "negation", "nli"})
"""Sources whose pairs are as people wrote them, and seldom dressed."""


def pairs(number: int, seed: int, of_held: bool = False) -> list[Pair]:
    """Make so many pairs, shuffled, in either order; the same for the same seed."""
    rng = random.Random(seed)
    made: list[Pair] = []
    for name, share in SHARES.items():
        some = islice(SOURCES[name](rng, of_held), round(number * share))
        made += [dressed(p, rng, 0.1 if name in BARE else 0.3) for p in some]
    rng.shuffle(made)
    turned = [p if rng.random() < 0.5 else Pair(a=p.b, b=p.a, label=p.label, kind=p.kind) for p in made]
    return [p for p in turned if p.label or p.a.lower() != p.b.lower()]


def samples(number: int = 4) -> str:
    """Some pairs of each kind, to look at."""
    by_kind: dict[str, list[Pair]] = defaultdict(list)
    for pair in pairs(6_000, 1):
        by_kind[f"{pair.label} {pair.kind}"].append(pair)
    lines = []
    for kind, some in sorted(by_kind.items()):
        lines += [f"{kind} ({len(some)})", *(f"  {pair.a} | {pair.b}" for pair in some[:number])]
    return "\n".join(lines)
