"""``docs/hooks.md`` tells every hook, with its exact signature and an example that is a test."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from textwrap import dedent

import pytest

from webfetch_core import hookspecs
from webfetch_core.registry.catalog import HOOKS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "hooks.md").read_text(encoding="utf-8")
EXAMPLES = (Path(__file__).parent / "test_hook_examples.py").read_text(encoding="utf-8")
SPECS = {name: spec for name, spec in vars(hookspecs).items() if name.startswith("webfetch_")}


def heading(name: str) -> str:
    signature = inspect.signature(SPECS[name])
    arguments = ", ".join(f"{p.name}: {p.annotation}" for p in signature.parameters.values())
    return f"### `{name}({arguments}) -> {signature.return_annotation}`"


def section(name: str) -> str:
    start = PAGE.index(heading(name)) + len(heading(name))
    return re.split(r"\n##+ ", PAGE[start:])[0]


@pytest.mark.parametrize("name", SPECS)
def test_a_hook_has_its_section(name: str) -> None:
    assert heading(name) in PAGE, f"docs/hooks.md needs the heading: {heading(name)}"
    text = section(name).strip()
    assert text.startswith("*Called "), "a section says first who calls the hook, and when"


@pytest.mark.parametrize("name", SPECS)
def test_its_example_is_a_part_of_a_test(name: str) -> None:
    shown = re.findall(r"```python\n(.*?)```", section(name), re.DOTALL)
    assert len(shown) == 1, f"{name} has {len(shown)} examples"
    marked = re.search(rf"^ *# \[{name}\]\n(.*?)^ *# \[end\]$", EXAMPLES, re.DOTALL | re.MULTILINE)
    assert marked, f"tests/meta/test_hook_examples.py has no part marked [{name}]"
    assert shown[0].strip() == dedent(marked[1]).strip(), f"the example of {name} is not what the test runs"


def test_the_page_has_no_hook_that_is_not_there() -> None:
    assert set(re.findall(r"^### `(webfetch_\w+)", PAGE, re.MULTILINE)) == set(SPECS)


def test_every_stage_has_a_hook() -> None:
    assert set(HOOKS.values()) <= set(SPECS)
