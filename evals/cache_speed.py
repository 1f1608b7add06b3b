"""How quick is a hit, beside sqlite3 in the same run, and what does a row take?

    python evals/cache_speed.py [--rounds 3] [--seconds 3] [--queries 10000]

- the bare store: 4 processes read and 2 write, one row at a time and as fast as it goes; cache_lmdb and the
  standard library's sqlite3 in WAL mode (commits synced, in both) hold the same rows and take turns;
- an exact hit through ``Webfetch.search``, alone and while such processes work on the same file; and one
  that is older than the strictest class allows, so that its query is classed;
- a semantic hit among 10,000 cached queries, through ``Webfetch.search`` with the installed matcher:
  questions about places, and rewordings of some. Only what was answered as a semantic match counts;
- the bytes that a row takes on the disk, by what it holds.

Figures under load are those of 7 processes on the cores that there are. Data: none; texts are this
repository's documentation.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from attrs import evolve
from common import ROOT, finish, median, percentile

from webfetch_core import Settings, Webfetch
from webfetch_core.errors import NotConfigured
from webfetch_core.models import Chunk, Document, Freshness, SearchHit, SearchResult
from webfetch_core.pipeline.cache_rows import ASKED, QUERIES, decode_body, decode_row, encode_row
from webfetch_core.pipeline.chunking import chunk
from webfetch_core.pipeline.recall import place_of
from webfetch_core.pipeline.request import SearchOptions
from webfetch_core.providers import SearchTraits
from webfetch_core.settings import TtlSettings
from webfetch_core.testing import ScriptedEngine, ScriptedExtractor, ScriptedFetcher, fake_plugin

WORKER = Path(__file__).parent / "workers" / "cache_speed.py"
sys.path.insert(0, str(WORKER.parent))
import cache_speed as worker  # noqa: E402  (the worker beside it: stores and keys)

ROWS = 2_000
READERS, WRITERS = 4, 2
EXACT = 400
REWORDED = 300
ENGINE = "mine"
STARTERS = ("cache_lmdb", "match_semantic", "freshness_classifier", "rank_onnx", "rank_bm25")
PAUSE_S = 2.0
"""A look that found no time goes on behind; three in a row would have the matcher benched."""

PLACES = """
Albania, Algeria, Andorra, Angola, Argentina, Armenia, Australia, Austria, Azerbaijan, Bahrain,
Bangladesh, Barbados, Belarus, Belgium, Belize, Benin, Bhutan, Bolivia, Botswana, Brazil, Brunei,
Bulgaria, Burundi, Cambodia, Cameroon, Canada, Chad, Chile, China, Colombia, Comoros, Croatia, Cuba,
Cyprus, Denmark, Djibouti, Dominica, Ecuador, Egypt, Eritrea, Estonia, Eswatini, Ethiopia, Fiji,
Finland, France, Gabon, Gambia, Georgia, Germany, Ghana, Greece, Grenada, Guatemala, Guinea, Guyana,
Haiti, Honduras, Hungary, Iceland, India, Indonesia, Iran, Iraq, Ireland, Israel, Italy, Jamaica, Japan,
Jordan, Kazakhstan, Kenya, Kiribati, Kuwait, Kyrgyzstan, Laos, Latvia, Lebanon, Lesotho, Liberia, Libya,
Liechtenstein, Lithuania, Luxembourg, Madagascar, Malawi, Malaysia, Maldives, Mali, Malta, Mauritania,
Mauritius, Mexico, Moldova, Monaco, Mongolia, Montenegro, Morocco, Mozambique, Myanmar, Namibia, Nauru,
Nepal, Netherlands, Nicaragua, Niger, Nigeria, Norway, Oman, Pakistan, Palau, Panama, Paraguay, Peru,
Philippines, Poland, Portugal, Qatar, Romania, Rwanda, Samoa, Senegal, Serbia, Seychelles, Singapore,
Slovakia, Slovenia, Somalia, Spain, Sudan, Suriname, Sweden, Switzerland, Syria, Tajikistan, Tanzania,
Thailand, Togo, Tonga, Tunisia, Turkey, Uganda, Ukraine, Uruguay, Uzbekistan, Vanuatu, Venezuela,
Vietnam, Yemen, Zambia, Zimbabwe
"""
FACTS = """
population, area, capital, currency, national anthem, highest mountain, longest river, largest lake,
official language, flag, president, minimum wage, life expectancy, literacy rate, birth rate, death
rate, inflation rate, unemployment rate, main export, largest city, largest airport, time zone, dialling
code, national animal, national bird, national dish, oldest university, coastline length, average
temperature, annual rainfall, independence day, constitution, parliament building, central bank, stock
exchange, largest island, national park, road network, railway network, busiest port, internet domain,
median age, fertility rate, forest cover, tallest building, national museum, largest stadium, grid
voltage, income tax rate, value added tax, visa policy, driving side, school system, health system,
police number, emergency number, army size, space agency, national airline, postal service, largest
bank, oldest town, northernmost point, southernmost point, lowest point, water supply, gold reserves,
public debt, trade balance, tourist season, wine region, coffee harvest, copper production, electricity
price, bread price, football league, film festival, folk dance
"""


def listed(words: str) -> list[str]:
    return [word.strip() for word in words.split(",")]


def texts() -> list[Document]:
    """The documentation of this repository, as pages."""
    files = sorted(ROOT.glob("docs/**/*.md")) + sorted(ROOT.glob("plugins/*/README.md"))
    return [
        Document(
            url=f"https://docs.example/{file.stem}", title=file.stem, text=file.read_text(encoding="utf-8")
        )
        for file in files
    ]


def results(pages: Sequence[Document]) -> Iterator[tuple[str, SearchResult]]:
    """Results as searches have them: five passages, ten hits."""
    pieces = [piece for page in pages for piece in chunk(page)]
    chance = random.Random(3)
    facts, places = listed(FACTS), listed(PLACES)
    for number in range(ROWS):
        query = f"what is the {facts[number % len(facts)]} of {places[number % len(places)]} {number}"
        chosen = chance.sample(pieces, 5)
        hits = tuple(
            SearchHit(
                url=f"https://site{n}.example/{query.replace(' ', '-')}",
                title=f"{query}, part {n}",
                snippet=chance.choice(pieces).text[:160],
                rank=n,
                engine="mine",
            )
            for n in range(1, 11)
        )
        yield (
            query,
            SearchResult(query=query, chunks=tuple(Chunk(text=c.text, url=c.url) for c in chosen), hits=hits),
        )


def rows_of_spaces(pages: Sequence[Document]) -> dict[str, list[bytes]]:
    """Values as the core and the bi-encoder store them."""
    now, chance = time.time(), random.Random(5)
    documents = [evolve(chance.choice(pages), url=f"https://docs.example/{n}") for n in range(ROWS // 4)]
    return {
        "queries": [encode_row(now, {"query": q, "freshness": "stable"}, r) for q, r in results(pages)],
        "pages": [encode_row(now, {"url": d.url, "final_url": d.url, "etag": ""}, d) for d in documents],
        "vectors": [chance.randbytes(768) for _ in range(5 * ROWS)],
    }


# ---- the bare store ---------------------------------------------------------------------------------


def bytes_a_row(values: dict[str, list[bytes]], folder: Path) -> dict[str, float]:
    figures: dict[str, float] = {}
    print(f"\nbytes a row {'':14} {'value':>8} {'lmdb':>8} {'sqlite':>8}")
    for space, rows in values.items():
        size = sum(map(len, rows)) / len(rows)
        taken = {}
        for arm in worker.ARMS:
            store = worker.ARMS[arm](folder / f"{space}.{arm}", durable=False)
            empty = store.bytes_taken()
            for at in range(0, len(rows), 200):
                part = rows[at : at + 200]
                store.put_many(space, {worker.key_of(at + n): value for n, value in enumerate(part)})
            taken[arm] = (store.bytes_taken() - empty) / len(rows)
            store.close()
        figures[f"{space}_value_bytes"] = size
        figures |= {f"{space}_{arm}_bytes": value for arm, value in taken.items()}
        print(f"  {space:24} {size:8.0f} {taken['lmdb']:8.0f} {taken['sqlite']:8.0f}")
    return figures


Running = list[tuple[str, "subprocess.Popen[str]"]]


@contextmanager
def working(arm: str, path: Path, seconds: float, seed: int) -> Iterator[Running]:
    """Reading and writing processes, from their start to their end."""
    running = []
    for number in range(READERS + WRITERS):
        role = "read" if number < READERS else "write"
        command = [
            sys.executable,
            str(WORKER),
            arm,
            role,
            str(path),
            str(ROWS),
            str(seconds),
            str(seed + number),
        ]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        running.append((role, process))
    for _, process in running:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
    for _, process in running:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    yield running
    for _, process in running:
        process.wait(120)


def told(running: Running, seconds: float) -> dict[str, float]:
    figures: dict[str, float] = {}
    for role in ("read", "write"):
        each = [json.loads(process.communicate(timeout=120)[0]) for its, process in running if its == role]
        figures[f"{role}s_per_s"] = sum(row["n"] for row in each) / seconds
        figures |= {f"{role}_{q}_us": median([row[f"{q}_us"] for row in each]) for q in ("p50", "p99")}
    return figures


def contest(values: Sequence[bytes], folder: Path, args: argparse.Namespace) -> dict[str, float]:
    paths = {arm: folder / f"contest.{arm}" for arm in worker.ARMS}
    for arm, path in paths.items():
        store = worker.ARMS[arm](path)
        for at in range(0, ROWS, 200):
            part = values[at : at + 200]
            store.put_many(worker.SPACE, {worker.key_of(at + n): value for n, value in enumerate(part)})
        store.close()
    seen: dict[str, list[dict[str, float]]] = {arm: [] for arm in paths}
    for turn in range(args.rounds):
        for arm in sorted(paths, reverse=bool(turn % 2)):
            with working(arm, paths[arm], args.seconds, 100 * turn) as running:
                seen[arm].append(told(running, args.seconds))
    figures = {
        f"{arm}_{name}": median([row[name] for row in rows]) for arm, rows in seen.items() for name in rows[0]
    }
    print(f"\n{READERS} reading and {WRITERS} writing processes, median of {args.rounds} rounds")
    print(f"  {'':8} {'reads/s':>9} {'p50 us':>8} {'p99 us':>8} {'writes/s':>9} {'p50 us':>8} {'p99 us':>8}")
    for arm in paths:
        print(
            f"  {arm:8} {figures[f'{arm}_reads_per_s']:9.0f} {figures[f'{arm}_read_p50_us']:8.1f}"
            f" {figures[f'{arm}_read_p99_us']:8.0f} {figures[f'{arm}_writes_per_s']:9.0f}"
            f" {figures[f'{arm}_write_p50_us']:8.0f} {figures[f'{arm}_write_p99_us']:8.0f}"
        )
    for name in ("reads_per_s", "writes_per_s"):
        ratios = [a[name] / b[name] for a, b in zip(seen["lmdb"], seen["sqlite"], strict=True)]
        figures[f"{name}_ratio"] = median(ratios)
        spread = f"by round {min(ratios):.2f} to {max(ratios):.2f}"
        print(f"  {name.partition('_')[0]}: {median(ratios):.2f} times sqlite's, {spread}")
    return figures


# ---- through Webfetch -------------------------------------------------------------------------------


def host(home: Path, pages: Sequence[Document], ttl: TtlSettings | None = None) -> Webfetch:
    """A Webfetch with a scripted engine and pages, over the installed cache, matcher and bi-encoder."""
    urls = [page.url for page in pages[:5]]
    mine = [
        fake_plugin("search", ScriptedEngine(urls), name=ENGINE, traits=SearchTraits(network=True)),
        fake_plugin("fetch", ScriptedFetcher({page.url: page.text for page in pages[:5]}), name="pages"),
        fake_plugin("extract", ScriptedExtractor(), name="plain"),
    ]
    return Webfetch(
        Settings(home=str(home), allow_plugins=STARTERS, ttl=ttl or TtlSettings()),
        plugins=[(plugin.name, plugin) for plugin in mine],
        environ={},
    )


def timed(wf: Webfetch, queries: Sequence[str], kind: str) -> list[tuple[float, float]]:
    """Of the searches that the cache answered in this way the time, and that of the CPU in it, in ms."""
    times = []
    for query in queries:
        started, busy = time.perf_counter(), time.process_time()
        result = wf.search(query, cache_only=True)
        took = 1_000 * (time.perf_counter() - started), 1_000 * (time.process_time() - busy)
        if result.provenance.kind.value == kind:
            times.append(took)
    return times


def shown(name: str, both: Sequence[tuple[float, float]], figures: dict[str, float]) -> None:
    times, worked = [wall for wall, _ in both], [cpu for _, cpu in both]
    figures |= {
        f"{name}_n": len(times),
        f"{name}_p50_ms": percentile(times, 0.5),
        f"{name}_p99_ms": percentile(times, 0.99),
        f"{name}_cpu_p50_ms": percentile(worked, 0.5),
    }
    print(
        f"  {name.replace('_', ' '):24} p50 {percentile(times, 0.5):7.3f} ms,"
        f" p99 {percentile(times, 0.99):7.3f} ms, of the CPU p50 {percentile(worked, 0.5):.3f} ms"
        f"  (n = {len(times)})"
    )


def questions(count: int) -> list[tuple[str, str]]:
    """Distinct questions, each with another wording."""
    every = [(place, fact) for place in listed(PLACES) for fact in listed(FACTS)]
    random.Random(11).shuffle(every)
    if count > len(every):
        raise SystemExit(f"there are {len(every)} questions")
    return [
        (f"What is the {fact} of {place}?", f"{place}: tell me the {fact}") for place, fact in every[:count]
    ]


def seed(wf: Webfetch, asked: Sequence[str]) -> None:
    """Put an answer to every query into the cache: one is searched for, and the others are made like it."""
    wf.search(asked[0])
    store: Any = wf.cache()
    ((_, value),) = store.scan(QUERIES)
    ((_, noted),) = store.scan(ASKED)
    row, note = decode_row(value), decode_row(noted)
    assert row is not None and note is not None
    result = decode_body(row, SearchResult)
    assert result is not None
    lasting = {"freshness": Freshness.STABLE.value}
    facts = {name: row.facts[name] for name in row.facts if name not in ("packed", "check")} | lasting
    notes = {name: note.facts[name] for name in note.facts if name not in ("packed", "check")} | lasting
    key_of = place_of(SearchOptions(query=asked[0], limit=wf.settings.limit), (ENGINE,), "fuse").key_of
    assert store.get(QUERIES, key_of(asked[0])) == value, "a search keeps its answer where we look for it"
    for at in range(1, len(asked), 200):
        some = {key_of(query): query for query in asked[at : at + 200]}
        made = {
            k: encode_row(row.at, {**facts, "query": q}, evolve(result, query=q)) for k, q in some.items()
        }
        store.put_many(QUERIES, made)
        store.put_many(ASKED, {k: encode_row(note.at, {**notes, "query": q}) for k, q in some.items()})
    with suppress(NotConfigured):  # each search has its query's vector made, which is in the store then
        for at in range(0, len(asked), 64):
            wf.host.embed(asked[at : at + 64])


def hits(folder: Path, pages: Sequence[Document], args: argparse.Namespace) -> dict[str, float]:
    figures: dict[str, float] = {}
    asked = questions(args.queries)
    home = folder / "home"
    print("\nthrough Webfetch.search")
    with host(home, pages) as wf:
        seed(wf, [question for question, _ in asked])
    with host(home, pages) as wf:
        first = asked[0][0]
        timed(wf, [first] * 20, "exact")
        shown("exact_hit", timed(wf, [first] * EXACT, "exact"), figures)
        path = Path(wf.cache().stats()["path"])
        for at in range(0, ROWS, 200):
            rows = {worker.key_of(n): b"x" * 4_000 for n in range(at, at + 200)}
            wf.cache().put_many(worker.SPACE, rows)  # type: ignore[attr-defined]
        with working("lmdb", path, 3.0, 1) as running:
            shown("exact_hit_under_load", timed(wf, [first] * EXACT, "exact"), figures)
            for _, process in running:
                process.communicate(timeout=60)
        wf.cache().clear("stats")
    with host(home, pages, TtlSettings(realtime_s=0.0)) as wf:
        lasting = next(q for q, _ in asked[1:] if wf.classify_freshness(q) is not Freshness.REALTIME)
        timed(wf, [lasting] * 20, "exact")
        shown("exact_hit_older", timed(wf, [lasting] * EXACT, "exact"), figures)
    with host(home, pages) as wf:
        started = time.perf_counter()
        warm = timed(wf, [asked[1][1]], "semantic")
        figures["semantic_first_s"] = time.perf_counter() - started
        if not any(handle.entry.plugin == "match_semantic" for handle in wf.host.handles("match")):
            print("  semantic hit: not available here (pip install webfetch-match-semantic)")
            return figures
        print(
            f"  the first look among {args.queries:,} queries took {figures['semantic_first_s']:.2f} s",
            end="",
        )
        print("" if warm else " and found nothing")
        for _, reworded in asked[2:22]:  # until all vectors are in memory
            if not timed(wf, [reworded], "semantic"):
                time.sleep(PAUSE_S)
        some = random.Random(2).sample(asked[22:], min(REWORDED, len(asked) - 22))
        shown("semantic_hit", timed(wf, [reworded for _, reworded in some], "semantic"), figures)
        figures["semantic_found"] = figures["semantic_hit_n"] / len(some)
        wrong = sum(
            wf.search(reworded, cache_only=True).provenance.matched_query not in ("", None, question)
            for question, reworded in some[:100]
        )
        figures["semantic_wrong"] = wrong
        found = figures["semantic_found"]
        print(f"  {found:.2f} of the rewordings were found; of 100, matched to another query: {wrong}")
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--queries", type=int, default=10_000)
    args = parser.parse_args()
    pages = texts()
    values = rows_of_spaces(pages)
    with tempfile.TemporaryDirectory(prefix="webfetch-cache-speed-") as files:
        figures = bytes_a_row(values, Path(files))
        figures |= contest(values["queries"], Path(files), args)
        figures |= hits(Path(files), pages, args)
    finish("cache_speed", figures)


if __name__ == "__main__":
    main()
