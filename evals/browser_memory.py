"""Whether a browser that renders page after page grows, and how long a page takes.

    python evals/browser_memory.py [--pages 500] [--seed 7]

Pages are made by script and served on loopback: each builds its text by JavaScript from data that it
fetches, keeps a few megabytes of objects, timers, workers and listeners that it never lets go, has a shadow
tree and a frame; one in ten is never answered, one in fifty hangs in its own script. All are fetched through
the public face with ``fetch = ["browser"]``, one after the other, by one browser.

Memory is that of the browser with all of its helper processes: the proportional set size, in which a page of
memory that several of them share is counted once (Linux). The figure is the growth from the 100th page to the
last, which must stay under a fifth.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
from pathlib import Path

from common import finish, median, percentile

from webfetch_core import Settings, Webfetch
from webfetch_core.errors import WebfetchError
from webfetch_core.settings import NetSettings
from webfetch_core.testing import LoopbackSite
from webfetch_core.testing.site import Received, Reply

WORDS = ("lamp", "keeper", "tide", "harbour", "ferry", "cliff", "bell", "fog", "rope", "storm", "signal")
PAGE_S = 10.0
NEVER_S = 1.0
HANG_S = 2.5

PAGE = """<!doctype html><html lang="en"><title>Log %(n)d</title><main id="m"></main>
<tide-card>%(n)d</tide-card><iframe src="/frame?%(n)d" width="300" height="100"></iframe>
<script>
  const kept = Array.from({length: 20000}, (_, i) => ({i, text: 'entry ' + i, list: [i, i + 1]}));
  setInterval(() => { kept.push({at: Date.now()}); }, 50);
  addEventListener('resize', () => kept.length); document.addEventListener('scroll', () => kept[0]);
  const worker = new Worker(URL.createObjectURL(new Blob(['setInterval(() => postMessage(1), 100)'])));
  worker.onmessage = () => kept.push(1);
  customElements.define('tide-card', class extends HTMLElement {
    constructor() { super(); this.attachShadow({mode: 'open'}).innerHTML = '<p>Tide card <slot></slot></p>'; }
  });
  fetch('/data?%(n)d').then((r) => r.json()).then((rows) => {
    for (const row of rows) { const p = document.createElement('p'); p.textContent = row; m.append(p); }
  });
</script>"""
HANGING = "<!doctype html><p>x</p><script>setTimeout(() => { for (;;) document.title += 1 }, 30)</script>"


def site_of(seed: int) -> LoopbackSite:
    site = LoopbackSite()

    def data(request: Received) -> Reply:
        picks = random.Random(f"{seed}/{request.query}")
        rows = [" ".join(picks.choices(WORDS, k=14)).capitalize() + "." for _ in range(40)]
        rows.append(f"This is the end of log {request.query}.")
        return Reply(body=json.dumps(rows).encode(), headers={"Content-Type": "application/json"})

    site.add("/data", data)
    site.add("/frame", lambda request: Reply(body=f"<p>Frame of log {request.query}.</p>".encode()))
    site.add("/page", lambda request: Reply(body=(PAGE % {"n": int(request.query)}).encode()))
    site.add("/never", hang=True).add("/hang", HANGING)
    return site


def browser_processes() -> dict[int, int]:
    """Kilobytes of each process below this one, by its id: the driver, the browser and its helpers."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents[int(entry.name)] = int(fields[1])
    below: set[int] = set()
    while more := {pid for pid, parent in parents.items() if parent in below | {os.getpid()}} - below:
        below |= more
    return {pid: size for pid in below if (size := proportional_kb(pid))}


def main_browser(running: dict[int, int]) -> int:
    """The process that the driver started; 0 when there is none."""
    for pid in running:
        try:
            line = Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            continue
        if b"--remote-debugging-pipe" in line and b"--type=" not in line:
            return pid
    return 0


def proportional_kb(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)


def at_rest_mb() -> float:
    """The least of a few looks: a tab that is just being closed is no growth."""
    sizes = []
    for _ in range(5):
        time.sleep(0.3)
        sizes.append(sum(browser_processes().values()) / 1024)
    return min(sizes)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pages", type=int, default=500)
    parser.add_argument("--seed", type=int, default=7)
    args = parser.parse_args()
    if not Path("/proc/self/smaps_rollup").exists():
        raise SystemExit("this eval reads /proc/<pid>/smaps_rollup, which Linux alone has")
    marks = sorted({50, *range(100, args.pages + 1, 100), args.pages})
    picks = random.Random(args.seed)
    times: list[float] = []
    memory: dict[int, float] = {}
    browsers: set[int] = set()
    wrong = ended = 0
    with tempfile.TemporaryDirectory() as home, site_of(args.seed) as site:
        settings = Settings(
            home=home, net=NetSettings(allow_hosts=("127.0.0.1",)), fetch=("browser",), extract_workers=0
        )
        with Webfetch(settings, environ=os.environ) as host:
            host.warm_up("fetch", "extract")
            print(f"{'page':>5} {'memory MB':>10} {'processes':>10} {'p50 s':>7}")
            for n in range(1, args.pages + 1):
                kind = "/hang" if n % 50 == 25 else "/never" if picks.random() < 0.1 else f"/page?{n}"
                limit = {"/hang": HANG_S, "/never": NEVER_S}.get(kind, PAGE_S)
                started = time.perf_counter()
                try:
                    text = host.fetch(site.url(kind), deadline_s=limit, force_fresh=True).text
                    wrong += f"This is the end of log {n}." not in text
                    times.append(time.perf_counter() - started)
                except WebfetchError as exc:
                    if kind.startswith("/page"):
                        wrong += 1
                        print(f"      page {n}: {exc.kind}: {exc}", file=sys.stderr)
                    else:
                        ended += exc.kind == "timeout"
                if n % 10 == 0:
                    browsers.add(main_browser(browser_processes()))
                if n in marks:
                    memory[n] = at_rest_mb()
                    running = browser_processes()
                    print(f"{n:>5} {memory[n]:>10.0f} {len(running):>10} {median(times):>7.2f}", flush=True)
        time.sleep(1.0)
        left = len(browser_processes())
    base = memory[100] if 100 in memory else memory[marks[0]]
    figures = {
        "pages": args.pages,
        "pages_wrong": wrong,
        "timed_out_as_due": ended,
        "growth": memory[args.pages] / base - 1,
        "memory_mb_at_100": base,
        "memory_mb_at_end": memory[args.pages],
        "page_p50_s": median(times),
        "page_p95_s": percentile(times, 0.95),
        "pages_per_s": 1 / median(times) if times else 0.0,
        "browsers": len(browsers - {0}),
        "processes_left": left,
    }
    print("\n" + "\n".join(f"{name:>18} {value:.2f}" for name, value in figures.items()))
    finish("browser_memory", {**figures, "memory_mb": memory})


if __name__ == "__main__":
    main()
