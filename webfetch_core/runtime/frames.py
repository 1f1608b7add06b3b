"""Frames on the pipes between the host and its extraction workers.

One frame is two big-endian 32-bit lengths, a JSON object and raw bytes. Only JSON and bytes ever come
back from a process that has read a hostile page; nothing is unpickled.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import IO, Any

_LENGTHS = struct.Struct("!II")
MAX_BYTES = 0xFFFF_FFFF


class BadFrame(Exception):
    """The bytes on the pipe are not a frame, or it is over the limit."""


def write_frame(stream: IO[bytes], header: Mapping[str, Any], body: bytes = b"") -> None:
    """Write one frame and flush. Raises OSError when the other side is gone, BadFrame over 4 GiB."""
    # surrogatepass: text of a broken page may hold lone surrogates, and they must arrive as they are.
    head = json.dumps(header, ensure_ascii=False).encode("utf-8", "surrogatepass")
    if len(head) > MAX_BYTES or len(body) > MAX_BYTES:
        raise BadFrame(f"a frame of {len(head) + len(body):,} bytes is too large")
    for part in (_LENGTHS.pack(len(head), len(body)) + head, body):
        view = memoryview(part)
        while view:  # an unbuffered pipe may take less than it was given
            view = view[stream.write(view) or 0 :]
    stream.flush()


def read_frame(stream: IO[bytes], *, limit: int = MAX_BYTES) -> tuple[dict[str, Any], bytes] | None:
    """Read one frame; None at a clean end of the stream.

    Raises:
        BadFrame: cut short, over ``limit`` bytes, or not a JSON object.
    """
    start = _read(stream, _LENGTHS.size)
    if not start:
        return None
    if len(start) < _LENGTHS.size:
        raise BadFrame("the stream ended within a frame")
    head_size, body_size = _LENGTHS.unpack(start)
    if head_size + body_size > limit:
        raise BadFrame(f"a frame of {head_size + body_size:,} bytes is over the limit of {limit:,}")
    head, body = _read(stream, head_size), _read(stream, body_size)
    if len(head) < head_size or len(body) < body_size:
        raise BadFrame("the stream ended within a frame")
    try:
        header = json.loads(head.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError) as error:
        raise BadFrame(f"not JSON: {error}") from None
    if not isinstance(header, dict):
        raise BadFrame("not a JSON object")
    return header, body


def _read(stream: IO[bytes], size: int) -> bytes:
    parts = []
    while size:
        part = stream.read(min(size, 1 << 20))
        if not part:
            break
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
