"""Search engines that block, limit, drift and dawdle: real adapters, a real host, real sockets."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import engine_bench as bench
import engine_plans
from attrs import evolve
from case_runner import Case, Seen
from engine_bench import Answering, Call, ask

from case_areas.fetch import Replay
from webfetch_core import Webfetch
from webfetch_core.errors import BadQuery
from webfetch_core.providers import SearchTraits
from webfetch_core.testing import FakeClock, ScriptedFetcher, fake_plugin
from webfetch_core.testing.engines import simulator
from webfetch_core.testing.engines.corpus import CorpusDocument
from webfetch_core.testing.engines.messages import SimulatedHit
from webfetch_core.testing.site import Reply

ADAPTERS = {"serpapi-like": ("serper", "brave", "tavily")}
"""An API that is none of ours: its answer is given to each adapter of an API that has accounts, since
any of them may refuse with status 200."""

PAGES = [
    CorpusDocument(url="https://found.example/", title="Sediment", text="Sediment of the Tarn, a1 b2 c3.")
]


def run(case: Case, tmp_path: Path) -> Seen:
    files = {path.name for path in case.folder.iterdir()}
    script = case.json("script.json") if "script.json" in files else {}
    if case.expected["stage"] == "mcp":
        return _at_the_command_line(case, tmp_path)
    if "call.json" in files:
        return _too_long(case.json("call.json"), tmp_path)
    if "engines.json" in files:
        return _all_fail(case.json("engines.json"), tmp_path)
    if "response.json" in files and script:
        return engine_plans.told(case.json("response.json"), script, tmp_path)
    if files & {"http.json", "response.json"} or script.keys() & {"response", "every_call"}:
        return _one_answer(case, script, tmp_path)
    for key, adapter in _BY_SCRIPT.items():
        if key in script:
            return adapter(script, tmp_path)
    raise AssertionError(f"no adapter for {case.op!r} of {case.id}")


# ---- one answer, given to every call ------------------------------------------------------------------


def _one_answer(case: Case, script: Mapping[str, Any], tmp_path: Path) -> Seen:
    names, reply = _answer_of(case, script)
    calls = script.get("calls", 1)
    if isinstance(calls, int):
        calls = [{"t": 0, "query": f"call {n}"} for n in range(calls)]
    seen = [_asked(case, name, reply, calls, script, tmp_path) for name in names]
    first = seen[0]
    for other in seen[1:]:  # what is right for one adapter is right for each
        first = evolve(
            first,
            text="\n".join((first.text, other.text)),
            error_kind=tuple(dict.fromkeys((*first.kinds, *(other.kinds or ("success",))))),
            facts={
                k: v if other.facts[k] == v else f"{v} and {other.facts[k]}" for k, v in first.facts.items()
            },
        )
    return first


def _answer_of(case: Case, script: Mapping[str, Any]) -> tuple[Sequence[str], Reply]:
    """The engines that are asked, and what they are answered."""
    named = re.search(r"engine=([a-z-]+)", case.op)
    if (case.folder / "http.json").is_file():
        http = case.json("http.json")
        [given] = http["exchanges"]
        assert named or "duckduckgo.com" in http["request"]["url"]
        engine = named[1] if named else "ddg"
    else:
        given = script.get("response") or script.get("every_call") or case.json("response.json")
        engine = script.get("engine") or given["engine"]
    body = (json.dumps(given["json"]) if "json" in given else given.get("body", "")).encode()
    kind = {"Content-Type": "application/json"} if "json" in given else {}
    headers = {**kind, **given.get("headers", {})}
    cut = len(body) if int(headers.get("Content-Length", len(body))) > len(body) else None
    reply = Reply(status=given["status"], headers=headers, body=body, truncate=cut)
    return ADAPTERS.get(engine, (engine,)), reply


def _asked(
    case: Case,
    name: str,
    reply: Reply,
    planned: Sequence[Mapping[str, Any]],
    script: Mapping[str, Any],
    tmp_path: Path,
) -> Seen:
    now = script.get("now")
    clock = FakeClock(epoch=datetime.fromisoformat(now).timestamp()) if now else FakeClock()
    start = clock.monotonic()
    calls: list[Call] = []
    with Answering(lambda _: reply) as service:
        services = {name: service.base_url}
        with bench.host(tmp_path, services, clock=clock) as wf:
            for call in planned:
                clock.advance(start + call["t"] - clock.monotonic())
                calls.append(ask(wf, call["query"], deadline_s=script.get("deadline_s")))
        measured = {"requests_sent": len(service.requests), "call_s": max(call.took_s for call in calls)}
        facts: dict[str, Any] = {}
        if "breaker_failure" in case.expected:
            with bench.host(tmp_path, services) as wf:
                facts["breaker_failure"] = bench.counts_as_failure(wf)
        if "cacheable" in case.expected:
            facts["cacheable"] = bench.is_kept(tmp_path, services)
    if "equal" in case.expected:
        hits = calls[0].result.hits if calls[0].result else ()
        facts |= {f"{field}s": [getattr(hit, field) for hit in hits] for field in ("url", "title", "snippet")}
    return bench.seen(calls, measured=measured, facts=facts)


def _at_the_command_line(case: Case, tmp_path: Path) -> Seen:
    """The nearest to a tool call whose client looks at a flag only: an exit code."""
    given = case.json("response.json")
    name = given["engine"]
    reply = Reply(
        status=given["status"],
        headers={"Content-Type": "application/json"},
        body=json.dumps(given["json"]).encode(),
    )
    with Answering(lambda _: reply) as service:
        table = f'[plugins.search_{name}]\nbase_url = "{service.base_url}"\n'
        (tmp_path / "case.toml").write_text(f'search = ["{name}"]\n{table}', encoding="utf-8")
        ran = subprocess.run(
            [sys.executable, "-m", "webfetch_core", "--config", "case.toml", "search", "--json", "depth"],
            cwd=tmp_path,
            env={"PATH": os.environ["PATH"], "WEBFETCH_HOME": str(tmp_path / "home"), **given["env"]},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        with bench.host(tmp_path, {name: service.base_url}, environ=given["env"]) as wf:
            call = ask(wf, "depth")
    [attempt] = json.loads(ran.stdout)["error"]["attempts"]
    assert call.kinds == (attempt["outcome"],)
    return Seen(
        text="\n".join((ran.stdout, ran.stderr, call.text, repr(call.error))),
        error_kind=attempt["outcome"],
        facts={"is_error": ran.returncode != 0},
    )


# ---- queries, deadlines, several engines --------------------------------------------------------------


def _too_long(given: Mapping[str, Any], tmp_path: Path) -> Seen:
    simulated = {name: simulator(name)(PAGES) for name in given["engines"]}
    started = [sim.start() for sim in simulated.values()]
    try:
        with bench.host(tmp_path, {n: sim.base_url for n, sim in simulated.items()}) as wf:
            calls = [ask(wf, given["query"] + " " * n, force_fresh=True) for n in range(3)]
            benched = bench.open_breakers(wf)
        sent = {name: max(len(q.params["q"]) for q in sim.queries) for name, sim in simulated.items()}
    finally:
        for sim in started:
            sim.close()
    for call in calls:  # one that was skipped would be a failure too, if not of the whole search
        skipped = (
            [a for a in call.result.attempts if a.outcome == BadQuery.default_kind] if call.result else ()
        )
        assert not skipped, skipped
    return bench.seen(calls, measured={"breaker_failures": benched}, facts={"sent_len": sent})


def _a_chain(script: Mapping[str, Any], tmp_path: Path) -> Seen:
    """An engine of somebody's that heeds no deadline, over a service that is slow as the case says."""
    told = re.fullmatch(
        r"calls (\d+) back-ends in turn, each answers after (\d+) s with (\d+)", script["behaviour"]
    )
    assert told
    count, delay_s, status = map(int, told.groups())

    class Chain:
        def search(self, request: Any) -> Any:
            for n in range(count):
                with urllib.request.urlopen(f"{service.base_url}/{n}", timeout=delay_s + 2) as reply:
                    if reply.status == 200:
                        break
            return []

    reply = Reply(status=status, delay_s=delay_s)
    engine = fake_plugin("search", Chain(), "chain", traits=SearchTraits(), timeout_s=script["deadline_s"])
    with Answering(lambda _: reply) as service, bench.host(tmp_path, {"chain": ""}, engine) as wf:
        call = ask(wf, "tide", deadline_s=script["deadline_s"])
    return bench.seen([call], measured={"call_s": call.took_s})


