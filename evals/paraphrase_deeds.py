"""Pairs of queries made of templates: what somebody does, and who did what to whom."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from functools import cache

from paraphrase_made import HELD_QUESTIONS, Pair, held, qualified, qualifier, thing
from paraphrase_rules import LISTS, words
from paraphrase_traps import corrupt

# ---- what somebody does --------------------------------------------------------------------------

INTENTS: dict[str, tuple[str, ...]] = {
    "how": ("how do I {a}", "how can I {a}", "how to {a}", "what is the best way to {a}", "best way to {a}",
            "steps to {a}", "what should I do to {a}", "what are some ways to {a}", "I want to {a}, how",
            "what do I need to do to {a}", "show me how to {a}", "how does one {a}", "how should I {a}",
            "guide to {g}", "tips for {g}", "how would I go about {g}", "{g}: how is it done",
            "what can I do in order to {a}", "help me {a}"),
    "why": ("why should I {a}", "what are the reasons to {a}", "reasons to {a}", "reasons for {g}",
            "what is the point of {g}", "why do people {a}"),
    "long": ("how long does it take to {a}", "time needed to {a}", "how much time do I need to {a}",
             "how many days does it take to {a}", "time required for {g}"),
    "cost": ("how much does it cost to {a}", "cost to {a}", "what does it cost to {a}", "price of {g}",
             "how expensive is it to {a}", "what would I pay to {a}"),
    "when": ("when should I {a}", "when is the best time to {a}", "best time to {a}", "right time for {g}",
             "what is a good time to {a}"),
    "legal": ("is it legal to {a}", "am I allowed to {a}", "is {g} legal", "legality of {g}",
              "does the law allow {g}"),
    "safe": ("is it safe to {a}", "can I safely {a}", "is {g} safe", "safety of {g}"),
    "where": ("where can I {a}", "where is the best place to {a}", "places to {a}", "good place to {a}"),
    "hard": ("how hard is it to {a}", "is it difficult to {a}", "difficulty of {g}", "is {g} hard",
             "how difficult is {g}"),
    "should": ("should I {a}", "is it a good idea to {a}", "is {g} a good idea", "do you advise me to {a}"),
    "should not": ("should I not {a}", "is it wrong to {a}", "reasons not to {a}", "why not to {a}"),
    "how not": ("how can I avoid {g}", "how do I not {a}", "how to keep from {g}", "how can I prevent {g}"),
    "do": ("{a}", "please {a}", "can you {a} for me", "I want you to {a}", "go ahead and {a}", "{a} for me",
           "could you {a}", "would you please {a}"),
    "do not": ("do not {a}", "please don't {a}", "don't {a} for me", "I don't want you to {a}", "never {a}"),
    "first": ("what do I need before I {a}", "what should I know before {g}", "what to do before {g}"),
    "after": ("what should I do after I {a}", "what comes after {g}", "what to do after {g}"),
    "without": ("how do I {a} without paying", "how to {a} for free", "free way to {a}"),
    "job": ("who can {a} for me", "whom can I hire to {a}", "professional to {a}"),
}  # fmt: skip


def gerund(deed: str) -> str:
    verb, _, rest = deed.partition(" ")
    if verb == "not":
        return f"not {gerund(rest)}"
    if verb in ("get", "put", "quit", "stop", "set", "shut", "cut", "sit", "swap", "run", "trim",
                "split", "wrap", "hit", "slim", "drop", "submit", "swim", "begin"):  # fmt: skip
        verb += verb[-1]
    elif verb in ("tie", "untie", "lie"):
        verb = verb[:-2] + "y"
    elif verb.endswith("e") and not verb.endswith("ee"):
        verb = verb[:-1]
    return f"{verb}ing {rest}".strip()


@cache
def deeds() -> tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]:
    """(the wordings of one deed, deeds that are near it)."""
    lines = (LISTS / "actions.txt").read_text(encoding="utf-8").splitlines()
    both = [line.partition(" !! ")[::2] for line in lines if line and not line.startswith("#")]
    return tuple(
        (tuple(x.strip() for x in a.split("|")), tuple(x.strip() for x in b.split("|"))) for a, b in both
    )


def about_deeds(rng: random.Random, of_held: bool) -> Iterator[Pair]:
    ours = [d for d in deeds() if held(d[0][0], HELD_QUESTIONS) == of_held]
    names, weights = list(INTENTS), [6 if n in ("how", "do") else 1 for n in INTENTS]
    while True:
        same, others = rng.choice(ours)
        intent = rng.choices(names, weights)[0]
        state = rng.random()
        first = _deed(rng.choice(same), intent, rng, state)
        roll = rng.random()
        if roll < 0.5:
            second, kind = _deed(rng.choice(same), intent, rng, state), "deed wording"
            if rng.random() < 0.3:
                extra = qualifier(rng)
                first, second = qualified(first, extra, rng), qualified(second, extra, rng)
        elif roll < 0.72:
            second, kind = _deed(rng.choice(others), intent, rng, state), "other deed"
        elif roll < 0.9:
            pairs = {"how": "how not", "do": "do not", "should": "should not", "first": "after"}
            opposite = pairs.get(intent) or next((k for k, v in pairs.items() if v == intent), "")
            other = (
                opposite if opposite and rng.random() < 0.6 else rng.choice([n for n in names if n != intent])
            )
            kind = (
                "negation"
                if other == opposite and intent != "first" and intent != "after"
                else "other intent"
            )
            if {intent, other} == {"how", "do"}:
                continue
            second = _deed(rng.choice(same), other, rng, state)
        else:
            found = corrupt(first, rng)
            if not found:
                continue
            second, kind = found
        if second != first:
            yield Pair(a=first, b=second, label=int(kind == "deed wording"), kind=kind)


def _deed(deed: str, intent: str, rng: random.Random, state: float) -> str:
    """``state`` picks the choice in a deed, which is the same for both queries of a pair."""
    deed = re.sub(r"\(([^()]*)\)", lambda m: m[1].split("/")[int(state * len(m[1].split("/")))], deed)
    if deed.endswith((" a", " on", " teach")) or deed == "teach":
        deed += " one" if deed.endswith(" a") else " it"
    return rng.choice(INTENTS[intent]).format(a=deed, g=gerund(deed))


# ---- who did what to whom ------------------------------------------------------------------------

ACTIVE = {
    "did": "did {x} {b} {y}", "why": "why did {x} {b} {y}", "when": "when did {x} {b} {y}",
    "how": "how did {x} {b} {y}", "state": "{x} {p} {y}", "ever": "has {x} ever {q} {y}",
    "where": "where did {x} {b} {y}", "often": "how often did {x} {b} {y}",
}  # fmt: skip
PASSIVE = {
    "did": "was {y} {q} by {x}", "why": "why was {y} {q} by {x}", "when": "when was {y} {q} by {x}",
    "how": "how was {y} {q} by {x}", "state": "{y} was {q} by {x}", "ever": "has {y} ever been {q} by {x}",
    "where": "where was {y} {q} by {x}", "often": "how often was {y} {q} by {x}",
}  # fmt: skip
OPEN = {
    "subject": ("who {p} {y}", "by whom was {y} {q}", "{y} was {q} by whom", "who was {y} {q} by",
                "name who {p} {y}"),
    "object": ("whom did {x} {b}", "who did {x} {b}", "who was {q} by {x}", "{x} {p} whom",
               "name whom {x} {p}"),
}  # fmt: skip


def about_roles(rng: random.Random, of_held: bool) -> Iterator[Pair]:
    every = [tuple(row.split("/")) for row in words()["verb"]]
    verbs = [v for v in every if held(v[0], HELD_QUESTIONS) == of_held]
    while True:
        b, p, q = rng.choice(verbs)
        kind = rng.choice(("person", "first", "company", "team", "country"))
        x, y = thing(kind, rng, of_held), thing(kind, rng, of_held)
        if x == y:
            continue
        here, there = {"x": x, "y": y}, {"x": y, "y": x}
        verb = {"b": b, "p": p, "q": q}
        if rng.random() < 0.3:
            about = {"x": x, "y": x}
            one, other = rng.sample(("subject", "object"), 2)
            first = rng.choice(OPEN[one]).format(**about, **verb)
            same = rng.random() < 0.5
            second = rng.choice(OPEN[one if same else other]).format(**about, **verb)
            if first != second:
                yield Pair(a=first, b=second, label=int(same), kind="voice" if same else "roles")
            continue
        wh = rng.choice(list(ACTIVE))
        one, other = rng.choices((ACTIVE, PASSIVE), k=2)
        first = one[wh].format(**here, **verb)
        roll = rng.random()
        if roll < 0.5:
            other = PASSIVE if one is ACTIVE else ACTIVE
            yield Pair(a=first, b=other[wh].format(**here, **verb), label=1, kind="voice")
        elif roll < 0.85:
            yield Pair(a=first, b=other[wh].format(**there, **verb), label=0, kind="roles")
        elif roll < 0.93:
            v2 = rng.choice([v for v in verbs if v[0] != b] or every[:1])
            changed = {"b": v2[0], "p": v2[1], "q": v2[2]}
            yield Pair(a=first, b=other[wh].format(**here, **changed), label=0, kind="verb")
        else:
            w2 = rng.choice([w for w in ACTIVE if w != wh])
            yield Pair(a=first, b=other[w2].format(**here, **verb), label=0, kind="question type")
