"""The lazy default: made at the first call, one a process, closed at its end."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from webfetch_core import handle_web_search

PROGRAM = """
import os, sys, threading
from webfetch_core import handle_web_search
import webfetch_core.app as app
made = []
class Counted(app.Webfetch):
    def __init__(self, *args, **options):
        made.append(self)
        super().__init__(*args, **options)
    def close(self):
        print("closed by", "parent" if os.getpid() == PARENT else "child", flush=True)
        super().close()
app.Webfetch = Counted
PARENT = os.getpid()
assert not made
"""


def run(tmp_path: Path, code: str, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", PROGRAM + code],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=60,
        check=False,
        env={**os.environ, "WEBFETCH_HOME": str(tmp_path), "WEBFETCH_PLUGINS": "none_of_them", **environ},
    )


def test_one_serves_all_threads_and_is_closed_at_the_end(tmp_path: Path) -> None:
    ran = run(
        tmp_path,
        """
texts = []
def search(): texts.append(handle_web_search({"query": "lamp"}))
threads = [threading.Thread(target=search) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(len(made), set(text.splitlines()[0] for text in texts))
""",
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.splitlines() == [
        "1 {'[failed: no_engine] web_search: no search engine is ready'}",
        "closed by parent",
    ]


def test_a_forked_child_makes_its_own(tmp_path: Path) -> None:
    if not hasattr(os, "fork"):
        return
    ran = run(
        tmp_path,
        """
handle_web_search({"query": "lamp"})
parents = made[0]
child = os.fork()
if child == 0:
    handle_web_search({"query": "lamp"})
    assert len(made) == 2 and not parents.host.closed
    sys.exit(0)
_, status = os.waitpid(child, 0)
print(len(made), os.waitstatus_to_exitcode(status))
""",
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.splitlines() == ["closed by child", "1 0", "closed by parent"]


def test_a_wrong_setting_is_a_text_and_is_tried_again(tmp_path: Path) -> None:
    ran = run(
        tmp_path,
        """
print(handle_web_search({"query": "lamp"}).splitlines()[0])
os.environ["WEBFETCH_LIMIT"] = "3"
print(handle_web_search({"query": "lamp"}).splitlines()[0])
""",
        WEBFETCH_LIMIT="three",
    )
    first, second, *_ = ran.stdout.splitlines()
    assert first.startswith("[failed: config] web_search: ") and "limit" in first.lower()
    assert second == "[failed: no_engine] web_search: no search engine is ready"


def test_a_given_one_is_used(host: Callable[..., Any]) -> None:
    wf = host()
    assert "The keeper lights the lamp of Tarn" in handle_web_search('{"query": "lamp of Tarn"}', wf)
    assert handle_web_search(None, wf).startswith("[failed: bad_query]")
