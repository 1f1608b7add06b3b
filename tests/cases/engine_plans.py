"""Plans of so many calls a second, for the cases of search engines."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import engine_bench as bench
from attrs import evolve
from case_runner import Seen
from engine_bench import Answering, Call, ask

from webfetch_core.testing import FakePlugin
from webfetch_core.testing.site import Reply


def kept(script: Mapping[str, Any], tmp_path: Path) -> Seen:
    """A service that keeps the rate of the script and tells nothing of it before it refuses."""
    assert script["server"]["policy"] == "1 request per rolling second"
    excess = script["server"].get("on_excess", {"status": 429})
    found = {"web": {"results": [{"url": "https://found.example/", "title": "Tarn"}]}}
    granted = [float("-inf")]
    refused: list[float] = []

    def answer(_: int) -> Reply:
        now = time.monotonic()
        status, headers, body = 200, {}, found
        if now - granted[-1] < 1.0:
            refused.append(now)
            status, headers, body = excess["status"], excess.get("headers", {}), excess.get("json", {})
        else:
            granted.append(now)
        kind = {"Content-Type": "application/json"}
        return Reply(status=status, headers={**kind, **headers}, body=json.dumps(body).encode())

    inner = max(call.get("inner_requests", 1) for call in script["calls"])
    name = "brave" if inner == 1 else "fanned"
    with Answering(answer) as service:
        url = service.base_url + bench.PATHS["brave"]
        more = {} if inner == 1 else {"plugins": {"search_fanned": {"base_url": url}}}
        with bench.host(tmp_path, {name: service.base_url}, *_fanned(inner), **more) as wf:
            queries = [call["query"] for call in script["calls"]]
            calls, took = bench.together(wf, queries, script["deadline_s"])
        assert len(service.requests) >= len(queries) * inner
    return bench.seen(calls, measured={**_ok(calls, took), "max_429_seen": len(refused)})


def _fanned(inner: int) -> Sequence[object]:
    """An engine that makes several of Brave's calls for one search, the later ones all at once."""
    from webfetch_search_brave import plugin
    from webfetch_search_brave.engine import BraveEngine

    class Fanned:
        def __init__(self, settings: Any, context: Any) -> None:
            self._brave = BraveEngine(settings, context)

        def search(self, request: Any) -> Any:
            hits = self._brave.search(request)
            details = [evolve(request, query=f"{request.query} {n}") for n in range(1, inner)]
            with ThreadPoolExecutor(inner) as pool:
                return [*hits, *(hit for found in pool.map(self._brave.search, details) for hit in found)]

    [brave] = plugin.webfetch_search_engines()
    return [FakePlugin("search_fanned", {"search": [evolve(brave, name="fanned", build=Fanned)]})]


def told(given: Mapping[str, Any], script: Mapping[str, Any], tmp_path: Path) -> Seen:
    """A service whose first answer tells the plan, which the calls after it are to make use of."""
    headers = {"Content-Type": "application/json", **given["headers"]}
    reply = Reply(status=given["status"], headers=headers, body=json.dumps(given["json"]).encode())
    with (
        Answering(lambda _: reply) as service,
        bench.host(tmp_path, {given["engine"]: service.base_url}) as wf,
    ):
        ask(wf, "the answer that tells")
        queries = [f"parallel {n}" for n in range(script["parallel_calls"])]
        calls, took = bench.together(wf, queries, script["deadline_s"])
        assert len(service.requests) == 1 + len(queries)
    return bench.seen(calls, measured=_ok(calls, took))


def _ok(calls: Sequence[Call], took: float) -> dict[str, float]:
    return {"ok_calls": sum(call.error is None for call in calls), "total_s": took}
