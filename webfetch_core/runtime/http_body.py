"""Bodies: decoded piece by piece, counted as they come. Pure but for the clock it is given.

Each decoder is a generator from pieces to pieces that yields bounded output, so that a small
body which inflates to gigabytes stops at the caller's count and never sits in memory whole.
"""

from __future__ import annotations

import importlib
import zlib
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import chain
from typing import Any

from ..errors import PageError, TimedOut

PIECE = 64 * 1024
_ZSTD_FEED = 256  # at most 64 blocks of 128 KB come out of one feed
_ZSTD_WINDOW = 8 * 1024 * 1024  # what RFC 9659 lets a server use
_MAX_CODINGS = 5
_KEEP = 16  # pieces kept in case that a body turns out not to be encoded
_GRACE_S = 3.0  # throughput is not judged before this

Pieces = Iterable[bytes]
CutOff = Callable[[], None]
"""Called when encoded data ends before its own end."""


class _Corrupt(Exception):
    """The data is not what its encoding says."""


# ---- one decoder an encoding ---------------------------------------------------------------------


def _inflate(pieces: Pieces, wbits: int, cut_off: CutOff) -> Iterator[bytes]:
    """gzip (any number of members; what follows the last is ignored) or deflate."""
    engine = zlib.decompressobj(wbits)
    members = 0
    data = b""
    for piece in pieces:
        data += piece
        while True:
            if engine.eof:
                if len(data) < 2:
                    break  # too little to tell another member from padding
                if wbits < 16 or not data.startswith(b"\x1f\x8b"):
                    return
                engine, members = zlib.decompressobj(wbits), members + 1
            try:
                out = engine.decompress(data, PIECE)
            except zlib.error as exc:
                if members:
                    return
                raise _Corrupt(str(exc)) from exc
            data = engine.unused_data if engine.eof else engine.unconsumed_tail
            if out:
                yield out
            if not data and len(out) < PIECE:  # a full piece may have more behind it
                break
    if not engine.eof:
        cut_off()


def _gzip(pieces: Pieces, cut_off: CutOff) -> Iterator[bytes]:
    return _inflate(pieces, 16 + zlib.MAX_WBITS, cut_off)


def _deflate(pieces: Pieces, cut_off: CutOff) -> Iterator[bytes]:
    head, rest = _head(pieces, 2)
    wrapped = len(head) >= 2 and head[0] & 0x0F == 8 and int.from_bytes(head[:2], "big") % 31 == 0
    return _inflate(rest, zlib.MAX_WBITS if wrapped else -zlib.MAX_WBITS, cut_off)


def _brotli_engine() -> Any:
    for name in ("brotli", "brotlicffi"):
        try:
            made = importlib.import_module(name).Decompressor()
        except (ImportError, AttributeError):
            continue
        try:
            made.process(b"", output_buffer_limit=PIECE)
        except TypeError:
            continue  # an old release: its output cannot be bounded
        except Exception:
            pass
        return importlib.import_module(name).Decompressor
    return None


def _brotli(pieces: Pieces, cut_off: CutOff) -> Iterator[bytes]:
    engine = _engines()["br"]()
    for piece in pieces:
        data = piece
        while True:
            try:
                out = engine.process(data, output_buffer_limit=PIECE)
            except Exception as exc:
                raise _Corrupt(str(exc)) from exc
            data = b""
            if out:
                yield out
            if engine.is_finished():
                return
            if not out and engine.can_accept_more_data():
                break
    cut_off()


def _zstd(pieces: Pieces, cut_off: CutOff) -> Iterator[bytes]:
    make = _engines()["zstd"]
    engine = make()
    for piece in pieces:
        for at in range(0, len(piece), _ZSTD_FEED):
            data = piece[at : at + _ZSTD_FEED]
            while data:
                if engine.eof:
                    engine = make()
                try:
                    out = engine.decompress(data)
                except Exception as exc:
                    raise _Corrupt(str(exc)) from exc
                data = engine.unused_data if engine.eof else b""
                if out:
                    yield out
    if not engine.eof:
        cut_off()


def _zstd_engine() -> Any:
    try:
        module = importlib.import_module("zstandard")
    except ImportError:
        return None
    return lambda: module.ZstdDecompressor(max_window_size=_ZSTD_WINDOW).decompressobj()


@cache
def _engines() -> dict[str, Any]:
    found = {"br": _brotli_engine(), "zstd": _zstd_engine()}
    return {name: engine for name, engine in found.items() if engine is not None}


_MAGIC = {"gzip": b"\x1f\x8b", "zstd": b"\x28\xb5\x2f\xfd"}
_ALIASES = {"x-gzip": "gzip", "x-deflate": "deflate"}
_DECODERS: dict[str, Callable[[Pieces, CutOff], Iterator[bytes]]] = {
    "gzip": _gzip,
    "deflate": _deflate,
    "br": _brotli,
    "zstd": _zstd,
}


