"""Whatever a provider does, a call ends in time, in order, and on the record."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from time import monotonic, sleep
from typing import Any

import pytest

from webfetch_core.api import (
    BadQuery,
    Blocked,
    NotConfigured,
    PageError,
    Provider,
    RateLimited,
    SearchRequest,
    SearchTraits,
    TimedOut,
    Unavailable,
)
from webfetch_core.errors import Benched, Busy, Cancelled, ContractViolation, ProviderError, WebfetchError
from webfetch_core.registry.catalog import Entry
from webfetch_core.runtime.breaker import BreakerState
from webfetch_core.runtime.calls import Caller, Handle
from webfetch_core.runtime.cancelling import CancelToken, current
from webfetch_core.runtime.deadline import Deadline, SystemClock
from webfetch_core.runtime.emitter import Emitter, Scope
from webfetch_core.runtime.replies import check_hits
from webfetch_core.testing import FakeClock, FakeContext, Hang, ScriptedEngine, Slow, hits

REQUEST = SearchRequest(query="q", limit=3)
GOOD = hits("https://good.example/1", "https://good.example/2")


class Bench:
    """One provider and what is needed to call it."""

    def __init__(self, *steps: Any, stage: str = "search", clock: Any = None, **fields: Any) -> None:
        self.engine = ScriptedEngine(*steps)
        self.clock = clock or SystemClock()
        self.scope = Scope(Emitter(), self.clock)
        self.caller = Caller(self.clock, strict=fields.pop("strict", False))
        build = fields.pop("build", lambda settings, context: self.engine)
        fields.setdefault("traits", SearchTraits(usd_per_1k=5.0))
        provider = Provider(name="mine", build=build, **fields)
        entry = Entry(
            stage=stage, provider=provider, plugin="search_mine", dist="webfetch-search-mine", version="1.2"
        )
        self.handle = Handle(entry, lambda e: FakeContext(e.plugin, clock=self.clock), self.clock)

    def call(self, seconds: float = 5.0, **options: Any) -> Any:
        options.setdefault("check", lambda value: check_hits(value, REQUEST, "mine"))
        return self.caller.call(
            self.handle,
            lambda engine: engine.search(REQUEST),
            scope=self.scope,
            deadline=Deadline.after(seconds, self.clock, options.pop("token", None)),
            count=len,
            **options,
        )

    def failed(self, kind: type[WebfetchError] = WebfetchError, seconds: float = 5.0, **options: Any) -> Any:
        with pytest.raises(kind) as caught:
            self.call(seconds, **options)
        return caught.value

    @property
    def outcomes(self) -> list[str]:
        return [a.outcome for a in self.scope.attempts()]


@pytest.fixture
def bench() -> Iterator[Callable[..., Bench]]:
    made: list[Bench] = []

    def make(*steps: Any, **fields: Any) -> Bench:
        made.append(Bench(*steps, **fields))
        return made[-1]

    yield make
    for one in made:
        one.engine.close()


def until(condition: Callable[[], bool], seconds: float = 5.0) -> None:
    end = monotonic() + seconds
    while not condition():
        assert monotonic() < end, "waited too long"
        sleep(0.005)


@pytest.mark.parametrize("detached", [True, False])
def test_a_good_answer_is_recorded_with_its_count_and_cost(bench: Any, detached: bool) -> None:
    one = bench(GOOD)
    assert [hit.rank for hit in one.call(detached=detached)] == [1, 2]
    (attempt,) = one.scope.attempts()
    assert (attempt.stage, attempt.provider, attempt.outcome, attempt.count) == ("search", "mine", "ok", 2)
    assert attempt.cost_usd == 0.005
    assert [e.name for e in one.scope.events()] == ["call.started", "call.finished"]


def test_nothing_found_is_empty_not_ok(bench: Any) -> None:
    one = bench([])
    assert one.call() == ()
    assert one.outcomes == ["empty"]


@pytest.mark.parametrize(
    ("step", "kind"),
    [
        (RuntimeError("boom"), "plugin_error"),
        (SystemExit(3), "plugin_error"),
        (KeyboardInterrupt(), "plugin_error"),
        (GeneratorExit(), "plugin_error"),
        (MemoryError(), "plugin_error"),
        (TimeoutError("socket"), "timeout"),
        (Blocked("captcha"), "blocked"),
        (Unavailable("down"), "unavailable"),
        (RateLimited("slow down"), "rate_limited"),
        (BadQuery("too long"), "bad_query"),
        (NotConfigured("no key"), "not_configured"),
        (42, "plugin_error"),
        ("https://good.example/", "plugin_error"),
        (None, "plugin_error"),
        ([object()], "plugin_error"),
        ({"results": []}, "plugin_error"),
    ],
)
def test_every_bad_ending_is_a_webfetch_error_on_the_record(bench: Any, step: Any, kind: str) -> None:
    one = bench(step)
    assert one.failed().kind == kind
    assert one.outcomes == [kind]


def test_a_fault_of_the_plugin_names_provider_dist_version_and_exception(bench: Any) -> None:
    error = bench(RuntimeError("boom")).failed(ProviderError)
    assert str(error) == "mine (webfetch-search-mine 1.2) raised RuntimeError: boom"
    assert isinstance(error.__cause__, RuntimeError)


def test_a_hang_is_left_behind_at_the_deadline(bench: Any) -> None:
    one = bench(Hang(), GOOD)
    started = monotonic()
    one.failed(TimedOut, seconds=0.1)
    assert monotonic() - started < 1.0
    assert one.caller.abandoned == 1
    one.call()
    one.engine.close()
    until(lambda: one.caller.abandoned == 0)


def test_the_providers_own_limit_is_nearer_than_a_far_deadline(bench: Any) -> None:
    started = monotonic()
    bench(Hang(), timeout_s=0.1).failed(TimedOut, seconds=60)
    assert monotonic() - started < 1.0


def test_a_slow_answer_within_the_deadline_counts(bench: Any) -> None:
    assert len(bench(Slow(0.05, GOOD)).call(5)) == 2


def test_hangs_take_only_their_own_slots(bench: Any) -> None:
    one = bench(Hang(), Hang(), GOOD, max_concurrency=2)
    for _ in range(2):
        one.failed(TimedOut, seconds=0.05)
    error = one.failed(Busy, seconds=0.05)
    assert "all 2 slots" in str(error)
    assert len(one.engine.calls) == 2, "a call without a slot must not be made"
    one.engine.close()
    until(lambda: one.caller.abandoned == 0)
    assert len(one.call()) == 2


def test_a_flood_is_cut_at_the_limit(bench: Any) -> None:
    def endless(_: Any) -> Any:
        n = 0
        while True:
            n += 1
            yield hits(f"https://flood.example/{n}")[0]

    assert len(bench(endless).call()) == REQUEST.limit


def test_a_generator_that_hangs_while_it_is_read_is_left_behind(bench: Any) -> None:
    release = threading.Event()

    def stuck(_: Any) -> Any:
        yield GOOD[0]
        release.wait(10)
        yield GOOD[1]

    started = monotonic()
    bench(stuck).failed(TimedOut, seconds=0.1)
    release.set()
    assert monotonic() - started < 1.0


def test_three_faults_bench_the_provider_without_calling_it(bench: Any) -> None:
    clock = FakeClock()
    one = bench(RuntimeError("boom"), clock=clock)
    for _ in range(3):
        one.failed(ProviderError)
    error = one.failed(Benched)
    assert "boom" in str(error) and "benched for 300 s" in str(error)
    assert len(one.engine.calls) == 3
    assert [e.name for e in one.scope.events()].count("breaker.opened") == 1


def test_a_probe_that_succeeds_closes_the_breaker(bench: Any) -> None:
    clock = FakeClock()
    boom = RuntimeError("boom")
    one = bench(boom, boom, boom, GOOD, clock=clock)
    for _ in range(3):
        one.failed()
    clock.advance(300)
    assert len(one.call()) == 2
    assert one.handle.breaker.state is BreakerState.CLOSED
    assert [e.name for e in one.scope.events()].count("breaker.closed") == 1


@pytest.mark.parametrize("step", [NotConfigured("no key"), BadQuery("too long")])
def test_declining_does_not_count_against_the_breaker(bench: Any, step: Any) -> None:
    one = bench(step, clock=FakeClock())
    for _ in range(5):
        one.failed()
    assert one.handle.breaker.state is BreakerState.CLOSED and len(one.engine.calls) == 5


def test_a_missing_page_says_nothing_of_the_fetcher(bench: Any) -> None:
    one = bench(PageError("gone", kind="not_found"), Unavailable("down"), stage="fetch", clock=FakeClock())
    for _ in range(6):
        one.failed()
    assert one.handle.breaker.state is BreakerState.CLOSED


def test_a_contract_violation_counts(bench: Any) -> None:
    one = bench(42, clock=FakeClock())
    for _ in range(3):
        one.failed(ContractViolation)
    one.failed(Benched)


def test_rate_limits_are_kept_as_told(bench: Any) -> None:
    clock = FakeClock()
    one = bench(RateLimited("slow down", retry_after_s=30), GOOD, clock=clock)
    one.failed(RateLimited)
    clock.advance(29)
    one.failed(Benched)
    clock.advance(2)
    assert len(one.call()) == 2


def test_a_rate_limit_that_comes_too_late_still_warms_the_breaker(bench: Any) -> None:
    one = bench(Slow(0.15, RateLimited("slow down", retry_after_s=60)))
    one.failed(TimedOut, seconds=0.03)
    until(lambda: one.handle.breaker.state is BreakerState.OPEN)
    assert "slow down" in one.handle.breaker.reason


@pytest.mark.parametrize("error", [RateLimited("429", retry_after_s=60.0), Blocked("403")])
def test_a_page_that_is_walled_too_late_says_nothing_of_its_fetcher(bench: Any, error: ProviderError) -> None:
    one = bench(Slow(0.15, error), stage="fetch")
    one.failed(TimedOut, seconds=0.03)
    until(lambda: one.caller.abandoned == 0)
    assert one.handle.breaker.state is BreakerState.CLOSED


# ---- building ----


def test_built_on_first_use_and_only_once(bench: Any) -> None:
    built: list[int] = []
    engine = ScriptedEngine(GOOD)

    def build(settings: Any, context: Any) -> Any:
        built.append(1)
        sleep(0.02)
        return engine

    one = bench(build=build, max_concurrency=8)
    assert one.handle.built is None
    threads = [threading.Thread(target=one.call) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert built == [1] and len(engine.calls) == 8


def test_a_build_that_declines_is_not_tried_again(bench: Any) -> None:
    built: list[int] = []

    def build(settings: Any, context: Any) -> Any:
        built.append(1)
        raise NotConfigured("the service is not there", fix="start it")

    one = bench(build=build)
    for _ in range(4):
        assert "start it" in str(one.failed(NotConfigured))
    assert built == [1] and one.handle.off_reason == "the service is not there (start it)"
    assert one.handle.breaker.state is BreakerState.CLOSED


@pytest.mark.parametrize(
    ("build", "told"),
    [
        (lambda settings, context: None, "build returned None"),
        (lambda settings, context: 1 / 0, "ZeroDivisionError"),
        (lambda settings: None, "TypeError"),
        (lambda settings, context: object(), "AttributeError"),
    ],
)
def test_a_build_that_fails_names_the_reason(bench: Any, build: Any, told: str) -> None:
    assert told in str(bench(build=build).failed(ProviderError))


def test_a_build_that_hangs_is_left_behind(bench: Any) -> None:
    release = threading.Event()

    def build(settings: Any, context: Any) -> Any:
        release.wait(10)
        return ScriptedEngine(GOOD)

    one = bench(build=build)
    started = monotonic()
    one.failed(TimedOut, seconds=0.1)
    one.failed(TimedOut, seconds=0.1)
    assert monotonic() - started < 1.0
    release.set()
    assert len(one.call()) == 2


def test_close_only_closes_what_was_built(bench: Any) -> None:
    one = bench(GOOD)
    one.handle.close()
    assert one.engine.closed == 0
    two = bench(GOOD)
    two.call()
    two.handle.close()
    two.handle.close()
    assert two.engine.closed == 1


def test_nothing_is_built_again_after_closing(bench: Any) -> None:
    built = []
    one = bench(build=lambda settings, context: built.append(1))
    one.handle.close()
    assert one.failed().kind == "cancelled"
    two = bench(GOOD)
    two.call()
    two.handle.close()
    assert two.failed().kind == "cancelled"
    assert (built, one.handle.breaker.state) == ([], BreakerState.CLOSED)


def test_what_is_being_built_while_the_host_closes_is_closed_at_once(bench: Any) -> None:
    started, going_on = threading.Event(), threading.Event()
    engine = ScriptedEngine(GOOD)

    def build(settings: Any, context: Any) -> Any:
        started.set()
        going_on.wait(5)
        return engine

    one = bench(build=build)
    one.failed(TimedOut, seconds=0.05)
    assert started.is_set()
    one.handle.close()
    going_on.set()
    until(lambda: engine.closed == 1)


def test_a_probe_that_finds_nothing_does_not_bench_for_ever(bench: Any) -> None:
    clock = FakeClock()
    one = bench(Unavailable("down"), Unavailable("down"), Unavailable("down"), [], GOOD, clock=clock)
    for _ in range(3):
        one.failed(Unavailable)
    clock.advance(301)
    assert one.call() == ()
    assert len(one.call()) == 2
    assert one.handle.breaker.state is BreakerState.CLOSED


# ---- strict ----


def test_strict_lets_the_plugins_own_exception_through(bench: Any) -> None:
    one = bench(RuntimeError("boom"), strict=True)
    with pytest.raises(RuntimeError, match="boom"):
        one.call()
    assert one.outcomes == ["plugin_error"]


def test_strict_leaves_webfetch_errors_as_they_are(bench: Any) -> None:
    bench(Blocked("captcha"), strict=True).failed(Blocked)


@pytest.mark.parametrize("detached", [True, False])
def test_slots_come_back_after_every_ending(bench: Any, detached: bool) -> None:
    one = bench(GOOD, RuntimeError("x"), GOOD, NotConfigured("y"), GOOD, max_concurrency=1)
    for _ in range(5):
        try:
            one.call(detached=detached)
        except WebfetchError:
            continue
    assert one.handle.slots.acquire(timeout=1)


# ---- callers who cancel ----


def test_a_call_is_not_begun_for_one_who_has_cancelled(bench: Any) -> None:
    one, token = bench(GOOD), CancelToken()
    token.cancel()
    one.failed(Cancelled, token=token)
    assert not one.engine.calls and not one.scope.events()


@pytest.mark.parametrize("state", [BreakerState.CLOSED, BreakerState.HALF_OPEN])
def test_a_call_that_was_cancelled_says_nothing_of_its_provider(bench: Any, state: BreakerState) -> None:
    clock, hang, token = FakeClock(), Hang(), CancelToken()
    one = bench(hang, GOOD, clock=clock, max_concurrency=2)
    if state is BreakerState.HALF_OPEN:
        one.handle.breaker.record_failure("down", retry_after_s=10.0)
        clock.advance(11.0)
    threading.Thread(target=lambda: (until(lambda: bool(one.engine.calls)), token.cancel())).start()
    assert one.failed(Cancelled, 60.0, token=token).kind == "cancelled"
    assert one.outcomes == ["cancelled"]
    assert one.caller.abandoned == 1
    assert len(one.call()) == 2, "another may probe it at once"
    assert one.handle.breaker.state is BreakerState.CLOSED
    hang.released.set()
    until(lambda: one.caller.abandoned == 0)


def test_whatever_a_plugin_makes_of_being_cancelled_is_no_fault_of_it(bench: Any) -> None:
    token = CancelToken()

    def confused(request: Any) -> Any:
        token.cancel()
        raise RuntimeError("the connection vanished")

    one = bench(confused)
    for _ in range(5):
        one.failed(Cancelled, token=token, detached=False)
        token = CancelToken()
    assert one.outcomes == ["cancelled"] * 5
    assert one.handle.breaker.state is BreakerState.CLOSED


def test_a_benched_provider_stays_so_whoever_cancels(bench: Any) -> None:
    """The one probe under way is another caller's: being cancelled does not end it."""
    clock, hang, token = FakeClock(), Hang(), CancelToken()
    one = bench(hang, clock=clock, max_concurrency=2)
    one.handle.breaker.record_failure("down", retry_after_s=10.0)
    clock.advance(11.0)
    assert one.handle.breaker.admit()
    one.scope._emitter.subscribe(lambda event: token.cancel())
    one.failed(Benched, token=token)
    assert token.cancelled
    assert not one.handle.breaker.admit()


