from __future__ import annotations

import io
import logging
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from webfetch_core.errors import Cancelled, PageError, ProviderError, TimedOut
from webfetch_core.models import Document, Page
from webfetch_core.runtime.deadline import SystemClock
from webfetch_core.runtime.frames import BadFrame, read_frame, write_frame
from webfetch_core.runtime.workers import RETRY_START_S, ExtractionWorkers, WorkerSpec

FACTORY = """
import os, subprocess, sys, time
from webfetch_core.errors import PageError, RateLimited, TimedOut
from webfetch_core.models import Document

def make(payload):
    print("a line that must not reach the protocol")
    if payload == "broken":
        raise RuntimeError("no such model")
    def extract(page, seconds=None):
        what = page.body.decode("utf-8", "replace").partition(" ")[0]
        if what == "none": return None
        if what == "hang":
            while True: pass
        if what == "sleep": time.sleep(30)
        if what == "crash": os._exit(7)
        if what == "segfault": os.kill(os.getpid(), 11)
        if what == "hog":
            kept = []
            while True: kept.append(bytearray(1 << 24))
        if what == "raise": raise ValueError("row 7 is bad")
        if what == "late": raise TimedOut("a call was left behind")
        if what == "given": return Document(url=page.url, text=str(seconds))
        if what == "exit": sys.exit(3)
        if what == "encrypted": raise PageError("needs a password", kind="encrypted", fix="ask for it")
        if what == "limited": raise RateLimited("slow down", retry_after_s=3)
        if what == "flood": return Document(url=page.url, text="x" * (33 << 20))
        if what == "wrong": return "text"
        if what == "garbage":
            for fd in range(3, 12):
                try: os.write(fd, b"\\x00\\x00\\x00\\x05\\x00\\x00\\x00\\x00hello")
                except OSError: pass
        if what == "print":
            print("noise" * 1000); sys.stdout.flush(); os.write(1, b"raw noise"); sys.stdin.read()
            sys.stderr.write("noise" * 100_000)
        if what == "spawn":
            child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
            open(payload, "w").write(str(child.pid)); time.sleep(30)
        facts = {"pid": str(os.getpid()), "env": os.environ.get("GATE", "")}
        return Document(url=page.url, text=what, metadata=facts, links=("https://a.example/b",),
                        published="2026-01-02", flags=(page.headers.get("x", ""),))
    if payload == "told": extract.within = extract
    return extract
"""


class FakeClock:
    now = 0.0

    def monotonic(self) -> float:
        return self.now

    def time(self) -> float:
        return self.now


@pytest.fixture
def spec(tmp_path, monkeypatch):
    (tmp_path / "fake_factory.py").write_text(FACTORY)
    monkeypatch.syspath_prepend(str(tmp_path))
    return WorkerSpec(factory="fake_factory:make", memory_bytes=300 << 20)


@pytest.fixture
def workers(spec):
    pool = ExtractionWorkers(spec, size=1, clock=SystemClock())
    yield pool
    pool.close()


def page(what: str, size: int = 0) -> Page:
    return Page(url="https://a.example/", body=what.encode() + b" " * size, headers={"x": "flag"})


def children_of(pid: int) -> set[int]:
    found = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid:
            found.add(int(stat.parent.name))
    return found


def entries(folder: str) -> int:
    return len(list(Path(folder).iterdir()))


def wait_until(condition, seconds: float) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return condition()


def gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")


def test_a_document_comes_back_whole(workers):
    document = workers.submit(page("hello", size=3_000_000), 10).result(20)
    assert document == Document(
        url="https://a.example/",
        text="hello",
        metadata=document.metadata,
        links=("https://a.example/b",),
        published="2026-01-02",
        flags=("flag",),
    )
    assert document.metadata["pid"] != str(os.getpid())
    assert workers.submit(page("none"), 10).result(20) is None


def test_one_process_serves_many_pages_and_text_survives(workers):
    texts = ["水位", "👩‍👩‍👧", "\ufffd", "a\u2028b"]
    documents = [workers.submit(page(text), 10).result(20) for text in texts]
    assert [each.text for each in documents] == [text.partition(" ")[0] for text in texts]
    assert len({each.metadata["pid"] for each in documents}) == 1


