"""Pages over real sockets: redirects, cookies and every cap."""

from __future__ import annotations

import gzip
import os
import socket
import threading
import time
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import pytest

from webfetch_core.errors import BadResponse, PageError, Refused, TimedOut, Unavailable, WebfetchError
from webfetch_core.models import Page
from webfetch_core.runtime.http import HttpClient
from webfetch_core.runtime.netguard import Guard, Policy
from webfetch_core.settings import NetSettings
from webfetch_core.testing.site import LoopbackSite, Received, Reply


class RealClock:
    def monotonic(self) -> float:
        return time.monotonic()

    def time(self) -> float:
        return time.time()


@pytest.fixture
def site() -> Iterator[LoopbackSite]:
    with LoopbackSite() as made:
        yield made


def client_for(*allow: str, vetoes: Any = None) -> HttpClient:
    def resolve(host: str, port: int, family: int, kind: int) -> list[tuple[Any, ...]]:
        ip = "10.0.0.1" if host.startswith("inside") else "127.0.0.1"
        return [(socket.AF_INET, kind, 6, "", (ip, port))]

    guard = Guard(Policy(allow_hosts=allow or ("127.0.0.1",)), resolve=resolve, vetoes=vetoes)
    return HttpClient(guard, RealClock(), NetSettings(), "1.2")


@pytest.fixture
def client() -> Iterator[HttpClient]:
    made = client_for()
    yield made
    made.close()


def fetch(client: HttpClient, url: str, **limits: Any) -> Page:
    return client.bound().fetch_page(url, **limits)


def kind_of(caught: pytest.ExceptionInfo[WebfetchError]) -> str:
    return caught.value.kind


def test_a_page_comes_inflated_with_its_headers(site: LoopbackSite, client: HttpClient) -> None:
    site.add("/p", gzip.compress(b"<p>hi</p>"), headers={"Content-Encoding": "gzip", "ETag": '"1"'})
    page = fetch(client, site.url("/p#part"))
    assert page.body == b"<p>hi</p>" and page.status == 200 and page.redirects == 0
    assert page.content_type == "text/html; charset=utf-8" and page.headers["etag"] == '"1"'
    assert (page.url, page.final_url) == (site.url("/p#part"), site.url("/p"))
    assert page.elapsed_s > 0
    assert site.requests[0].headers["accept-encoding"].startswith("gzip, deflate")


@pytest.mark.parametrize("status", [203, 304, 404, 500, 503])
def test_the_status_is_not_judged(site: LoopbackSite, client: HttpClient, status: int) -> None:
    site.add("/p", "body", status=status)
    assert fetch(client, site.url("/p")).status == status


def test_a_plain_body_that_claims_gzip_is_a_page(site: LoopbackSite, client: HttpClient) -> None:
    site.add("/p", "<p>plain</p>", headers={"Content-Encoding": "gzip"})
    assert fetch(client, site.url("/p")).body == b"<p>plain</p>"


# ---- redirects -----------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_followed_and_counted(site: LoopbackSite, client: HttpClient, status: int) -> None:
    site.redirect("/a", "b?x=1", status=status).redirect("/b", f"//127.0.0.1:{site.port}/c#f", status=status)
    site.add("/c", "end")
    page = fetch(client, site.url("/a"))
    assert (page.final_url, page.redirects, page.body) == (site.url("/c"), 2, b"end")
    assert site.paths == ["/a", "/b?x=1", "/c"]


@pytest.mark.parametrize(
    ("location", "path"),
    [
        (" /x ", "/x"),
        ("/a b", "/a%20b"),
        ("/caf\u00c3\u00a9", "/caf%C3%A9"),
        ("/%zz?q=%20", "/%25zz?q=%20"),
        ("?n=2", "/a?n=2"),
    ],
)
def test_sloppy_locations_are_mended(
    site: LoopbackSite, client: HttpClient, location: str, path: str
) -> None:
    site.redirect("/a", location)
    site.add(path, "ok").add(path.replace("%25zz", "%zz"), "ok")
    assert fetch(client, site.url("/a")).body == b"ok"


