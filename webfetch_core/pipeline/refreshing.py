"""Searching again behind a stale answer: once, however many threads and processes were served it."""

from __future__ import annotations

import threading
from collections.abc import Callable

from attrs import Factory, frozen

from ..forks import PerProcess
from ..runtime.host import Host
from .cache_rows import NEGATIVE, decode_row, encode_row, url_key
from .tolerant_store import TolerantStore

GRACE_S = 2.0
"""How much longer than its search a lease runs, in which other processes leave the refresh to its holder."""
SETTLE_S = 3.0
"""How long closing waits for refreshes under way: a command would otherwise never finish one."""


@frozen
class _Running:
    """The refreshes of one process."""

    keys: set[bytes] = Factory(set)
    changed: threading.Condition = Factory(threading.Condition)


class Refreshes:
    """Starts refreshes. Thread-safe; a forked child has none of its parent's."""

    def __init__(self, host: Host, store: TolerantStore) -> None:
        self._host = host
        self._store = store
        self._running = PerProcess(_Running)

    def start(
        self, key: bytes, work: Callable[[], object], *, is_done: Callable[[], bool], within_s: float
    ) -> None:
        """Do ``work`` in a thread of its own, unless it is under way here or elsewhere.

        Args:
            key: of the answer that is stale.
            is_done: asked first: whether somebody else's refresh has come to an end meanwhile.
            within_s: how long the work may take. Who holds the lease and is killed blocks the others
                for no longer than that.
        """
        running = self._running()
        with running.changed:
            if key in running.keys:
                return
            running.keys.add(key)

        def refresh() -> None:
            try:
                if not is_done() and self._lease(key, within_s + GRACE_S):
                    try:
                        work()
                    finally:
                        self._store.delete(NEGATIVE, _lease_key(key))
            finally:
                forget()

        def forget() -> None:
            with running.changed:
                running.keys.discard(key)
                running.changed.notify_all()

        try:
            self._host.tasks.spawn(refresh, "refresh")
        except BaseException:
            forget()
            raise

    def settle(self, seconds: float = SETTLE_S) -> None:
        """Wait for those under way, for at most ``seconds``."""
        running = self._running()
        with running.changed:
            running.changed.wait_for(lambda: not running.keys, seconds)

    def _lease(self, key: bytes, seconds: float) -> bool:
        """Take the lease, unless another process has it. Two that ask in the same moment may both get it:
        a store of bytes cannot tell them apart, and a search too many is all that it costs."""
        now = self._host.clock.time()
        value = self._store.get(NEGATIVE, _lease_key(key))
        row = decode_row(value) if value is not None else None
        if row is not None and abs(now - row.at) < seconds:
            return False
        facts = {"url": "", "kind": "refreshing", "reason": "a stale answer is being refreshed"}
        self._store.put(NEGATIVE, _lease_key(key), encode_row(now, facts))
        return True


def _lease_key(key: bytes) -> bytes:
    return url_key(f"refresh {key.hex()}")