def test_nothing_starts_before_the_first_page(spec):
    before = children_of(os.getpid())
    pool = ExtractionWorkers(spec, clock=SystemClock())
    assert children_of(os.getpid()) == before
    pool.close()


@needs_proc
def test_warm_up_starts_every_worker_without_waiting(spec):
    before = children_of(os.getpid())
    pool = ExtractionWorkers(spec, size=2, clock=SystemClock())
    began = time.monotonic()
    pool.warm_up()
    assert time.monotonic() - began < 0.2
    assert wait_until(lambda: len(children_of(os.getpid()) - before) == 2, 5)
    pool.close()
    assert children_of(os.getpid()) == before


def test_the_environment_is_passed(spec):
    pool = ExtractionWorkers(spec, size=1, clock=SystemClock(), environ={**os.environ, "GATE": "open"})
    assert pool.submit(page("x"), 10).result(20).metadata["env"] == "open"
    pool.close()


@pytest.mark.parametrize("what", ["hang", "sleep"])
def test_a_hanging_page_times_out_and_the_next_one_is_served(workers, what):
    first = workers.submit(page("x"), 10).result(20).metadata["pid"]
    began = time.monotonic()
    with pytest.raises(TimedOut, match=r"more than 0\.3 s"):
        workers.submit(page(what), 0.3).result(20)
    assert time.monotonic() - began < 1.5
    assert workers.submit(page("x"), 10).result(20).metadata["pid"] != first


@pytest.mark.parametrize(("what", "reason"), [("crash", "exit code 7"), ("segfault", "SIGSEGV")])
def test_a_crash_is_an_error_with_its_reason(workers, what, reason):
    with pytest.raises(ProviderError, match=reason) as caught:
        workers.submit(page(what), 10).result(20)
    assert caught.value.kind == "plugin_error"
    assert workers.submit(page("x"), 10).result(20).text == "x"


@pytest.mark.skipif(sys.platform != "linux", reason="the memory cap works on Linux")
def test_a_memory_hog_is_bounded(workers):
    with pytest.raises(ProviderError, match="memory"):
        workers.submit(page("hog"), 20).result(30)
    assert workers.submit(page("x"), 10).result(20).text == "x"


def test_prints_do_not_corrupt_the_protocol(workers):
    assert workers.submit(page("print"), 10).result(20).text == "print"


def test_an_exception_arrives_without_its_traceback_which_is_logged(workers, caplog):
    with caplog.at_level(logging.WARNING, "webfetch.workers"), pytest.raises(ProviderError) as caught:
        workers.submit(page("raise"), 10).result(20)
    assert caught.value.message == "ValueError: row 7 is bad"
    assert any("Traceback" in str(record.__dict__) for record in caplog.records)


def test_an_exit_ends_neither_worker_nor_host(workers):
    with pytest.raises(ProviderError, match="SystemExit: 3"):
        workers.submit(page("exit"), 10).result(20)
    assert workers.submit(page("x"), 10).result(20).text == "x"


def test_own_errors_keep_their_class_kind_and_fix(workers):
    with pytest.raises(PageError) as caught:
        workers.submit(page("encrypted"), 10).result(20)
    assert (caught.value.kind, caught.value.message, caught.value.fix) == (
        "encrypted",
        "needs a password",
        "ask for it",
    )
    with pytest.raises(ProviderError) as caught:
        workers.submit(page("limited"), 10).result(20)
    assert caught.value.kind == "rate_limited"


@pytest.mark.parametrize(
    ("what", "reason"),
    [
        ("flood", "over the limit"),
        ("wrong", "not a Document"),
        ("garbage", "failed|died|malformed|no document"),
    ],
)
def test_a_reply_that_is_none_is_refused(workers, what, reason):
    with pytest.raises(ProviderError, match=reason):
        workers.submit(page(what), 20).result(30)
    assert workers.submit(page("x"), 10).result(20).text == "x"


