"""Where the cases of search engines run: real adapters in a real host, services on loopback."""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attrs import frozen
from case_runner import Seen

from webfetch_core import AllEnginesFailed, SearchResult, Settings, Webfetch
from webfetch_core.errors import WebfetchError
from webfetch_core.providers import Clock, SearchTraits
from webfetch_core.runtime.breaker import FAILURES_TO_OPEN, BreakerState
from webfetch_core.settings import NetSettings
from webfetch_core.testing import LoopbackSite, ScriptedEngine, fake_plugin
from webfetch_core.testing.site import Reply

KEYS = {f"{name}_API_KEY": f"{name.lower()}-key-of-a-case" for name in ("BRAVE", "SERPER", "TAVILY")}

PATHS = {"ddg": "/html/", "ddg-lite": "/lite/", "brave": "/res/v1"}
"""What follows the address of a service in ``base_url``, where anything does."""

AS_THE_CASES_SAY = {"unavailable": "bad_response"}
"""Kinds of ours that the cases' vocabulary has no word for."""


@frozen(kw_only=True)
class Call:
    """One search and how it ended. ``kinds`` are the engines' failures, first choice first."""

    result: SearchResult | None = None
    error: WebfetchError | None = None
    took_s: float = 0.0

    @property
    def text(self) -> str:
        return str(self.error or "")

    @property
    def kinds(self) -> tuple[str, ...]:
        """Without engines that were benched: no call was made, and the reason is that of an earlier one."""
        if self.error is None:
            return ()
        kinds = [self.error.kind]
        if isinstance(self.error, AllEnginesFailed):
            kinds = [a.outcome for a in self.error.attempts if a.stage == "search" and a.outcome != "benched"]
        return tuple(dict.fromkeys(AS_THE_CASES_SAY.get(kind, kind) for kind in kinds))


@contextmanager
def host(
    tmp_path: Path,
    services: Mapping[str, str],
    *plugins: object,
    clock: Clock | None = None,
    environ: Mapping[str, str] | None = None,
    **settings: Any,
) -> Iterator[Webfetch]:
    """A host whose engines are ``services``, in their order, by name and address; it fetches no page.

    ``plugins`` and ``settings`` are added; an engine without an address is one of ``plugins``.
    """
    names = [name.partition("-")[0] for name in services]
    tables = {
        f"search_{name.partition('-')[0]}": {"base_url": url + PATHS.get(name, "")}
        for name, url in services.items()
        if url
    }
    chosen = {
        "home": tempfile.mkdtemp(dir=tmp_path),
        "search": tuple(names),
        "plugins": tables,
        "fetch": (),
        "extract_workers": 0,
        "net": NetSettings(allow_hosts=("127.0.0.1", "::1")),
        **settings,
    }
    with Webfetch(
        Settings(**chosen), plugins=plugins, environ={**KEYS, **(environ or {})}, clock=clock
    ) as made:
        yield made


def ask(wf: Webfetch, query: str, **options: Any) -> Call:
    """Search, and keep how it ended."""
    started = time.perf_counter()
    try:
        result = wf.search(query, **options)
    except WebfetchError as exc:
        return Call(error=exc, took_s=time.perf_counter() - started)
    return Call(result=result, took_s=time.perf_counter() - started)


def together(wf: Webfetch, queries: Sequence[str], deadline_s: float) -> tuple[list[Call], float]:
    """Ask for all at once; the calls in the order of their ends, and the seconds until the last."""
    calls: list[Call] = []
    threads = [
        threading.Thread(target=lambda q=q: calls.append(ask(wf, q, deadline_s=deadline_s))) for q in queries
    ]
    started = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(deadline_s + 5)
    return calls, time.perf_counter() - started


def open_breakers(wf: Webfetch) -> int:
    """How many engines are benched."""
    return sum(handle.breaker.state is not BreakerState.CLOSED for handle in wf.host.handles("search"))


def counts_as_failure(wf: Webfetch) -> bool:
    """Whether what the engine answers is held against it: then it is benched after some calls."""
    for n in range(FAILURES_TO_OPEN):
        ask(wf, f"once more {n}")
    return open_breakers(wf) > 0


def is_kept(tmp_path: Path, services: Mapping[str, str]) -> bool:
    """Whether the query cache keeps an answer that the services had a part in.

    A peer finds a page that can be read: with nothing found there would be nothing to keep.
    """
    with LoopbackSite() as site:
        site.add(
            "/page",
            "<article><p>" + "The depth of the lake was sounded from the pier. " * 20 + "</p></article>",
        )
        peer = fake_plugin("search", ScriptedEngine([site.url("/page")]), "peer", traits=SearchTraits())
        with host(tmp_path, {**services, "peer": ""}, peer, fetch="auto") as wf:
            ask(wf, "depth of the lake", engines=[*(name.partition("-")[0] for name in services), "peer"])
            kept = _rows(wf)
            ask(wf, "depth of the pier", engines=["peer"])
            assert _rows(wf) == kept + 1, "the peer's own answer is not kept: this proves nothing"
    return kept > 0


def _rows(wf: Webfetch) -> int:
    wf.status()  # waits for what is written behind
    return int(wf.cache().stats()["entries"].get("queries", 0))


def seen(calls: Sequence[Call], **more: Any) -> Seen:
    """The calls as one: the first one's text, every kind of failure, and "success" if only some failed."""
    failed = [call for call in calls if call.error is not None]
    kinds = dict.fromkeys(kind for call in failed for kind in call.kinds)
    if failed and len(failed) < len(calls):
        kinds["success"] = None
    return Seen(
        text=failed[0].text if failed else "",
        error_kind=tuple(kinds) or (("benched",) if failed else None),
        **more,
    )


class Answering(LoopbackSite):
    """A service that answers every request by a function of the requests before it and the time."""

    def __init__(self, answer: Callable[[int], Reply]) -> None:
        super().__init__()
        self._of = answer

    def _answer(self, request: Any) -> Reply:
        with self._lock:
            self.requests.append(request)
            return self._of(len(self.requests))
