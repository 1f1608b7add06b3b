"""Validators of the records that plugins declare: a wrong value is told where it was written, not
where it is first used. Each raises ValueError with the field's name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Validator = Callable[[Any, Any, Any], None]


def must(what: str, holds: Callable[[Any], bool]) -> Validator:
    """A validator: a wrong value is told where it was written, not where it is first used."""

    def check(_: Any, attribute: Any, value: Any) -> None:
        try:
            right = holds(value)
        except Exception:  # a value of another type altogether
            right = False
        if not right:
            raise ValueError(f"{attribute.name} must be {what}; got {value!r:.80}")

    return check


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and float(value) == value


def is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def are_texts(value: Any) -> bool:
    return not isinstance(value, (str, bytes)) and all(isinstance(x, str) for x in value)


positive = must("a number greater than 0", lambda v: is_number(v) and v > 0)
count = must("a whole number of at least 1", is_count)
count_or_none = must("a whole number of at least 1, or None", lambda v: v is None or is_count(v))
text = must("a string", lambda v: isinstance(v, str))
flag = must("True or False", lambda v: isinstance(v, bool))
texts = must("a sequence of strings", are_texts)
