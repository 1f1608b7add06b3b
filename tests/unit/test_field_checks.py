"""A declaration with a wrong value is refused where it is written, with the field's name."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import make_class
from hypothesis import given
from hypothesis import strategies as st

from webfetch_core.api import ExtractTraits, FetchTraits, Provider, RankTraits, SearchTraits

WRONG = st.one_of(
    st.none(),
    st.just(float("nan")),
    st.just(10**400),
    st.just(object()),
    st.text(max_size=3),
    st.lists(st.integers(), min_size=1, max_size=2),
    st.booleans(),
)
FIELDS: list[tuple[type, dict[str, Any], str]] = [
    (Provider, {"name": "x", "build": len}, name)
    for name in ("priority", "timeout_s", "max_concurrency", "settings", "requires", "traits", "summary")
]
FIELDS += [(SearchTraits, {}, name) for name in ("usd_per_1k", "max_limit", "max_query_chars", "calls_per_s")]
FIELDS += [(FetchTraits, {}, "schemes"), (ExtractTraits, {}, "content_types"), (RankTraits, {}, "kind")]


@pytest.mark.parametrize(("record", "others", "name"), FIELDS, ids=lambda v: v if isinstance(v, str) else "")
@given(value=WRONG)
def test_a_value_is_taken_as_it_is_or_refused_by_name(
    record: type, others: dict[str, Any], name: str, value: Any
) -> None:
    try:
        made = record(**others, **{name: value})
    except ValueError as exc:
        assert str(exc).startswith(f"{name} must be ")
    else:
        kept = getattr(made, name)
        assert kept is value
        assert kept is None or isinstance(kept, (str, int, list, tuple))


@pytest.mark.parametrize(
    "fields",
    [
        {"timeout_s": 0.001}, {"timeout_s": 1e9}, {"timeout_s": float("inf")}, {"max_concurrency": 10**9},
        {"priority": -5}, {"settings": make_class("S", ["a"])}, {"requires": []}, {"summary": "é"},
    ],
)  # fmt: skip
def test_unusual_values_that_mean_something_are_taken(fields: dict[str, Any]) -> None:
    assert Provider(name="x", build=len, **fields)


@pytest.mark.parametrize(("name", "value"), [("build", 5), ("max_concurrency", 1.5), ("requires", iter(()))])
def test_what_would_fail_later_fails_at_once(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"^{name} must be"):
        Provider(**{"name": "x", "build": len, name: value})
