"""The base of the engines' simulators: a loopback server that speaks one engine's wire format.

A simulator answers from a corpus, as much of it as this engine "has indexed", or as a script says.
What an engine's module adds is its wire format alone: how a request is read, how hits are written,
and what each of its errors looks like.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import ClassVar

from attrs import evolve

from ...providers import Clock
from ..site import LoopbackSite, Received, Reply
from .corpus import Corpus, CorpusDocument, snippet
from .faults import ENGINE_FAULTS, JSON_FAULTS, SOME_HITS, WIRE_FAULTS, wire_fault, without_fields
from .index import Index
from .messages import (
    WINDOWS,
    Answered,
    SimulatedHit,
    SimulatedQuery,
    bearer,
    form_fields,
    hit_of,
    instant,
    json_body,
    json_reply,
    query_fields,
    split_sites,
    text_reply,
    whole,
    within,
)
from .script import OK, Chance, Limits, RateState, Script, Step


class EngineSimulator(LoopbackSite):
    """One engine on loopback; a context manager. Subclasses give the wire format.

    To be set by a subclass:
        name: the provider's name, and the module's.
        routes: the paths that this engine answers.
        base_path: what the plugin's ``base_url`` points to, as a path of this server.
        key_env: the variable that holds the key; empty for an engine without keys.
        max_limit, default_limit: hits a request may ask for, and gets unasked.
        results_at: where the list of results is in the JSON; empty for an engine that answers in HTML.
        url_field: the results' field with the URL.
        faults: the names of ENGINE_FAULTS (and more) that ``fault_reply`` knows.

    Attributes:
        answered: every request so far with its outcome; ``requests`` has them as received.
        fault: the name of a fault that every request meets, or None.
        delay_s: how long each answer waits.
    """

    name: ClassVar[str]
    routes: ClassVar[tuple[str, ...]]
    base_path: ClassVar[str] = ""
    key_env: ClassVar[str] = ""
    max_limit: ClassVar[int] = 20
    default_limit: ClassVar[int] = 10
    results_at: ClassVar[tuple[str, ...]] = ("results",)
    url_field: ClassVar[str] = "url"
    faults: ClassVar[tuple[str, ...]] = ENGINE_FAULTS

    def __init__(
        self,
        corpus: Corpus | Iterable[CorpusDocument] = (),
        *,
        key: str | None = None,
        fault: str | None = None,
        failure_rate: float = 0.0,
        failures: Sequence[str] = ("server_error",),
        coverage: float = 1.0,
        noise: float = 0.0,
        seed: int = 0,
        rate: float | None = None,
        quota: int | None = None,
        delay_s: float = 0.0,
        local_pages: bool = False,
        pages_url: str = "",
        port: int = 0,
        clock: Clock | None = None,
        on_answer: Callable[[Received, Answered], None] | None = None,
    ) -> None:
        """Make the simulator; it listens from ``start`` or ``with`` on.

        Args:
            corpus: what there is to be found.
            key: the one key that is right; None takes any, but wants one where the engine has keys.
            fault: a fault that every request meets.
            failure_rate: the share of requests that meet one of ``failures`` instead of an answer.
            coverage: the share of the corpus that this engine has indexed, chosen by ``seed`` and URL.
            noise: how far ``seed`` shifts a document's score: 0.5 is up to a half either way.
            seed: of failures, coverage and noise.
            rate: requests a second; one too many is ``rate_limited``.
            quota: requests in all; one too many is ``quota``.
            local_pages: hits lead to this server's own copies of the pages.
            pages_url: the address of another simulator that serves the pages, for several with one corpus.
            port: 0 for a free one.
            clock: of the rate and of what counts as recent; the process's own unless given.
            on_answer: called with every request to an endpoint and what came of it.

        Raises:
            ValueError: a share outside 0 to 1, or a fault or limit that this engine does not have.
        """
        from ...runtime.deadline import SystemClock

        super().__init__(port=port)
        for option, value, fault_name in (("rate", rate, "rate_limited"), ("quota", quota, "quota")):
            if value is not None and fault_name not in self.faults:
                raise ValueError(f"{self.name} has no {option}")
        if key is not None and not self.key_env:
            raise ValueError(f"{self.name} takes no key")
        known = corpus if isinstance(corpus, Corpus) else Corpus(corpus)
        self.corpus = known
        self.indexed = Index(known, coverage=coverage, noise=noise, seed=seed)
        self.answered: list[Answered] = []
        self.delay_s = delay_s
        self.key = key
        self._clock: Clock = clock or SystemClock()
        self._script = Script(self.all_faults())
        self._chance = Chance(failure_rate, [self._script.check(f) for f in failures], seed)
        self._limits = Limits(self._clock, rate=rate, quota=quota)
        self._local = local_pages or bool(pages_url)
        self._pages_url = pages_url.rstrip("/")
        self._pages = {d.path: d for d in known.documents}
        self._on_answer = on_answer
        self.fault = fault

    # ---- the wire format: a subclass's part ----

    def parse_request(self, received: Received) -> SimulatedQuery:
        """Read a request. Never raises: what is misshapen is left out, and ``validate`` refuses it."""
        raise NotImplementedError

    def hits_reply(self, hits: Sequence[SimulatedHit], query: SimulatedQuery) -> Reply:
        """Write the answer, in the engine's own shape when ``hits`` is empty too."""
        raise NotImplementedError

    def fault_reply(self, kind: str, query: SimulatedQuery) -> Reply:
        """Write one of the engine's own ``faults``. Called for ``empty`` and ``silent_block`` as well."""
        raise NotImplementedError

    def validate(self, query: SimulatedQuery) -> Reply | None:
        """The engine's refusal of a request, or None. An empty query is ``bad_query`` without this."""
        return None if query.query.strip() else self.fault_reply("bad_query", query)

    def rate_headers(self, state: RateState) -> Mapping[str, str]:
        """Headers put on every answer, in place of those that the reply has."""
        return {}

    # ---- what a test says and sees ----

    @classmethod
    def all_faults(cls) -> tuple[str, ...]:
        """The names that ``fault`` and ``script`` take for this engine."""
        shared = [f for f in WIRE_FAULTS if cls.results_at or f not in JSON_FAULTS]
        return tuple(dict.fromkeys((*cls.faults, *shared)))

    @property
    def fault(self) -> str | None:
        """The fault that every request meets, or None. Setting an unknown one raises ValueError."""
        return self._fault

    @fault.setter
    def fault(self, name: str | None) -> None:
        self._fault = self._script.check(name) if name else None

    def script(self, *steps: Step) -> EngineSimulator:
        """Answer the next requests so, one each: a fault's name, ``"ok"``, a list of hits or URLs, a Reply.

        Returns:
            itself, so that calls can be chained.
        """
        with self._lock:
            self._script.extend(steps)
        return self

    @property
    def endpoint(self) -> str:
        """What the plugin's ``base_url`` is to be set to."""
        return self.url(self.base_path)

    @property
    def serves_pages(self) -> bool:
        """Whether hits lead to loopback, so that a host must be allowed to fetch from there."""
        return self._local or any(d.url.startswith("/") for d in self.corpus.documents)

    @property
    def queries(self) -> list[SimulatedQuery]:
        """Every request to an endpoint so far, as understood."""
        with self._lock:
            return [one.query for one in self.answered]

    @property
    def outcomes(self) -> list[str]:
        """What came of every request to an endpoint so far."""
        with self._lock:
            return [one.outcome for one in self.answered]

    def search(self, query: SimulatedQuery) -> list[SimulatedHit]:
        """What this engine finds: best first, filtered, at most as many as were asked for."""
        limit = min(self.default_limit if query.limit is None else query.limit, self.max_limit)
        return [
            SimulatedHit(
                url=self._address(d),
                title=d.title,
                snippet=snippet(d.text, query.query),
                published=d.published,
                score=round(score, 4),
                text=d.text,
            )
            for score, d in self.indexed.find(query, limit, self._clock.time())
        ]

    # ---- the server's side ----

    def _answer(self, request: Received) -> Reply:
        with self._lock:
            scripted = any(self._queues.get(k) or k in self._replies for k in (request.target, request.path))
        if request.path in self._pages and not scripted:
            with self._lock:
                self.requests.append(request)
            document = self._pages[request.path]
            return Reply(body=document.page(), headers={"Content-Type": document.content_type})
        if request.path not in self.routes or scripted:
            return super()._answer(request)
        with self._lock:
            self.requests.append(request)
            try:
                answer = self._decide(self.parse_request(request))
            except Exception:  # a simulator's own fault must show, and not as a cut connection
                reply = text_reply(traceback.format_exc(), 500)
                answer = Answered(query=SimulatedQuery(), outcome="crashed", reply=reply)
            self.answered.append(answer)
        if self._on_answer is not None:
            self._on_answer(request, answer)
        return answer.reply

    def _decide(self, query: SimulatedQuery) -> Answered:
        """In the order of a real service: the key, the limits, the request, then the search."""
        step = self._script.next() or self._fault
        hits: Sequence[SimulatedHit] = ()
        if step is None or step == OK:
            step = self._refusal(query) or self._chance.draw() or OK
        outcome = step if isinstance(step, str) else "reply"
        if isinstance(step, Reply):
            reply = step
        elif step == OK:
            refusal = self.validate(query)
            hits = () if refusal else self.search(query)
            reply, outcome = refusal or self.hits_reply(hits, query), "bad_query" if refusal else OK
        elif isinstance(step, str):
            reply = self._faulty(step, query)
        else:
            hits, outcome = [h if isinstance(h, SimulatedHit) else hit_of(h) for h in step], OK
            reply = self.hits_reply(hits, query)
        if not isinstance(step, Reply):
            headers = {**reply.headers, **self.rate_headers(self._limits.state(outcome))}
            reply = evolve(reply, headers=headers, delay_s=reply.delay_s + self.delay_s)
        return Answered(query=query, outcome=outcome, hits=tuple(hits), reply=reply)

    def _refusal(self, query: SimulatedQuery) -> str | None:
        if self.key_env and (not query.key or self.key not in (None, query.key)):
            return "auth"
        return self._limits.take()

    def _faulty(self, kind: str, query: SimulatedQuery) -> Reply:
        if kind in self.faults:
            return self.fault_reply(kind, query)
        if kind == "missing_fields":
            return self.missing_fields(query)
        return wire_fault(kind, self.hits_reply(self.search(query) or SOME_HITS, query))

    def missing_fields(self, query: SimulatedQuery) -> Reply:
        """Results of which the first lack fields."""
        whole_answer = self.hits_reply([*self.search(query), *SOME_HITS], query)
        return without_fields(whole_answer, self.results_at, self.url_field)

    def _address(self, document: CorpusDocument) -> str:
        if self._local or document.url.startswith("/"):
            return (self._pages_url or self.base_url) + document.path
        return document.url


__all__ = [
    "ENGINE_FAULTS", "OK", "SOME_HITS", "WINDOWS", "WIRE_FAULTS", "Answered", "Corpus", "CorpusDocument",
    "EngineSimulator", "RateState", "Received", "Reply", "SimulatedHit", "SimulatedQuery", "bearer",
    "form_fields", "instant", "json_body", "json_reply", "query_fields", "split_sites", "text_reply",
    "whole", "within",
]  # fmt: skip
