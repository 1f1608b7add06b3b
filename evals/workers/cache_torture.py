"""One process of ``evals/cache_torture.py``: ``python cache_torture.py PLAN.json``.

It owns some keys of the shared cache, writes and deletes them, and notes before and after each commit in a
ledger of its own, synced to the disk, what those rows are. It may be killed at any point; who comes after it
with the same number reads the ledger and holds the cache to it. Rows of others are only read: each says what
it is, and has a checksum of its own. Ends with 0, or with 1 and the reason on standard error.
"""

from __future__ import annotations

import json
import os
import random
import sys
import threading
import time
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

CHECK_BYTES = 4
CHILD_LIMIT_S = 60.0


class Broken(Exception):
    """The cache is not what was promised."""


# ---- rows that say what they are --------------------------------------------------------------------


def value_of(seed: int, space: str, key: str, number: int) -> bytes:
    """The row that a key has after its writer's ``number``-th change."""
    chance = random.Random(f"{seed}/{space}/{key}/{number}")
    body = b"%s|%s|%d|" % (space.encode(), key.encode(), number)
    body += chance.randbytes(int(10 ** chance.uniform(1.5, 4.3)))
    return body + zlib.crc32(body).to_bytes(CHECK_BYTES, "big")


def number_of(space: str, key: bytes, value: bytes) -> int:
    """The number of a row. Raises Broken when it is torn, or another row's."""
    body, check = value[:-CHECK_BYTES], value[-CHECK_BYTES:]
    if zlib.crc32(body).to_bytes(CHECK_BYTES, "big") != check:
        raise Broken(f"a torn row was served: {space} {key!r}")
    name, its_key, number, _ = body.split(b"|", 3)
    if (name, its_key) != (space.encode(), key):
        raise Broken(f"another row was served: {name!r} {its_key!r} for {space} {key!r}")
    return int(number)


# ---- what was promised ------------------------------------------------------------------------------

Row = tuple[str, str]


class Ledger:
    """What one writer's rows are, outside of the cache: a line before each change and one after it."""

    def __init__(self, path: Path) -> None:
        self.sure: dict[Row, int | None] = {}
        self.open: dict[Row, tuple[int | None, int | None]] = {}
        self.together = False
        self.last = 0
        if path.exists():
            self._replay(path.read_text(encoding="utf-8"))
        self._file = path.open("a", encoding="utf-8")
        if path.stat().st_size:
            self._file.write("\n")  # whoever was killed here left half a line

    def _replay(self, text: str) -> None:
        for line in text.splitlines():
            try:
                entry = json.loads(line)
            except ValueError:
                continue
            if "begin" in entry:
                rows = {tuple(name.split("|")): number for name, number in entry["begin"].items()}
                self._begin(rows, together=entry["together"])  # type: ignore[arg-type]
            else:
                self._end()

    def begin(self, rows: Mapping[Row, int | None], *, together: bool) -> None:
        named = {"|".join(row): number for row, number in rows.items()}
        self._write({"begin": named, "together": together})
        self._begin(rows, together=together)

    def end(self) -> None:
        self._write({"end": True})
        self._end()

    def settle(self, found: Mapping[Row, int | None]) -> None:
        """Take what was found for what is: whoever made the last change was killed before it could say."""
        if self.open:
            self.begin(found, together=False)
            self.end()

    def _begin(self, rows: Mapping[Row, int | None], *, together: bool) -> None:
        self.open = {row: (self.sure.get(row), number) for row, number in rows.items()}
        self.together = together
        self.last = max([self.last, *(number or 0 for number in rows.values())])

    def _end(self) -> None:
        self.sure |= {row: number for row, (_, number) in self.open.items()}
        self.open = {}

    def _write(self, entry: dict[str, Any]) -> None:
        self._file.write(json.dumps(entry) + "\n")
        self._file.flush()
        os.fsync(self._file.fileno())


def held_to(ledger: Ledger, cache: Any, seed: int, forgets: bool) -> tuple[int, dict[Row, int | None]]:
    """Compare the cache with a ledger; return how many rows were checked, and the open ones as found.

    ``forgets``: rows may be missing, since the cache evicts them.

    Raises:
        Broken: a row that was committed is missing, older than it was, or not what it should be.
    """
    found: dict[Row, int | None] = {}
    for row in {*ledger.sure, *ledger.open}:
        space, key = row
        value = cache.get(space, key.encode())
        number = None if value is None else number_of(space, key.encode(), value)
        if number is not None and value != value_of(seed, space, key, number):
            raise Broken(f"the row {row} is not what was written as its number {number}")
        if row in ledger.open:
            found[row] = number
        allowed = ledger.open.get(row) or (ledger.sure[row],)
        if number not in allowed and not (forgets and number is None):
            raise Broken(f"the row {row} is number {number}, and {allowed} was promised")
    if ledger.together and len(ledger.open) > 1 and not forgets:
        moved = {found[row] == new for row, (old, new) in ledger.open.items() if old != new}
        if len(moved) > 1:
            raise Broken(f"half of a transaction is there: {sorted(ledger.open)[:5]}")
    return len(ledger.sure) + len(found), found


