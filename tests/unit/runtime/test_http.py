"""Calls of APIs over real sockets."""

from __future__ import annotations

import contextlib
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from webfetch_core.errors import (
    BadResponse,
    Blocked,
    RateLimited,
    Refused,
    TimedOut,
    Unavailable,
    WebfetchError,
)
from webfetch_core.runtime.http import BoundHttp, HttpClient
from webfetch_core.runtime.netguard import Guard, Policy
from webfetch_core.settings import NetSettings
from webfetch_core.testing.site import LoopbackSite, Received, Reply

TLS = Path(__file__).parent / "tls"


class RealClock:
    def monotonic(self) -> float:
        return time.monotonic()

    def time(self) -> float:
        return time.time()


def to_loopback(host: str, port: int, family: int, kind: int) -> list[tuple[Any, ...]]:
    return [(socket.AF_INET, kind, 6, "", ("127.0.0.1", port))]


def client_for(
    *, allow: tuple[str, ...] = ("127.0.0.1",), ca: str = "", resolve: Any = to_loopback, **net: Any
) -> HttpClient:
    guard = Guard(Policy(allow_hosts=allow), resolve=resolve)
    return HttpClient(guard, RealClock(), NetSettings(**net), "1.2", ca_bundle=ca)


@pytest.fixture
def site() -> Iterator[LoopbackSite]:
    with LoopbackSite() as made:
        yield made


@pytest.fixture
def client() -> Iterator[HttpClient]:
    made = client_for()
    yield made
    made.close()


@pytest.fixture
def http(client: HttpClient) -> BoundHttp:
    return client.bound(secrets=lambda: ("sekret-key-1",))


def in_s(seconds: float) -> float:
    return time.monotonic() + seconds


# ---- requests as they go out ---------------------------------------------------------------------


