"""``docs/plugin-authors/reference.md`` is the API as it is: names, fields, defaults, signatures, kinds."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import attrs
import pytest

from webfetch_core import api, errors
from webfetch_core.events import Event
from webfetch_core.runtime.breaker import FAILURES_TO_OPEN, OPEN_FOR_S
from webfetch_core.runtime.http import CALL_S, MAX_CALL_BYTES
from webfetch_core.runtime.http_pages import Limits

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "plugin-authors" / "reference.md").read_text(encoding="utf-8")
PUBLIC = {name: getattr(api, name) for name in api.__all__}
RECORDS = {n: t for n, t in PUBLIC.items() if isinstance(t, type) and attrs.has(t)}
PROTOCOLS = {n: t for n, t in PUBLIC.items() if getattr(t, "_is_protocol", False)}
ERRORS = {n: t for n, t in PUBLIC.items() if isinstance(t, type) and issubclass(t, errors.WebfetchError)}
FUNCTIONS = {n: t for n, t in PUBLIC.items() if inspect.isfunction(t)}


def section(name: str) -> str:
    found = re.search(rf"^### {name}\n(.*?)(?=^##|\Z)", PAGE, re.DOTALL | re.MULTILINE)
    assert found, f"reference.md needs a section: ### {name}"
    return found[1]


def squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)


def declared(record: type, field: Any) -> str:
    """The type as it is written in the source."""
    owner = next(b for b in record.__mro__ if field.name in vars(b).get("__annotations__", {}))
    return str(vars(owner)["__annotations__"][field.name])


def default(field: Any) -> str:
    if field.default is attrs.NOTHING:
        return "required"
    if isinstance(field.default, attrs.Factory):  # type: ignore[arg-type]
        return f"`{field.default.factory.__name__}()`"
    return f"`{field.default!r}`"


def signature(name: str, function: Any) -> str:
    found = inspect.signature(function)
    without_self = [p for p in found.parameters.values() if p.name != "self"]
    # Annotations are shown in quotes, which go; those of a default that is a string stay.
    return name + re.sub(r"(?<=: |> )'([^']*)'", r"\1", str(found.replace(parameters=without_self)))


def members(protocol: type) -> list[str]:
    lines = [f"{name}: {kind}" for name, kind in vars(protocol).get("__annotations__", {}).items()]
    for name, member in vars(protocol).items():
        if isinstance(member, property):
            lines.append(f"{name}: {inspect.signature(member.fget).return_annotation}")  # type: ignore[arg-type]
        elif inspect.isfunction(member) and not name.startswith("_"):
            lines.append(signature(name, member))
    return lines


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_is_there(name: str) -> None:
    assert f"`{name}`" in PAGE or f"### {name}\n" in PAGE


def test_nothing_is_there_that_is_not_public() -> None:
    assert set(re.findall(r"^### (\w+)$", PAGE, re.MULTILINE)) <= set(PUBLIC)


@pytest.mark.parametrize("name", RECORDS)
def test_the_fields_of_a_record(name: str) -> None:
    record = RECORDS[name]
    kinds = {f.name: declared(record, f).replace("|", r"\|") for f in attrs.fields(record)}
    wanted = [f"| `{f.name}` | `{kinds[f.name]}` | {default(f)} |" for f in attrs.fields(record)]
    shown = [line for line in section(name).splitlines() if re.match(r"\| `", line)]
    assert [line[: len(row)] for line, row in zip(shown, wanted, strict=True)] == wanted
    assert all(len(line) > len(row) + 4 for line, row in zip(shown, wanted, strict=True)), (
        "each says what it is"
    )


@pytest.mark.parametrize("name", PROTOCOLS)
def test_the_members_of_a_protocol(name: str) -> None:
    shown = re.findall(r"```python\n(.*?)```", section(name), re.DOTALL)
    assert squeezed("".join(shown)) == squeezed("".join(members(PROTOCOLS[name])))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_signature_of_a_function(name: str) -> None:
    assert squeezed(signature(name, FUNCTIONS[name])) in squeezed(section(name))


@pytest.mark.parametrize("name", ERRORS)
def test_what_an_error_does(name: str) -> None:
    error = ERRORS[name]("x")

    def counts(stage: str) -> str:
        return "yes" if errors.counts_against_breaker(stage, error) else "no"

    wait = errors.cool_down_s(error)
    row = f"| `{name}` | `{error.kind}` | {counts('search')} | {counts('fetch')} |"
    row += " |" if wait is None else f" {wait:,.0f} s |"
    assert row in PAGE, row
    assert counts("rank") == counts("llm") == counts("search") and counts("extract") == counts("fetch")


def test_kinds_of_pages_and_names_of_events() -> None:
    kinds = re.search(r"one of ``(.*?)``", errors.PageError.__doc__ or "", re.DOTALL)
    told = re.search(r"^Kinds of `PageError.*?: (.*?)\.$", PAGE, re.DOTALL | re.MULTILINE)
    assert kinds and told and kinds[1].split() == re.findall(r"`(\w+)`", told[1])
    names = re.findall(r"``(\w+\.\w+)``", Event.__doc__ or "")
    told = re.search(r"^Names: (.*?)\.$", section("Event"), re.DOTALL | re.MULTILINE)
    assert told and set(names) == set(re.findall(r"`(\w+\.\w+)`", told[1]))


def test_members_of_the_context_are_told_one_by_one() -> None:
    named = [line.partition(":")[0].partition("(")[0] for line in members(api.PluginContext)]
    assert re.findall(r"^\| `(\w+)` \|", section("PluginContext"), re.MULTILINE) == named


def test_figures() -> None:
    assert f"`{api.API_MAJOR}`" in PAGE and f'`"{api.GROUP}"`' in PAGE
    assert FAILURES_TO_OPEN == 3 and f"bench it for {OPEN_FOR_S:.0f} seconds" in PAGE
    assert f"takes {CALL_S:.0f} seconds at most, an answer {MAX_CALL_BYTES >> 20} MiB" in PAGE
    for field in attrs.fields(Limits):
        assert f"`{field.name}`" in section("Http")
    limits = Limits()
    assert f"`max_bytes` ({limits.max_bytes >> 20} MiB" in PAGE
    assert f"`max_redirects` ({limits.max_redirects})" in PAGE
    for freshness in api.Freshness:
        assert f"`Freshness.{freshness.name}`" in PAGE and f'`"{freshness}"' in PAGE


def test_the_examples_of_the_kit_say_what_it_does() -> None:
    shown = re.findall(r"`((?:plain_text|with_sites)\([^`]*\))`\s+is\s+`(\"[^`]*\")`", PAGE)
    assert len(shown) == 2
    for call, result in shown:
        assert eval(call, dict(FUNCTIONS)) == eval(result)