def test_what_is_built_is_built_for_everybody(bench: Any) -> None:
    seen: list[Any] = []
    token = CancelToken()

    def build(settings: Any, context: Any) -> Any:
        token.cancel()
        seen.append(current())
        return one.engine

    one = bench(GOOD, build=build)
    with suppress(Cancelled):
        one.call(token=token)
    until(lambda: one.handle.built is not None)
    assert seen == [None]
    assert len(one.call()) == 2


# ---- errors that are not what they seem ----


class Mute(Exception):
    def __str__(self) -> str:
        raise SystemExit("no")


class Torn(Unavailable):
    def __init__(self) -> None:
        Exception.__init__(self, "without the fields of its base")


class MuteUnavailable(Unavailable):
    def __str__(self) -> str:
        raise SystemExit("no")


@pytest.mark.parametrize("detached", [True, False])
@pytest.mark.parametrize("error", [Mute(), Torn(), MuteUnavailable("x")], ids=["mute", "torn", "own"])
def test_an_error_that_cannot_be_told_is_its_plugin_s_fault(bench: Any, error: Any, detached: bool) -> None:
    one = bench(error)
    told = one.failed(ProviderError, detached=detached)
    assert told.kind == "plugin_error" and "webfetch-search-mine 1.2" in told.message
    assert one.outcomes == ["plugin_error"]