def test_importing_the_client_does_not_import_requests() -> None:
    code = (
        "import sys, webfetch_core.runtime.http, webfetch_core.runtime.netguard;"
        "print(sorted({'requests', 'urllib3', 'brotli', 'zstandard'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_get_sends_parameters_and_an_honest_agent(site: LoopbackSite, http: BoundHttp) -> None:
    site.add("/s", '{"a": "\u00e9"}', headers={"Content-Type": "application/json"})
    reply = http.get(
        site.url("/s?x=1"),
        params={"q": "a b&c", "n": 3, "off": None, "yes": True, "l": [1, 2]},
        headers={"X-K": "v"},
    )
    assert reply.status == 200 and reply.json() == {"a": "\u00e9"}
    got = site.requests[0]
    assert got.query == "x=1&q=a+b%26c&n=3&yes=true&l=1&l=2" and got.headers["x-k"] == "v"
    assert got.headers["user-agent"].startswith("Mozilla/5.0 (compatible; webfetch/1.2; +https://")
    assert got.headers["host"] == f"127.0.0.1:{site.port}"
    assert "cookie" not in got.headers and "authorization" not in got.headers


def test_post_sends_json_forms_and_bytes(site: LoopbackSite, http: BoundHttp) -> None:
    site.add("/p", "{}")
    http.post(site.url("/p"), json={"q": "\u00e9"})
    http.post(site.url("/p"), data={"q": "a b", "n": 1})
    http.post(site.url("/p"), data=b"\x00raw", headers={"content-type": "application/x-thing"})
    sent = [(r.headers["content-type"], r.body, r.headers["content-length"]) for r in site.requests]
    assert sent == [
        ("application/json", '{"q": "\u00e9"}'.encode(), "11"),
        ("application/x-www-form-urlencoded", b"q=a+b&n=1", "9"),
        ("application/x-thing", b"\x00raw", "4"),
    ]


def test_callers_cannot_set_the_framing_headers(site: LoopbackSite, http: BoundHttp) -> None:
    site.add("/h", "x")
    http.get(
        site.url("/h"), headers={"Host": "other.example", "Accept-Encoding": "x-secret", "User-Agent": "mine"}
    )
    got = site.requests[0].headers
    assert got["host"].startswith("127.0.0.1") and "x-secret" not in got["accept-encoding"]
    assert got["user-agent"] == "mine"


def test_header_injection_is_refused(site: LoopbackSite, http: BoundHttp) -> None:
    site.add("/h", "x")
    with pytest.raises(WebfetchError):
        http.get(site.url("/h"), headers={"X-A": "1\r\nX-B: 2"})
    assert not any("x-b" in r.headers for r in site.requests)


def test_text_is_decoded_by_the_declared_charset(site: LoopbackSite, http: BoundHttp) -> None:
    site.add("/l", "caf\u00e9".encode("latin-1"), headers={"Content-Type": "text/plain; charset=latin-1"})
    site.add("/u", "caf\u00e9".encode() + b"\xff", headers={"Content-Type": "text/plain; charset=nonsense"})
    assert http.get(site.url("/l")).text == "caf\u00e9"
    assert http.get(site.url("/u")).text == "caf\u00e9\ufffd"


def test_connections_are_reused_and_cookies_are_not_kept(site: LoopbackSite, http: BoundHttp) -> None:
    site.add("/c", "x", headers={"Set-Cookie": "a=1; Path=/"})
    for _ in range(4):
        http.get(site.url("/c"))
    assert site.connections == 1 and not any("cookie" in r.headers for r in site.requests)


def test_the_environment_is_ignored(
    site: LoopbackSite, http: BoundHttp, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login me password pw\n", encoding="utf-8")
    (tmp_path / ".netrc").chmod(0o600)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    site.add("/e", "direct")
    assert http.get(site.url("/e")).body == b"direct"
    assert "authorization" not in site.requests[0].headers


def test_a_proxy_is_used_when_the_operator_opts_in(
    site: LoopbackSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []

    def proxy(request: Received) -> Reply:
        seen.append(request.path)
        return Reply(body=b"by proxy")

    site.add("http://t.example:8080/x", proxy)
    monkeypatch.setenv("http_proxy", site.base_url)
    monkeypatch.delenv("no_proxy", raising=False)
    client = client_for(use_env_proxies=True)
    assert client.bound().get("http://t.example:8080/x").body == b"by proxy"
    assert seen == ["http://t.example:8080/x"] and site.requests[0].headers["host"] == "t.example:8080"
    client.close()


def test_tls_through_a_proxy_is_checked_and_bounded_all_the_same(
    secure: LoopbackSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[bytes] = []

    def tunnel(listener: socket.socket) -> None:
        while True:
            try:
                inbound, _ = listener.accept()
            except OSError:
                return
            asked.append(inbound.recv(4096).split(b" HTTP/")[0])
            outbound = socket.create_connection((secure.host, secure.port))
            inbound.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            for one, other in ((inbound, outbound), (outbound, inbound)):
                threading.Thread(target=pump, args=(one, other), daemon=True).start()

    def pump(one: socket.socket, other: socket.socket) -> None:
        with one, contextlib.suppress(OSError):
            while data := one.recv(4096):
                other.sendall(data)
            other.shutdown(socket.SHUT_WR)

    secure.add("/x", "tunnelled").add("/d", "x" * 500, drip=(1, 0.05))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=tunnel, args=(listener,), daemon=True).start()
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{listener.getsockname()[1]}")
        monkeypatch.delenv("no_proxy", raising=False)
        client = client_for(ca=str(TLS / "authority.pem"), use_env_proxies=True)
        http = client.bound()
        assert http.get(f"https://pinned.example:{secure.port}/x").body == b"tunnelled"
        assert asked == [f"CONNECT pinned.example:{secure.port}".encode()]
        with pytest.raises(Unavailable, match="secure connection"):
            http.get(f"https://wrong.example:{secure.port}/x")
        started = time.monotonic()
        with pytest.raises(TimedOut):
            http.get(f"https://pinned.example:{secure.port}/d", deadline=in_s(0.3))
        assert time.monotonic() - started < 0.6
        client.close()


# ---- pinning -------------------------------------------------------------------------------------


def test_the_connection_goes_to_the_address_that_was_checked(site: LoopbackSite) -> None:
    asked: list[str] = []

    def once(host: str, port: int, family: int, kind: int) -> list[tuple[Any, ...]]:
        asked.append(host)
        return to_loopback(host, port, family, kind)

    site.add("/x", "here")
    client = client_for(resolve=once)
    assert client.bound().get(f"http://pinned.example:{site.port}/x").body == b"here"
    assert asked == ["pinned.example"] and site.requests[0].headers["host"] == f"pinned.example:{site.port}"
    client.close()


def test_hosts_on_one_address_are_told_apart(site: LoopbackSite, client: HttpClient) -> None:
    site.add("/x", lambda request: Reply(body=request.headers["host"].encode()))
    http = client.bound()
    for name in ("a.example", "b.example", "a.example"):
        assert http.get(f"http://{name}:{site.port}/x").body == f"{name}:{site.port}".encode()


def test_another_address_is_tried_when_the_first_takes_no_connection(site: LoopbackSite) -> None:
    def two(host: str, port: int, family: int, kind: int) -> list[tuple[Any, ...]]:
        return [(0, kind, 6, "", (ip, port)) for ip in ("127.0.0.9", "127.0.0.1")]

    site.add("/x", "second")
    client = client_for(allow=("127.0.0.0/8",), resolve=two)
    assert client.bound().get(f"http://two.example:{site.port}/x").body == b"second"
    client.close()


@pytest.fixture
def secure() -> Iterator[LoopbackSite]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(TLS / "server.pem")
    with LoopbackSite(tls=context) as made:
        yield made


def test_tls_names_are_checked_against_the_host_not_the_address(secure: LoopbackSite) -> None:
    secure.add("/x", "secret page")
    client = client_for(ca=str(TLS / "authority.pem"))
    http = client.bound()
    for _ in range(2):
        assert http.get(f"https://pinned.example:{secure.port}/x").body == b"secret page"
    assert secure.connections == 1
    assert http.get(f"https://second.example:{secure.port}/x").body == b"secret page"
    assert secure.connections == 2  # the same address, yet another name: not the same connection
    with pytest.raises(Unavailable, match="secure connection to wrong"):
        http.get(f"https://wrong.example:{secure.port}/x")
    with pytest.raises(Unavailable):
        http.get(f"https://127.0.0.1:{secure.port}/x")
    client.close()


def test_an_unknown_authority_is_not_trusted(secure: LoopbackSite, http: BoundHttp) -> None:
    with pytest.raises(Unavailable, match="secure connection"):
        http.get(f"https://pinned.example:{secure.port}/x")
    assert secure.requests == []


@pytest.mark.parametrize("step", [Reply(body=b"x" * 500, drip=(1, 0.05)), Reply(hang=True)])
def test_tls_replies_end_at_the_deadline_too(secure: LoopbackSite, step: Reply) -> None:
    secure.queue("/d", step)
    client = client_for(ca=str(TLS / "authority.pem"))
    started = time.monotonic()
    with pytest.raises(TimedOut):
        client.bound().get(f"https://pinned.example:{secure.port}/d", deadline=in_s(0.3))
    assert time.monotonic() - started < 0.6
    client.close()


def test_a_tls_handshake_that_never_comes_ends_at_the_deadline(http: BoundHttp) -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute:
        started = time.monotonic()
        with pytest.raises(TimedOut):
            http.get(f"https://127.0.0.1:{mute.getsockname()[1]}/", deadline=in_s(0.3))
        assert time.monotonic() - started < 0.6


# ---- the guard -----------------------------------------------------------------------------------


def test_private_hosts_are_refused_unless_trusted(site: LoopbackSite) -> None:
    site.add("/x", "in")
    client = client_for(allow=())
    with pytest.raises(Refused):
        client.bound().get(site.url("/x"))
    assert site.requests == []
    trusted = client.bound(trusted=frozenset({("127.0.0.1", site.port)}))
    assert trusted.get(site.url("/x")).body == b"in"
    with pytest.raises(Refused):
        trusted.get("http://127.0.0.1:1/")
    client.close()


def test_a_redirect_from_an_api_is_a_bad_response(site: LoopbackSite, http: BoundHttp) -> None:
    site.redirect("/r", "http://169.254.169.254/")
    with pytest.raises(BadResponse, match="302"):
        http.get(site.url("/r"))
    assert http.get(site.url("/r"), raise_for_status=False).headers["location"] == "http://169.254.169.254/"
    assert len(site.requests) == 2


# ---- answers that are errors ---------------------------------------------------------------------


def test_errors_carry_status_and_body_and_hide_secrets(site: LoopbackSite, http: BoundHttp) -> None:
    site.add(
        "/e", "no such key sekret-key-1 " + "z" * 900, status=422, headers={"Content-Type": "text/plain"}
    )
    with pytest.raises(BadResponse) as caught:
        http.get(site.url("/e"), params={"api_key": "sekret-key-1"})
    text = str(caught.value)
    assert "422" in text and "no such key ***" in text and "sekret" not in text and len(text) < 300
    assert vars(caught.value)["status"] == 422 and len(vars(caught.value)["body"]) > 900
    assert http.get(site.url("/e"), raise_for_status=False).status == 422


def test_rate_limits_say_how_long(site: LoopbackSite, http: BoundHttp) -> None:
    site.add("/l", "slow down", status=429, headers={"Retry-After": "12"})
    with pytest.raises(RateLimited) as caught:
        http.get(site.url("/l"))
    assert caught.value.retry_after_s == 12.0


def test_walls_are_blocks(site: LoopbackSite, http: BoundHttp) -> None:
    site.add("/w", "<title>Just a moment...</title>", status=403, headers={"cf-mitigated": "challenge"})
    with pytest.raises(Blocked):
        http.post(site.url("/w"), json={})


def test_what_is_no_json_is_a_bad_response(site: LoopbackSite, http: BoundHttp) -> None:
    site.add("/j", '{"results": [ token=abcdefgh').add("/deep", "[" * 100_000)
    with pytest.raises(BadResponse) as caught:
        http.get(site.url("/j")).json()
    assert (
        "200" in str(caught.value) and "results" in str(caught.value) and "abcdefgh" not in str(caught.value)
    )
    with pytest.raises(BadResponse):
        http.get(site.url("/deep")).json()


def test_a_flood_is_cut_off(site: LoopbackSite, http: BoundHttp) -> None:
    site.add("/f", stream=lambda: (b"x" * 65536 for _ in range(1000)))
    with pytest.raises(BadResponse, match="bytes"):
        http.get(site.url("/f"))


def test_an_answer_that_ends_too_early_is_a_bad_one(site: LoopbackSite, http: BoundHttp) -> None:
    site.add("/t", "0123456789", truncate=4)
    with pytest.raises(BadResponse, match=r"before the body was complete \(status 200"):
        http.get(site.url("/t"))


def test_no_answer_and_a_dead_host_are_unavailable(site: LoopbackSite, http: BoundHttp) -> None:
    site.add("/junk", raw=b"not http at all\r\n\r\n").add("/shut", raw=b"")
    for path in ("/junk", "/shut"):
        with pytest.raises(Unavailable):
            http.get(site.url(path))
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]
    with pytest.raises(Unavailable, match="takes no connection") as caught:
        http.get(f"http://dead.example:{port}/")
    assert "127.0.0.1" not in str(caught.value)


# ---- time ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "reply",
    [
        Reply(hang=True),
        Reply(body=b"x" * 1000, drip=(1, 0.05)),
        Reply(raw=b"HTTP/1.1 200 OK\r\nX-Long: " + b"a" * 5000, drip=(1, 0.05)),
        Reply(raw=b"HTTP/1.1 100 Continue\r\n\r\n" * 500, drip=(25, 0.02)),
        Reply(body=b"late", delay_s=5),
    ],
    ids=["hang", "body drip", "header drip", "endless 100", "delay"],
)
def test_the_deadline_holds_whatever_the_server_does(
    site: LoopbackSite, http: BoundHttp, reply: Reply
) -> None:
    site.queue("/d", reply)
    started = time.monotonic()
    with pytest.raises(TimedOut):
        http.get(site.url("/d"), deadline=in_s(0.3))
    assert time.monotonic() - started < 0.6


def test_a_deadline_that_has_passed_makes_no_waiting(site: LoopbackSite, http: BoundHttp) -> None:
    site.add("/x", hang=True)
    started = time.monotonic()
    with pytest.raises(TimedOut):
        http.get(site.url("/x"), deadline=started - 1)
    assert time.monotonic() - started < 0.3


def test_a_connection_that_the_server_dropped_is_opened_anew_for_get() -> None:
    """The drop comes after the request went out, which no check beforehand can see."""
    served = threading.Event()

    def serve(listener: socket.socket) -> None:
        first, _ = listener.accept()
        first.recv(4096)
        first.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1")
        first.recv(4096)
        first.close()
        second, _ = listener.accept()
        second.recv(4096)
        second.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n2")
        served.wait(5)
        second.close()

    client = client_for()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve, args=(listener,), daemon=True).start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        http = client.bound()
        assert [http.get(url).body, http.get(url).body] == [b"1", b"2"]
        served.set()
    client.close()


def test_many_threads_share_the_client(site: LoopbackSite, http: BoundHttp) -> None:
    site.add("/n", lambda request: Reply(body=request.query.encode()))
    with ThreadPoolExecutor(16) as pool:
        bodies = list(pool.map(lambda n: http.get(site.url(f"/n?{n}")).body, range(100)))
    assert bodies == [str(n).encode() for n in range(100)]


def test_a_closed_client_says_so(site: LoopbackSite, client: HttpClient, http: BoundHttp) -> None:
    client.close()
    with pytest.raises(WebfetchError) as caught:
        http.get(site.url("/x"))
    assert caught.value.kind == "cancelled"


def test_two_clients_do_not_share_anything(site: LoopbackSite) -> None:
    site.add("/x", "x")
    one, two = client_for(), client_for()
    one.bound().get(site.url("/x"))
    one.close()
    assert two.bound().get(site.url("/x")).body == b"x"
    two.close()
