"""One process of ``evals/cache_speed.py``: ``python cache_speed.py ARM ROLE PATH ROWS SECONDS SEED``.

Arms: ``lmdb`` (cache_lmdb as it is installed) and ``sqlite`` (the standard library's, in WAL mode, each
commit synced). Roles: ``read`` and ``write``, one row at a time, as fast as it goes. Prints ``ready``, waits
for a line, works, and prints its figures as JSON.
"""

from __future__ import annotations

import json
import random
import sqlite3
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

SPACE = "queries"


def key_of(number: int) -> bytes:
    """32 bytes, as the core's keys are."""
    return random.Random(number).randbytes(32)


class Lmdb:
    def __init__(self, path: Path, durable: bool = True) -> None:
        from webfetch_cache_lmdb.cache import LmdbCache
        from webfetch_cache_lmdb.settings import LmdbSettings

        self.store = LmdbCache(path, LmdbSettings(durable=durable), log=None)
        self.get, self.put, self.put_many = self.store.get, self.store.put, self.store.put_many

    def bytes_taken(self) -> int:
        stats = self.store.stats()
        return int(stats["bytes"] - stats["reclaimable"])

    def close(self) -> None:
        self.store.close()


class Sqlite:
    def __init__(self, path: Path, durable: bool = True) -> None:
        self._path = path
        self._db = sqlite3.connect(path, timeout=60, isolation_level=None)
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
        self._db.execute(
            "CREATE TABLE IF NOT EXISTS rows (space TEXT, key BLOB, value BLOB, PRIMARY KEY (space, key))"
        )

    def get(self, space: str, key: bytes) -> bytes | None:
        found = self._db.execute(
            "SELECT value FROM rows WHERE space = ? AND key = ?", (space, key)
        ).fetchone()
        return found[0] if found else None

    def put(self, space: str, key: bytes, value: bytes) -> None:
        self._db.execute("INSERT OR REPLACE INTO rows VALUES (?, ?, ?)", (space, key, value))

    def put_many(self, space: str, rows: Mapping[bytes, bytes]) -> None:
        self._db.execute("BEGIN IMMEDIATE")
        self._db.executemany(
            "INSERT OR REPLACE INTO rows VALUES (?, ?, ?)", [(space, k, v) for k, v in rows.items()]
        )
        self._db.execute("COMMIT")

    def bytes_taken(self) -> int:
        self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return self._path.stat().st_size

    def close(self) -> None:
        self._db.close()


ARMS: dict[str, Any] = {"lmdb": Lmdb, "sqlite": Sqlite}


def main() -> None:
    arm, role, path, rows, seconds, seed = sys.argv[1:]
    store = ARMS[arm](Path(path))
    chance = random.Random(int(seed))
    keys = [key_of(n) for n in range(int(rows))]
    values = [value for key in keys[:50] if (value := store.get(SPACE, key)) is not None]
    print("ready", flush=True)
    sys.stdin.readline()
    times = []
    until = time.perf_counter() + float(seconds)
    while (started := time.perf_counter()) < until:
        key = chance.choice(keys)
        if role == "read":
            assert store.get(SPACE, key) is not None
        else:
            store.put(SPACE, key, chance.choice(values))
        times.append(time.perf_counter() - started)
    store.close()
    times.sort()
    told = {
        "n": len(times),
        "p50_us": times[len(times) // 2] * 1e6,
        "p99_us": times[len(times) * 99 // 100] * 1e6,
    }
    print(json.dumps(told))


if __name__ == "__main__":
    main()
