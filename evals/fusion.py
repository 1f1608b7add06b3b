"""What several engines give that one does not: recall and failed queries, for single, fallback and fuse.

Real adapters talk over sockets to simulated engines that speak the vendors' wire formats. Each
engine has indexed its own share of one corpus (seeded), ranks it with its own noise, and fails at
its own rate (seeded). For every coverage the same questions are asked in each mode:

- recall@10: the page that has the answer is among the first ten hits;
- failed queries: no engine answered;
- an engine that dies in the middle (it hangs from then on): how many queries waited for it.

    python evals/fusion.py [--questions 120] [--seed 11]

Data: ``mini_web`` (``pages_meta.jsonl.xz`` with ``page_id``, ``title``, ``clean_text``; ``qa.jsonl``
with ``question``, ``page_ids``, ``tier``). Any pages and questions of that form will do.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from common import DATA, finish, median, need, rows

from webfetch_core import AllEnginesFailed, Settings, Webfetch
from webfetch_core.testing.engines import simulator
from webfetch_core.testing.engines.base import EngineSimulator
from webfetch_core.testing.engines.corpus import Corpus, CorpusDocument

ENGINES = ("brave", "serper", "tavily", "exa")
COVERAGES = (0.5, 0.6, 0.7)
FAILURE_RATES = {"brave": 0.05, "serper": 0.10, "tavily": 0.15, "exa": 0.10}
NOISE = 0.4
TIMEOUT_S = 0.6
TEXT_CHARS = 3_000
KEYS = {f"{name.upper()}_API_KEY": "key-of-the-eval" for name in ENGINES}


@contextmanager
def engines(
    corpus: Corpus, coverage: float, seed: int, *, failing: bool = True
) -> Iterator[dict[str, EngineSimulator]]:
    with ExitStack() as stack:
        yield {
            name: stack.enter_context(
                simulator(name)(
                    corpus,
                    coverage=coverage,
                    noise=NOISE,
                    seed=seed + place,
                    failure_rate=FAILURE_RATES[name] if failing else 0.0,
                )
            )
            for place, name in enumerate(ENGINES)
        }


def host(running: dict[str, EngineSimulator], chosen: Sequence[str], mode: str, home: str) -> Webfetch:
    """Adapters alone: no page is fetched, nothing is cached, so that hits are what is measured."""
    settings = Settings(
        search=tuple(chosen),
        search_mode=mode,
        fetch=(),
        cache=("none",),
        engine_timeout_s=TIMEOUT_S,
        home=home,
        plugins={
            f"search_{name}": {"base_url": sim.endpoint, "calls_per_s": 10_000.0}
            for name, sim in running.items()
        },
    )
    return Webfetch(settings, environ=KEYS)


def ask(wf: Webfetch, questions: list[dict[str, Any]], urls: dict[str, str]) -> dict[str, float]:
    found = failed = 0
    times: list[float] = []
    for row in questions:
        started = time.monotonic()
        try:
            result = wf.search(row["question"])
        except AllEnginesFailed:
            failed += 1
        else:
            gold = {urls[p] for p in row["page_ids"] if p in urls}
            found += bool(gold & {hit.url for hit in result.hits[:10]})
        times.append(time.monotonic() - started)
    return {"recall": found / len(questions), "failed": failed, "p50_s": median(times), "max_s": max(times)}


def outage(corpus: Corpus, questions: list[dict[str, Any]], seed: int, home: str) -> dict[str, float]:
    """One of four engines dies after ten queries: how many of the rest waited for its time-out."""
    with engines(corpus, 0.6, seed, failing=False) as running, host(running, ENGINES, "fuse", home) as wf:
        waited = 0
        for place, row in enumerate(questions[:40]):
            if place == 10:
                running["brave"].fault = "hang"
            started = time.monotonic()
            wf.search(row["question"])
            waited += time.monotonic() - started >= TIMEOUT_S * 0.9
        return {"dead_engine_waits": waited}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--questions", type=int, default=120)
    parser.add_argument("--seed", type=int, default=11)
    args = parser.parse_args()
    data = need(
        DATA / "mini_web" / "qa.jsonl", "See the docstring of this script for the form of the data."
    ).parent
    documents, urls = [], {}
    for row in rows(data / "pages_meta.jsonl.xz"):
        url = f"https://pages.example/{row['page_id'].replace(':', '/')}"
        urls[row["page_id"]] = url
        documents.append(
            CorpusDocument(url=url, title=row["title"], text=(row.get("clean_text") or "")[:TEXT_CHARS])
        )
    questions = [q for q in rows(data / "qa.jsonl") if q["tier"] == "A"]
    random.Random(args.seed).shuffle(questions)
    questions = questions[: args.questions]
    corpus = Corpus(documents)
    figures: dict[str, Any] = {"seed": args.seed, "questions": len(questions)}
    gains = []
    with tempfile.TemporaryDirectory(prefix="webfetch-fusion-") as home:
        for coverage in COVERAGES:
            print(f"\ncoverage {coverage:.1f} ({len(documents)} pages, {len(questions)} questions)")
            print(f"  {'mode':18} {'recall@10':>9} {'failed':>7} {'p50 s':>7} {'max s':>7}")
            best, prefix = 0.0, f"c{round(coverage * 100)}"
            modes = [("single", (name,)) for name in ENGINES] + [("fallback", ENGINES), ("fuse", ENGINES)]
            for mode, chosen in modes:
                with engines(corpus, coverage, args.seed) as running, host(running, chosen, mode, home) as wf:
                    row = ask(wf, questions, urls)
                label = f"{mode} {chosen[0]}" if mode == "single" else mode
                print(f"  {label:18} {row['recall']:9.3f} {row['failed']:7.0f}", end="")
                print(f" {row['p50_s']:7.3f} {row['max_s']:7.3f}")
                key = f"{prefix}_{label.replace(' ', '_')}"
                figures |= {f"{key}_recall": row["recall"], f"{key}_failed": row["failed"]}
                best = max(best, row["recall"]) if mode == "single" else best
            gains.append(figures[f"{prefix}_fuse_recall"] - best)
            print(f"  fuse beats the best single engine by {100 * gains[-1]:.1f} points")
        figures["fuse_gain_min"] = min(gains)
        figures["fuse_failed_max"] = max(figures[f"c{round(c * 100)}_fuse_failed"] for c in COVERAGES)
        figures |= outage(corpus, questions, args.seed, home)
    print(f"\nan engine that died in mid-run was waited for {figures['dead_engine_waits']} times")
    finish("fusion", figures)


if __name__ == "__main__":
    main()
