"""Rules that change a query so that it asks something else in almost the same words."""

from __future__ import annotations

import random
import re

from paraphrase_rules import AUX, NUMBERS, Rule, exchange, words


def other_word(q: str, rng: random.Random) -> str | None:
    fitting = [(p, r) for p, r in exchange("other") if p.search(q)]
    if not fitting:
        return None
    pattern, other = rng.choice(fitting)
    return pattern.sub(lambda _: other, q, count=1)


def other_number(q: str, rng: random.Random) -> str | None:
    found = list(re.finditer(r"\d+|\b(?:" + "|".join(NUMBERS[2:]) + r")\b", q, re.I))
    if not found:
        return None
    m = rng.choice(found)
    if not m[0].isdigit():
        others = [n for n in NUMBERS[2:] if n != m[0].lower()]
        return q[: m.start()] + rng.choice(others) + q[m.end() :]
    step = rng.choice((1, -1, 2, -3, 10, -10, 4)) if int(m[0]) > 10 else rng.choice((1, 2, 3))
    return q[: m.start()] + str(int(m[0]) + step) + q[m.end() :]


def narrowed(q: str, rng: random.Random) -> str | None:
    extra = rng.choice(words()["narrow"])
    if extra.split()[-1] in q:
        return None
    mark = "?" if q.endswith("?") else ""
    return f"{q.rstrip('?!. ')} {extra}{mark}"


def narrowed_inside(q: str, rng: random.Random) -> str | None:
    places = list(
        re.finditer(r"\b(?:the|a|of|how many|which|what) (?=[a-z]{3,})(?!is|was|are|were|did|does|do )", q)
    )
    if not places:
        return None
    m, extra = rng.choice(places), rng.choice(words()["inner"])
    return None if extra in q else q[: m.end()] + extra + " " + q[m.end() :]


def negated(q: str, rng: random.Random) -> str | None:
    if re.search(r"\b(?:not|never|no)\b|n't", q):
        return None
    found = re.search(rf"\b({AUX})\b(?= \w)", q, re.I)
    if not found:
        return None
    if re.match(r"(?:how|what|who|which|where|why|when)", q, re.I):
        subject = re.match(rf"(.*?\b{AUX}\b(?: I| you| the \w+| \w+)?)\b", q, re.I)
        at = subject.end() if subject else found.end()
    else:
        at = found.end()
    return f"{q[:at]} {rng.choice(('not', 'not', 'never', 'no longer'))}{q[at:]}"


def other_kind(q: str, rng: random.Random) -> str | None:
    """Another question word."""
    found = re.match(r"(who|when|where|why|how many|how much|how long|how often|what year|what)\b", q, re.I)
    if not found:
        return None
    others = {"when": ("where", "why", "how"), "where": ("when", "why"), "why": ("when", "how"),
              "who": ("when", "why", "how many people"), "how many": ("which", "what are the names of the"),
              "how much": ("how often", "how long"), "how long": ("how much", "how often"),
              "how often": ("how long", "why"), "what year": ("what city", "what country"),
              "what": ("why", "who", "where")}[found[1].lower()]  # fmt: skip
    return rng.choice(others) + q[found.end() :]


CORRUPTIONS: dict[str, Rule] = {
    "antonym": other_word,
    "number": other_number,
    "modifier": narrowed,
    "modifier inside": narrowed_inside,
    "negation": negated,
    "question type": other_kind,
}


def corrupt(q: str, rng: random.Random) -> tuple[str, str] | None:
    """Return (another question, what was changed), or None where no rule applies."""
    names = list(CORRUPTIONS)
    rng.shuffle(names)
    names.sort(key=lambda name: name in ("modifier", "question type") and rng.random() < 0.6)
    for name in names:
        changed = CORRUPTIONS[name](q, rng)
        if changed and changed.lower() != q.lower():
            return changed, name
    return None
