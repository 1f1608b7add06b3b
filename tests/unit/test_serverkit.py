"""Who may speak to a server on this machine: names, addresses, origins."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webfetch_core.api import (
    ConfigError,
    bearer_token,
    came_from_afar,
    client_of,
    host_allowed,
    is_loopback,
    origin_allowed,
    origin_listed,
    preflight_headers,
    same_origin,
)


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
        ("localhost:99999", False),
        ("localhost:", False),
        ("127.0.0.1.evil.example", False),
        ("evil.example#localhost", False),
        ("[::1]evil.example", False),
        ("[fe80::1%evil.example]", False),
        ("[::1%25evil]", False),
        ("[127.0.0.1]", True),
        ("[localhost]", False),
        ("::1", False),
        ("local host", False),
        ("localhost\n", False),
        (" localhost", False),
        ("box,localhost", False),
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


@pytest.mark.parametrize(
    ("headers", "right"),
    [
        ({}, True),
        ({"origin": "http://127.0.0.1:8080"}, True),
        ({"origin": "https://chat.example"}, True),
        ({"origin": "https://chat.example.evil.example"}, False),
        ({"origin": "http://127.0.0.1:9999"}, False),
        ({"origin": "null"}, False),
        ({"origin": "http://["}, False),
        ({"origin": ""}, False),
        ({"origin": "http://chat.example"}, False),
        ({"sec-fetch-site": "none"}, True),
        ({"sec-fetch-site": "same-origin"}, True),
        ({"sec-fetch-site": "cross-site"}, False),
        ({"sec-fetch-site": "same-site"}, False),
    ],
)
def test_the_page_behind_a_request(headers: dict[str, str], right: bool) -> None:
    assert origin_allowed({"host": "127.0.0.1:8080", **headers}, ["https://chat.example/"]) is right


def test_a_client_is_an_address_or_a_network() -> None:
    assert client_of("2001:db8::1") == client_of("2001:db8::ffff") == "2001:db8::/64"
    assert client_of("::ffff:10.0.0.1") == client_of("10.0.0.1") == "10.0.0.1"
    assert client_of("unknown") == "unknown"


def test_a_star_allows_every_origin() -> None:
    assert origin_listed("null", ("*",)) and origin_allowed({"sec-fetch-site": "cross-site"}, ("*",))
    assert not origin_listed("https://chat.example", ("https://other.example",))


def test_a_preflight_allows_what_is_asked_for_and_nothing_that_is_no_header() -> None:
    asked = "X-Timeout, mcp-method,x\r\nset-cookie: a, , X-No-Cache"
    told = preflight_headers({"access-control-request-headers": asked})
    assert told["access-control-allow-headers"] == "X-Timeout, mcp-method, X-No-Cache"
    assert "DELETE" in told["access-control-allow-methods"]
    assert preflight_headers({})["access-control-allow-headers"] == "content-type"


@given(st.text(max_size=3_000))
def test_no_preflight_splits_a_header(asked: str) -> None:
    told = preflight_headers({"access-control-request-headers": asked})
    assert all(value.isascii() and value.isprintable() for value in told.values())


@pytest.mark.parametrize(
    ("headers", "afar"),
    [
        ({}, False),
        ({"x-forwarded-for": "203.0.113.9"}, True),
        ({"x-forwarded-for": "127.0.0.1, 203.0.113.9"}, True),
        ({"x-forwarded-for": "127.0.0.1"}, False),
        ({"x-forwarded-for": "127.0.0.1:55000, ::1"}, False),
        ({"x-forwarded-for": "[::1]:55000"}, False),
        ({"x-forwarded-for": "unknown"}, True),
        ({"x-forwarded-for": " , "}, False),
        ({"x-real-ip": "10.0.0.7"}, True),
        ({"forwarded": "for=192.0.2.60;proto=http;by=203.0.113.43"}, True),
        ({"forwarded": 'For="[2001:db8:cafe::17]:4711"'}, True),
        ({"forwarded": 'for=127.0.0.1, for="[::1]"'}, False),
        ({"forwarded": "for=_hidden"}, True),
        ({"forwarded": "for=127.0.0.1", "x-forwarded-for": "203.0.113.9"}, True),
        ({"forwarded": "for=203.0.113.9", "x-forwarded-for": "127.0.0.1"}, True),
        ({"host": "203.0.113.9"}, False),
    ],
)
def test_a_proxy_may_say_for_whom_it_asks(headers: dict[str, str], afar: bool) -> None:
    assert came_from_afar(headers) is afar


GOOD = "a-token-of-these-tests-0123456789"


@pytest.mark.parametrize(
    "token", ["short", "ünïcödé-token-of-these-tests", "a token of these tests", "x" * 15]
)
def test_a_token_that_would_never_match_is_refused_at_the_start(token: str) -> None:
    with pytest.raises(ConfigError, match="A_TOKEN must be at least 16 ASCII"):
        bearer_token("A_TOKEN", "127.0.0.1", {"A_TOKEN": token})


def test_off_loopback_there_must_be_a_token() -> None:
    assert bearer_token("A_TOKEN", "0.0.0.0", {"A_TOKEN": f" {GOOD}\n"}) == GOOD
    assert bearer_token("A_TOKEN", "127.0.0.1", {}) == bearer_token("", "localhost", {"": GOOD}) == ""
    for host in ("0.0.0.0", "::", "10.0.0.1"):
        with pytest.raises(ConfigError, match="a bearer token is needed"):
            bearer_token("A_TOKEN", host, {})
