"""The desk: slots, places in the queue, deadlines, and what is left of a request that was given up."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from webfetch_serve_http import desk as module
from webfetch_serve_http.desk import Desk
from webfetch_serve_http.faults import Fault

from webfetch_core import Cancelled, CancelToken, Settings, Webfetch
from webfetch_core.testing import Hang, ScriptedEngine, fake_plugin

Work = Callable[[], Coroutine[Any, Any, None]]


def run(work: Work) -> None:
    asyncio.run(asyncio.wait_for(work(), 60))


async def until(condition: Callable[[], bool]) -> None:
    while not condition():
        await asyncio.sleep(0.005)


def test_a_job_is_done_in_a_thread_of_its_own_and_told_its_time() -> None:
    async def work() -> None:
        here = threading.current_thread()
        told = await Desk(1, 0).run(lambda left: (threading.current_thread(), left), 5.0)
        assert told[0] is not here and 0 < told[1] <= 5.0

    run(work)


@pytest.mark.parametrize("error", [ValueError("no"), SystemExit(3), KeyboardInterrupt()])
def test_what_a_job_raises_is_raised_and_frees_its_slot(error: BaseException) -> None:
    async def work() -> None:
        desk = Desk(1, 0)

        def job(_: float) -> None:
            raise error

        for _ in range(3):
            with pytest.raises((ValueError, RuntimeError)):
                await desk.run(job, 5.0)
        assert (desk.running, desk.admitted) == (0, 0)

    run(work)


def test_no_more_run_than_there_are_slots() -> None:
    most, now, lock = 0, 0, threading.Lock()

    def job(_: float) -> None:
        nonlocal most, now
        with lock:
            now += 1
            most = max(most, now)
        threading.Event().wait(0.01)
        with lock:
            now -= 1

    async def work() -> None:
        desk = Desk(3, 100)
        await asyncio.gather(*(desk.run(job, 30.0) for _ in range(30)))
        assert await desk.run_all([job] * 20, 30.0) == [None] * 20

    run(work)
    assert 1 <= most <= 3


def test_beyond_the_queue_nobody_is_admitted() -> None:
    async def work() -> None:
        desk, release = Desk(1, 1), threading.Event()
        waiting = [asyncio.ensure_future(desk.run(lambda _: release.wait(30), 30.0)) for _ in range(2)]
        await until(lambda: desk.admitted == 2)
        with pytest.raises(Fault) as caught:
            await desk.run(lambda _: None, 30.0)
        assert (caught.value.status, caught.value.headers) == (429, {"Retry-After": "2"})
        release.set()
        await asyncio.gather(*waiting)
        assert await desk.run(lambda _: "free again", 30.0) == "free again"

    run(work)


def test_who_waits_too_long_is_told_to_come_back() -> None:
    async def work() -> None:
        desk, release = Desk(1, 5), threading.Event()
        first = asyncio.ensure_future(desk.run(lambda _: release.wait(30), 30.0))
        await until(lambda: desk.running == 1)
        with pytest.raises(Fault) as caught:
            await desk.run(lambda _: None, 0.1)
        assert caught.value.status == 429
        release.set()
        await first

    run(work)


def test_a_job_that_forgets_its_deadline_is_given_up_and_keeps_its_slot(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "GRACE_S", 0.05)

    async def work() -> None:
        desk, release = Desk(1, 5), threading.Event()
        with pytest.raises(Fault) as caught:
            await desk.run(lambda _: release.wait(30), 0.05)
        assert caught.value.status == 504
        assert (desk.running, desk.admitted) == (1, 0)
        release.set()
        await until(lambda: desk.running == 0)
        assert await desk.run(lambda _: "next", 30.0) == "next"

    run(work)


def test_a_request_that_is_given_up_leaves_the_queue() -> None:
    async def work() -> None:
        desk, release, done = Desk(1, 5), threading.Event(), []
        first = asyncio.ensure_future(desk.run(lambda _: release.wait(30), 30.0))
        await until(lambda: desk.running == 1)
        second = asyncio.ensure_future(desk.run(lambda _: done.append(1), 30.0))
        await until(lambda: desk.admitted == 2)
        second.cancel()
        await asyncio.gather(second, return_exceptions=True)
        assert desk.admitted == 1
        release.set()
        await first
        assert await desk.run(lambda _: len(done), 30.0) == 0, "it was never begun"

    run(work)


@pytest.mark.parametrize("how", ["hung up", "out of time"])
def test_what_a_request_asked_for_is_cancelled_with_it(monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    """A job that goes by a deadline of its own, however far: it ends, and its slot comes free."""
    monkeypatch.setattr(module, "GRACE_S", 0.05)
    hang, ended = Hang(), []
    engine = ScriptedEngine(hang)
    slow = fake_plugin("search", engine, timeout_s=60.0)

    async def work(wf: Webfetch) -> None:
        def job(_: float) -> None:
            try:
                wf.search("warp", deadline_s=60.0)
            except Exception as exc:
                ended.append(type(exc))
                raise

        desk = Desk(1, 5)
        task = asyncio.ensure_future(desk.run(job, 30.0 if how == "hung up" else 0.5))
        await until(lambda: bool(engine.calls))
        if how == "hung up":
            task.cancel()
        outcome = (await asyncio.gather(task, return_exceptions=True))[0]
        assert isinstance(outcome, asyncio.CancelledError if how == "hung up" else Fault)
        await until(lambda: desk.running == 0)
        assert ended == [Cancelled]
        assert await desk.run(lambda _: "next", 30.0) == "next"

    patient = Settings(extract_workers=0, engine_timeout_s=60.0)
    with Webfetch(patient, plugins=[slow], autoload=False, environ={}) as wf:
        try:
            run(lambda: work(wf))
        finally:
            hang.released.set()


@pytest.mark.parametrize("fails", [False, True])
def test_a_request_that_was_answered_is_not_cancelled_after_it(
    monkeypatch: pytest.MonkeyPatch, fails: bool
) -> None:
    """What it left to load behind it, for the next, goes on."""
    cancelled: list[object] = []
    monkeypatch.setattr(CancelToken, "cancel", cancelled.append)

    def job(_: float) -> str:
        if fails:
            raise ValueError("no")
        return "done"

    async def work() -> None:
        await asyncio.gather(Desk(1, 0).run(job, 30.0), return_exceptions=True)

    run(work)
    assert not cancelled


def test_a_loop_that_has_ended_is_no_trouble_to_a_late_job() -> None:
    release, ended = threading.Event(), threading.Event()

    def job(_: float) -> None:
        release.wait(30)
        ended.set()

    async def work() -> None:
        task = asyncio.ensure_future(Desk(1, 0).run(job, 30.0))
        await asyncio.sleep(0.02)
        task.cancel()

    run(work)
    release.set()
    assert ended.wait(30)
