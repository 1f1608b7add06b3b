"""Build ``data/lexicon.json.xz`` from the files of WordNet 3.0.

    python plugins/match_semantic/tools/build_lexicon.py FOLDER

``FOLDER`` holds ``data.noun``, ``cntlist.rev``, ``noun.exc`` and the like, as Debian's package
``wordnet-base`` lays them in ``/usr/share/wordnet``. What comes out: which words are common, their synonyms,
opposites, sisters under one heading, families, and irregular forms.
"""

from __future__ import annotations

import json
import lzma
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

POS = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}
CODES = {"1": "n", "2": "v", "3": "a", "4": "r", "5": "a"}
OUT = Path(__file__).parents[1] / "src" / "webfetch_match_semantic" / "data" / "lexicon.json.xz"
LEAST_USES = 2
"""A word that is met less often in glosses and tagged texts is taken for a name."""
SENSES = 3
"""Senses by which two words may be synonyms, the most frequent first."""
_WORD = re.compile(r"[a-z]+")


def read(folder: Path) -> tuple[dict[tuple[str, str], Any], Counter[str]]:
    """Every synset, and how often each word is met in glosses."""
    synsets: dict[tuple[str, str], Any] = {}
    met: Counter[str] = Counter()
    for name, pos in POS.items():
        for line in (folder / f"data.{name}").read_text(encoding="utf-8").splitlines():
            if line.startswith("  "):
                continue
            facts, _, gloss = line.partition(" | ")
            met.update(_WORD.findall(gloss.lower()))
            parts = facts.split()
            n = int(parts[3], 16)
            words = [re.sub(r"\(\w+\)$", "", parts[4 + 2 * i]) for i in range(n)]
            at = 4 + 2 * n
            pointers = []
            for i in range(int(parts[at])):
                kind, offset, other, ends = parts[at + 1 + 4 * i : at + 5 + 4 * i]
                pointers.append((kind, ("a" if other == "s" else other, offset), ends))
            synsets[pos, parts[0]] = (words, pointers, parts[2])
    return synsets, met


def senses(folder: Path, synsets: dict[tuple[str, str], Any]) -> dict[str, list[tuple[int, tuple[str, str]]]]:
    """The synsets of every word, with how often each was tagged, the most frequent first."""
    tagged: Counter[tuple[str, str, int]] = Counter()
    for line in (folder / "cntlist.rev").read_text(encoding="utf-8").splitlines():
        key, sense, count = line.split()
        word, _, code = key.partition("%")
        tagged[word, CODES[code[0]], int(sense)] += int(count)
    found: dict[str, list[tuple[int, tuple[str, str]]]] = defaultdict(list)
    for name, pos in POS.items():
        for line in (folder / f"index.{name}").read_text(encoding="utf-8").splitlines():
            if line.startswith("  "):
                continue
            parts = line.split()
            n = int(parts[2])
            for rank, offset in enumerate(parts[-n:], 1):
                found[parts[0]].append((tagged[parts[0], pos, rank], (pos, offset)))
    return {word: sorted(some, key=lambda s: -s[0]) for word, some in found.items()}


def main() -> None:
    folder = Path(sys.argv[1])
    synsets, met = read(folder)
    of = senses(folder, synsets)
    lower = {w for words, _, _ in synsets.values() for w in words if w.islower() and w.isalpha()}
    proper = {
        w.lower()
        for words, _, _ in synsets.values()
        for w in words
        if w[:1].isupper() and w.isalpha() and len(w) > 2
    }
    uses = {w: met[w] + sum(n for n, _ in of[w]) for w in lower if w in of}
    common = sorted(w for w in uses if uses[w] >= LEAST_USES and len(w) > 1)
    known = set(common)

    numbers: dict[tuple[str, str], int] = {}

    def number(synset: tuple[str, str]) -> int:
        return numbers.setdefault(synset, len(numbers))

    words: dict[str, list[Any]] = {}
    for w in common:
        top = of[w][:SENSES]
        pos = "".join(dict.fromkeys(s[1][0] for s in of[w][:6]))
        above = ""
        nouns = [s for _, s in top if s[0] == "n"]
        if nouns and of[w][0][1] == nouns[0]:
            above = next((str(number(t)) for k, t, _ in synsets[nouns[0]][1] if k == "@"), "")
        words[w] = [pos, [number(s) for _, s in top], int(above) if above else -1, min(uses[w], 9999)]

    opposites: set[tuple[str, str]] = set()
    family: set[tuple[str, str]] = set()
    for synset, (mine, pointers, _) in synsets.items():
        for kind, target, ends in pointers:
            if kind not in "!+" or ends == "0000":
                continue
            a, b = mine[int(ends[:2], 16) - 1].lower(), synsets[target][0][int(ends[2:], 16) - 1].lower()
            if a == b or a not in known or b not in known:
                continue
            if kind == "!":
                opposites.add((min(a, b), max(a, b)))
            elif a[:3] == b[:3]:
                family.add((min(a, b), max(a, b)))
        if synset[0] == "a":
            # A satellite has no opposite of its own, but that of the word it is like.
            heads = [t for k, t, _ in pointers if k == "&"]
            if not any(k == "!" for k, _, _ in pointers):
                for head in heads:
                    for k, t, ends in synsets[head][1]:
                        if k == "!":
                            b = synsets[t][0][max(int(ends[2:], 16) - 1, 0)].lower()
                            for a in (w.lower() for w in mine):
                                first = of.get(a, [(0, ("", ""))])[0][1]
                                if a in known and b in known and a != b and first == synset:
                                    opposites.add((min(a, b), max(a, b)))
    forms: dict[str, str] = {}
    for name in ("noun", "verb"):  # "largest" is not "large"
        for line in (folder / f"{name}.exc").read_text(encoding="utf-8").splitlines():
            form, *lemmas = line.split()
            if form.isalpha() and lemmas[0] in known and form != lemmas[0]:
                forms.setdefault(form, lemmas[0])
    data = {
        "source": "WordNet 3.0, see NOTICE.txt",
        "words": words,
        "opposites": sorted(opposites),
        "family": sorted(family),
        "forms": forms,
        "names": sorted(proper - known),
    }
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False)
    OUT.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))
    counts = {name: len(part) for name, part in data.items()}
    sys.stdout.write(f"{counts}, {OUT.stat().st_size} bytes\n")


if __name__ == "__main__":
    main()
