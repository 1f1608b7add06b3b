"""Work that may hang: what was done in time is what there is."""

from __future__ import annotations

import threading

from webfetch_compress_sentences.patience import in_time


def test_all_steps_in_order() -> None:
    assert in_time([lambda n=n: n for n in range(5)], 5.0) == [0, 1, 2, 3, 4]
    assert in_time([], 5.0) == []


def test_the_first_failure_is_the_end() -> None:
    ran: list[str] = []

    def fails() -> str:
        raise ValueError("no")

    def step(name: str) -> str:
        ran.append(name)
        return name

    assert in_time([lambda: step("one"), fails, lambda: step("two")], 5.0) == ["one"]
    assert ran == ["one"]


def test_nothing_is_begun_after_the_time_is_out() -> None:
    go, ended = threading.Event(), threading.Event()
    ran: list[str] = []

    def hangs() -> str:
        go.wait(30)
        return "late"

    def steps() -> object:
        yield lambda: "one"
        yield hangs
        ended.set()
        yield lambda: ran.append("never") or "never"

    assert in_time(steps(), 0.05) == ["one"]
    go.set()
    assert ended.wait(30)
    for thread in threading.enumerate():
        if thread.name == "compress-sentences":
            thread.join(30)
    assert ran == []
