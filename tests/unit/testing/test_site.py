"""The loopback site does what its script says, and ends when told."""

from __future__ import annotations

import http.client
import socket
import time
import urllib.request
from collections.abc import Iterator

import pytest

from webfetch_core.testing.site import LoopbackSite, Received, Reply


@pytest.fixture
def site() -> Iterator[LoopbackSite]:
    with LoopbackSite() as made:
        yield made


def ask(
    site: LoopbackSite, path: str, method: str = "GET", body: bytes | None = None
) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection(site.host, site.port, timeout=5)
    try:
        connection.request(method, path, body=body, headers={"X-Test": "1"})
        reply = connection.getresponse()
        return reply.status, {k.lower(): v for k, v in reply.getheaders()}, reply.read()
    finally:
        connection.close()


def test_a_page_is_served_and_the_request_recorded(site: LoopbackSite) -> None:
    site.add("/a", "h\u00e9", headers={"X-One": "1", "Set-Cookie": ["a=1", "b=2"]})
    status, headers, body = ask(site, "/a?q=1", "POST", b"sent")
    assert (status, body) == (200, "h\u00e9".encode())
    assert headers["content-type"] == "text/html; charset=utf-8" and headers["x-one"] == "1"
    assert site.requests[0].method == "POST" and site.requests[0].body == b"sent"
    assert site.requests[0].headers["x-test"] == "1"
    assert site.paths == ["/a?q=1"] and site.requests[0].query == "q=1"


def test_unknown_paths_are_404(site: LoopbackSite) -> None:
    assert ask(site, "/none")[0] == 404


def test_a_query_of_its_own_wins(site: LoopbackSite) -> None:
    site.add("/s", "any").add("/s?q=x", "x")
    assert [ask(site, "/s")[2], ask(site, "/s?q=x")[2], ask(site, "/s?q=y")[2]] == [b"any", b"x", b"any"]


def test_queued_replies_come_first_and_once(site: LoopbackSite) -> None:
    site.add("/q", "then").queue("/q", Reply(status=503), Reply(body=b"second"))
    assert [ask(site, "/q")[0] for _ in range(1)] == [503]
    assert [ask(site, "/q")[2] for _ in range(3)] == [b"second", b"then", b"then"]


def test_a_callable_sees_the_request(site: LoopbackSite) -> None:
    def echo(request: Received) -> Reply:
        return Reply(body=request.target.encode(), status=201)

    site.add("/e", echo)
    assert ask(site, "/e?a=b")[0::2] == (201, b"/e?a=b")


def test_redirects_and_header_removal(site: LoopbackSite) -> None:
    site.redirect("/r", "/t").add("/bare", "x", headers={"Content-Type": None, "Content-Length": None})
    assert ask(site, "/r")[1]["location"] == "/t"
    _, headers, body = ask(site, "/bare")
    assert "content-type" not in headers and "content-length" not in headers and body == b"x"


def test_streams_are_chunked(site: LoopbackSite) -> None:
    site.add("/c", stream=lambda: iter([b"one", b"", b"two"]))
    _, headers, body = ask(site, "/c")
    assert headers["transfer-encoding"] == "chunked" and body == b"onetwo"


def test_connections_are_kept_alive(site: LoopbackSite) -> None:
    site.add("/k", "x")
    connection = http.client.HTTPConnection(site.host, site.port, timeout=5)
    for _ in range(3):
        connection.request("GET", "/k")
        assert connection.getresponse().read() == b"x"
    connection.close()
    assert site.connections == 1 and len(site.requests) == 3


def test_truncated_raw_and_slow_replies(site: LoopbackSite) -> None:
    site.add("/t", "0123456789", truncate=4).add("/raw", raw=b"HTTP/1.1 299 Odd\r\n\r\nhi", drip=(5, 0.001))
    site.add("/late", "x", delay_s=0.05)
    with pytest.raises(http.client.IncompleteRead):
        ask(site, "/t")
    assert ask(site, "/raw")[0::2] == (299, b"hi")
    started = time.monotonic()
    ask(site, "/late")
    assert time.monotonic() - started >= 0.05


def test_closing_ends_a_hanging_reply_at_once() -> None:
    with LoopbackSite() as site:
        site.add("/h", hang=True).add("/d", "x" * 1000, drip=(1, 60.0))
        waiting = [socket.create_connection((site.host, site.port), timeout=5) for _ in range(2)]
        for connection, path in zip(waiting, ("/h", "/d"), strict=True):
            connection.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        while len(site.requests) < 2:
            time.sleep(0.005)
        started = time.monotonic()
    assert time.monotonic() - started < 20
    for connection in waiting:
        connection.close()


def test_it_listens_on_the_loopback_address_only(site: LoopbackSite) -> None:
    assert site.base_url == f"http://127.0.0.1:{site.port}" and site.url("/x") == site.base_url + "/x"
    site.add("/", "home")
    with urllib.request.urlopen(site.url(), timeout=5) as reply:
        assert reply.read() == b"home"


def test_a_site_that_is_not_started_says_so() -> None:
    with pytest.raises(RuntimeError, match="not started"):
        _ = LoopbackSite().port
