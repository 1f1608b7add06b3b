"""Structured content: results as JSON data for programs, bounded, and without what nobody can see. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from attrs import evolve

from ..models import SCHEMA_VERSION, SearchResult
from ..pipeline.truncate import MARKER, guard
from ..runtime.replies import visible

MAX_STRUCTURED_CHARS = 40_000
"""As JSON. With the text of a call that asks for no more than the defaults it stays below what clients take
(100,000); what is cut, as a part of a page that was asked for in one piece, is flagged ``truncated``."""


def _seen(value: Any) -> Any:
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, Mapping):
        return {_seen(key): _seen(inner) for key, inner in value.items()}
    return [_seen(inner) for inner in value] if isinstance(value, (list, tuple)) else value


def plain(record: Any) -> dict[str, Any]:
    """A record as JSON data, as ``--json`` prints it."""
    from ..wire import to_plain

    return {"schema_version": SCHEMA_VERSION, **to_plain(record)}


def plain_result(result: SearchResult) -> dict[str, Any]:
    """The result's record without its waterfall and what only engines know."""
    data = plain(evolve(result, trace=()))
    del data["trace"]
    for hit in data["hits"]:
        hit.pop("extra", None)
    return data


def bounded(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """``data`` within ``MAX_STRUCTURED_CHARS`` of JSON, by its structure; links stay whole. Some clients give
    it to the model in place of the text, so what only a machine would read is not in it either."""
    text, cut = guard(_seen(data), MAX_STRUCTURED_CHARS)
    value = json.loads(text.removesuffix(MARKER)) if cut else json.loads(text)
    return {**value, "truncated": True} if cut else value