def test_a_redirect_without_a_place_is_a_page(site: LoopbackSite, client: HttpClient) -> None:
    site.add("/a", "where to?", status=302)
    assert fetch(client, site.url("/a")).status == 302


@pytest.mark.parametrize(
    "to",
    [
        "http://169.254.169.254/latest/meta-data/",
        "http://inside.example/",
        "file:///etc/passwd",
        "http://[::1]:1/",
        "http://user:pw@127.0.0.1/",
        "http://127.0.0.1\\@inside.example/",
        "javascript:alert(1)",
        "http://[::1",
        "http://2130706434/",
    ],
)
def test_each_hop_is_judged(site: LoopbackSite, client: HttpClient, to: str) -> None:
    site.redirect("/a", to)
    with pytest.raises(Refused):
        fetch(client, site.url("/a"))
    assert len(site.requests) == 1


def test_a_trusted_host_may_redirect_to_itself_but_not_to_another_private_one(site: LoopbackSite) -> None:
    with LoopbackSite() as other:
        other.add("/y", "other")
        site.redirect("/self", "/y").add("/y", "self").redirect("/off", other.url("/y"))
        client = client_for("nothing.example")
        http = client.bound(trusted=frozenset({("127.0.0.1", site.port), ("127.0.0.1", other.port)}))
        assert http.fetch_page(site.url("/self")).body == b"self"
        with pytest.raises(Refused):
            http.fetch_page(site.url("/off"))
        assert other.requests == []
        client.close()


def test_vetoes_and_hop_checks_see_every_hop(site: LoopbackSite) -> None:
    site.redirect("/a", "/b").redirect("/b", "/private/c")
    seen: list[str] = []
    client = client_for(vetoes=lambda url: "private" if "/private" in url else None)
    with pytest.raises(Refused, match="private"):
        fetch(client, site.url("/a"), check_hop=seen.append)
    assert seen == [site.url("/b"), site.url("/private/c")]

    def stop(url: str) -> None:
        raise Refused("not there")

    with pytest.raises(Refused, match="not there"):
        fetch(client, site.url("/a"), check_hop=stop)
    client.close()


def test_a_loop_ends_at_the_hop_limit(site: LoopbackSite, client: HttpClient) -> None:
    site.redirect("/a", "/b").redirect("/b", "/a")
    with pytest.raises(PageError) as caught:
        fetch(client, site.url("/a"), max_redirects=5)
    assert kind_of(caught) == "redirect_loop" and len(site.requests) == 6
    with pytest.raises(PageError):
        fetch(client, site.url("/a"), max_redirects=0)


def test_a_bounce_that_sets_a_cookie_is_no_loop(site: LoopbackSite, client: HttpClient) -> None:
    def board(request: Received) -> Reply:
        if "sid=ok" in request.headers.get("cookie", ""):
            return Reply(body=b"Lock keeper, closing 9 December.")
        return Reply(status=302, headers={"Location": "/sso?next=/board"})

    site.add("/board", board)
    site.redirect("/sso", "/board", headers={"Set-Cookie": ["sid=ok; Path=/", "b=2; Path=/"]})
    assert fetch(client, site.url("/board")).body.endswith(b"9 December.")
    assert len(site.requests) == 3
    fetch(client, site.url("/board"))
    assert "cookie" not in site.requests[3].headers  # nothing is kept from one fetch to the next


def test_cookies_stay_with_their_host(site: LoopbackSite, client: HttpClient) -> None:
    site.redirect("/a", f"http://other.example:{site.port}/b", headers={"Set-Cookie": "sid=1; Path=/"})
    site.add("/b", "x")
    fetch(client, site.url("/a"))
    assert "cookie" not in site.requests[1].headers


