"""Rules that reword a query so that it asks the same.

The word lists they take lie in ``paraphrase_lists/words.txt``. Every rule returns None where it does not
apply. ``rng`` is the only source of chance.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

LISTS = Path(__file__).with_name("paraphrase_lists")
Rule = Callable[[str, random.Random], str | None]

NUMBERS = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
]
AUX = r"(?:is|are|was|were|do|does|did|can|could|should|will|would|has|have|had)"
CONTRACTED = (
    ("what is", "what's"), ("who is", "who's"), ("where is", "where's"), ("how is", "how's"),
    ("do not", "don't"), ("does not", "doesn't"), ("did not", "didn't"), ("is not", "isn't"),
    ("cannot", "can't"), ("I am", "I'm"), ("was not", "wasn't"), ("are not", "aren't"),
)  # fmt: skip


@cache
def words() -> dict[str, tuple[str, ...]]:
    """The lists of ``words.txt`` by name, in its order."""
    found: dict[str, list[str]] = defaultdict(list)
    for line in (LISTS / "words.txt").read_text(encoding="utf-8").splitlines():
        name, _, rest = line.partition(": ")
        if rest and not line.startswith("#"):
            found[name].append(rest)
    return {name: tuple(rows) for name, rows in found.items()}


@cache
def exchange(name: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    """Patterns and what replaces them, in both directions."""
    pairs = [tuple(row.split(" = ")) for row in words()[name]]
    both = [(a, b) for a, b in pairs] + [(b, a) for a, b in pairs]
    # What is all capitals is an abbreviation, and a word in small letters ("who", "us") is not.
    return tuple(
        (re.compile(rf"(?<!\w){re.escape(a)}(?!\w)", 0 if a.isupper() else re.IGNORECASE), b) for a, b in both
    )


@cache
def _stop() -> frozenset[str]:
    return frozenset(words()["stop"][0].split())


@cache
def _participles() -> dict[str, str]:
    return {past: part for past, _, part in (row.partition("/") for row in words()["participle"])}


def content(text: str) -> set[str]:
    """The words of a text that are not of every text, without their plural s."""
    found = re.findall(r"\w+", text.lower())
    return {w[:-1] if len(w) > 3 and w.endswith("s") else w for w in found if w not in _stop()}


def overlap(a: str, b: str) -> float:
    """Jaccard of the words of two texts."""
    x, y = (set(re.findall(r"\w+", t.lower())) for t in (a, b))
    return len(x & y) / max(len(x | y), 1)


# ---- the same question in other words ------------------------------------------------------------


def synonym(q: str, rng: random.Random) -> str | None:
    fitting = [(p, r) for p, r in exchange("same") if p.search(q)]
    if not fitting:
        return None
    pattern, other = rng.choice(fitting)
    return pattern.sub(lambda _: other, q, count=1)


def opener(q: str, rng: random.Random) -> str | None:
    """Politeness and the like before or behind; an embedded question has its verb behind."""
    bare = q.rstrip("?!. ")
    if rng.random() < 0.5:
        return rng.choice(words()["plain"]).format(q=bare)
    frame = rng.choice(words()["opener"])
    embedded = r"(what|who|where|how (?:old|tall|high|long|big)) (is|are|was|were) (.+)$"
    if found := re.match(embedded, bare, re.IGNORECASE):
        wh, verb, rest = found.groups()
        if not re.search(
            r"\b(located|built|made|called|born|used|open|held|from|in|for|to|the first)\b", rest
        ):
            return frame.format(q=f"{wh.lower()} {rest} {verb}")
        return frame.format(q=f"{wh.lower()} {verb} {rest}")
    if found := re.match(r"(is|are|was|were|can|will|does|do|did) (.+)$", bare, re.IGNORECASE):
        return frame.format(q=f"whether {found[2]}") if found[1].lower() in ("can", "will") else None
    if re.match(r"(what|who|where|when|how|why|which|in which|in what|by whom)\b", bare, re.IGNORECASE):
        return frame.format(q=bare[0].lower() + bare[1:])
    return None


def contraction(q: str, rng: random.Random) -> str | None:
    fitting = [(a, b) for a, b in CONTRACTED if re.search(rf"\b{a}\b", q, re.IGNORECASE)]
    if not fitting:
        return None
    a, b = rng.choice(fitting)
    return re.sub(rf"\b{a}\b", b, q, count=1, flags=re.IGNORECASE)


def typo(q: str, rng: random.Random) -> str | None:
    """One letter of one longer word without a digit is lost, doubled or exchanged with the next."""
    places = list(re.finditer(r"[A-Za-z]{5,}", q))
    if not places:
        return None
    word = rng.choice(places)
    at = rng.randrange(word.start() + 1, word.end() - 1)
    kind = rng.randrange(3)
    if kind == 0:
        return q[:at] + q[at + 1 :]
    return q[:at] + q[at] + q[at:] if kind == 1 else q[:at] + q[at + 1] + q[at] + q[at + 2 :]


def keywords(q: str, rng: random.Random) -> str | None:
    """What somebody types into a search box: without frame, articles and most small words."""
    text = q.rstrip("?!. ")
    text = re.sub(rf"^(?:what|which|who) (?:{AUX} )?(?:the )?(?:name of )?(?:the )?", "", text, flags=re.I)
    text = re.sub(r"^how many ", rng.choice(("number of ", "how many ", "number ")), text, flags=re.I)
    text = re.sub(r"^(?:in )?(?:what|which) year ", "year ", text, flags=re.I)
    text = re.sub(r"^when ", rng.choice(("when ", "date ", "")), text, flags=re.I)
    text = re.sub(r"^where ", rng.choice(("where ", "location ")), text, flags=re.I)
    dropped = r"\b(?:a|an|the|is|are|was|were|did|does|do|there|that|has|have|had|been|be)\b ?"
    text = re.sub(dropped, "", text, flags=re.I)
    if rng.random() < 0.4:
        text = re.sub(r"\b(?:of|in|for|on|by|at|to) ", "", text, flags=re.I)
    text = re.sub(r"[,\"']", "", " ".join(text.split()))
    return text if len(text.split()) >= 2 and text.lower() != q.lower() else None


def typed(q: str, rng: random.Random) -> str | None:
    """Key words, some of them in another order, for a synonym or passive of the question."""
    before = q
    for rule in (passive, synonym, turned):
        if rng.random() < 0.25:
            before = rule(before, rng) or before
    text = keywords(before, rng)
    if (
        text
        and rng.random() < 0.35
        and len(parts := re.split(r" (?=in |of |for |by |at |on |from |with )", text)) > 1
    ):
        at = rng.randrange(1, len(parts))
        text = " ".join([*parts[at:], *parts[:at]])
    return text


def turned(q: str, rng: random.Random) -> str | None:
    """A phrase at the end that tells time or place goes to the front."""
    found = re.match(
        r"((?:who|what|which|how|when|where|did|was|is|does)\b.{8,}?) "
        r"((?:in|during|after|before|since|at|on|for|from|between) (?:the |a )?\S+(?: \S+){0,3})\??$",
        q, re.IGNORECASE,
    )  # fmt: skip
    if not found or re.search(r"\b(?:in|at|on|for|from|to|of|and|or|the|than|by)$", found[1]):
        return None
    return f"{found[2]}{rng.choice((', ', ' '))}{found[1]}"


def frame(q: str, rng: random.Random) -> str | None:
    """Another frame round the same thing."""
    bare = q.rstrip("?!. ")
    if found := re.match(r"what(?: is|'s| was| are| were) the (.+)$", bare, re.I):
        return rng.choice(("tell me the {}", "the {}", "{}", "give me the {}", "which is the {}")).format(
            found[1]
        )
    if found := re.match(r"who (?:is|was) the (.+)$", bare, re.I):
        return rng.choice(("name the {}", "what is the name of the {}", "{} name", "who's the {}")).format(
            found[1]
        )
    if found := re.match(r"(?:which|what) (\w+) (.+)$", bare, re.I):
        wh = "what" if bare[0] in "wW" and bare[1:5].lower() == "hich" else "which"
        return f"{wh} {found[1]} {found[2]}"
    if found := re.match(r"how many (.+?) (were|are|was|have|had|did) (.+)$", bare, re.I):
        noun, verb, rest = found.groups()
        if verb == "did":
            return f"what is the number of {noun} that {rest}"
        return rng.choice((
            f"what is the number of {noun} that {verb} {rest}", f"number of {noun} that {verb} {rest}",
            f"what number of {noun} {verb} {rest}", f"count of {noun} that {verb} {rest}",
        ))  # fmt: skip
    if found := re.match(r"when (did|was|is|does|were|will) (.+)$", bare, re.I):
        return rng.choice((f"on what date {found[1]} {found[2]}", f"at what time {found[1]} {found[2]}",
                           f"what is the date when {found[2]}"))  # fmt: skip
    if found := re.match(r"where (did|was|is|does|were|will|are) (.+)$", bare, re.I):
        return rng.choice(
            (f"in what place {found[1]} {found[2]}", f"at which location {found[1]} {found[2]}")
        )
    if found := re.match(r"why (did|was|is|does|were|are|do) (.+)$", bare, re.I):
        return rng.choice((f"for what reason {found[1]} {found[2]}", f"what is the reason that {found[2]}"))
    return None


def passive(q: str, rng: random.Random) -> str | None:
    found = re.match(r"who (\w+) (.+?)\??$", q, re.I)
    if not found or found[1].lower() not in _participles():
        return None
    part, verb = _participles()[found[1].lower()], "is" if found[1].lower() == "owns" else "was"
    forms = ("by whom {v} {o} {p}", "{o} {v} {p} by whom", "{o} {p} by", "{o} {v} {p} by who",
             "who {v} {o} {p} by")  # fmt: skip
    return rng.choice(forms).format(v=verb, o=found[2], p=part)


def digits(q: str, rng: random.Random) -> str | None:
    """A small number in digits instead of letters, or the other way round."""
    found = list(re.finditer(r"\b(?:\d{1,2}|" + "|".join(NUMBERS[2:]) + r")\b", q, re.I))
    found = [m for m in found if not m[0].isdigit() or 1 < int(m[0]) < len(NUMBERS)]
    found = [m for m in found if not re.search(r"(?:[A-Z]\S*|[.#-]) ?$", q[: m.start()])]  # no name's part
    if not found:
        return None
    m = rng.choice(found)
    other = NUMBERS[int(m[0])] if m[0].isdigit() else str(NUMBERS.index(m[0].lower()))
    return q[: m.start()] + other + q[m.end() :]


REWORDING: tuple[Rule, ...] = (keywords, frame, turned, passive, synonym, opener)
SURFACE: tuple[Rule, ...] = (typo, contraction, synonym, opener, digits)


def reword(q: str, rng: random.Random, rules: Sequence[Rule] = REWORDING, most: int = 3) -> str | None:
    """Apply one to ``most`` rules, in the order given; None where none applies."""
    chosen = rng.sample(range(len(rules)), min(rng.randint(1, most), len(rules)))
    result = q
    for place in sorted(chosen):
        result = rules[place](result, rng) or result
    return result if result.lower().rstrip("?. ") != q.lower().rstrip("?. ") else None
