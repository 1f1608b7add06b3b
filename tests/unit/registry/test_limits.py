from __future__ import annotations

import threading

import pytest

from webfetch_core.registry.limits import TookTooLong, within


def test_returns_what_the_work_returns() -> None:
    assert within(5, lambda: 42, "answer") == 42


@pytest.mark.parametrize("error", [ValueError("x"), SystemExit(3), GeneratorExit()])
def test_raises_what_the_work_raises(error: BaseException) -> None:
    def work() -> None:
        raise error

    with pytest.raises(type(error)):
        within(5, work, "error")


def test_an_interrupt_of_the_work_does_not_end_the_host() -> None:
    def work() -> None:
        raise KeyboardInterrupt

    with pytest.raises(RuntimeError, match="KeyboardInterrupt"):
        within(5, work, "interrupt")


def test_gives_up_at_the_limit() -> None:
    release = threading.Event()
    with pytest.raises(TookTooLong, match=r"did not finish within 0\.05 s"):
        within(0.05, release.wait, "hang")
    release.set()
