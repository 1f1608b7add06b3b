"""A browser that lasts: hangs, crashes, many threads, closing. Real processes."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from typing import Any

import pytest

from webfetch_core.api import FetchRequest, Page, Unavailable, WebfetchError
from webfetch_core.testing import LoopbackSite
from webfetch_core.testing.site import Reply

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are looked for in /proc")

TEXT = f"<title>t</title><p>{'The keeper lights the lamp at dusk. ' * 12}</p>"


def render(fetcher: Any, url: str, within_s: float = 20.0) -> Page:
    return fetcher.fetch(FetchRequest(url=url, deadline=time.monotonic() + within_s, purpose="user"))


def processes() -> dict[int, str]:
    """Browser processes on this machine that are alive, by their ids, with their command lines."""
    found = {}
    for entry in os.scandir("/proc") if os.path.isdir("/proc") else ():  # noqa: PTH112
        if entry.name.isdigit():
            try:
                with open(f"{entry.path}/cmdline", "rb") as file:  # noqa: PTH123
                    line = file.read().replace(b"\0", b" ").decode("utf-8", "replace")
            except OSError:
                continue
            if "--type=" in line or "--remote-debugging-pipe" in line:
                found[int(entry.name)] = line
    return found


def kind_of(fetcher: Any, url: str, within_s: float) -> str:
    with pytest.raises(WebfetchError) as caught:
        render(fetcher, url, within_s)
    return caught.value.kind


def wait_until(holds: Any, seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it does not come to hold"
        time.sleep(0.05)


def renderers(group: int) -> int:
    """How many pages a browser has processes for."""
    return sum("--type=renderer" in line and group_of(pid) == group for pid, line in processes().items())


def group_of(pid: int) -> int:
    try:
        return os.getpgid(pid)
    except OSError:
        return 0


def started_by(fetcher: Any) -> set[int]:
    """The processes of a fetcher's browser; others, of this test run too, may be at work."""
    return {pid for pid in processes() if group_of(pid) == fetcher._thread._current.group}


BUSY = (
    "<!doctype html><title>Busy</title><p>static</p>"
    "<script>setTimeout(()=>{for(;;){document.title+='x'}},50)</script>"
)


@pytest.mark.parametrize(
    "html", [BUSY, "<p>before</p><script>for(;;){}</script>", "<p>a</p><script>while(1) alert(1)</script>"]
)
def test_scripts_that_never_let_go_end_at_the_deadline(make: Any, site: LoopbackSite, html: str) -> None:
    site.add("/busy", html).add("/good", TEXT)
    fetcher = make()
    fetcher.warm_up()
    ours = started_by(fetcher)
    assert kind_of(fetcher, site.url("/busy"), 3.0) in ("timeout", "empty")
    assert b"The keeper" in render(fetcher, site.url("/good")).body
    fetcher.close()
    wait_until(lambda: not set(processes()) & ours)


def test_other_pages_go_on_while_one_hangs(make: Any, site: LoopbackSite) -> None:
    site.add("/busy", BUSY).add("/good", TEXT)
    fetcher = make(tabs=2)
    fetcher.warm_up()
    kinds: list[str] = []
    hanging = threading.Thread(target=lambda: kinds.append(kind_of(fetcher, site.url("/busy"), 6.0)))
    hanging.start()
    for _ in range(3):
        assert b"The keeper" in render(fetcher, site.url("/good")).body
    hanging.join()
    assert kinds == ["timeout"]
    fetcher.close()


def test_time_outs_leave_no_tab_behind(make: Any, site: LoopbackSite) -> None:
    site.add("/never", hang=True).add("/good", TEXT)
    fetcher = make()
    render(fetcher, site.url("/good"))
    current = fetcher._thread._current

    def at_rest() -> bool:
        return current.active == 0 and current.spare is not None and len(current.browser.contexts) == 1

    wait_until(at_rest)
    first = renderers(current.group)
    for _ in range(8):
        assert kind_of(fetcher, site.url("/never"), 0.8) == "timeout"
    wait_until(at_rest)  # with the one page that is kept ready for the next
    wait_until(lambda: renderers(current.group) <= first)
    assert fetcher._thread._current is current
    fetcher.close()