def test_keys_do_not_travel_to_another_origin(site: LoopbackSite, client: HttpClient) -> None:
    site.redirect("/a", "/b").redirect("/b", f"http://other.example:{site.port}/c")
    site.redirect("/c", site.url("/d")).add("/d", "x")
    keys = {"Authorization": "Bearer k", "X-Api-Key": "k", "Cookie": "c=1", "If-None-Match": '"1"'}
    client.bound().fetch_page(site.url("/a"), headers={**keys, "Accept-Language": "de", "User-Agent": "me"})
    for request in site.requests[:2]:
        assert {"authorization", "x-api-key", "cookie"} <= set(request.headers)
    for request in site.requests[2:]:
        assert not {"authorization", "x-api-key", "cookie", "if-none-match"} & set(request.headers)
        assert request.headers["accept-language"] == "de" and request.headers["user-agent"] == "me"


# ---- caps ----------------------------------------------------------------------------------------


def test_a_declared_length_over_the_cap_is_not_read(site: LoopbackSite, client: HttpClient) -> None:
    site.add("/big", "x" * 2000)
    with pytest.raises(PageError) as caught:
        fetch(client, site.url("/big"), max_bytes=1000)
    assert kind_of(caught) == "too_large"
    assert len(fetch(client, site.url("/big"), max_bytes=2000).body) == 2000


def test_an_endless_body_stops_at_the_cap(site: LoopbackSite, client: HttpClient) -> None:
    sent = 0

    def flood() -> Iterator[bytes]:
        nonlocal sent
        for _ in range(2000):
            sent += 65536
            yield b"x" * 65536

    site.add("/flood", stream=flood)
    with pytest.raises(PageError) as caught:
        fetch(client, site.url("/flood"), max_bytes=1_000_000)
    assert kind_of(caught) == "too_large" and sent < 20_000_000


def test_a_bomb_stops_at_the_inflated_cap(site: LoopbackSite, client: HttpClient) -> None:
    engine = zlib.compressobj(9, wbits=31)
    bomb = b"".join(engine.compress(bytes(1 << 20)) for _ in range(64)) + engine.flush()
    site.add("/bomb", bomb, headers={"Content-Encoding": "gzip"})
    with pytest.raises(PageError) as caught:
        fetch(client, site.url("/bomb"), max_bytes=1_000_000)
    assert kind_of(caught) == "too_large"
    with pytest.raises(PageError):
        fetch(client, site.url("/bomb"), max_bytes=10**9, max_wire_bytes=1000)


def test_the_body_of_a_redirect_is_not_read(site: LoopbackSite, client: HttpClient) -> None:
    sent = 0

    def flood() -> Iterator[bytes]:
        nonlocal sent
        for _ in range(2000):
            sent += 65536
            yield b"x" * 65536

    site.redirect("/a", "/b", stream=flood).add("/b", "end")
    assert fetch(client, site.url("/a"), max_bytes=1000).body == b"end"
    assert sent < 20_000_000


def test_unknown_encodings_are_not_content(site: LoopbackSite, client: HttpClient) -> None:
    site.add("/e", "??", headers={"Content-Encoding": "exi"})
    with pytest.raises(PageError) as caught:
        fetch(client, site.url("/e"))
    assert kind_of(caught) == "bad_encoding"


def test_oversized_headers_are_cut(site: LoopbackSite, client: HttpClient) -> None:
    site.add("/h", "x", headers={"X-Pad": ["a" * 30_000] * 3})
    site.add("/n", raw=b"HTTP/1.1 200 OK\r\n" + b"X: 1\r\n" * 200 + b"\r\n")
    site.add("/l", raw=b"HTTP/1.1 200 OK\r\nX: " + b"a" * 70_000 + b"\r\n\r\n")
    for path in ("/h", "/n", "/l"):
        with pytest.raises(PageError) as caught:
            fetch(client, site.url(path))
        assert kind_of(caught) == "too_large"
    with pytest.raises(BadResponse):  # no page, where an API was called
        client.bound(trusted=frozenset({(site.host, site.port)})).get(site.url("/l"))


@pytest.mark.parametrize(
    "raw", [b"<html>do as I say", b"HTTP/1.1 abc do as I say\r\n\r\n", b"\x16\x03\x01\0"]
)
def test_what_is_no_http_is_not_quoted(site: LoopbackSite, client: HttpClient, raw: bytes) -> None:
    site.add("/x", raw=raw)
    with pytest.raises(Unavailable, match="did not answer in HTTP") as caught:
        fetch(client, site.url("/x"))
    assert "say" not in str(caught.value)


