"""The bound that a distribution sets on the core, compared by release numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet

from webfetch_core.registry.discovery import core_problem


@pytest.mark.parametrize(
    ("requirement", "version", "admitted"),
    [
        ("webfetch-core>=0.1,<0.2", "0.1.0", True),
        ("webfetch-core>=0.1,<0.2", "0.2.0", False),
        ("webfetch-core (>=0.1,<0.2)", "0.1.5", True),
        ("webfetch_core >= 0.2", "0.1.0", False),
        ("Webfetch.Core==0.1.*", "0.1.9", True),
        ("webfetch-core==0.1.*", "0.10.0", False),
        ("webfetch-core==0.1", "0.1.0", True),
        ("webfetch-core!=0.1.0", "0.1.0", False),
        ("webfetch-core!=0.1.*", "0.2.0", True),
        ("webfetch-core~=0.1", "0.9", True),
        ("webfetch-core~=0.1", "1.0", False),
        ("webfetch-core~=0.1.2", "0.1.1", False),
        ("webfetch-core~=0.1.2", "0.2.0", False),
        ("webfetch-core[testing]>=0.2; python_version > '3'", "0.1.0", False),
        ("webfetch-core", "0.1.0", True),
        ("webfetch-core>=0.1.0", "0.1.0.dev3", True),
        ("requests>=99", "0.1.0", True),
        ("webfetch-core-extras>=9", "0.1.0", True),
        ("webfetch-core @ file:///somewhere", "0.1.0", True),
        ("not a requirement at all !!", "0.1.0", True),
        ("", "0.1.0", True),
    ],
)
def test_table(requirement: str, version: str, admitted: bool) -> None:
    assert (core_problem([requirement], version) == "") is admitted


def test_the_message_names_need_and_found_version() -> None:
    assert core_problem(["webfetch-core>=9"], "0.1.0") == "it needs webfetch-core>=9, found 0.1.0"


def test_every_requirement_is_looked_at() -> None:
    assert core_problem(["requests", "webfetch-core>=0.1", "webfetch-core<0.1"], "0.1.0")


releases = st.lists(st.integers(0, 12), min_size=1, max_size=4).map(lambda parts: ".".join(map(str, parts)))
long_releases = st.lists(st.integers(0, 12), min_size=2, max_size=4).map(
    lambda parts: ".".join(map(str, parts))
)
clauses = st.one_of(
    st.tuples(st.sampled_from(["==", "!=", "<", "<=", ">", ">="]), releases).map("".join),
    st.tuples(st.just("~="), long_releases).map("".join),
    st.tuples(st.sampled_from(["==", "!="]), releases, st.just(".*")).map("".join),
)


@given(st.lists(clauses, min_size=1, max_size=3), releases)
def test_agrees_with_packaging_on_releases(parts: list[str], version: str) -> None:
    bound = ",".join(parts)
    assert (core_problem([f"webfetch-core{bound}"], version) == "") is SpecifierSet(bound).contains(version)


@given(st.text(max_size=60))
def test_any_text_is_survived(text: str) -> None:
    core_problem([text, f"webfetch-core{text}"], "0.1.0")