def test_a_worker_that_cannot_start_says_why_and_is_tried_again_later(spec):
    clock = FakeClock()
    pool = ExtractionWorkers(WorkerSpec(factory=spec.factory, payload="broken"), size=1, clock=clock)
    with pytest.raises(ProviderError, match="could not start: RuntimeError: no such model"):
        pool.submit(page("x"), 10).result(20)
    began = time.monotonic()
    with pytest.raises(ProviderError, match="no such model"):
        pool.submit(page("x"), 10).result(20)
    assert time.monotonic() - began < 0.05
    pool.spec = spec
    clock.now += RETRY_START_S + 1
    assert pool.submit(page("x"), 10).result(20).text == "x"
    pool.close()


def test_a_factory_that_is_not_there_is_named(workers):
    pool = ExtractionWorkers(WorkerSpec(factory="no_such_module:make"), size=1, clock=SystemClock())
    with pytest.raises(ProviderError, match="ModuleNotFoundError: No module named 'no_such_module'"):
        pool.submit(page("x"), 10).result(20)
    pool.close()


def test_pages_in_a_queue_go_on_beside_a_hanging_one(spec):
    pool = ExtractionWorkers(spec, size=2, clock=SystemClock())
    hanging = pool.submit(page("sleep"), 1.5)
    texts = [pool.submit(page(f"page{i}"), 10) for i in range(10)]
    assert [each.result(20).text for each in texts] == [f"page{i}" for i in range(10)]
    assert not hanging.done()
    with pytest.raises(TimedOut):
        hanging.result(20)
    pool.close()


def test_a_waiting_page_can_be_cancelled(workers):
    busy = workers.submit(page("sleep"), 1)
    waiting = workers.submit(page("x"), 10)
    assert waiting.cancel()
    with pytest.raises(TimedOut):
        busy.result(20)


@needs_proc
def test_close_ends_busy_and_idle_workers_within_a_second(spec):
    before = children_of(os.getpid())
    pool = ExtractionWorkers(spec, size=2, clock=SystemClock())
    pool.submit(page("x"), 10).result(20)
    busy = [pool.submit(page("hang"), 30), pool.submit(page("sleep"), 30), pool.submit(page("x"), 30)]
    assert wait_until(lambda: busy[0].running() and busy[1].running(), 5)
    time.sleep(0.3)
    began = time.monotonic()
    pool.close()
    pool.close()
    assert time.monotonic() - began < 1
    for future in busy:
        with pytest.raises(Cancelled):
            future.result(1)
    with pytest.raises(Cancelled):
        pool.submit(page("x"), 10).result(1)
    assert wait_until(lambda: children_of(os.getpid()) == before, 1)


@needs_proc
def test_many_pages_and_kills_leave_nothing_behind(spec):
    before, threads_before = children_of(os.getpid()), entries("/proc/self/task")
    files_before = entries("/proc/self/fd")
    pool = ExtractionWorkers(spec, size=2, clock=SystemClock())
    futures = []
    for number in range(50):
        what = "crash" if number % 17 == 3 else "hang" if number % 23 == 5 else f"page{number}"
        futures.append(pool.submit(page(what), 0.4 if what == "hang" else 10))
    outcomes = [future.exception(30) for future in futures]
    assert sum(outcome is None for outcome in outcomes) == 45
    pool.close()
    assert children_of(os.getpid()) == before
    assert wait_until(lambda: entries("/proc/self/task") <= threads_before, 2)
    assert entries("/proc/self/fd") == files_before


@needs_proc
def test_what_a_worker_started_dies_with_it(spec, tmp_path):
    note = tmp_path / "pid"
    pool = ExtractionWorkers(WorkerSpec(factory=spec.factory, payload=str(note)), size=1, clock=SystemClock())
    with pytest.raises(TimedOut):
        pool.submit(page("spawn"), 1.0).result(20)
    assert wait_until(lambda: gone(int(note.read_text())), 2)
    pool.close()


