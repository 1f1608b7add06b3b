"""A closed little web, end to end: search, fetch over HTTP, extract, chunk, rank, compress, render.

Serves the pages of the mini-web data set on loopback, indexes the same pages with search_local (so
that its hits are web pages to be fetched, not local files), and asks the questions whose answers
are known to be on those pages:

1. without delay: recall@10 of the page, answer in the five excerpts, tokens per result;
2. with a seeded heavy-tailed delay (lognormal, median 300 ms, 5 % over 4 s, 3 % never answer):
   p50/p95 wall time for pages never seen and for pages seen before, partial results, and whether
   the hard deadline was ever passed.

    python evals/miniweb.py [--questions 614] [--timed 120] [--seed 7] [--rank bm25]

Every ranker that is installed takes part, and the run says which ones ranked how many results;
``--rank`` names those to keep to. A run with BM25 alone has bounds of its own.

Data: a folder ``mini_web`` with ``pages.tar.xz`` (members ``pages/...``), ``pages_meta.jsonl.xz``
(``page_id``, ``file``, ``title``) and ``qa.jsonl`` (``question``, ``answers``, ``page_ids``,
``tier``; tier A is asked). Any set of pages and questions of this form will do.
"""

from __future__ import annotations

import argparse
import hashlib
import http.server
import json
import math
import os
import random
import re
import sys
import tarfile
import tempfile
import threading
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from statistics import NormalDist
from typing import Any
from urllib.parse import quote, unquote

from common import DATA, answered, finish, median, need, percentile, rows

from webfetch_core import Settings, Webfetch
from webfetch_core.errors import AllEnginesFailed
from webfetch_core.models import SearchResult
from webfetch_core.settings import NetSettings

MEDIAN_S = 0.3
OVER_4S = 0.05
NEVER = 0.03
SIGMA = math.log(4.0 / MEDIAN_S) / NormalDist().inv_cdf(1 - OVER_4S)
"""The spread that puts 5 % of a lognormal with median 0.3 s above 4 s."""
GRACE_S = 0.25
"""How far past the deadline a wall time may lie before it counts as passed: thread wake-ups."""


class Site(http.server.ThreadingHTTPServer):
    """The pages, each with its own delay, the same in every run of one seed."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self, folder: Path, seed: int) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.folder = folder
        self.seed = seed
        self.delayed = False
        self.edition = 0
        """Above 0, every line of a page ends with this number: passages that nobody has seen before."""
        self.closing = threading.Event()

    def delay(self, path: str) -> float | None:
        """Seconds before the page answers; None when it never does."""
        digest = hashlib.sha256(f"{self.seed} {path}".encode()).digest()
        chance = random.Random(digest)
        if chance.random() < NEVER:
            return None
        return chance.lognormvariate(math.log(MEDIAN_S), SIGMA)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that give up are part of the experiment."""


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Site

    def do_GET(self) -> None:
        path = unquote(self.path.lstrip("/"))
        file = self.server.folder / path
        if path == "robots.txt" or not file.is_file():
            self.send_error(404)
            return
        if self.server.delayed:
            wait = self.server.delay(path)
            if self.server.closing.wait(60.0 if wait is None else wait) or wait is None:
                self.close_connection = True
                return
        body = file.read_bytes()
        if self.server.edition:
            mark = b" %d" % self.server.edition
            body = re.sub(rb"(?i)(?=</title>)|(?<=[^>\s])(?=\r?\n)", mark, body)
        self.send_response(200)
        kind = "text/html" if file.suffix == ".html" else "text/plain"
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Quiet."""


def build_index(home: Path, folder: Path, base: str, files: list[str]) -> None:
    """Index the pages under the URLs that the site serves them at, by the plugin's own command."""
    from webfetch_core.cli import main

    mapping = home / "urls.jsonl"
    mapping.write_text(
        "".join(json.dumps({"path": f, "url": base + quote(f)}) + "\n" for f in files), encoding="utf-8"
    )
    environ = {"WEBFETCH_HOME": str(home), "HOME": str(home), "PATH": ""}
    argv = ["index", "add", str(folder), "--name", "miniweb", "--url-map", str(mapping)]
    if (code := main(argv, environ=environ)) != 0:
        raise SystemExit(f"indexing ended with {code}")


