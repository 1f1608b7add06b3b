"""Addresses in every spelling; what is none is refused, not guessed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from webfetch_serve_http.addresses import MAX_ADDRESS_CHARS, address_of
from webfetch_serve_http.faults import Fault

READ = [
    ("https://loom.example/warp", "https://loom.example/warp"),
    ("http://loom.example/warp?x=1&y=%20z#/route", "http://loom.example/warp?x=1&y=%20z#/route"),
    ("https://loom.example/a//b%2Fc?u=https://b.example/", "https://loom.example/a//b%2Fc?u=https://b.example/"),
    ("HTTPS://LOOM.example/Warp", "https://LOOM.example/Warp"),
    ("https:/loom.example/warp", "https://loom.example/warp"),
    ("https:///loom.example/warp", "https://loom.example/warp"),
    ("https:loom.example/warp", "https://loom.example/warp"),
    ("  https://loom.example/warp \n", "https://loom.example/warp"),
    ("\u3000https://loom.example/warp\u00a0", "https://loom.example/warp"),
    ("//loom.example/warp", "https://loom.example/warp"),
    ("loom.example", "https://loom.example"),
    ("loom.example/warp", "https://loom.example/warp"),
    ("loom.example:8443/warp", "https://loom.example:8443/warp"),
    ("loom.example?x=http://b.example", "https://loom.example?x=http://b.example"),
    ("localhost:8080/warp", "https://localhost:8080/warp"),
    ("LOCALHOST", "https://LOCALHOST"),
    ("127.0.0.1:8080", "https://127.0.0.1:8080"),
    ("[2001:db8::1]:8443/warp", "https://[2001:db8::1]:8443/warp"),
    ("bücher.example/über", "https://bücher.example/über"),
    ("https://bücher.example/über", "https://bücher.example/über"),
    ("例え.テスト", "https://例え.テスト"),
    ("https://b%C3%BCcher.example/%C3%BC", "https://bücher.example/%C3%BC"),
    ("b%C3%BCcher.example:8443/%C3%BC", "https://bücher.example:8443/%C3%BC"),
    ("https://a%2Fb.example/", "https://a%2Fb.example/"),  # for the guard to refuse
    ("https://a%40b.example/", "https://a%40b.example/"),
    ("https%3A%2F%2Floom.example%2Fwarp%3Fx%3D1", "https://loom.example/warp?x=1"),
    ("https%3a%2f%2floom.example%2fwarp", "https://loom.example/warp"),
    ("https:%2F%2Floom.example%2Fwarp", "https://loom.example/warp"),
    ("https:/%2Floom.example%2Fwarp", "https://loom.example/warp"),
    ("https%3A//loom.example/a%252Fb?x=%2F", "https://loom.example/a%2Fb?x=%2F"),
    ("local:docs/a/b.md", "local:docs/a/b.md"),
    ("LOCAL:docs/a%20b.md#part", "local:docs/a%20b.md#part"),
    ("local://docs/a.md", "local:docs/a.md"),
    ("local%3Adocs%2Fa.md", "local:docs/a.md"),
    ("local:8080/a.md", "local:8080/a.md"),
    # Other schemes with an authority are the library's to judge: a plugin may fetch them.
    ("ftp://loom.example/warp", "ftp://loom.example/warp"),
    ("FILE:///etc/passwd", "file:///etc/passwd"),
    ("gopher://loom.example/", "gopher://loom.example/"),
]  # fmt: skip
REFUSED = [
    "", " ", "\n", "/", "/docs/a", "./a", "../a", "?q=x", "#part", "//", "///etc/passwd", "//etc/passwd",
    "warp", "warp tension", "intranet:8080/x", "etc/passwd", "user@loom.example", "user:pw@loom.example/x",
    "mailto:someone@loom.example", "javascript:alert(1)", "JavaScript:alert(1)", "javascript%3Aalert(1)",
    "data:text/html,<p>x", "data:text/html;base64,PHA+", "tel:911", "tel:5551234", "about:blank",
    "urn:isbn:1", "blob:https://loom.example/1", "view-source:https://loom.example/", "jar:https://loom.example/a!/b",
    "file:/etc/passwd", "file:etc", "C:\\Users\\x", "C:/People/x", "\\\\server\\share", "model-finding:abc",
    "https:", "https://", "https:/", "local:", "local:/", "local%3A", "://loom.example/", ":8080/x", ":",
    "https%253A%252F%252Floom.example", "%68ttps://loom.example", "java\nscript:alert(1)", "ht\ttps://a.ex/",
    "\x00https://loom.example/", "\ufeffhttps://loom.example/", "loom.example:port/x",
    "loom.example:123456/x", "-", ".", "..", "...", "a..b", "[::1", "loom.example\\x", "https//loom.example",
    "\ud800", "x" * 9_000,
    "https://loom.example/" + "x" * MAX_ADDRESS_CHARS,
]  # fmt: skip


@pytest.mark.parametrize(("text", "address"), READ)
def test_an_address_in_every_spelling(text: str, address: str) -> None:
    assert address_of(text) == address
    assert address_of(address) == address, "what was read once reads the same"


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_no_address_is_refused_and_not_repeated(text: str) -> None:
    with pytest.raises(Fault) as caught:
        address_of(text)
    fault = caught.value
    assert (fault.status, fault.kind) == (400, "bad_query") and fault.message
    for part in ("passwd", "alert", "someone", "share", "xxx", "\ud800"):
        assert part not in fault.told


@given(st.text(max_size=60) | st.from_regex(r"[a-z]{0,6}(%3A|:)(//|/|%2F)?[\w.@:/%?#\[\]-]{0,20}"))
def test_any_text_is_an_address_or_a_fault(text: str) -> None:
    try:
        address = address_of(text)
    except Fault as fault:
        assert fault.status == 400
        return
    scheme = address.partition(":")[0]
    assert scheme == scheme.lower() and (scheme == "local" or address.startswith(f"{scheme}://"))
    address.encode()
    if "%" not in text and scheme in ("http", "https"):  # nothing was made up: the rest is the client's own
        assert address.partition("://")[2] in text.strip()
