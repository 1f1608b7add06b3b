"""Is the cache right whatever happens to the processes that use it?

    python evals/cache_torture.py [--seconds 120] [--processes 8] [--seed 1] [--only mixed,evicting,full]

Processes of one cache write, read, delete, clear, scan, fork, compact, verify, export and import, and are
killed (kill -9) at random moments and started anew. Each keeps a ledger outside of the cache, synced to the
disk before and after every commit. What must hold:

- no committed row is lost, and no transaction is there by half;
- no row is served torn, or in another's place, or older than it was;
- every process that was not killed goes on working, and so does every forked child;
- the file is sound in the end, and within its cap.

Parts of the run: ``mixed`` (no row may make room: the cap is large, the map grows from 4 MB), ``evicting`` (a
cap of 8 MB, so the map is full all the time; rows of kept spaces must stay), ``full`` (a disk that is full to
the last byte for half of the time: a tmpfs where this user may mount one, else a limit on the size of files;
errors are right there, if they say what to do, and writing works again once there is room).

Whom and when to kill and what each process does is drawn from the seed; how they interleave is the machine's.
The closing line is ``passed`` or ``failed``; the exit code is 0 or 1. Data: none.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from common import machine, write_run

sys.path.insert(0, str(Path(__file__).parent / "workers"))
from cache_torture import Broken, held_to, ledgers

from webfetch_core.errors import CacheError

WORKER = Path(__file__).parent / "workers" / "cache_torture.py"
STUCK_S = 60.0
"""A process that did nothing for so long hangs: the disk may be slow, and others have their turns."""
FULL_MB = 16
WORTH_KEEPING_S = 10.0
MB = 1 << 20

MIXED = {
    "put": 30, "put_many": 15, "delete": 8, "clear": 0.5, "get": 30, "scan": 3, "follow": 1, "fork": 1.5,
    "compact": 0.4, "verify": 0.2, "transfer": 0.6,
}  # fmt: skip
EVICTING = {
    "put": 20,
    "delete": 4,
    "fill": 40,
    "get": 20,
    "scan": 3,
    "fork": 1,
    "compact": 0.3,
    "verify": 0.2,
}
FULL = {"put": 20, "delete": 6, "fill": 30, "get": 20, "scan": 3, "fork": 0.5, "compact": 0.3}
SHARES = {"mixed": 0.6, "evicting": 0.2, "full": 0.2}


class Part:
    """One part of the run: its processes, and what became of them."""

    def __init__(self, name: str, place: Path, files: Path, args: argparse.Namespace, **plan: Any) -> None:
        self.name = name
        self.folder = files / name
        self.folder.mkdir()
        self.cache = place / "cache.lmdb"
        self.chance = random.Random(f"{args.seed}/{name}")
        self.plan = {"seed": args.seed, "workers": args.processes, "errors_allowed": False, **plan}
        self.running: dict[int, tuple[subprocess.Popen[bytes], Path]] = {}
        self.beats: dict[int, tuple[float, Any]] = {}
        self.turn = 0
        self.counts: Counter[str] = Counter()
        self.faults: list[str] = []

    def start(self, number: int) -> None:
        self.turn += 1
        plan = {
            **self.plan,
            "number": number,
            "turn": self.turn,
            "folder": str(self.folder),
            "cache": str(self.cache),
            "seed_of_worker": self.chance.randrange(1 << 30),
        }
        path = self.folder / f"plan-{self.turn}.json"
        path.write_text(json.dumps(plan), encoding="utf-8")
        with (self.folder / f"told-w{number}.txt").open("ab") as told:
            process = subprocess.Popen([sys.executable, str(WORKER), str(path)], stderr=told)
        self.running[number] = process, self.folder / f"beat-w{number}-{self.turn}.json"
        self.beats[number] = time.monotonic(), None

    def run(self, seconds: float, steps: Sequence[tuple[float, Callable[[], object]]] = ()) -> None:
        """Let all work for ``seconds`` and kill some; ``steps`` are done at their share of that time."""
        for number in range(self.plan["workers"]):
            self.start(number)
        while not all(beat.exists() for _, beat in self.running.values()) and not self.faults:
            self.look()
            time.sleep(0.05)
        started, steps = time.monotonic(), list(steps)
        while (passed := time.monotonic() - started) < seconds and not self.faults:
            time.sleep(self.chance.uniform(0.02, 0.3))
            while steps and passed > steps[0][0] * seconds:
                steps.pop(0)[1]()
            number = self.chance.randrange(self.plan["workers"])
            # Now and then while it opens the cache, else while it works.
            if self.chance.random() < (0.7 if self.running[number][1].exists() else 0.05):
                self.kill(number)
                self.start(number)
            self.look()
        (self.folder / "stop").touch()
        for number, (process, _) in self.running.items():
            try:
                if process.wait(STUCK_S) != 0:
                    self.fault(number, f"ended with {process.returncode}")
            except subprocess.TimeoutExpired:
                self.fault(number, "does not come to an end")
                process.kill()
                process.wait()
        for beat in self.folder.glob("beat-*.json"):
            self.counts.update(json.loads(beat.read_text(encoding="utf-8")))

    def kill(self, number: int) -> None:
        process, _ = self.running[number]
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            self.counts["kills"] += 1
        process.wait()
        if process.returncode not in (0, -signal.SIGKILL):
            self.fault(number, f"ended with {process.returncode}")

    def look(self) -> None:
        """See that everybody works."""
        for number, (process, beat) in self.running.items():
            if process.poll() is not None and not self.faults:
                self.fault(number, f"ended with {process.returncode}")
            told = beat.stat().st_mtime_ns if beat.exists() else None
            at, last = self.beats[number]
            if told != last:
                self.beats[number] = time.monotonic(), told
            elif time.monotonic() - at > STUCK_S:
                self.fault(number, f"did nothing for {STUCK_S:.0f} s")

    def fault(self, number: int, what: str) -> None:
        told = (self.folder / f"told-w{number}.txt").read_text(errors="replace").strip()
        self.faults.append(f"{self.name}: process {number} {what}: {told[-1_500:]}")

    def hold(self) -> None:
        """Hold the cache to all ledgers, with everybody gone."""
        from webfetch_cache_lmdb.cache import LmdbCache
        from webfetch_cache_lmdb.settings import LmdbSettings

        cache = LmdbCache(self.cache, LmdbSettings(**self.plan["settings"]), log=None)
        try:
            for ledger in ledgers(self.folder):
                self.counts["rows checked"] += held_to(ledger, cache, self.plan["seed"], False)[0]
                self.counts["ledgers"] += 1
            self.faults += [f"{self.name}: verify: {problem}" for problem in cache.verify()]
            cache.put("pages", b"in the end", b"there is room again")
            self.faults += [f"{self.name}: set aside: {file}" for file in cache.stats()["set_aside"]]
            try:
                cache.compact()
            except CacheError as exc:  # there need not be room for a copy
                if not self.plan["errors_allowed"] or "disk space" not in exc.fix:
                    raise
            self.faults += [f"{self.name}: verify after compacting: {p}" for p in cache.verify()]
            if self.cache.stat().st_size > self.plan["settings"]["max_bytes"]:
                self.faults.append(f"{self.name}: the file is larger than its cap")
        except Broken as exc:
            self.faults.append(f"{self.name}: {exc}")
        finally:
            cache.close()


# ---- parts ------------------------------------------------------------------------------------------


def mixed(files: Path, seconds: float, args: argparse.Namespace) -> Part:
    settings = {"max_bytes": 1 << 30, "log_length": 2_000}
    part = Part("mixed", files, files, args, space="pages", acts=MIXED, settings=settings)
    part.run(seconds)
    part.hold()
    return part


def evicting(files: Path, seconds: float, args: argparse.Namespace) -> Part:
    place = files / "small"
    place.mkdir()
    settings = {"max_bytes": 8 * MB, "keep_spaces": ["findings"], "log_length": 500}
    part = Part("evicting", place, files, args, space="findings", acts=EVICTING, settings=settings)
    part.run(seconds)
    part.hold()
    return part


def full(files: Path, seconds: float, args: argparse.Namespace) -> Part:
    settings = {"max_bytes": 1 << 30, "keep_spaces": ["findings"], "log_length": 500}
    plan = {"space": "findings", "acts": FULL, "settings": settings, "errors_allowed": True}
    with small_disk(files / "disk") as mounted:
        print(f"  the full disk: {f'a tmpfs of {FULL_MB} MB' if mounted else 'a limit on the size of files'}")
        if not mounted:
            plan["file_limit"] = FULL_MB * MB // 3
        part = Part("full", files / "disk", files, args, **plan)
        ballast = files / "disk" / "ballast"
        steps = [(0.3, lambda: fill_up(ballast)), (0.8, ballast.unlink)] if mounted else []
        part.run(seconds, steps)
        ballast.unlink(missing_ok=True)
        part.hold()
    return part


def fill_up(file: Path) -> None:
    """Take what is left of the disk."""
    with suppress(OSError), file.open("wb", buffering=0) as ballast:
        while ballast.write(b"\1" * 4_096):
            pass


@contextmanager
def small_disk(folder: Path) -> Iterator[bool]:
    """A file system of ``FULL_MB`` at ``folder``; False where this user may not mount one."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={FULL_MB}m", "tmpfs", str(folder)]
    try:
        mounted = subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        mounted = False
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", str(folder)], check=True)