def test_a_browser_that_crashed_is_started_anew(make: Any, site: LoopbackSite) -> None:
    site.add("/good", TEXT)
    fetcher = make()
    render(fetcher, site.url("/good"))
    os.kill(fetcher._thread._current.group, signal.SIGKILL)
    assert b"The keeper" in render(fetcher, site.url("/good")).body
    fetcher.close()


def test_a_browser_that_crashes_under_a_page_costs_that_page_one_more_try(
    make: Any, site: LoopbackSite
) -> None:
    site.add("/slow", TEXT, delay_s=1.0)
    fetcher = make()
    fetcher.warm_up()
    group = fetcher._thread._current.group
    seen = len(site.requests)
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(render(fetcher, site.url("/slow"))))
    thread.start()
    wait_until(lambda: len(site.requests) > seen)
    os.kill(group, signal.SIGKILL)
    thread.join()
    assert b"The keeper" in found[0].body
    fetcher.close()


def test_a_tab_that_crashes_is_its_own_affair(make: Any, site: LoopbackSite) -> None:
    site.add("/good", TEXT).add(
        "/poll", "<p id=a>a</p><script>fetch('/runs');setInterval(()=>{a.textContent+='text '},50)</script>"
    )
    fetcher = make()
    render(fetcher, site.url("/good"))
    wait_until(lambda: fetcher._thread._current.active == 0)
    group, before = fetcher._thread._current.group, set(processes())
    kinds: list[str] = []
    waiting = threading.Thread(target=lambda: kinds.append(kind_of(fetcher, site.url("/poll"), 15.0)))
    waiting.start()
    wait_until(lambda: "/runs" in site.paths)
    for pid, line in processes().items():
        if pid not in before and "--type=renderer" in line and group_of(pid) == group:
            os.kill(pid, signal.SIGKILL)
    waiting.join()
    assert kinds == ["unavailable"]
    assert b"The keeper" in render(fetcher, site.url("/good")).body
    assert fetcher._thread._current.group == group, "the browser itself lives on"
    fetcher.close()


def test_a_driver_that_hangs_is_killed_and_replaced(make: Any, site: LoopbackSite) -> None:
    site.add("/good", TEXT)
    fetcher = make()
    render(fetcher, site.url("/good"))
    old = fetcher._thread
    (driver,) = old._driver_pids
    os.kill(driver, signal.SIGSTOP)
    assert kind_of(fetcher, site.url("/good"), 1.0) == "timeout"
    wait_until(lambda: old.dead, 20)
    assert b"The keeper" in render(fetcher, site.url("/good")).body
    assert fetcher._thread is not old and not set(old._driver_pids) & set(os.listdir("/proc"))  # noqa: PTH208
    fetcher.close()


def test_a_driver_that_died_is_replaced(make: Any, site: LoopbackSite) -> None:
    site.add("/good", TEXT)
    fetcher = make()
    render(fetcher, site.url("/good"))
    (driver,) = fetcher._thread._driver_pids
    os.kill(driver, signal.SIGKILL)
    assert b"The keeper" in render(fetcher, site.url("/good")).body
    fetcher.close()


def test_a_loop_that_stands_still_is_given_up_with_all_it_started(make: Any, site: LoopbackSite) -> None:
    site.add("/good", TEXT)
    fetcher = make()
    render(fetcher, site.url("/good"))
    old = fetcher._thread
    group = old._current.group
    released = threading.Event()
    old._loop.call_soon_threadsafe(released.wait, 30)
    assert kind_of(fetcher, site.url("/good"), 1.0) == "timeout"
    assert old.dead
    wait_until(lambda: group not in processes())
    assert b"The keeper" in render(fetcher, site.url("/good")).body
    assert fetcher._thread is not old
    released.set()
    fetcher.close()


def test_a_new_browser_takes_over_after_so_many_pages(make: Any, site: LoopbackSite) -> None:
    site.add("/good", TEXT)
    fetcher = make(pages_per_browser=2)
    groups = []
    for _ in range(4):
        assert b"The keeper" in render(fetcher, site.url("/good")).body
        groups.append(fetcher._thread._current.group)
        wait_until(lambda: fetcher._thread._current.active == 0)
    assert groups[0] == groups[1] != groups[2] == groups[3]
    wait_until(lambda: groups[0] not in processes())
    fetcher.close()


def test_a_browser_without_work_is_ended_and_comes_back(make: Any, site: LoopbackSite) -> None:
    site.add("/good", TEXT)
    fetcher = make(idle_s=0.3)
    render(fetcher, site.url("/good"))
    wait_until(lambda: fetcher._thread._current is None and not fetcher._thread._browsers)
    assert b"The keeper" in render(fetcher, site.url("/good")).body
    fetcher.close()


