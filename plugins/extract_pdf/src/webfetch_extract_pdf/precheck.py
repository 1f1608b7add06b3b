"""What is looked at before a library reads a file: is it one, and does none of its streams explode."""

from __future__ import annotations

import re
import zlib

_STREAM = re.compile(rb"stream\r?\n")
_HEADER_BYTES = 2_048
_MOST_INFLATED = 1_040
"""Deflate makes at most 1,032 bytes of one."""
_STEP = 1 << 20
_IMAGE = re.compile(rb"/Subtype\s*/Image\b")
_FLATE = re.compile(rb"/(?:FlateDecode|Fl)\b")
_LZW = re.compile(rb"/(?:LZWDecode|LZW|RunLengthDecode|RL)\b")
_MOST_LZW = 4_200
"""LZW makes at most some 4,096 bytes of a code of 12 bits."""


def is_pdf(body: bytes) -> bool:
    """Whether the mark of a PDF is where readers look for it."""
    return b"%PDF-" in body[:1_024]


def largest_stream(body: bytes, limit: int) -> int:
    """Return how large the first stream becomes that goes over ``limit`` bytes; 0 when none does.

    Images are passed over: nothing here unpacks them. Streams of encrypted files cannot be measured.
    """
    for found in _STREAM.finditer(body):
        if body[max(found.start() - 3, 0) : found.start()] == b"end":
            continue
        header = body[max(found.start() - _HEADER_BYTES, 0) : found.start()]
        header = header[header.rfind(b"obj") + 3 :]
        layers = len(_FLATE.findall(header))
        if not layers and not _LZW.search(header):
            continue
        if _IMAGE.search(header):
            continue
        end = body.find(b"endstream", found.end())
        size = (end if end >= 0 else len(body)) - found.end()
        if not layers:
            if size * _MOST_LZW > 64 * limit:
                return size * _MOST_LZW
            continue
        if size * _MOST_INFLATED**layers <= limit:
            continue
        grown = _inflated(body[found.end() : found.end() + size], layers, limit)
        if grown > limit:
            return grown
    return 0


def _inflated(data: bytes, layers: int, limit: int) -> int:
    """How large ``data`` becomes, counted up to a little over ``limit``."""
    for layer in range(layers):
        keep = layer + 1 < layers
        engine = zlib.decompressobj()
        size = 0
        parts: list[bytes] = []
        rest = data
        try:
            while rest and size <= limit and not engine.eof:
                part = engine.decompress(rest, _STEP)
                rest = engine.unconsumed_tail
                if not part and not rest:
                    break
                size += len(part)
                if keep:
                    parts.append(part)
        except zlib.error:
            return size  # damaged or encrypted: what a reader can make of it was counted
        if size > limit or not keep:
            return size
        data = b"".join(parts)
    return 0
