"""The surface that plugins are written against, frozen. Run as a script with --write to renew it."""

from __future__ import annotations

import inspect
import json
import sys
from pathlib import Path
from typing import Any

import attrs

from webfetch_core import api, errors, hookspecs, stages
from webfetch_core.markers import API_MAJOR

SNAPSHOT = Path(__file__).with_name("api_snapshot.json")


def _parameters(function: Any) -> list[str]:
    return [
        f"{p.name}: {p.annotation}" + ("" if p.default is p.empty else " (optional)")
        for p in inspect.signature(function).parameters.values()
        if p.name != "self"
    ]


def _methods(protocol: type) -> dict[str, Any]:
    own = {k: v for k, v in vars(protocol).items() if not k.startswith("_")}
    members: dict[str, Any] = dict.fromkeys(getattr(protocol, "__annotations__", {}), "attribute")
    for name, member in own.items():
        if isinstance(member, property):
            members[name] = f"property: {inspect.signature(member.fget).return_annotation}"
        elif callable(member):
            members[name] = [*_parameters(member), f"-> {inspect.signature(member).return_annotation}"]
    return dict(sorted(members.items()))


def _field(record: type, field: attrs.Attribute[Any]) -> str:
    # As written: field.type is no longer that once something has resolved the record's types.
    declared = next(
        vars(base)["__annotations__"][field.name]
        for base in record.__mro__
        if field.name in vars(base).get("__annotations__", {})
    )
    return f"{declared}" + ("" if field.default is attrs.NOTHING else " (optional)")


def _is_protocol(thing: Any) -> bool:
    return bool(getattr(thing, "_is_protocol", False))


def surface() -> dict[str, Any]:
    """Hooks, records, protocols and errors as plain data."""
    public = {name: getattr(api, name) for name in api.__all__}
    return {
        "api_major": API_MAJOR,
        "names": sorted(public),
        "hooks": {
            name: [*_parameters(spec), f"-> {inspect.signature(spec).return_annotation}"]
            for name, spec in vars(hookspecs).items()
            if name.startswith("webfetch_")
        },
        "records": {
            name: {f.name: _field(thing, f) for f in attrs.fields(thing)}
            for name, thing in sorted(public.items())
            if isinstance(thing, type) and attrs.has(thing)
        },
        "protocols": {name: _methods(thing) for name, thing in sorted(public.items()) if _is_protocol(thing)},
        "errors": {
            name: thing.default_kind
            for name, thing in sorted(vars(errors).items())
            if isinstance(thing, type) and issubclass(thing, errors.WebfetchError)
        },
    }  # fmt: skip


def differences(old: Any, new: Any, path: str = "") -> list[str]:
    if isinstance(old, dict) and isinstance(new, dict):
        return [
            line
            for key in sorted({*old, *new})
            for line in (
                [f"gone: {path}{key}"] if key not in new
                else [f"new: {path}{key} = {new[key]}"] if key not in old
                else differences(old[key], new[key], f"{path}{key}.")
            )
        ]  # fmt: skip
    return [] if old == new else [f"changed: {path.rstrip('.')}: {old} -> {new}"]


def test_the_surface_is_what_it_was() -> None:
    changed = differences(json.loads(SNAPSHOT.read_text(encoding="utf-8")), json.loads(json.dumps(surface())))
    assert not changed, (
        "the API that plugins are written against has changed:\n  "
        + "\n  ".join(changed)
        + "\nWithin one major, hooks gain optional arguments, records and Provider defaulted fields, "
        "protocols members that the core looks up with a default; nothing goes or changes its meaning."
        "\nIf that holds: "
        "python tests/meta/test_api_surface.py --write, and a line in CHANGELOG.md."
    )


def test_every_stage_protocol_is_public() -> None:
    protocols = {name for name, thing in vars(stages).items() if _is_protocol(thing) and name != "Protocol"}
    assert protocols <= set(api.__all__)


def test_all_is_sorted_and_there() -> None:
    assert len(set(api.__all__)) == len(api.__all__)
    assert all(hasattr(api, name) for name in api.__all__)


if __name__ == "__main__" and "--write" in sys.argv:
    SNAPSHOT.write_text(json.dumps(surface(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