def accept_encoding() -> str:
    """The codings that can be decoded here, for the header of that name."""
    return ", ".join(["gzip", "deflate", *_engines()])


def _nobody() -> None:
    """Nobody wants to know."""


def decoded(pieces: Pieces, content_encoding: str, cut_off: CutOff = _nobody) -> Iterator[bytes]:
    """Undo ``content_encoding`` (a header value), piece by piece.

    A body that is not in the encoding it claims is passed through as it is: servers and proxies
    mislabel plain bodies. Of one that ends before its own end the beginning is given, and ``cut_off``
    is called.

    Raises:
        PageError: kind ``bad_encoding``: unknown here, stacked too high, or corrupt.
    """
    names = [part.strip().lower() for part in content_encoding.split(",")]
    names = [_ALIASES.get(name, name) for name in names if name not in ("", "identity")]
    if len(names) > _MAX_CODINGS:
        raise PageError(f"the body is encoded {len(names)} times over", kind="bad_encoding")
    out: Iterator[bytes] = iter(pieces)
    for name in reversed(names):
        if name not in ("gzip", "deflate") and name not in _engines():
            raise PageError(f"content encoding {name[:40]!r} cannot be decoded here", kind="bad_encoding")
        out = _one(name, out, cut_off)
    return out


def _one(name: str, pieces: Iterator[bytes], cut_off: CutOff) -> Iterator[bytes]:
    head, rest = _head(pieces, 4)
    if not head:
        return
    magic = _MAGIC.get(name)
    if magic is not None and not head.startswith(magic) and not _zstd_skippable(name, head):
        yield from rest
        return
    kept: list[bytes] = []  # until something comes out, so that plain text can still be passed on
    started = False

    def keeping() -> Iterator[bytes]:
        for piece in rest:
            if not started and len(kept) < _KEEP:
                kept.append(piece)
            yield piece

    try:
        for out in _DECODERS[name](keeping(), cut_off):
            started = True
            kept.clear()
            yield out
    except _Corrupt as exc:
        if started or len(kept) >= _KEEP or not _is_text(b"".join(kept)):
            raise PageError(f"the body is not valid {name}", kind="bad_encoding") from exc
        yield from chain(kept, rest)


def _head(pieces: Pieces, size: int) -> tuple[bytes, Iterator[bytes]]:
    """Return at least ``size`` first bytes (fewer if there are no more) and the whole again."""
    rest = iter(pieces)
    taken: list[bytes] = []
    while sum(map(len, taken)) < size:
        piece = next(rest, None)
        if piece is None:
            break
        taken.append(piece)
    whole = b"".join(taken)
    return whole, chain([whole] if whole else [], rest)


def _zstd_skippable(name: str, head: bytes) -> bool:
    return name == "zstd" and head[1:4] == b"\x2a\x4d\x18" and 0x50 <= head[0] <= 0x5F


def _is_text(data: bytes) -> bool:
    sample = data[:512]
    return not any(byte < 9 or 13 < byte < 32 for byte in sample)


def wire(reply: Any) -> Iterator[bytes]:
    """Yield the body of a streamed ``requests.Response`` as it comes, still encoded."""
    while piece := reply.raw.read1(PIECE, decode_content=False):
        yield piece


# ---- counting ------------------------------------------------------------------------------------


def paced(
    pieces: Pieces,
    *,
    max_bytes: int,
    min_bytes_per_s: float,
    deadline: float,
    now: Callable[[], float],
) -> Iterator[bytes]:
    """Pass pieces from the wire on while size, clock and speed allow it.

    Raises:
        PageError: kind ``too_large``: more than ``max_bytes`` came over the wire.
        TimedOut: the deadline passed, or fewer than ``min_bytes_per_s`` came in after a few seconds.
    """
    started, count = now(), 0
    for piece in pieces:
        count += len(piece)
        if count > max_bytes:
            raise PageError(f"more than {max_bytes:,} bytes were sent", kind="too_large")
        at = now()
        if at >= deadline:
            raise TimedOut(f"the body was not complete in time ({count:,} bytes came)")
        if at - started > _GRACE_S and count < min_bytes_per_s * (at - started):
            raise TimedOut(f"the body came too slowly ({count / (at - started):.0f} bytes a second)")
        yield piece


def gather(pieces: Pieces, *, max_bytes: int, deadline: float, now: Callable[[], float]) -> bytes:
    """Join pieces, of which there may be ``max_bytes`` in all.

    Raises:
        PageError: kind ``too_large``.
        TimedOut: decoding went past the deadline.
    """
    body = bytearray()
    for piece in pieces:
        body += piece
        if len(body) > max_bytes:
            raise PageError(f"the body is larger than {max_bytes:,} bytes", kind="too_large")
        if now() >= deadline:
            raise TimedOut("the body was not decoded in time")
    return bytes(body)
