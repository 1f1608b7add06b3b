"""Background work: counted, named, and never in the way of an exit."""

from __future__ import annotations

import logging
import subprocess
import sys
import threading
from time import monotonic, sleep

import pytest

from webfetch_core.runtime.tasks import Tasks


def settle(tasks: Tasks, running: int = 0) -> None:
    end = monotonic() + 5
    while tasks.running != running:
        assert monotonic() < end
        sleep(0.005)


def test_work_runs_in_a_daemon_thread_of_its_own() -> None:
    tasks, seen, going_on = Tasks(), [], threading.Event()

    def work() -> None:
        seen.append(threading.current_thread())
        going_on.wait(5)

    tasks.spawn(work, "page")
    tasks.spawn(work, "page")
    settle(tasks, 2)
    going_on.set()
    settle(tasks)
    assert len({t.ident for t in seen}) == 2
    assert all(t.daemon and t.name == "webfetch-page" for t in seen)


@pytest.mark.parametrize("error", [ValueError("bad"), SystemExit(1), KeyboardInterrupt()])
def test_what_escapes_is_logged_with_its_name_and_ends_only_its_task(
    caplog: pytest.LogCaptureFixture, error: BaseException
) -> None:
    tasks = Tasks()

    def work() -> None:
        raise error

    with caplog.at_level(logging.ERROR, logger="webfetch"):
        tasks.spawn(work, "refresh")
        settle(tasks)
    (record,) = caplog.records
    assert "refresh" in record.getMessage()
    assert record.exc_info
    assert record.exc_info[1] is error


def test_a_thread_that_cannot_be_started_is_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    def no(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    tasks = Tasks()
    monkeypatch.setattr(threading.Thread, "start", no)
    with pytest.raises(RuntimeError):
        tasks.spawn(lambda: None, "page")
    assert tasks.running == 0


def test_work_that_never_ends_does_not_hold_up_the_exit() -> None:
    code = (
        "import threading\n"
        "from webfetch_core.runtime.tasks import Tasks\n"
        "Tasks().spawn(threading.Event().wait, 'forever')\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], timeout=20, capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stderr) == (0, "")
