"""No spelling of a secret gets through."""

from __future__ import annotations

import json
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable
from html import escape
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webfetch_core.runtime.redaction import LEAST_CHARS, redact, strike

SPELLINGS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "upper": lambda s: s.upper() if s.isascii() else s,
    "percent": lambda s: quote(s, safe=""),
    "percent lower": lambda s: quote(s, safe="").lower() if s.isascii() else quote(s, safe=""),
    "form": quote_plus,
    "every byte": lambda s: "".join(f"%{b:02X}" for b in s.encode()),
    "html": escape,
    "decimal": lambda s: "".join(f"&#{ord(c)};" for c in s),
    "some decimal": lambda s: s.replace("+", "&#43;"),
    "hexadecimal": lambda s: "".join(f"&#x{ord(c):X};" for c in s),
    "json": lambda s: json.dumps(s)[1:-1] if all(ord(c) < 0x10000 for c in s) else s,
    "slashes": lambda s: s.replace("/", "\\/"),
    "escapes": lambda s: "".join(rf"\u{ord(c):04x}" if ord(c) < 0x10000 else c for c in s),
    "base64": lambda s: b64encode(s.encode()).decode(),
    "base64 of URLs": lambda s: urlsafe_b64encode(s.encode()).decode(),
}
KEYS = st.text(st.characters(blacklist_categories=("C", "Z")), min_size=LEAST_CHARS, max_size=40)


@pytest.mark.parametrize("spelling", SPELLINGS.values(), ids=SPELLINGS)
@given(key=KEYS)
def test_a_key_is_struck_out_however_it_is_written(spelling: Callable[[str], str], key: str) -> None:
    written = spelling(key)
    told = strike(f"[{written}]", [key])
    assert written not in told or written in "[***]"


@pytest.mark.parametrize("spelling", SPELLINGS.values(), ids=SPELLINGS)
def test_all_else_stays(spelling: Callable[[str], str]) -> None:
    key = "sk-Se/cret+abc&123=XY"
    assert strike(f"the key {spelling(key)} is wrong", [key]) == "the key *** is wrong"
    assert strike("nothing here", [key, "", "abc", "   "]) == "nothing here"


def test_values_of_what_is_named_like_a_key_go_too() -> None:
    assert redact("api_key=abc Bearer abcdefgh") == "api_key=*** Bearer ***"