@pytest.mark.parametrize("text", ["\ud800", "\x1b[2J", "y" * 10**6])
def test_what_an_error_quotes_can_be_shown(bench: Any, text: str) -> None:
    one = bench(Unavailable(f"the server said {text}", fix=text))
    one.failed(Unavailable)
    (attempt,) = one.scope.attempts()
    attempt.reason.encode()
    assert attempt.reason.isprintable() and len(attempt.reason) < 20_000


def test_what_a_provider_says_when_it_declines_does_not_show_its_key(bench: Any) -> None:
    def build(settings: Any, context: Any) -> Any:
        raise NotConfigured("key-1234 is no key", fix="KEY-1234 is to be replaced")

    one = bench(build=build)
    one.handle.secrets = ("key-1234",)
    for _ in range(2):
        assert "1234" not in str(one.failed(NotConfigured))
    assert one.handle.off_reason == "*** is no key (*** is to be replaced)"


@pytest.mark.parametrize(
    "error", [Unavailable("no: KEY-1234", fix="drop KEY%2d1234"), ValueError("key&#45;1234")]
)
def test_no_error_of_a_provider_shows_its_key(bench: Any, error: Exception) -> None:
    one = bench(error)
    one.handle.secrets = ("key-1234",)
    told = one.failed()
    (attempt,) = one.scope.attempts()
    for text in (str(told), told.message, repr(told.args), attempt.reason):
        assert "1234" not in text
    assert "***" in told.message