def test_many_threads_share_the_tabs(make: Any, site: LoopbackSite) -> None:
    site.add(
        "/good",
        lambda request: Reply(body=f"{TEXT}<p>{request.query}</p>".encode()),
    )
    fetcher = make(tabs=2)
    fetcher.warm_up()
    found: dict[int, bytes] = {}

    def work(n: int) -> None:
        found[n] = render(fetcher, site.url(f"/good?number-{n}"), 60).body

    threads = [threading.Thread(target=work, args=(n,)) for n in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(f"number-{n}".encode() in found[n] for n in range(10))
    fetcher.close()


def test_whoever_waits_too_long_for_a_tab_is_told_so_and_not_served_later(
    make: Any, site: LoopbackSite
) -> None:
    site.add("/never", hang=True).add("/late", TEXT)
    fetcher = make(tabs=1)
    fetcher.warm_up()
    seen = len(site.paths)  # other tests have asked for it before
    holder = threading.Thread(target=lambda: kind_of(fetcher, site.url("/never"), 2.5))
    holder.start()
    wait_until(lambda: "/never" in site.paths[seen:])
    with pytest.raises(WebfetchError, match="no tab was free"):
        render(fetcher, site.url("/late"), 0.6)
    holder.join()
    wait_until(lambda: fetcher._thread._current.active == 0)
    assert "/late" not in site.paths
    fetcher.close()


def test_closing_ends_every_process_and_thread_at_once(make: Any, site: LoopbackSite) -> None:
    site.add("/good", TEXT).add("/never", hang=True)
    fetcher = make()
    render(fetcher, site.url("/good"))
    ours = started_by(fetcher)
    assert ours
    ended: list[str] = []
    seen = len(site.paths)
    waiting = threading.Thread(target=lambda: ended.append(kind_of(fetcher, site.url("/never"), 300)))
    waiting.start()
    wait_until(lambda: "/never" in site.paths[seen:])
    fetcher.close()
    fetcher.close()
    wait_until(lambda: not set(processes()) & ours)
    waiting.join(60)
    assert ended and ended[0] in ("unavailable", "timeout", "cancelled")
    assert not [
        t
        for t in threading.enumerate()
        if t.name == "webfetch-browser" and t is getattr(fetcher._thread, "_thread", None)
    ]
    with pytest.raises(Unavailable, match="closed"):
        render(fetcher, site.url("/good"))


@pytest.mark.parametrize("path", ["/never", "/spins"])
def test_a_page_that_is_cut_off_by_closing_is_not_to_blame(make: Any, site: LoopbackSite, path: str) -> None:
    """The driver calls it an aborted navigation, as it does with downloads."""
    site.add("/good", TEXT).add("/never", hang=True).add("/spins", f"{TEXT}<script>for (;;) {{}}</script>")
    fetcher = make()
    render(fetcher, site.url("/good"))
    failures: list[WebfetchError] = []

    def load() -> None:
        try:
            render(fetcher, site.url(path))
        except WebfetchError as exc:
            failures.append(exc)

    loading = [threading.Thread(target=load) for _ in range(3)]
    seen = len(site.requests)
    for thread in loading:
        thread.start()
    wait_until(lambda: path in site.paths[seen:])
    fetcher.close()
    for thread in loading:
        thread.join(60)
    assert [exc.kind for exc in failures] == ["unavailable"] * 3
    assert all("closed" in str(exc) for exc in failures)


@pytest.mark.parametrize("script", ["#!/bin/sh\nexit 0\n", "#!/no/such/program\n"])
def test_a_program_that_is_no_browser_is_told_with_what_to_do(
    make: Any, site: LoopbackSite, tmp_path: Any, script: str
) -> None:
    program = tmp_path / "chromium"
    program.write_text(script, encoding="utf-8")
    program.chmod(0o755)
    fetcher = make(executable_path=str(program))
    with pytest.raises(Unavailable, match="start") as caught:
        render(fetcher, site.url("/good"))
    assert "executable_path" in caught.value.fix
    fetcher.close()


def test_closing_what_never_started_is_nothing(make: Any) -> None:
    fetcher = make()
    fetcher.close()
    assert fetcher._thread is None
