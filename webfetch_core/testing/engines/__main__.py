"""``python -m webfetch_core.testing.engines NAME``: serve one simulated engine until it is stopped."""

from __future__ import annotations

import argparse
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from . import NAMES, simulator
from .base import Answered, EngineSimulator, Received
from .corpus import Corpus, CorpusDocument, load_corpus

_SAMPLE = tuple(
    CorpusDocument(url=f"/pages/{name}.html", title=title, text=text, published=published)
    for name, title, text, published in (
        (
            "tide-gauge",
            "Calibrating a tide gauge",
            "A tide gauge is calibrated against a staff reading at slack water.\n"
            "Drift of more than 4 millimetres means that the float must be seated again.",
            "2026-09-14",
        ),
        (
            "kelp-farm",
            "What a kelp farm yields",
            "A metre of line carries 8 to 12 kilograms of wet kelp in a good year.\n"
            "Harvest is in April, before the water warms.",
            "2026-04-02",
        ),
        (
            "loom-warp",
            "Warp tension on a floor loom",
            "Start at 180 grams an end and raise the tension until the shed opens cleanly.",
            "2025-11-20",
        ),
    )
)


def main(argv: Sequence[str] | None = None) -> int:
    """Serve until SIGINT or SIGTERM. Returns the exit code: 0, or 2 for wrong usage."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    named = bool(arguments) and not arguments[0].startswith("-")
    try:
        chosen = simulator(arguments[0]) if named else None
    except ValueError as exc:
        _say(f"error: {exc}", sys.stderr)
        return 2
    parser = _parser(chosen)
    options = parser.parse_args(arguments)
    if chosen is None:
        parser.error("the engine's name comes first")
    try:
        simulated = _make(chosen, options)
    except (ValueError, OSError) as exc:
        _say(f"error: {exc}", sys.stderr)
        return 2
    return _serve(simulated, options)


def _parser(chosen: type[EngineSimulator] | None) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m webfetch_core.testing.engines",
        description="Serve a simulated search engine on 127.0.0.1.",
        epilog="Each fault of the engine is an option too: --silent-block, --rate-limited, ...",
    )
    parser.add_argument("engine", help=f"{', '.join(NAMES)}, or the dotted path of a module of your own")
    add = parser.add_argument
    add("--port", type=int, default=0, help="0 (default) takes a free one")
    add(
        "--corpus",
        type=Path,
        help="a folder of .md, .html and .txt files, or a JSONL file; default: a sample",
    )
    add("--local-pages", action="store_true", help="hits lead to this server's copies of the pages")
    add("--pages-url", default="", help="address of another simulator that serves the pages of this corpus")
    add("--key", help="the one key that is right (default: any)")
    add("--coverage", type=float, default=1.0, help="share of the corpus that is indexed, 0 to 1")
    add("--noise", type=float, default=0.0, help="how far scores are shifted, 0 to 1")
    add("--failure-rate", type=float, default=0.0, help="share of requests that fail, 0 to 1")
    add("--failures", default="server_error", help="the faults they meet, with commas")
    add("--seed", type=int, default=0, help="of coverage, noise and failures")
    add("--rate", type=float, help="requests a second; one too many is refused")
    add(
        "--plan", type=int, metavar="N", help="requests in all; one too many is answered with the quota fault"
    )
    add("--delay", type=float, default=0.0, metavar="SECONDS", help="how long each answer waits")
    add("--script", default="", help='faults of the first requests, with commas; "ok" for none')
    if chosen is not None:
        group = parser.add_argument_group(
            "faults that every request meets (one of them)"
        ).add_mutually_exclusive_group()
        for fault in chosen.all_faults():
            flag = f"--{fault.replace('_', '-')}"
            group.add_argument(flag, action="store_const", const=fault, dest="fault")
    return parser


def _make(chosen: type[EngineSimulator], options: argparse.Namespace) -> EngineSimulator:
    simulated = chosen(
        Corpus(load_corpus(options.corpus) if options.corpus else _SAMPLE),
        key=options.key,
        fault=options.fault,
        failure_rate=options.failure_rate,
        failures=_names(options.failures),
        coverage=options.coverage,
        noise=options.noise,
        seed=options.seed,
        rate=options.rate,
        quota=options.plan,
        delay_s=options.delay,
        local_pages=options.local_pages,
        pages_url=options.pages_url,
        port=options.port,
        on_answer=_log,
    )
    simulated.script(*_names(options.script))
    simulated.start()
    return simulated


def _serve(simulated: EngineSimulator, options: argparse.Namespace) -> int:
    stopped = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopped.set())
    _say("\n".join(settings_lines(simulated, options.key)), sys.stdout)
    # A wait without an end would not let a signal through on Windows.
    while not stopped.wait(0.5):
        pass
    simulated.close()
    return 0


def settings_lines(simulated: EngineSimulator, key: str | None = None) -> list[str]:
    """The server's address, and the environment that points webfetch at it."""
    lines = [f"# {simulated.name} at {simulated.base_url}, {len(simulated.indexed.documents)} pages indexed"]
    lines.append(f"WEBFETCH_PLUGINS__SEARCH_{simulated.name.upper()}__BASE_URL={simulated.endpoint}")
    if simulated.key_env:
        lines.append(f"{simulated.key_env}={key or 'any-key'}")
    if simulated.serves_pages:
        lines.append("WEBFETCH_NET__ALLOW_HOSTS=127.0.0.1")
    return lines


def _names(text: str) -> list[str]:
    return [name.strip().replace("-", "_") for name in text.split(",") if name.strip()]


def _log(received: Received, answer: Answered) -> None:
    query = answer.query
    filters = "".join(
        f" {label}={value}"
        for label, value in (
            ("limit", query.limit),
            ("freshness", query.freshness),
            ("include", ",".join(query.include)),
            ("exclude", ",".join(query.exclude)),
        )
        if value
    )
    told = f"{answer.outcome}, {len(answer.hits)} hits" if answer.outcome == "ok" else answer.outcome
    line = f"{received.method} {received.path} {query.query!r}{filters} -> {answer.reply.status} {told}"
    _say(line, sys.stderr)


def _say(text: str, stream: TextIO) -> None:
    stream.write(f"{text}\n")
    stream.flush()


if __name__ == "__main__":
    sys.exit(main())