def _all_fail(given: Mapping[str, Any], tmp_path: Path) -> Seen:
    replies = {
        name: Reply(status=given[name]["status"], body=given[name].get("body", "").encode())
        for name in given["order"]
    }
    services = {name: Answering(lambda _, reply=reply: reply) for name, reply in replies.items()}
    try:
        for service in services.values():
            service.start()
        addresses = {name: service.base_url for name, service in services.items()}
        with bench.host(tmp_path, addresses, search_mode="fallback") as wf:
            return bench.seen([ask(wf, "tide")])
    finally:
        for service in services.values():
            service.close()


# ---- hits and their pages -----------------------------------------------------------------------------


def _pages(script: Mapping[str, Any], tmp_path: Path) -> Seen:
    pages = script["fetch"]
    rules = [{"url": url, "body": page.get("html", ""), **page} for url, page in pages.items()]
    raised = pages.get("*", {}).get("raise")
    hits = script["hits"]
    with Replay({"exchanges": rules}) as site, simulator("brave")() as sim:
        sim.script([SimulatedHit(url=site.here(url)) for url in hits])
        fetchers = [_raising(site.here, hits, raised)] if raised else []
        chosen = ("raising",) if raised else ("http",)
        with bench.host(tmp_path, {"brave": sim.base_url}, *fetchers, fetch=chosen) as wf:
            call = ask(wf, "head of works", limit=script.get("want"))
            text = _rendered(wf, call)
        attempts = sum(not target.endswith("/robots.txt") for target in site.paths)
    return evolve(bench.seen([call], measured={"fetch_attempts": attempts}), text=text)


def _raising(here: Callable[[str], str], urls: Sequence[str], raised: str) -> object:
    """A fetcher with a fault of its own."""
    told = re.fullmatch(r"TypeError\((.*)\)", raised)
    assert told
    error = TypeError(ast.literal_eval(told[1]))
    return fake_plugin("fetch", ScriptedFetcher({here(url): error for url in urls}), "raising")


def _without_stages(script: Mapping[str, Any], tmp_path: Path) -> Seen:
    assert script["stages"] == {"fetch": None, "rerank": None}
    with simulator("brave")() as sim:
        sim.script([SimulatedHit(**row) for row in script["engine"]["results"]])
        with bench.host(tmp_path, {"brave": sim.base_url}, rank=()) as wf:
            call = ask(wf, "engine bore")
            text = _rendered(wf, call)
    return evolve(bench.seen([call]), text=text)


def _rendered(wf: Webfetch, call: Call) -> str:
    return call.text if call.result is None else wf.render(call.result)


_BY_SCRIPT: Mapping[str, Callable[[Mapping[str, Any], Path], Seen]] = {
    "server": engine_plans.kept,
    "behaviour": _a_chain,
    "hits": _pages,
    "stages": _without_stages,
}
