"""Pairs of queries made of templates: questions about things. What else is made: ``paraphrase_deeds``.

``paraphrase_lists`` has the wordings. A question, a thing or a deed is held out by its name's hash, so that
the part that is held out has other questions about other things.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache

from attrs import frozen
from paraphrase_rules import LISTS, SURFACE, overlap, reword, words
from paraphrase_traps import corrupt

HELD_QUESTIONS, HELD_THINGS = 8, 5
"""One in so many is held out."""
OFTEN = 7
"""How much oftener than another a question is taken that has a year, a number or two things of one kind."""

SYMMETRIC = frozenset(
    {"route.distance", "route.timediff", "vs.diff", "vs.better", "vs.faster", "vs.cheaper", "unit.diff",
     "drug.interaction", "vs.integrate", "team.h2h"}
)  # fmt: skip


@frozen(kw_only=True)
class Pair:
    """Two queries; ``label`` 1 where they ask the same; ``kind`` says how the second came of the first."""

    a: str
    b: str
    label: int
    kind: str


def held(name: str, one_in: int) -> bool:
    """Whether what has this name belongs to the part that is held out."""
    return int(hashlib.sha256(name.lower().encode()).hexdigest(), 16) % one_in == 0


def chosen(text: str, rng: random.Random) -> str:
    """A wording with one of each (a/b/) taken."""
    while "(" in text:
        text = re.sub(r"\(([^()]*)\)", lambda m: rng.choice(m[1].split("/")), text)
    return " ".join(text.split())


# ---- things --------------------------------------------------------------------------------------


@cache
def things() -> dict[str, tuple[str, ...]]:
    lines = (LISTS / "slots.txt").read_text(encoding="utf-8").splitlines()
    pairs = [line.partition(": ")[::2] for line in lines if not line.startswith("#")]
    return {name: tuple(dict.fromkeys(x.strip() for x in rest.split(";"))) for name, rest in pairs}


def _name(rng: random.Random) -> str:
    return "".join(rng.choice(things()["syllable"]) for _ in range(rng.choice((1, 2, 2, 3)))).capitalize()


def _person(rng: random.Random) -> str:
    if rng.random() < 0.45:
        return rng.choice(things()["people"])
    return f"{rng.choice(things()['first'])} {rng.choice(things()['last'])}"


def _company(rng: random.Random) -> str:
    if rng.random() < 0.7:
        return rng.choice(things()["companies"])
    return f"{_name(rng)} {rng.choice(things()['company_end'])}" if rng.random() < 0.6 else _name(rng)


def _city(rng: random.Random) -> str:
    if rng.random() < 0.1:
        return rng.choice(rng.choice(things()["twin"]).split(" / "))
    if rng.random() < 0.2:
        return _name(rng) + rng.choice(things()["place_end"])
    return rng.choice(things()["city"])


def _product(rng: random.Random) -> str:
    base = rng.choice(things()["product"]) if rng.random() < 0.8 else _name(rng)
    number = str(rng.choice((rng.randint(2, 20), rng.randint(20, 99) * 10, rng.randint(2, 9) * 1000)))
    end = f" {rng.choice(things()['suffix'])}" if rng.random() < 0.45 else ""
    return f"{base} {number}{end}"


def _software(rng: random.Random) -> str:
    base = rng.choice(things()["tool"]) if rng.random() < 0.85 else _name(rng)
    if rng.random() < 0.2:
        return base
    version = str(rng.randint(2, 30))
    if rng.random() < 0.6:
        version += f".{rng.randint(0, 20)}"
    return f"{base} {version}"


def _number(rng: random.Random) -> str:
    return str(rng.choice((rng.randint(2, 20), rng.randint(20, 100), rng.randint(2, 50) * 100)))


MADE = {
    "person": _person, "company": _company, "city": _city, "product": _product, "software": _software,
    "year": lambda rng: str(rng.randint(1950, 2026)), "n": _number,
}  # fmt: skip


def thing(kind: str, rng: random.Random, of_held: bool) -> str:
    """One thing of a kind, of the part that is asked for; years and numbers belong to both."""
    kind = kind.rstrip("2")
    for _ in range(600):
        found = MADE[kind](rng) if kind in MADE else rng.choice(things()[kind])
        if kind in ("year", "n") or held(found, HELD_THINGS) == of_held:
            return found
    raise ValueError(f"no {kind} is {'held out' if of_held else 'left'}")


def near(kind: str, it: str, rng: random.Random, of_held: bool) -> str:
    """Another thing of the kind, like in its name where there is one."""
    kind = kind.rstrip("2")
    roll = rng.random()
    if kind == "year":
        return str(int(it) + rng.choice((1, -1, 2, -2, 4, -10, 5)))
    if kind == "n":
        return str(max(1, int(it) + rng.choice((1, 2, -1, 5, 10, 100))))
    if kind == "product" and roll < 0.75:
        words = it.split()
        if words[-1] in things()["suffix"] or it.endswith("Pro Max"):
            return re.sub(r"(?<=\d) .*$", "", it) if roll < 0.4 else _other_number(it, rng)
        return f"{it} {rng.choice(things()['suffix'])}" if roll < 0.4 else _other_number(it, rng)
    if kind == "software" and roll < 0.65 and any(c.isdigit() for c in it):
        return _other_number(it, rng)
    if kind == "person" and roll < 0.6 and it.count(" ") == 1:
        first, last = it.split()
        return (
            f"{rng.choice(things()['first'])} {last}"
            if roll < 0.3
            else f"{first} {rng.choice(things()['last'])}"
        )
    if kind == "city" and roll < 0.9:
        families = [f.split(" / ") for f in things()["twin"]]
        for family in families:
            if it in family:
                return rng.choice([x for x in family if x != it])
    others = [thing(kind, rng, of_held) for _ in range(6)]
    others = [x for x in others if x != it] or [_name(rng)]
    return max(others, key=lambda x: (overlap(x, it) > 0.2 or x[:2] == it[:2], rng.random()))


def _other_number(it: str, rng: random.Random) -> str:
    found = list(re.finditer(r"\d+", it))
    if not found:
        return it + " 2"
    m = found[-1]
    return it[: m.start()] + str(int(m[0]) + rng.choice((1, 2, 3, 10))) + it[m.end() :]


# ---- questions about things ----------------------------------------------------------------------


@frozen(kw_only=True)
class Question:
    name: str
    wordings: tuple[str, ...]

    @property
    def topic(self) -> str:
        return self.name.partition(".")[0]

    @property
    def slots(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(re.findall(r"\{(\w+)\}", self.wordings[0])))

    def ask(self, slots: Mapping[str, str], rng: random.Random, unlike: str = "") -> str:
        """One wording, of five the one that is least like ``unlike`` in half of the cases."""
        forms = [chosen(rng.choice(self.wordings), rng).format(**slots) for _ in range(5)]
        if unlike and rng.random() < 0.5:
            return min(forms, key=lambda form: overlap(form, unlike))
        return next((form for form in forms if form != unlike), forms[0])


@cache
def questions() -> tuple[Question, ...]:
    lines = (LISTS / "frames.txt").read_text(encoding="utf-8").splitlines()
    parts = [line.split(" | ") for line in lines if line and not line.startswith("#")]
    return tuple(Question(name=p[0].strip(), wordings=tuple(w.strip() for w in p[1:])) for p in parts)


def about_things(rng: random.Random, of_held: bool) -> Iterator[Pair]:
    """Without end: pairs of one question and its wordings, or of two questions that are near."""
    ours = [q for q in questions() if held(q.name, HELD_QUESTIONS) == of_held]
    weights = [
        OFTEN if {"year", "n"} & set(q.slots) or any(s.endswith("2") for s in q.slots) else 1 for q in ours
    ]
    by_topic: dict[str, list[Question]] = defaultdict(list)
    for q in ours:
        by_topic[q.topic].append(q)
    while True:
        q = rng.choices(ours, weights)[0]
        slots = {kind: thing(kind, rng, of_held) for kind in q.slots}
        if any(slots[k] == slots.get(f"{k}2") for k in slots):
            continue
        first = q.ask(slots, rng)
        roll = rng.random()
        twins = [k for k in slots if f"{k}2" in slots]
        if roll < 0.38:
            yield Pair(a=first, b=q.ask(slots, rng, first), label=1, kind="wording")
        elif roll < 0.56:
            extra, other = qualifier(rng), qualifier(rng) if rng.random() < 0.6 else ""
            same = roll < 0.48
            if extra == other or ((year := re.search(r"\d{4}", extra)) and year[0] in first):
                continue
            second = qualified(q.ask(slots, rng, first), extra if same else other, rng)
            yield Pair(a=qualified(first, extra, rng), b=second, label=int(same),
                       kind="wording" if same else "modifier")  # fmt: skip
        elif twins and roll < 0.68:
            k = twins[0]
            swapped = slots | {k: slots[f"{k}2"], f"{k}2": slots[k]}
            same = q.name in SYMMETRIC
            second = q.ask(swapped, rng, first) if rng.random() < 0.6 else _same_form(first, slots, swapped)
            yield Pair(a=first, b=second, label=int(same), kind="order" if same else "direction")
        elif roll < 0.72:
            if others := [o for o in by_topic[q.topic] if o.name != q.name]:
                others = rng.sample(others, min(4, len(others)))
                found = [o.ask(_missing(o, slots, rng, of_held), rng) for o in others]
                second = max(found, key=lambda f: overlap(f, first)) if rng.random() < 0.7 else found[0]
                yield Pair(a=first, b=second, label=0, kind="other question")
        elif roll < 0.9 and slots:
            exact = [k for k in slots if k.rstrip("2") in ("year", "n")]
            k = rng.choice(exact if exact and rng.random() < 0.5 else list(slots))
            changed = slots | {k: near(k, slots[k], rng, of_held)}
            if changed[k].lower() == slots[k].lower():
                continue
            second = q.ask(changed, rng, first) if rng.random() < 0.5 else _same_form(first, slots, changed)
            kind = {"year": "year", "n": "number"}.get(k.rstrip("2"), "entity")
            if kind == "entity" and re.sub(r"\d", "", changed[k]) == re.sub(r"\d", "", slots[k]):
                kind = "version"
            yield Pair(a=first, b=second, label=0, kind=kind)
        elif changed_query := corrupt(q.ask(slots, rng, first) if rng.random() < 0.6 else first, rng):
            yield Pair(a=first, b=changed_query[0], label=0, kind=changed_query[1])


def qualifier(rng: random.Random) -> str:
    """What narrows a question, put behind it."""
    return rng.choice(words()["narrow"]) if rng.random() < 0.7 else f"in {rng.randint(1980, 2026)}"


def qualified(q: str, extra: str, rng: random.Random) -> str:
    if not extra:
        return q
    if re.match(r"in \d{4}$", extra) and rng.random() < 0.4:
        extra = extra[3:]
    elif rng.random() < 0.15 and re.match(r"(?:in|on|at|during|before|after|with|since)\b", extra):
        return f"{extra}, {q}"
    return f"{q} {extra}"


def _missing(q: Question, slots: Mapping[str, str], rng: random.Random, of_held: bool) -> dict[str, str]:
    return {kind: slots[kind] if kind in slots else thing(kind, rng, of_held) for kind in q.slots}


def _same_form(first: str, slots: Mapping[str, str], changed: Mapping[str, str]) -> str:
    """The very wording of ``first`` with the things of ``changed``."""
    marked = first
    for n, value in enumerate(slots.values()):
        marked = marked.replace(value, f"\x00{n}\x00")
    for n, kind in enumerate(slots):
        marked = marked.replace(f"\x00{n}\x00", changed[kind])
    return marked


# ---- as people type it ---------------------------------------------------------------------------


def dressed(pair: Pair, rng: random.Random, often: float = 0.35) -> Pair:
    """The pair as people type it: question marks, fillers, a slip of the finger."""
    return Pair(a=_dress(pair.a, rng, often), b=_dress(pair.b, rng, often), label=pair.label, kind=pair.kind)


def _dress(q: str, rng: random.Random, often: float) -> str:
    if rng.random() < often:
        q = reword(q, rng, SURFACE, 2) or q
    asks = re.match(r"(?:who|what|when|where|why|how|which|is|are|was|did|does|do|can|has|in wh)\b", q, re.I)
    return q + "?" if asks and rng.random() < 0.5 and not q.endswith("?") else q
