"""Heads of requests and replies: read in one way or refused, and nothing meant for the proxy goes on."""

from __future__ import annotations

import base64
import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webfetch_core.errors import Refused
from webfetch_core.runtime.netguard import CheckedTarget
from webfetch_core.runtime.proxy_wire import (
    CHUNKED,
    MAX_FIELDS,
    TO_THE_END,
    BadMessage,
    Request,
    answer,
    body_length,
    chunk_size,
    credentials,
    forwarded,
    parse_reply,
    parse_request,
    plain_url,
    tunnel_url,
    values,
)

TARGET = CheckedTarget("http://a.example/x?y=1", "http", "a.example", "93.184.216.34", 80)


def request(
    *lines: str, first: str = "GET http://a.example/x?y=1 HTTP/1.1", host: str = "a.example"
) -> Request:
    rows = [first, *([f"Host: {host}"] if host else []), *lines]
    return parse_request(("\r\n".join(rows) + "\r\n\r\n").encode("latin-1"))


def status_of(work: object, *arguments: object) -> int:
    with pytest.raises(BadMessage) as caught:
        work(*arguments)  # type: ignore[operator]
    return caught.value.status


# ---- heads ----


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"GET http://a.example/ HTTP/1.1\r\n",  # not complete
        b"GET http://a.example/ HTTP/1.1\n\n",  # bare line feeds
        b"GET http://a.example/ HTTP/1.1\r\nA: b\nC: d\r\n\r\n",
        b"GET http://a.example/ HTTP/1.1\r\nA: b\rC: d\r\n\r\n",
        b"GET http://a.example/ HTTP/1.1\r\nA : b\r\n\r\n",  # a blank before the colon
        b"GET http://a.example/ HTTP/1.1\r\n A: b\r\n\r\n",  # a folded line
        b"GET http://a.example/ HTTP/1.1\r\nA: b\r\n\tc\r\n\r\n",
        b"GET http://a.example/ HTTP/1.1\r\n: b\r\n\r\n",
        b"GET http://a.example/ HTTP/1.1\r\nnothing\r\n\r\n",
        b"GET http://a.example/ HTTP/1.1\r\nA: b\0c\r\n\r\n",
        b"GET http://a.example/ HTTP/2.0\r\n\r\n",
        b"GET  http://a.example/ HTTP/1.1\r\n\r\n",
        b"GET http://a.example/ x HTTP/1.1\r\n\r\n",
        b"GET http://a.example/\r\n\r\n",
        b"G\xc3\x89T http://a.example/ HTTP/1.1\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n",  # TLS spoken to a proxy that does not
    ],
)
def test_a_head_that_could_be_read_in_two_ways_is_refused(head: bytes) -> None:
    assert status_of(parse_request, head) == 400


def test_the_number_of_fields_is_bounded() -> None:
    assert request(*["A: b"] * (MAX_FIELDS - 1)).method == "GET"
    assert status_of(request, *["A: b"] * MAX_FIELDS) == 431


def test_a_head_is_read_as_it_was_written() -> None:
    found = request("X-A:  b \t", "x-a: c")
    assert (found.method, found.target, found.version) == ("GET", "http://a.example/x?y=1", "HTTP/1.1")
    assert values(found.fields, "x-a") == ["b", "c"]


@given(st.binary(max_size=300))
def test_any_bytes_are_a_request_or_a_clear_error(data: bytes) -> None:
    for head in (data, data + b"\r\n\r\n", b"GET http://a.example/ HTTP/1.1\r\n" + data + b"\r\n\r\n"):
        try:
            found = parse_request(head)
        except BadMessage:
            continue
        for read in (plain_url, tunnel_url, body_length, credentials):
            with contextlib.suppress(BadMessage, Refused):
                read(found)


_TOKENS = st.text("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_", min_size=1, max_size=12)
_VALUES = st.text(
    st.characters(min_codepoint=0x21, max_codepoint=0xFF, blacklist_categories=("Cc",)), max_size=30
)


@given(st.lists(st.tuples(_TOKENS, _VALUES), max_size=8))
def test_what_is_sent_on_reads_as_the_same_request_to_the_checked_host(fields: list[tuple[str, str]]) -> None:
    given_request = Request("GET", "http://a.example/x?y=1", "HTTP/1.1", (("Host", "a.example"), *fields))
    sent = parse_request(forwarded(given_request, TARGET, 0))
    assert (sent.method, sent.target) == ("GET", "/x?y=1")
    assert values(sent.fields, "host") == ["a.example"] and values(sent.fields, "connection") == ["close"]
    assert body_length(sent) == 0
    ours = {"host", "connection"}
    assert {n.lower() for n, _ in sent.fields} - ours <= {n.lower() for n, _ in fields} - {"content-length"}


