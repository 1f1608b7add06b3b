"""The one converter between records and JSON-shaped data: cache rows, ``--json``, reports.

cattrs is imported on first use: importing the core stays cheap.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from .models import SCHEMA_VERSION, Freshness, ProvenanceKind

if TYPE_CHECKING:
    from cattrs import Converter

T = TypeVar("T")


@cache
def converter() -> Converter:
    """The shared converter: tuples as lists, bytes as base85, enums by value."""
    from cattrs.preconf.json import make_converter

    made = make_converter()
    # Mapping[str, Any] fields hold JSON already: pass them through as plain dicts.
    made.register_structure_hook_func(
        lambda t: getattr(t, "__origin__", None) is Mapping, lambda value, _: dict(value)
    )
    for kind in (Freshness, ProvenanceKind):
        made.register_unstructure_hook(kind, lambda member: member.value)
    return made


def to_plain(record: Any) -> Any:
    """Return ``record`` as dicts, lists, strings and numbers."""
    return converter().unstructure(record)


def from_plain(data: Any, record_type: type[T]) -> T:
    """Return the record that ``data`` describes; unknown keys are ignored."""
    return converter().structure(data, record_type)


def dumps(record: Any, *, indent: int | None = None) -> str:
    """Return the JSON of a record with ``schema_version`` first (objects only)."""
    plain = to_plain(record)
    if isinstance(plain, dict):
        plain = {"schema_version": SCHEMA_VERSION, **plain}
    return json.dumps(plain, ensure_ascii=False, indent=indent)
