"""Contract of a store of bytes."""

from __future__ import annotations

import contextlib
import itertools
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest

from ...errors import CacheError
from ...stages import Cache
from .base import ProviderContract, concurrently
from .inputs import Input


class CacheContract(ProviderContract):
    """``persistent = False`` for a store that does not outlive its object."""

    stage = "cache"
    protocol = Cache
    INPUTS: ClassVar[Mapping[str, Input]] = {
        "persistent": Input("True or False", lambda v: isinstance(v, bool))
    }

    persistent: ClassVar[bool] = True

    def test_reads_back_what_was_put(self, subject: Any) -> None:
        for value in (b"", b"one", bytes(range(256)), b"x" * 1_000_000):
            subject.put("pages", b"key", value)
            assert subject.get("pages", b"key") == value

    def test_what_was_never_put_is_none(self, subject: Any) -> None:
        assert subject.get("pages", b"nothing") is None
        assert subject.delete("pages", b"nothing") is False
        assert list(subject.scan("pages")) == []
        assert subject.clear("pages") == 0

    def test_keys_of_64_bytes(self, subject: Any) -> None:
        for key in (b"\x00", b"\xff" * 64, bytes(range(64))):
            subject.put("pages", key, key)
            assert subject.get("pages", key) == key

    def test_many_rows_at_once(self, subject: Any) -> None:
        if not callable(getattr(subject, "put_many", None)) or not callable(
            getattr(subject, "get_many", None)
        ):
            pytest.skip("get_many and put_many are optional, and this store lacks them")
        rows = {number.to_bytes(2, "big"): bytes([number % 256]) * 300 for number in range(450)}
        subject.put("vectors", next(iter(rows)), b"old")
        subject.put_many("vectors", rows)
        subject.put_many("vectors", {})
        assert dict(subject.scan("vectors")) == rows
        assert subject.get_many("vectors", [*rows, b"nothing"]) == rows
        assert subject.get_many("pages", list(rows)) == {}
        assert {row.key for row in subject.changes("vectors", 0)} == set(rows)

    def test_a_sound_store_verifies(self, subject: Any) -> None:
        if not callable(getattr(subject, "verify", None)):
            pytest.skip("verify is optional, and this store lacks it")
        for number in range(50):
            subject.put("pages", bytes([number]), bytes([number]) * 2_000)
        subject.delete("pages", bytes([7]))
        before = dict(subject.scan("pages"))
        assert list(subject.verify()) == []
        assert dict(subject.scan("pages")) == before

    def test_compacting_keeps_every_row(self, subject: Any) -> None:
        if not callable(getattr(subject, "compact", None)):
            pytest.skip("compact is optional, and this store lacks it")
        for number in range(50):
            subject.put("pages", bytes([number]), bytes([number]) * 20_000)
        for number in range(40):
            subject.delete("pages", bytes([number]))
        last = max(row.sequence for row in subject.changes("pages", 0))
        before = dict(subject.scan("pages"))
        told = subject.compact()
        assert 0 < told["after"] <= told["before"]
        assert dict(subject.scan("pages")) == before
        subject.put("pages", b"next", b"1")
        following = [row.key for row in subject.changes("pages", last)]
        assert following == [b"next"], "who follows the changes need not begin anew"

    def test_spaces_are_apart(self, subject: Any) -> None:
        subject.put("pages", b"key", b"page")
        subject.put("queries", b"key", b"query")
        assert subject.delete("pages", b"key") is True
        assert subject.get("queries", b"key") == b"query"
        assert dict(subject.scan("pages")) == {}

    def test_a_plugin_may_have_a_space_of_its_own(self, subject: Any) -> None:
        subject.put("search_example", b"key", b"value")
        assert dict(subject.scan("search_example")) == {b"key": b"value"}

    def test_behaves_like_dicts(self, subject: Any) -> None:
        model: dict[str, dict[bytes, bytes]] = {"pages": {}, "vectors": {}}
        chance = random.Random(20_240_101)
        for step in range(300):
            space = chance.choice(("pages", "vectors"))
            key = bytes([chance.randrange(12)])
            what = chance.random()
            if what < 0.55:
                value = chance.randbytes(chance.randrange(64))
                subject.put(space, key, value)
                model[space][key] = value
            elif what < 0.8:
                assert subject.delete(space, key) is (model[space].pop(key, None) is not None)
            elif what < 0.98:
                assert subject.get(space, key) == model[space].get(key)
            else:
                assert subject.clear(space) == len(model[space])
                model[space].clear()
            if step % 30 == 0:
                assert {s: dict(subject.scan(s)) for s in model} == model
        assert {s: dict(subject.scan(s)) for s in model} == model

    def test_changes_tell_every_write_in_order(self, subject: Any) -> None:
        subject.put("vectors", b"a", b"1")
        subject.put("vectors", b"b", b"2")
        subject.put("pages", b"c", b"3")
        subject.delete("vectors", b"a")
        rows = list(subject.changes("vectors", 0))
        sequences = [row.sequence for row in rows]
        assert sequences == sorted(set(sequences)), "sequence numbers grow"
        # A store may fold the earlier writes of one key; the last word on each key must be there.
        last = {row.key: row.deleted for row in rows}
        assert last == {b"a": True, b"b": False}
        assert list(subject.changes("vectors", sequences[-1])) == []
        subject.put("vectors", b"d", b"4")
        assert [row.key for row in subject.changes("vectors", sequences[-1])] == [b"d"]

    def test_scan_is_one_snapshot(self, subject: Any) -> None:
        for n in range(50):
            subject.put("pages", bytes([n]), b"old")
        rows = subject.scan("pages")
        first = next(iter(rows))
        for n in range(50):
            subject.put("pages", bytes([n]), b"new")
        assert {value for _, value in (first, *rows)} == {b"old"}

    def test_stats_count_the_rows(self, subject: Any) -> None:
        subject.put("pages", b"1", b"x")
        subject.put("queries", b"1", b"x")
        subject.put("queries", b"2", b"x")
        stats = subject.stats()
        assert {"path", "bytes", "entries"} <= set(stats)
        assert {k: v for k, v in stats["entries"].items() if v} == {"pages": 1, "queries": 2}

    def test_concurrent_writers_lose_nothing(self, subject: Any) -> None:
        numbers = itertools.count()

        def work() -> None:
            mine = next(numbers)
            for n in range(25):
                subject.put("pages", bytes([mine, n]), bytes([mine]))
                assert subject.get("pages", bytes([mine, n])) == bytes([mine])

        concurrently(4, work)
        assert len(dict(subject.scan("pages"))) == 100

    def test_rows_outlive_the_object(self, tmp_path: Path) -> None:
        if not self.persistent:
            return
        declared = self.find_provider()
        first = self.build(declared, self.make_context(tmp_path))
        first.put("pages", b"key", b"value")
        self._close(first)
        second = self.build(declared, self.make_context(tmp_path))
        try:
            assert second.get("pages", b"key") == b"value"
        finally:
            self._close(second)

    def test_after_close_it_says_so(self, subject: Any) -> None:
        if not self.persistent:
            return
        self._close(subject)
        # Refusing is right, and so is opening anew; any other exception is not.
        with contextlib.suppress(CacheError):
            subject.get("pages", b"key")