# ---- how long a body is ----


@pytest.mark.parametrize(
    "lines",
    [
        ("Content-Length: 5", "Transfer-Encoding: chunked"),
        ("Transfer-Encoding: chunked", "Content-Length: 0"),
        ("Content-Length: 5", "Content-Length: 6"),
        ("Content-Length: 5", "Content-Length: 5"),
        ("Content-Length: 5, 5",),
        ("Content-Length: +5",),
        ("Content-Length: 0x5",),
        ("Content-Length: -1",),
        ("Content-Length: \xb2",),
        ("Content-Length:",),
        ("Content-Length: 9999999999999999999",),
        ("Transfer-Encoding: chunked", "Transfer-Encoding: chunked"),
        ("Transfer-Encoding: gzip, chunked",),
        ("Transfer-Encoding: identity",),
        ("Transfer-Encoding: xchunked",),
        ("transfer-encoding: \x0bchunked",),
    ],
)
def test_a_length_told_in_two_ways_is_refused(lines: tuple[str, ...]) -> None:
    assert status_of(lambda: body_length(request(*lines))) in (400, 501)


def test_lengths() -> None:
    assert body_length(request()) == 0
    assert body_length(request("content-length: 12")) == 12
    assert body_length(request("Transfer-Encoding: Chunked")) == CHUNKED
    old = request("Transfer-Encoding: chunked", first="POST http://a.example/ HTTP/1.0")
    assert status_of(body_length, old) == 501


@pytest.mark.parametrize(
    "line", [b"\r\n", b"5\n", b"-5\r\n", b"0x5\r\n", b" 5\r\n", b"g\r\n", b"5 5\r\n", b"f" * 16 + b"\r\n"]
)
def test_malformed_chunks_are_refused(line: bytes) -> None:
    assert status_of(chunk_size, line) == 400


def test_chunk_sizes() -> None:
    assert [chunk_size(x) for x in (b"0\r\n", b"1A\r\n", b'a;x="y"\r\n', b"00f \r\n")] == [0, 26, 10, 15]


# ---- where it leads ----


@pytest.mark.parametrize(
    ("target", "url"),
    [
        ("a.example:443", "https://a.example/"),
        ("A.Example.:8443", "https://a.example:8443/"),
        ("a.example:80", "http://a.example/"),
        ("[2606:2800:220:1::1]:443", "https://[2606:2800:220:1::1]/"),
        ("0x7f.1:443", "https://127.0.0.1/"),
        ("2130706433:00443", "https://127.0.0.1/"),
    ],
)
def test_tunnels_are_judged_by_a_url(target: str, url: str) -> None:
    assert tunnel_url(request(first=f"CONNECT {target} HTTP/1.1", host="")) == url


@pytest.mark.parametrize(
    "target",
    [
        "a.example",
        "a.example:",
        ":443",
        "a.example:https",
        "a.example:123456",
        "user@a.example:443",
        "user:word@a.example:443",
        "a.example:443/path",
        "a.example:443?x",
        "a.example:443#x",
        "https://a.example:443",
        "a.example:443:443",
        "::1:443",
        "[::1%25lo]:443",
        "[::1:443",
        "a\\b:443",
        "a%00.example:443",
        "*",
        "/",
    ],
)
def test_what_is_no_host_and_port_is_no_tunnel(target: str) -> None:
    with pytest.raises((BadMessage, Refused)):
        tunnel_url(request(first=f"CONNECT {target} HTTP/1.1", host=""))


@pytest.mark.parametrize(
    "target", ["a.example:0", "a.example:99999", "a..example:443", "08.1:443", "[:::]:443"]
)
def test_impossible_hosts_and_ports_are_refused(target: str) -> None:
    with pytest.raises(Refused):
        tunnel_url(request(first=f"CONNECT {target} HTTP/1.1", host=""))


def test_a_tunnel_with_a_body_is_none() -> None:
    for line in ("Content-Length: 4", "Transfer-Encoding: chunked"):
        assert status_of(tunnel_url, request(line, first="CONNECT a.example:443 HTTP/1.1", host="")) == 400