def open_webfetch(home: Path, deadline_s: float, rank: tuple[str, ...] = ()) -> Webfetch:
    """A webfetch over the index; ``rank`` names the rankers, all that are installed by default."""
    settings = Settings(
        search=("local",),
        rank=rank or "auto",
        home=str(home),
        deadline_s=deadline_s,
        net=NetSettings(allow_hosts=("127.0.0.1",)),
        plugins={"fetch_http": {"obey_robots": False}},
    )
    return Webfetch(settings, environ={"HOME": str(home)})


def gold(result: SearchResult, urls: set[str]) -> tuple[bool, bool]:
    """(the page is among the ten hits, the page was fetched)."""
    hits = {hit.url for hit in result.hits[:10]}
    missed = {f.url for f in result.failed_urls}
    return bool(hits & urls), bool((hits & urls) - missed)


def _in_excerpts(result: SearchResult, answers: list[str]) -> bool:
    return answered("\n".join(f"{c.title}\n{c.text}" for c in result.chunks), answers)


def quality(wf: Webfetch, questions: list[dict[str, Any]], where: dict[str, str]) -> dict[str, float]:
    found = fetched = excerpt = rendered = anywhere = 0
    tokens: list[int] = []
    times: list[float] = []
    ranked: Counter[str] = Counter()
    for place, row in enumerate(questions, start=1):
        started = time.monotonic()
        result = wf.search(row["question"], force_fresh=False)
        times.append(time.monotonic() - started)
        ranked.update(result.ranked_by)
        urls = {where[p] for p in row["page_ids"] if p in where}
        is_found, is_fetched = gold(result, urls)
        found += is_found
        text = wf.render(result)
        tokens.append(len(text) // 4)
        in_excerpts = _in_excerpts(result, row["answers"])
        anywhere += in_excerpts
        if is_fetched:
            fetched += 1
            excerpt += in_excerpts
            rendered += answered(text, row["answers"])
        if place % 100 == 0:
            print(f"  {place}/{len(questions)}", file=sys.stderr, flush=True)
    return {
        "questions": len(questions),
        **{f"ranked_by_{kind}": number for kind, number in sorted(ranked.items())},
        "recall_at_10": found / len(questions),
        "page_fetched": fetched / len(questions),
        "answer_in_excerpts_of_fetched": excerpt / max(fetched, 1),
        "answer_in_excerpts_of_all": anywhere / len(questions),
        "answer_after_compression_of_fetched": rendered / max(fetched, 1),
        "tokens_mean": sum(tokens) / len(tokens),
        "no_delay_p50_s": median(times),
        "no_delay_p95_s": percentile(times, 0.95),
    }


def timed(
    wf: Webfetch,
    questions: list[dict[str, Any]],
    where: dict[str, str],
    deadline_s: float,
    site: Site,
    *,
    cold: bool,
) -> dict[str, float]:
    """Wall times. Cold: no page and no passage was seen before. Warm: every page is in the cache, no query
    is."""
    name = "unseen" if cold else "seen"
    times: list[float] = []
    partial = passed = fetched = excerpt = 0
    for row in questions:
        cache = wf.cache()
        # Vectors are kept by content, in memory too: only new text is new to them.
        site.edition += cold
        for space in ("queries", "negative", "pages") if cold else ("queries",):
            cache.clear(space)
        started = time.monotonic()
        try:
            result = wf.search(row["question"])
        except AllEnginesFailed:  # a busy machine may not even ask its index in 0.6 s
            result = SearchResult(query=row["question"], partial=True)
        took = time.monotonic() - started
        times.append(took)
        partial += result.partial
        if gold(result, {where[p] for p in row["page_ids"] if p in where})[1]:
            fetched += 1
            excerpt += _in_excerpts(result, row["answers"])
        passed += took > deadline_s + GRACE_S
        # Pages of this question still under way would compete with the next one for the two cores.
        limit = time.monotonic() + 1.0
        while wf.host.tasks.running > 3 and time.monotonic() < limit:
            time.sleep(0.05)
    return {
        f"{name}_p50_s": median(times),
        f"{name}_p95_s": percentile(times, 0.95),
        f"{name}_max_s": max(times),
        f"{name}_partial": partial / len(questions),
        f"{name}_answer_in_excerpts_of_fetched": excerpt / max(fetched, 1),
        f"{name}_deadline_passed": passed,
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--questions", type=int, default=10_000, help="how many for the quality part")
    parser.add_argument("--timed", type=int, default=100, help="how many for the timed parts")
    parser.add_argument("--deadline", type=float, default=8.0)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--rank", default="", help="names of rankers, separated by commas")
    args = parser.parse_args()
    data = need(
        DATA / "mini_web" / "qa.jsonl", "See the docstring of this script for the form of the data."
    ).parent
    chance = random.Random(args.seed)
    questions = [q for q in rows(data / "qa.jsonl") if q["tier"] == "A"]
    chance.shuffle(questions)
    rank = tuple(name for name in args.rank.split(",") if name)
    figures: dict[str, Any] = {"seed": args.seed, "deadline_s": args.deadline, "rank": args.rank or "auto"}
    with ExitStack() as stack:
        work = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="webfetch-miniweb-")))
        with tarfile.open(data / "pages.tar.xz") as archive:
            archive.extractall(work, filter="data")
        meta = list(rows(data / "pages_meta.jsonl.xz"))
        folder = work / "pages"
        site = Site(folder, args.seed)
        threading.Thread(target=site.serve_forever, daemon=True).start()
        stack.callback(site.shutdown)
        stack.callback(site.closing.set)
        base = f"http://127.0.0.1:{site.server_address[1]}/"
        files = {m["page_id"]: m["file"].removeprefix("pages/") for m in meta}
        where = {page: base + quote(file) for page, file in files.items()}
        home = work / "home"
        home.mkdir()
        started = time.monotonic()
        build_index(home, folder, base, list(files.values()))
        print(f"indexed {len(files)} pages in {time.monotonic() - started:.1f} s")

        with open_webfetch(home, args.deadline, rank) as wf:
            figures |= quality(wf, questions[: args.questions], where)
        report(figures, "quality, without delay")

        site.delayed = True
        sample = questions[: args.timed]
        with open_webfetch(home, args.deadline, rank) as wf:
            wf.search("warm up the process and its workers")
            figures |= timed(wf, sample, where, args.deadline, site, cold=True)
        report(figures, "pages never seen, delayed", "unseen")
        with open_webfetch(home, 60.0, rank) as wf:
            site.delayed = False
            for row in sample:
                wf.search(row["question"])
            site.delayed = True
        with open_webfetch(home, args.deadline, rank) as wf:
            wf.search("warm up the process and its workers")
            figures |= timed(wf, sample, where, args.deadline, site, cold=False)
        report(figures, "pages seen before, delayed", "seen")
        with open_webfetch(home, 0.6, rank) as wf:
            short = timed(wf, sample[:30], where, 0.6, site, cold=True)
            figures |= {f"short_deadline_{k}": v for k, v in short.items()}
        report(figures, "deadline of 0.6 s", "short_deadline_")
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg()) if hasattr(os, "getloadavg") else "unknown"
    print(f"\nload averages at the end: {load}")
    finish("miniweb_bm25" if rank == ("bm25",) else "miniweb", figures | {"load": load})


def report(figures: dict[str, Any], title: str, prefix: str = "") -> None:
    print(f"\n{title}")
    for name, value in figures.items():
        shown = name.startswith(prefix) if prefix else not name.startswith(("unseen", "seen", "short"))
        if shown and not (prefix == "seen" and name.startswith("unseen")):
            print(f"  {name:40} {value:.3f}" if isinstance(value, float) else f"  {name:40} {value}")


if __name__ == "__main__":
    main()
