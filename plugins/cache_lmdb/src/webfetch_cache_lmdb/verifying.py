"""Looking for what is wrong in a file, without changing it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .layout import Layout, SpaceFacts, reckon, split_key, whole

_OWN_PAGES = 3  # two meta pages, and the one with the databases' names

MOST = 50
"""Problems told; a file that has more of them has told enough."""


def page_problems(path: Path) -> list[str]:
    """Return what is wrong with the pages of the file, read as bytes: LMDB does not follow them.

    Nobody may commit to it meanwhile.
    """
    from lmdb import verify

    try:
        found = verify.verify(str(path), subdir=False)  # type: ignore[no-untyped-call]
    except verify.VerifyError as exc:
        found = [str(exc)]
    return [str(problem) for problem in found[:MOST]]


def row_problems(txn: Any, layout: Layout) -> Iterator[str]:
    """Yield what is wrong with rows, their ages, the counters of spaces and the log."""
    rows: Counter[str] = Counter()
    used: Counter[str] = Counter()
    for full, raw in _entries(txn, layout, b"rows"):
        space, key = split_key(full)
        rows[space] += 1
        used[space] += reckon(len(full), len(raw))
        if not whole(raw):
            yield f"the row {key.hex()} of {space} is damaged: its checksum is wrong"
        tick = _value(txn, layout, b"ticks", full)
        if tick is None or _value(txn, layout, b"ages", tick) != full:
            yield f"the row {key.hex()} of {space} has no place in the order of use"
    for name in (b"ticks", b"ages"):
        if _count(txn, layout, name) != _count(txn, layout, b"rows"):
            yield f"{_count(txn, layout, name)} {name.decode()} for {_count(txn, layout, b'rows')} rows"
    spaces = layout.spaces(txn)
    for space in sorted({*spaces, *rows}):
        facts = spaces.get(space, SpaceFacts())
        if facts.rows != rows[space]:
            yield f"the space {space} counts {facts.rows} rows and has {rows[space]}"
        if facts.used != used[space]:
            yield f"the space {space} reckons {facts.used} bytes where its rows come to {used[space]}"
        yield from _log_problems(space, facts.sequence, [n for n, _, _ in layout.changes(txn, space, 0)])
    newest = max((tick for tick, _ in _entries(txn, layout, b"ages")), default=b"")
    if newest > (_value(txn, layout, b"meta", b"tick") or b""):
        yield "the counter of uses is behind the rows"


def _log_problems(space: str, last: int, numbers: list[int]) -> Iterator[str]:
    if not numbers:
        if last:
            yield f"the space {space} is at change {last} and its log is empty"
    elif numbers != list(range(numbers[0], numbers[0] + len(numbers))):
        yield f"the log of the space {space} has gaps"
    elif numbers[-1] != last:
        yield f"the space {space} is at change {last} and its log ends with {numbers[-1]}"


def bytes_in_use(txn: Any, layout: Layout) -> int:
    """Return the bytes of all pages that hold something."""
    stats = [txn.stat(handle) for handle in layout.handles.values()]
    pages = sum(stat["branch_pages"] + stat["leaf_pages"] + stat["overflow_pages"] for stat in stats)
    return int((pages + _OWN_PAGES) * stats[0]["psize"])


def _entries(txn: Any, layout: Layout, name: bytes) -> Iterator[tuple[bytes, bytes]]:
    with txn.cursor(db=layout.handles[name]) as cursor:
        yield from cursor


def _value(txn: Any, layout: Layout, name: bytes, key: bytes) -> bytes | None:
    found: bytes | None = txn.get(key, db=layout.handles[name])
    return found


def _count(txn: Any, layout: Layout, name: bytes) -> int:
    return int(txn.stat(layout.handles[name])["entries"])