PARTS: Mapping[str, Any] = {"mixed": mixed, "evicting": evicting, "full": full}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="parts, with commas")
    args = parser.parse_args()
    chosen = [name for name in args.only.split(",") if name] or list(PARTS)
    print(f"machine: {machine()}\n{args.processes} processes, {args.seconds:.0f} s, seed {args.seed}")
    faults: list[str] = []
    figures: dict[str, Any] = {"seconds": args.seconds, "processes": args.processes, "seed": args.seed}
    with tempfile.TemporaryDirectory(prefix="webfetch-torture-") as files:
        for name in chosen:
            seconds = args.seconds * SHARES[name] / sum(SHARES[n] for n in chosen)
            part = PARTS[name](Path(files), seconds, args)
            figures[name] = dict(part.counts)
            print(f"{name:9} " + ", ".join(f"{n:,} {what}" for what, n in sorted(part.counts.items())))
            faults += part.faults
    figures["faults"] = len(faults)
    for fault in faults[:10]:
        print(f"FAULT {fault}")
    if args.seconds >= WORTH_KEEPING_S:
        write_run("cache_torture", figures)
    print("failed" if faults else "passed")
    raise SystemExit(1 if faults else 0)


if __name__ == "__main__":
    if not hasattr(os, "fork"):
        raise SystemExit("this system cannot fork")
    main()
