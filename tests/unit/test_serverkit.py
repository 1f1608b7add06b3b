"""Who may speak to a server on this machine: names, addresses, origins."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webfetch_core.api import host_allowed, is_loopback, same_origin


@pytest.mark.parametrize(
    ("host", "right"),
    [
        ("127.0.0.1:8765", True),
        ("[::1]:8765", True),
        ("localhost", True),
        ("10.1.2.3", True),  # an address is no name that somebody turned towards us
        ("box:80", True),
        ("BOX.", True),
        ("evil.example", False),
        ("localhost.evil.example", False),
        ("", False),
        ("user@localhost", False),
        ("localhost/x", False),
        ("localhost:port", False),
    ],
)
def test_a_server_goes_by_addresses_and_its_own_names(host: str, right: bool) -> None:
    assert host_allowed(host, "box", ()) is right
    assert host_allowed(host, "127.0.0.1", ("Box.",)) is right


def test_a_star_allows_every_name_and_nothing_that_is_none() -> None:
    assert host_allowed("evil.example", "box", ("*",)) and not host_allowed("", "box", ("*",))


@pytest.mark.parametrize("host", ["127.8.8.8", "::1", "[::1]", "LOCALHOST.", "::1%lo"])
def test_loopback_is_known(host: str) -> None:
    assert is_loopback(host) and not is_loopback("0.0.0.0") and not is_loopback("::")


def test_an_origin_is_the_servers_own_by_host_and_port() -> None:
    assert same_origin("http://box:80", "BOX:80") and same_origin("https://box", "box")
    for other in ("http://box:81", "null", "", "file://box:80", "http://box:80@evil.example", "http://[box"):
        assert not same_origin(other, "box:80")


@given(st.text(max_size=40))
def test_any_header_is_judged(text: str) -> None:
    assert host_allowed(text, "box", ()) in (True, False)
    assert same_origin(text, text) in (True, False)