@pytest.mark.parametrize(
    ("first", "host"),
    [
        ("GET http://a.example/ HTTP/1.1", "b.example"),
        ("GET http://a.example/ HTTP/1.1", "a.example:81"),
        ("GET http://a.example/ HTTP/1.1", "a.example@b.example"),
        ("GET http://a.example/ HTTP/1.1", "a.example/x"),
        ("GET http://a.example/ HTTP/1.1", "a.example?x"),
        ("GET http://a.example/ HTTP/1.1", ""),
        ("GET /x HTTP/1.1", "a.example"),
        ("GET * HTTP/1.1", "a.example"),
        ("GET https://a.example/ HTTP/1.1", "a.example"),
        ("GET ws://a.example/ HTTP/1.1", "a.example"),
        ("GET ftp://a.example/ HTTP/1.1", "a.example"),
        ("GET file:///etc/passwd HTTP/1.1", "a.example"),
        ("GET http://a.example/#x HTTP/1.1", "a.example"),
        ("TRACE http://a.example/ HTTP/1.1", "a.example"),
        ("connect http://a.example/ HTTP/1.1", "a.example"),
    ],
)
def test_a_request_that_contradicts_itself_is_not_forwarded(first: str, host: str) -> None:
    assert status_of(plain_url, request(first=first, host=host)) in (400, 405)


def test_two_hosts_or_an_empty_one_are_none() -> None:
    assert status_of(plain_url, request("Host: a.example")) == 400
    assert status_of(plain_url, request("Host:", host="")) == 400


@pytest.mark.parametrize(
    "target",
    [
        "http://user@a.example/",
        "http://user:word@a.example/",
        "http://a.example:0/",
        "http:///x",
        "http://[::1/",
    ],
)
def test_a_target_that_readers_differ_on_is_refused(target: str) -> None:
    with pytest.raises((Refused, BadMessage)):
        plain_url(request(first=f"GET {target} HTTP/1.1"))


def test_the_same_host_in_another_spelling_is_the_same() -> None:
    for host in ("A.EXAMPLE", "a.example.", "a.example:80"):
        assert plain_url(request(host=host)) == "http://a.example/x?y=1"
    assert plain_url(request(first="GET HTTP://a.example HTTP/1.0", host="")) == "http://a.example/"
    assert (
        plain_url(request(first="GET http://[::1]:8080/ HTTP/1.1", host="[0::1]:8080"))
        == "http://[::1]:8080/"
    )


# ---- who asks ----


def basic(text: str) -> str:
    return "Proxy-Authorization: Basic " + base64.b64encode(text.encode()).decode()


def test_credentials() -> None:
    assert credentials(request(basic("u:p:q"))) == ("u", "p:q")
    assert credentials(request(basic("u:p").replace("Basic", "bAsIc"))) == ("u", "p")


@pytest.mark.parametrize(
    "lines",
    [
        (),
        ("Proxy-Authorization: Basic",),
        ("Proxy-Authorization: Basic !!!",),
        ("Proxy-Authorization: Bearer dTpw",),
        ("Proxy-Authorization: Basic /w==",),
        ("Authorization: Basic dTpw",),
        (basic("nocolon"),),
        (basic("u:p"), basic("u:p")),
    ],
)
def test_no_or_bad_credentials(lines: tuple[str, ...]) -> None:
    assert credentials(request(*lines)) is None


# ---- what goes on ----


def test_nothing_meant_for_the_proxy_goes_on() -> None:
    sent = forwarded(
        request(
            basic("u:p"),
            "Proxy-Connection: keep-alive",
            "Connection: keep-alive, X-Private, Host, Content-Length",
            "Keep-Alive: 5",
            "X-Private: 1",
            "TE: trailers",
            "Trailer: X",
            "Upgrade: websocket",
            "HTTP2-Settings: AA",
            "Expect: 100-continue",
            "Content-Length: 5",
            "Accept: */*",
            first="POST http://a.example/x?y=1 HTTP/1.1",
        ),
        TARGET,
        5,
    )
    assert sent == (
        b"POST /x?y=1 HTTP/1.1\r\nHost: a.example\r\nAccept: */*\r\n"
        b"Content-Length: 5\r\nConnection: close\r\n\r\n"
    )


