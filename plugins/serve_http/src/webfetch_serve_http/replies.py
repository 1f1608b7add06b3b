"""Answers as bytes: JSON that any client can read, and text that no browser takes for a page."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from enum import Enum
from typing import Any

import attrs
from starlette.responses import Response

SCHEMA_VERSION = 1
"""Version of the JSON form of the records, as in ``webfetch --json``."""


class JsonReply(Response):
    """JSON in UTF-8. What UTF-8 cannot hold (a lone surrogate that a page had) becomes a question mark."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text.encode("utf-8", "replace")


class TextReply(Response):
    """Plain text."""

    media_type = "text/plain"

    def render(self, content: Any) -> bytes:
        return str(content).encode("utf-8", "replace")


def plain(record: Any) -> Any:
    """A record as dicts, lists, strings and numbers; a number that JSON has no word for is None."""
    if attrs.has(type(record)):
        return {f.name: plain(getattr(record, f.name)) for f in attrs.fields(type(record)) if f.repr}
    if isinstance(record, Enum):
        return record.value
    if isinstance(record, Mapping):
        return {str(key): plain(value) for key, value in record.items()}
    if isinstance(record, (list, tuple, set, frozenset)):
        return [plain(value) for value in record]
    if isinstance(record, float):
        return record if math.isfinite(record) else None
    if record is None or isinstance(record, (str, int, bool)):
        return record
    return str(record)