@needs_proc
@pytest.mark.parametrize("what", ["x", "hang", "sleep"])
@pytest.mark.parametrize("flags", [[], ["-P"]], ids=["plain", "safe-path"])
def test_workers_end_with_a_killed_host(spec, tmp_path, what, flags):
    script = tmp_path / "host.py"
    script.write_text(
        textwrap.dedent(f"""
        import sys, time
        sys.path.append({str(tmp_path)!r})
        from webfetch_core.models import Page
        from webfetch_core.runtime.deadline import SystemClock
        from webfetch_core.runtime.workers import ExtractionWorkers, WorkerSpec
        pool = ExtractionWorkers(WorkerSpec(factory="fake_factory:make"), size=1, clock=SystemClock())
        print(pool.submit(Page(url="u", body=b"x"), 10).result(20).metadata["pid"], flush=True)
        future = pool.submit(Page(url="u", body={what.encode()!r}), 60)
        time.sleep(60)
        """)
    )
    with subprocess.Popen([sys.executable, *flags, str(script)], stdout=subprocess.PIPE, text=True) as host:
        assert host.stdout is not None
        worker = int(host.stdout.readline())
        time.sleep(0.2)
        assert not gone(worker)
        host.send_signal(signal.SIGKILL)
        host.wait()
        assert wait_until(lambda: gone(worker), 2)


def test_no_multiprocessing_is_imported():
    modules = "webfetch_core.runtime.workers, webfetch_core.runtime.worker"
    code = f"import sys, {modules}; print('multiprocessing' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_a_factory_must_read_module_and_function():
    with pytest.raises(ValueError, match="module:function"):
        WorkerSpec(factory="os.system")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\x00\x00", "ended within"),
        (b"\x00\x00\x00\x09\x00\x00\x00\x00{}", "ended within"),
        (b"\x00\x00\x00\x02\x00\x00\x00\x00[]", "not a JSON object"),
        (b"\x00\x00\x00\x02\x00\x00\x00\x00{x", "not JSON"),
        (b"\xff\xff\xff\xff\xff\xff\xff\xff", "over the limit"),
        (b"\x00\x00\x01\x00\x00\x00\x00\x00" + b"[" * 256, "not JSON"),
    ],
)
def test_bad_frames_are_named(data, reason):
    with pytest.raises(BadFrame, match=reason):
        read_frame(io.BytesIO(data), limit=1_000)


def test_frames_round_trip():
    stream = io.BytesIO()
    write_frame(stream, {"text": "水\ud800"}, b"\x00\xff")
    write_frame(stream, {})
    stream.seek(0)
    assert read_frame(stream) == ({"text": "水\ud800"}, b"\x00\xff")
    assert read_frame(stream) == ({}, b"")
    assert read_frame(stream) is None


def test_a_worker_in_which_a_call_was_left_behind_ends(workers):
    first = workers.submit(page("one"), 9.0).result(15).metadata["pid"]
    with pytest.raises(TimedOut, match="left behind"):
        workers.submit(page("late"), 9.0).result(15)
    assert workers.submit(page("two"), 9.0).result(15).metadata["pid"] != first


def test_an_extractor_that_wants_to_know_is_told_its_time(spec):
    told = WorkerSpec(factory=spec.factory, payload="told")
    pool = ExtractionWorkers(told, size=1, clock=SystemClock())
    try:
        document = pool.submit(page("given"), 9.0).result(15)
        assert 8.0 < float(document.text) < 9.0
    finally:
        pool.close()


def test_a_page_that_waited_too_long_is_not_begun(spec):
    clock = SystemClock()
    pool = ExtractionWorkers(spec, size=1, clock=clock)
    try:
        pool.submit(page("one"), 9.0).result(15)
        with pytest.raises(TimedOut, match="when a worker was free"):
            pool.submit(page("two"), 9.0, until=clock.monotonic() - 1).result(15)
    finally:
        pool.close()


def test_the_processes_that_run_are_known(spec):
    pool = ExtractionWorkers(spec, size=1, clock=SystemClock())
    try:
        assert pool.pids == ()
        document = pool.submit(page("one"), 9.0).result(15)
        assert pool.pids == (int(document.metadata["pid"]),)
    finally:
        pool.close()