# ---- the process ------------------------------------------------------------------------------------


class Worker:
    """Carries out a plan: its number, its chances of each act, and where everything is."""

    def __init__(self, plan: Mapping[str, Any]) -> None:
        self.plan = plan
        self.folder = Path(plan["folder"])
        self.chance = random.Random(plan["seed_of_worker"])
        self.seed = plan["seed"]
        self.me = f"w{plan['number']}"
        self.own = f"torture.{self.me}"
        self.shared = plan["space"]
        self.counts: Counter[str] = Counter()
        self.seen: dict[tuple[str, bytes], int] = {}
        self.failed: BaseException | None = None
        self.stop = threading.Event()
        self.cache = self._opened()
        self.ledger = Ledger(self.folder / f"ledger-{self.me}")
        self.beat = self.folder / f"beat-{self.me}-{plan['turn']}.json"

    def _opened(self) -> Any:
        from webfetch_cache_lmdb.cache import LmdbCache
        from webfetch_cache_lmdb.settings import LmdbSettings

        from webfetch_core.errors import CacheError

        while True:
            try:
                settings = LmdbSettings(**self.plan["settings"])
                return LmdbCache(Path(self.plan["cache"]), settings, log=Quiet())
            except CacheError as exc:
                if not self.plan["errors_allowed"] or not exc.fix or (self.folder / "stop").exists():
                    raise
                self.counts["errors told"] += 1
                time.sleep(0.05)

    def run(self) -> None:
        checked, found = held_to(self.ledger, self.cache, self.seed, False)
        self.counts["rows checked"] += checked
        self.ledger.settle(found)
        reader = threading.Thread(target=self._read_on)
        reader.start()
        acts = list(self.plan["acts"])
        weights = list(self.plan["acts"].values())
        done = self.folder / "stop"
        told = 0.0
        try:
            while not done.exists():
                act = self.chance.choices(acts, weights)[0]
                self._tolerant(getattr(self, f"_{act}"))
                if self.failed is not None:
                    raise self.failed
                if time.monotonic() - told > 0.1:
                    told = time.monotonic()
                    self._tell()
        finally:
            self.stop.set()
            reader.join()
        checked, found = held_to(self.ledger, self.cache, self.seed, False)
        self.counts["rows checked"] += checked
        self.ledger.settle(found)
        self.cache.close()
        self._tell()

    def _tolerant(self, act: Any) -> None:
        """Do it; where the disk is meant to be full, an error of the cache is right, if it has a fix."""
        from webfetch_core.errors import CacheError

        try:
            act()
        except CacheError as exc:
            if not self.plan["errors_allowed"]:
                raise
            if not exc.fix:
                raise Broken(f"an error without a fix: {exc}") from exc
            self.counts["errors told"] += 1
            checked, found = held_to(self.ledger, self.cache, self.seed, False)
            self.counts["rows checked"] += checked
            self.ledger.settle(found)
            time.sleep(0.01)

    # ---- acts ----

    def _put(self) -> None:
        row = (self.shared, f"{self.me}.{self.chance.randrange(40)}")
        self._change({row: self.ledger.last + 1}, together=True)

    def _put_many(self) -> None:
        keys = self.chance.sample(range(60), self.chance.randint(2, 12))
        number = self.ledger.last + 1
        self._change({(self.own, f"{self.me}.{key}"): number for key in keys}, together=True)

    def _fill(self) -> None:
        """Rows that nobody promised to keep: they make others, or the disk, be in need of room."""
        from webfetch_core.errors import CacheError

        key = b"%s.%d" % (self.me.encode(), self.chance.randrange(100_000))
        number = self.chance.randrange(1 << 30)
        try:
            self.cache.put("filler", key, value_of(self.seed, "filler", key.decode(), number))
        except CacheError as exc:
            if not self.plan["errors_allowed"]:
                raise
            self.counts["errors told"] += bool(exc.fix)
        self.counts["filler rows"] += 1

    def _delete(self) -> None:
        rows = [row for row, number in self.ledger.sure.items() if number is not None]
        if rows:
            row = self.chance.choice(rows)
            self._change({row: None}, together=True)

    def _clear(self) -> None:
        rows = {row: None for row in self.ledger.sure if row[0] == self.own}
        if rows:
            self.ledger.begin(rows, together=False)
            self.cache.clear(self.own)
            self.ledger.end()
            self.counts["clears"] += 1

    def _change(self, rows: Mapping[Row, int | None], *, together: bool) -> None:
        self.ledger.begin(rows, together=together)
        space = next(iter(rows))[0]
        new = {
            key.encode(): value_of(self.seed, space, key, number)
            for (_, key), number in rows.items()
            if number is not None
        }
        if new:
            self.cache.put_many(space, new)
        else:
            for space, key in rows:
                self.cache.delete(space, key.encode())
        self.ledger.end()
        self.counts["commits"] += 1

    def _get(self) -> None:
        space = self.chance.choice([self.shared, "filler"])
        other = self.chance.randrange(self.plan["workers"])
        key = f"w{other}.{self.chance.randrange(40)}".encode()
        value = self.cache.get(space, key)
        if value is not None:
            self._look(space, key, value)

    def _scan(self) -> None:
        space = self.chance.choice([self.shared, f"torture.w{self.chance.randrange(self.plan['workers'])}"])
        for key, value in self.cache.scan(space):
            number_of(space, key, value)
            self.counts["rows checked"] += 1

    def _follow(self) -> None:
        last = 0
        for change in self.cache.changes(self.shared, 0):
            if change.sequence <= last:
                raise Broken("the numbers of changes do not grow")
            last = change.sequence

    def _compact(self) -> None:
        from webfetch_core.errors import CacheError

        try:
            self.cache.compact()
        except CacheError as exc:
            if "another process" not in str(exc) and "meanwhile" not in str(exc):
                raise
        else:
            self.counts["compactions"] += 1

    def _verify(self) -> None:
        if problems := self.cache.verify():
            raise Broken(f"verify: {problems[0]}")
        self.counts["verifications"] += 1

    def _transfer(self) -> None:
        """Export the own space, clear it, import it: every row must be back."""
        from webfetch_core.pipeline.cache_export import export_rows
        from webfetch_core.pipeline.cache_import import import_rows

        file = self.folder / f"export-{self.me}.gz"
        export_rows(self.cache, file, [self.own])
        before = {row: n for row, n in self.ledger.sure.items() if row[0] == self.own and n is not None}
        self._clear()
        if not before:
            return
        self.ledger.begin(before, together=False)
        report = import_rows(self.cache, file, now=time.time())
        if report.left_out or report.problem or sum(report.stored.values()) != len(before):
            raise Broken(f"import of {len(before)} rows: {report}")
        self.ledger.end()
        self.counts["imports"] += 1

    def _fork(self) -> None:
        """A child that reads and writes while the threads of this process were at it."""
        child = os.fork()
        if child == 0:
            code = 1
            try:
                self._be_child()
                code = 0
            except BaseException as exc:
                os.write(2, f"child of {self.me}: {type(exc).__name__}: {exc}\n".encode())
            finally:
                os._exit(code)
        self.counts["forks"] += 1
        until = time.monotonic() + CHILD_LIMIT_S
        while (ended := os.waitpid(child, os.WNOHANG))[0] == 0:
            if time.monotonic() > until:
                os.kill(child, 9)
                raise Broken("a forked child did not come to an end")
            time.sleep(0.002)
        if ended[1] != 0:
            raise Broken(f"a forked child failed: {ended[1]}")

    def _be_child(self) -> None:
        from webfetch_core.errors import CacheError

        own = Ledger(self.folder / f"ledger-{self.me}-child-{os.getpid()}-{time.monotonic_ns()}")
        for key in range(self.chance.randint(1, 3)):
            row = (self.shared, f"{self.me}.child{os.getpid()}.{key}")
            own.begin({row: 1}, together=True)
            try:
                self.cache.put(self.shared, row[1].encode(), value_of(self.seed, *row, 1))
            except CacheError:
                if not self.plan["errors_allowed"]:
                    raise
                return
            own.end()
        for key, value in self.cache.scan(self.shared):
            number_of(self.shared, key, value)

    # ---- reading beside it ----

    def _read_on(self) -> None:
        chance = random.Random(self.plan["seed_of_worker"] + 1)
        try:
            while not self.stop.is_set():
                other = chance.randrange(self.plan["workers"])
                key = f"w{other}.{chance.randrange(40)}".encode()
                value = self.cache.get(self.shared, key)
                if value is not None:
                    self._look(self.shared, key, value)
                time.sleep(0.002)
        except BaseException as exc:
            self.failed = exc

    def _look(self, space: str, key: bytes, value: bytes) -> None:
        number = number_of(space, key, value)
        self.counts["rows checked"] += 1
        if space == self.shared and threading.current_thread() is not threading.main_thread():
            if number < self.seen.get((space, key), 0):
                raise Broken(f"the row {key!r} went back to number {number}")
            self.seen[space, key] = number

    def _tell(self) -> None:
        partial = self.beat.with_suffix(".partial")
        partial.write_text(json.dumps(dict(self.counts)), encoding="utf-8")
        partial.replace(self.beat)


class Quiet:
    """A log that counts nothing: a quarantine under torture is a fault that a missing row tells of."""

    def warning(self, event: str, **facts: Any) -> None:
        os.write(2, f"{event} {facts}\n".encode())


def ledgers(folder: Path) -> Iterator[Ledger]:
    for path in sorted(folder.glob("ledger-*")):
        yield Ledger(path)


if __name__ == "__main__":
    import warnings

    warnings.simplefilter("ignore")  # forking with threads is the point here
    plan = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    if plan.get("file_limit"):
        import resource
        import signal

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (plan["file_limit"], resource.RLIM_INFINITY))
    Worker(plan).run()
