"""Reading what models really send: ``"10"`` for 10, ``"true"`` for true, one string for a list, null for
nothing, JSON text for an object. Pure.

What can only mean one thing is taken as that. What cannot is an error that says what would be right.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from attrs import frozen

from ..errors import BadQuery
from ..pipeline.render import one_line
from .schema import Tool

MAX_INPUT_CHARS = 200_000
"""More than any call of ours needs; beyond it nobody reads the JSON."""
MAX_ITEMS = 50
_MAX_NAMED = 5
_MAX_DIGITS = 18
_TRUE, _FALSE = frozenset({"true", "yes", "on", "1"}), frozenset({"false", "no", "off", "0"})
_NOTHING = frozenset({"", "null", "none", "undefined"})


@frozen(kw_only=True)
class Arguments:
    """The input of a call as its tool wants it: ``values`` has what was given, by name; ``notes`` tell the
    model what was understood otherwise than it was written."""

    values: Mapping[str, Any]
    notes: tuple[str, ...] = ()

    def get(self, name: str, default: Any = None) -> Any:
        """A value, or ``default`` where none was given."""
        return self.values.get(name, default)


def read(tool: Tool, given: object) -> Arguments:
    """Return the arguments for ``tool`` in ``given``: an object, its JSON text, or None for an empty one.

    Raises:
        BadQuery: a required one is missing, or one cannot be read; the message shows what would be right.
    """
    properties: Mapping[str, Mapping[str, Any]] = tool.parameters["properties"]
    values: dict[str, Any] = {}
    notes: list[str] = []
    unknown: list[str] = []
    for name, value in _items(tool, given):
        if name not in properties:
            unknown.append(one_line(name, 40))
        elif value is not None:
            schema = properties[name]
            read_value = _READERS[schema["type"]](name, value, schema, notes)
            if read_value is not None:
                values[name] = read_value
    if unknown:
        more = f" and {len(unknown) - _MAX_NAMED} more" if len(unknown) > _MAX_NAMED else ""
        notes.append(f"ignored, {tool.name} has no such parameter: {', '.join(unknown[:_MAX_NAMED])}{more}")
    missing = [name for name in tool.required if name not in values]
    if missing:
        raise BadQuery(f"{tool.name} needs {' and '.join(missing)}", fix=f"call it with {_example(tool)}")
    return Arguments(values=values, notes=tuple(notes))


def _items(tool: Tool, given: object) -> Iterator[tuple[str, Any]]:
    if isinstance(given, (bytes, bytearray)):
        given = bytes(given[: MAX_INPUT_CHARS + 1]).decode("utf-8", "replace")
    if isinstance(given, str):
        given = _parsed(tool, given)
    if given is None:
        return
    if not isinstance(given, Mapping):
        raise BadQuery(
            f"the input of {tool.name} must be an object, got {type(given).__name__}",
            fix=f"call it with {_example(tool)}",
        )
    for name, value in given.items():
        yield (name if isinstance(name, str) else repr(name)), value


def _parsed(tool: Tool, text: str) -> object:
    if len(text) > MAX_INPUT_CHARS:
        raise BadQuery(
            f"the input of {tool.name} has more than {MAX_INPUT_CHARS:,} characters", fix="send less"
        )
    if not text.strip():
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise BadQuery(
            f"the input of {tool.name} is no JSON object", fix=f"call it with {_example(tool)}"
        ) from None


def _example(tool: Tool) -> str:
    return json.dumps(dict.fromkeys(tool.required, "..."))


# ---- one reader a type ---------------------------------------------------------------------------


def _text(name: str, value: Any, schema: Mapping[str, Any], notes: list[str]) -> str | None:
    if isinstance(value, (list, tuple)) and len(value) == 1:
        value = value[0]
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        value = _number_text(name, value)
    if not isinstance(value, str):
        raise BadQuery(f"{name} must be text, got {_kind(value)}")
    if "enum" not in schema:
        return value if value.strip() or name == "query" else None
    chosen = value.strip().lower()
    if chosen in schema["enum"]:
        return chosen
    if chosen not in _NOTHING:
        notes.append(f"{name} was ignored: {one_line(value, 40)} is none of {', '.join(schema['enum'])}")
    return None


def _number_text(name: str, value: float) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    # Not str() of any integer: Python refuses one of more than 4,300 digits.
    if isinstance(value, int) and abs(value) >= 10**_MAX_DIGITS:
        raise BadQuery(f"{name} must be text, got a number of more than {_MAX_DIGITS} digits")
    return str(value)


def _whole(name: str, value: Any, schema: Mapping[str, Any], notes: list[str]) -> int | None:
    if isinstance(value, str):
        text = value.strip().replace(",", "").replace("_", "")
        if text.lower() in _NOTHING:
            return None
        try:
            value = int(text) if text.lstrip("+-").isdigit() and len(text) <= _MAX_DIGITS else float(text)
        except ValueError:
            raise BadQuery(f"{name} must be a whole number, got {one_line(value, 40)!r}") from None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise BadQuery(f"{name} must be a whole number, got {_kind(value)}")
    number = int(value)
    at_least: int = max(number, schema.get("minimum", number))
    bounded: int = min(at_least, schema.get("maximum", at_least))
    if bounded != number:
        notes.append(f"{name} is {bounded}: it must be {_bounds(schema)}")
    return bounded


def _bounds(schema: Mapping[str, Any]) -> str:
    if "maximum" in schema:
        return f"from {schema['minimum']} to {schema['maximum']}"
    return f"at least {schema['minimum']}"


def _switch(name: str, value: Any, schema: Mapping[str, Any], notes: list[str]) -> bool | None:
    if isinstance(value, bool):
        return value
    if isinstance(value, (int, float)) and value in (0, 1):
        return bool(value)
    if isinstance(value, str):
        word = value.strip().lower()
        if word in _NOTHING:
            return None
        if word in _TRUE | _FALSE:
            return word in _TRUE
    raise BadQuery(f"{name} must be true or false, got {_kind(value)}")


def _list(name: str, value: Any, schema: Mapping[str, Any], notes: list[str]) -> list[str] | None:
    if isinstance(value, str):
        value = _listed(value)
    if not isinstance(value, (list, tuple)) or not all(
        item is None or isinstance(item, str) for item in value
    ):
        raise BadQuery(f"{name} must be a list of texts, got {_kind(value)}", fix=f'{name}=["example.org"]')
    # "*.example.org" and ".example.org" are what others call a host with its subdomains.
    items = [item.strip().removeprefix("*").lstrip(".") for item in value if item]
    items = [item for item in items if item]
    if len(items) > MAX_ITEMS:
        notes.append(f"{name} was cut to its first {MAX_ITEMS} of {len(items)}")
    return items[:MAX_ITEMS] or None


def _listed(text: str) -> object:
    """The items of a list that came as text: JSON, or with commas or blanks between them."""
    if text.lstrip().startswith("["):
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            text = text.strip().strip("[]").replace('"', "").replace("'", "")
    if text.strip().lower() in _NOTHING:
        return []
    return text.replace(",", " ").split()


def _kind(value: Any) -> str:
    kinds = {dict: "an object", list: "a list", str: "text", bool: "true or false", int: "a number"}
    return kinds.get(type(value), type(value).__name__)


_READERS: Mapping[str, Callable[[str, Any, Mapping[str, Any], list[str]], Any]] = {
    "string": _text,
    "integer": _whole,
    "boolean": _switch,
    "array": _list,
}
