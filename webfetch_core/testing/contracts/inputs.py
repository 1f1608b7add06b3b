"""What a contract is given, checked before its tests run: a wrong input is told once and by its name."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from attrs import frozen

from ...models import Chunk, Freshness, Page
from ..site import Reply


@frozen
class Input:
    """An attribute of a contract class.

    Attributes:
        must: what its value must be, as words that follow "must be".
        holds: whether a value is that.
        unset: what to set it to, for one that has no default; such a one must not be None or empty.
    """

    must: str
    holds: Callable[[Any], bool]
    unset: str = ""


def problem_of(name: str, wanted: Input, value: Any) -> str:
    """What is wrong with the input ``name``, or an empty string."""
    if wanted.unset and (value is None or (isinstance(value, (str, Mapping, Sequence)) and len(value) == 0)):
        return f"{name} is not set: set it to {wanted.unset}"
    try:
        right = wanted.holds(value)
    except Exception:  # a value of another type altogether
        right = False
    return "" if right else f"{name} must be {wanted.must}, got {told(value)}"


def problems(contract: Any) -> Iterator[str]:
    """What is wrong with the inputs of a contract object, in the order in which they are declared."""
    wanted: dict[str, Input] = {}
    for cls in reversed(type(contract).__mro__):
        wanted |= vars(cls).get("INPUTS", {})
    for name, each in wanted.items():
        if problem := problem_of(name, each, getattr(contract, name)):
            yield problem


def told(value: Any) -> str:
    """A value as an error shows it: its type, and the beginning of what it is."""
    return f"{type(value).__name__}: {value!r:.60}" if value is not None else "None"


# ---- kinds of inputs ------------------------------------------------------------------------------


def is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def is_json(value: Any) -> bool:
    json.dumps(value, allow_nan=False)
    return True


def is_body(value: Any) -> bool:
    """Whether a loopback service can answer with ``value``."""
    return value is None or isinstance(value, (bytes, str, Reply)) or is_json(value)


def is_list_of(kind: type, value: Any, at_least: int = 1) -> bool:
    plain = isinstance(value, Sequence) and not isinstance(value, (str, bytes))
    return plain and len(value) >= at_least and all(isinstance(item, kind) for item in value)


def is_page(value: Any) -> bool:
    return isinstance(value, Page) and isinstance(value.body, bytes) and is_text(value.content_type)


def are_chunks(value: Any) -> bool:
    return is_list_of(Chunk, value)


def are_texts(value: Any) -> bool:
    return is_list_of(str, value)


def are_pairs(value: Any) -> bool:
    return isinstance(value, Sequence) and all(is_list_of(str, p, 2) and len(p) == 2 for p in value)


def are_examples(value: Any) -> bool:
    return isinstance(value, Mapping) and all(
        isinstance(q, str) and (f is None or Freshness(f)) for q, f in value.items()
    )


def is_plugin(value: Any) -> bool:
    return not isinstance(value, (type, bytes)) and (not isinstance(value, str) or is_text(value))


TEXT = Input("a string that is not blank", is_text)
BODY = Input("the body of an answer: bytes, text, a Reply, or what JSON can hold", is_body)
BASE_URL_SETTING = Input("the name of a field of the provider's settings", is_text)
BASE_URL_PATH = Input(
    'empty or a path that begins with "/"',
    lambda v: isinstance(v, str) and (not v or v.startswith("/")),
)