def test_another_proxy_gets_the_absolute_form() -> None:
    assert forwarded(request(), TARGET, 0, absolute=True).startswith(
        b"GET http://a.example/x?y=1 HTTP/1.1\r\n"
    )


def test_lengths_are_written_anew() -> None:
    assert b"\r\nTransfer-Encoding: chunked\r\n" in forwarded(request(), TARGET, CHUNKED)
    post = request(first="POST http://a.example/ HTTP/1.1")
    assert b"\r\nContent-Length: 0\r\n" in forwarded(post, TARGET, 0)


# ---- replies ----


def reply(*lines: str, first: str = "HTTP/1.1 200 OK", method: str = "GET"):  # type: ignore[no-untyped-def]
    return parse_reply(("\r\n".join([first, *lines]) + "\r\n\r\n").encode("latin-1"), method)


def test_a_reply_goes_on_without_what_was_for_this_hop() -> None:
    found = reply(
        "Connection: keep-alive, X-Hop",
        "Keep-Alive: timeout=5",
        "X-Hop: 1",
        "Proxy-Authenticate: Basic",
        "Set-Cookie: a=1",
        "Set-Cookie: b=2",
        "Content-Length: 3",
    )
    assert found.head == (
        b"HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\n"
        b"Content-Length: 3\r\nConnection: close\r\n\r\n"
    )
    assert (found.status, found.length) == (200, 3)


def test_an_origin_cannot_ask_for_the_proxys_credentials() -> None:
    found = reply("Proxy-Authenticate: Basic realm=x", first="HTTP/1.1 407 Proxy Authentication Required")
    assert found.head.startswith(b"HTTP/1.1 502") and b"Proxy-Auth" not in found.head


@pytest.mark.parametrize(
    ("lines", "first", "method", "length"),
    [
        ((), "HTTP/1.1 200 OK", "GET", TO_THE_END),
        (("Transfer-Encoding: chunked",), "HTTP/1.1 200", "GET", TO_THE_END),
        (("Transfer-Encoding: chunked", "Content-Length: 3"), "HTTP/1.1 200 OK", "GET", TO_THE_END),
        (("Content-Length: 3", "content-length: 3"), "HTTP/1.0 200 OK", "GET", 3),
        (("Content-Length: 3",), "HTTP/1.1 200 OK", "HEAD", 0),
        (("Content-Length: 3",), "HTTP/1.1 304 Not Modified", "GET", 0),
        ((), "HTTP/1.1 204 No Content", "GET", 0),
        ((), "HTTP/1.1 100 Continue", "GET", 0),
    ],
)
def test_how_long_a_replys_body_is(lines: tuple[str, ...], first: str, method: str, length: int) -> None:
    found = reply(*lines, first=first, method=method)
    assert found.length == length
    assert not (b"Transfer-Encoding" in found.head and b"Content-Length" in found.head)


@pytest.mark.parametrize(
    "lines",
    [
        ("Content-Length: 3", "Content-Length: 4"),
        ("Content-Length: x",),
        ("Transfer-Encoding: gzip",),
        ("A : b",),
    ],
)
def test_replies_that_contradict_themselves_are_bad_gateways(lines: tuple[str, ...]) -> None:
    assert status_of(reply, *lines) in (400, 502)


@pytest.mark.parametrize(
    "first", ["ICY 200 OK", "<html>", "HTTP/1.1 20", "HTTP/1.1 999 Odd", "HTTP/1.1 2000 OK", "HTTP/2 200"]
)
def test_what_is_no_reply_is_a_bad_gateway(first: str) -> None:
    assert status_of(lambda: reply(first=first)) == 502


@given(st.binary(max_size=300))
def test_any_bytes_are_a_reply_or_a_clear_error(data: bytes) -> None:
    for head in (data + b"\r\n\r\n", b"HTTP/1.1 200 OK\r\n" + data + b"\r\n\r\n"):
        try:
            found = parse_reply(head, "GET")
        except BadMessage:
            continue
        assert found.head.count(b"\r\n\r\n") == 1 and found.head.endswith(b"Connection: close\r\n\r\n")


def test_own_answers_are_whole() -> None:
    assert answer(403, "Forbidden", "no", extra="X: y") == (
        b"HTTP/1.1 403 Forbidden\r\nX: y\r\nContent-Type: text/plain; charset=utf-8\r\n"
        b"Cache-Control: no-store\r\nContent-Length: 3\r\nConnection: close\r\n\r\nno\n"
    )