def test_a_flood_of_interim_replies_ends(site: LoopbackSite, client: HttpClient) -> None:
    interim = b"HTTP/1.1 100 Continue\r\n\r\n"
    site.add("/x", raw=interim * 50_000 + b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    assert fetch(client, site.url("/x")).body == b"ok"


@pytest.mark.parametrize(
    "reply",
    [
        Reply(hang=True),
        Reply(body=b"x" * 1000, drip=(1, 0.05)),
        Reply(stream=lambda: iter([b"x"] * 1000), drip=(3, 0.05)),
        Reply(raw=b"HTTP/1.1 200 OK\r\nX-Long: " + b"a" * 5000, drip=(1, 0.05)),
        Reply(status=302, headers={"Location": "/slow"}, delay_s=0.2),
    ],
    ids=["hang", "body drip", "chunk drip", "header drip", "slow redirects"],
)
def test_the_deadline_holds_for_pages(site: LoopbackSite, client: HttpClient, reply: Reply) -> None:
    site.queue("/slow", *[reply] * 9)
    started = time.monotonic()
    with pytest.raises(TimedOut):
        fetch(client, site.url("/slow"), deadline=started + 0.4)
    assert time.monotonic() - started < 0.7


def test_one_host_is_asked_for_so_many_pages_at_once(site: LoopbackSite, client: HttpClient) -> None:
    lock, running, most = threading.Lock(), 0, 0

    def slow(request: Received) -> Reply:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.02)
        with lock:
            running -= 1
        return Reply(body=b"x")

    site.add("/s", slow)
    names = [f"http://{name}.localhost:{site.port}/s" for name in "aaaaaaaaaaaaaaaa"]
    with ThreadPoolExecutor(16) as pool:
        assert all(page.body == b"x" for page in pool.map(lambda url: fetch(client, url), names))
    assert most == NetSettings().per_host
    assert client.slots._slots == {}


def test_waiting_for_a_slot_ends_at_the_deadline(site: LoopbackSite, client: HttpClient) -> None:
    with ExitStack() as held:
        for _ in range(NetSettings().per_host):
            held.enter_context(client.slots.hold("127.0.0.1", 0))
        with pytest.raises(TimedOut, match="busy"):
            fetch(client, site.url("/x"), deadline=time.monotonic() + 0.05)
    site.add("/x", "free")
    assert fetch(client, site.url("/x")).body == b"free"


def test_no_thread_is_left_behind(site: LoopbackSite, client: HttpClient) -> None:
    site.add("/d", "x" * 1000, drip=(1, 0.05))
    before = {t.name for t in threading.enumerate()}
    with pytest.raises(TimedOut):
        fetch(client, site.url("/d"), deadline=time.monotonic() + 0.1)
    assert {t.name for t in threading.enumerate() if "webfetch" in t.name} <= before


def test_a_body_that_ends_early_is_unavailable_not_a_page(site: LoopbackSite, client: HttpClient) -> None:
    site.add("/t", "x" * 100, truncate=40)
    site.add("/c", raw=b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n5\r\nwo")
    for path in ("/t", "/c"):
        with pytest.raises(Unavailable):
            fetch(client, site.url(path))


def test_unknown_limits_are_an_error(client: HttpClient) -> None:
    with pytest.raises(TypeError, match="max_byte"):
        fetch(client, "http://127.0.0.1/", max_byte=1)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_takes_up_no_connection_of_its_parent(site: LoopbackSite, client: HttpClient) -> None:
    site.add("/p", "<p>hi</p>")
    fetch(client, site.url("/p"))
    fetch(client, site.url("/p"))
    assert site.connections == 1
    child = os.fork()
    if child == 0:
        try:
            good = fetch(client, site.url("/p")).body == b"<p>hi</p>"
        except BaseException:
            good = False
        os._exit(0 if good else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert site.connections == 2
    assert fetch(client, site.url("/p")).body == b"<p>hi</p>"
    assert site.connections == 2  # the parent's own is as it was
