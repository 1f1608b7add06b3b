"""How ``webfetch serve http`` holds under many clients: speed, right answers, and memory.

    python evals/serve_load.py [--clients 50] [--seconds 60] [--rank lexical|all]

The server is a process of its own with the installed plugins; its web (one engine, 200 pages) is a site
on loopback in this process. Clients ask over every API in turn, each on a connection that it keeps: first
questions that are in the cache, then questions that nobody asked before. One that is told to come back (429)
waits as it is told, a second at most, and its request is counted as refused and not as answered. ``--rank
lexical``, the default, leaves models out: with them a fresh search on this machine is a matter of the models
(``miniweb.py``).

Memory is what the server's processes hold for themselves (``RssAnon``), after a warm-up of both kinds of
questions and at the end.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote

from attrs import Factory, define
from common import finish, percentile

from webfetch_core.testing import LoopbackSite
from webfetch_core.testing.site import Received, Reply

PAGES, WARM_QUERIES = 200, 25
WORDS = [
    "loom",
    "warp",
    "weft",
    "heddle",
    "reed",
    "shuttle",
    "bobbin",
    "selvage",
    "tension",
    "twill",
    "satin",
    "linen",
    "cotton",
    "wool",
    "silk",
    "dye",
    "indigo",
    "madder",
    "weld",
    "mordant",
    "alum",
    "spindle",
    "distaff",
    "carding",
    "combing",
    "fulling",
    "napping",
    "calender",
    "damask",
    "brocade",
    "tapestry",
    "kilim",
]


# ---- the web -------------------------------------------------------------------------------------


def page(number: int) -> str:
    chance = random.Random(number)
    paragraphs = "".join(
        f"<h2>{chance.choice(WORDS)} and {chance.choice(WORDS)}</h2><p>"
        + " ".join(
            f"The {' '.join(chance.choices(WORDS, k=9))}, {chance.randrange(900)} g." for _ in range(6)
        )
        + "</p>"
        for _ in range(8)
    )
    title = f"On {chance.choice(WORDS)} {number}"
    head = f"<html><head><title>{title}</title></head><body><article><h1>{title}</h1>"
    return f"{head}{paragraphs}</article></body></html>"


def build_site(site: LoopbackSite) -> None:
    for number in range(PAGES):
        site.add(f"/page/{number}", page(number))

    def answer(request: Received) -> Reply:
        query = parse_qs(request.query).get("q", [""])[0]
        chance = random.Random(query)
        rows = [
            {"url": site.url(f"/page/{n}"), "title": f"Page {n}", "content": query, "engine": "loom"}
            for n in chance.sample(range(PAGES), 8)
        ]
        body = json.dumps({"query": query, "results": rows}).encode()
        return Reply(body=body, headers={"Content-Type": "application/json"})

    site.add("/search", answer)


# ---- the server ----------------------------------------------------------------------------------


def start(site: LoopbackSite, home: str, rank: str) -> tuple[subprocess.Popen[str], int]:
    sets = {
        "search": '["searxng"]',
        "fetch": '["http"]',
        "plugins.search_searxng.base_url": json.dumps(site.base_url),
        "net.allow_hosts": json.dumps([f"127.0.0.1:{site.port}", "127.0.0.1"]),
        "net.ports": json.dumps([site.port]),
        "net.per_host": "16",
        "plugins.serve_http.rate_per_minute": "10000000",
        "plugins.serve_http.burst": "1000000",
        **({"rank": '["bm25"]', "ranking.use_biencoder": "false"} if rank == "lexical" else {}),
    }
    words = [word for key, value in sets.items() for word in ("--set", f"{key}={value}")]
    kept = {k: v for k, v in os.environ.items() if not k.startswith("WEBFETCH_")}
    process = subprocess.Popen(
        [sys.executable, "-m", "webfetch_core", *words, "serve", "http", "--port", "0"],
        env={**kept, "WEBFETCH_HOME": home},
        cwd=home,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    line = process.stdout.readline().strip()
    if not line.startswith("http://"):
        raise SystemExit(f"the server did not start: {process.wait(30)}")
    return process, int(line.rpartition(":")[2])


def own_kb(pid: int) -> int:
    """What a process and its children hold for themselves, in kB; 0 where that cannot be read."""
    total = 0
    try:
        for line in Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines():
            if line.startswith("RssAnon:"):
                total += int(line.split()[1])
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text(encoding="utf-8").split():
                total += own_kb(int(child))
    except OSError:
        pass
    return total


# ---- the clients ---------------------------------------------------------------------------------


@define
class Tally:
    """What came back, over all clients."""

    times: list[float] = Factory(list)
    refused: int = 0
    partial: int = 0
    broken: list[str] = Factory(list)
    fivexx: int = 0
    lock: threading.Lock = Factory(threading.Lock)


Api = tuple[str, str, Callable[[str], Any], Callable[[Any], bool]]


def _all_have(rows: Any, *names: str) -> bool:
    return bool(rows) and all(set(names) <= set(row) for row in rows)


APIS: tuple[Api, ...] = (
    ("POST", "/api/v1/search", lambda q: {"query": q}, lambda b: bool(b["chunks"]) and "excerpts" in b),
    ("POST", "/search", lambda q: {"query": q}, lambda b: _all_have(b["results"], "url", "title", "content")),
    ("GET", "/search?format=json&q=", lambda q: None, lambda b: _all_have(b["results"], "url", "engines")),
    (
        "POST",
        "/v2/search",
        lambda q: {"query": q},
        lambda b: b["success"] and _all_have(b["data"]["web"], "url"),
    ),
    ("POST", "/openwebui/search", lambda q: {"query": q}, lambda b: _all_have(b, "link", "title", "snippet")),
)


def client(port: int, number: int, ends: float, question: Callable[[int], str], tally: Tally) -> None:
    connection: http.client.HTTPConnection | None = None
    turn = number
    while time.monotonic() < ends:
        method, path, body_of, right = APIS[turn % len(APIS)]
        query = question(turn * 1_000 + number)
        turn += 1
        given = body_of(query)
        target = path if given is not None else path + quote(query)
        body = None if given is None else json.dumps(given).encode()
        started = time.monotonic()
        try:
            if connection is None:
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            connection.request(method, target, body, {"Content-Type": "application/json"} if body else {})
            reply = connection.getresponse()
            data = reply.read()
        except (OSError, http.client.HTTPException) as exc:
            connection = None
            with tally.lock:
                tally.broken.append(f"{path}: {type(exc).__name__}: {exc}")
            continue
        took = time.monotonic() - started
        problem = ""
        if reply.status == 200:
            try:
                parsed = json.loads(data)
                problem = "" if right(parsed) else f"{path}: {data[:200]!r}"
                partial = isinstance(parsed, dict) and bool(parsed.get("partial"))
            except (ValueError, LookupError, TypeError) as exc:
                problem, partial = f"{path}: {exc!r}: {data[:200]!r}", False
            with tally.lock:
                tally.times.append(took)
                tally.partial += partial
        elif reply.status == 429 and reply.headers.get("Retry-After"):
            with tally.lock:
                tally.refused += 1
            time.sleep(min(float(reply.headers["Retry-After"]), 1.0))
        elif reply.status >= 500:
            with tally.lock:
                tally.fivexx += 1
            problem = f"{path}: {reply.status} {data[:200]!r}"
        else:
            problem = f"{path}: {reply.status} {data[:200]!r}"
        if problem:
            with tally.lock:
                tally.broken.append(problem)


def phase(port: int, clients: int, seconds: float, question: Callable[[int], str]) -> Tally:
    tally = Tally()
    ends = time.monotonic() + seconds
    threads = [
        threading.Thread(target=client, args=(port, number, ends, question, tally))
        for number in range(clients)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return tally


def cached(turn: int) -> str:
    chance = random.Random(turn % WARM_QUERIES)
    return f"what is {' '.join(chance.choices(WORDS, k=3))} {turn % WARM_QUERIES}"


def ask_once(port: int, query: str) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request(
        "POST", "/api/v1/search", json.dumps({"query": query}).encode(), {"Content-Type": "application/json"}
    )
    reply = connection.getresponse()
    reply.read()
    connection.close()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60.0, help="for each kind of questions")
    parser.add_argument("--rank", choices=("lexical", "all"), default="lexical")
    args = parser.parse_args()
    run = random.randrange(1_000_000)

    def fresh(turn: int) -> str:
        chance = random.Random(turn)
        return f"how do {' '.join(chance.choices(WORDS, k=4))} go together, {run} {turn}"

    figures: dict[str, Any] = {"clients": args.clients, "seconds": args.seconds, "rank": args.rank}
    with tempfile.TemporaryDirectory() as home, LoopbackSite() as site:
        build_site(site)
        process, port = start(site, home, args.rank)
        try:
            for turn in range(WARM_QUERIES):  # one by one, over the first API: they are in the cache then
                ask_once(port, cached(turn))
            phase(port, args.clients, max(args.seconds / 6, 2), cached)
            phase(port, args.clients, max(args.seconds / 6, 2), lambda turn: fresh(turn + 10_000_000))
            before = own_kb(process.pid)
            for name, question in (("cached", cached), ("fresh", fresh)):
                tally = phase(port, args.clients, args.seconds, question)
                milliseconds = [t * 1_000 for t in tally.times]
                figures |= {
                    f"{name}_answered": len(tally.times),
                    f"{name}_per_s": round(len(tally.times) / args.seconds, 1),
                    f"{name}_p50_ms": round(percentile(milliseconds, 0.50), 1),
                    f"{name}_p95_ms": round(percentile(milliseconds, 0.95), 1),
                    f"{name}_p99_ms": round(percentile(milliseconds, 0.99), 1),
                    f"{name}_refused": tally.refused,
                    f"{name}_partial": tally.partial,
                    f"{name}_5xx": tally.fivexx,
                    f"{name}_wrong_shape": len(tally.broken),
                }
                for problem in tally.broken[:5]:
                    print(f"  {name}: {problem}")
            after = own_kb(process.pid)
            figures |= {
                "memory_before_mb": round(before / 1_024, 1),
                "memory_after_mb": round(after / 1_024, 1),
            }
            figures["memory_growth"] = round(after / before - 1, 3) if before else 0.0
            process.send_signal(signal.SIGTERM)
            figures["exit_code"] = process.wait(60)
        finally:
            process.kill()
            process.wait()
    for name, value in figures.items():
        print(f"  {name:24} {value}")
    finish("serve_load", figures)


if __name__ == "__main__":
    main()
