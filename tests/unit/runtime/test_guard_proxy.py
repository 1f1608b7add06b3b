"""The guard's proxy over real sockets: what it serves, what it refuses, and what it survives."""

from __future__ import annotations

import base64
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from webfetch_core.api import Unavailable
from webfetch_core.errors import Refused, WebfetchError
from webfetch_core.runtime import proxy_lease
from webfetch_core.runtime.guard_proxy import GuardProxy
from webfetch_core.runtime.guard_tunnels import Session, Times
from webfetch_core.runtime.netguard import Guard, Policy
from webfetch_core.runtime.proxy_upstream import from_environment
from webfetch_core.testing import LoopbackSite, loopback_http
from webfetch_core.testing.site import Reply

TLS = Path(__file__).parent / "tls"
HURRIED = Times(head=0.3, answer=0.5, idle=0.5, half_open=0.3, total=5.0)


def names(**hosts: str | list[str]) -> Callable[..., Any]:
    """A resolver that knows these; keys with ``_`` for dots. Counts what it was asked."""
    table = {name.replace("_", "."): [ips] if isinstance(ips, str) else ips for name, ips in hosts.items()}

    def resolve(host: str, port: int, *_: Any) -> list[tuple[Any, ...]]:
        resolve.asked.append(host)  # type: ignore[attr-defined]
        answer = table[host]
        family = {True: socket.AF_INET6, False: socket.AF_INET}
        return [(family[":" in ip], socket.SOCK_STREAM, 6, "", (ip, port)) for ip in answer]

    resolve.asked = []  # type: ignore[attr-defined]
    return resolve


@contextmanager
def proxy(
    *allow: str, times: Times | None = None, resolve: Any = None, vetoes: Any = None, **more: Any
) -> Iterator[GuardProxy]:
    guard = Guard(Policy(allow_hosts=allow), resolve=resolve or names(), vetoes=vetoes)
    made = GuardProxy(guard, session=partial(Session, times=times or HURRIED), **more)
    try:
        yield made
    finally:
        made.close()


def auth(lease: Any) -> str:
    pair = f"{lease.address.username}:{lease.address.password}"
    return "Proxy-Authorization: Basic " + base64.b64encode(pair.encode()).decode()


def connect(served: GuardProxy) -> socket.socket:
    return socket.create_connection(("127.0.0.1", served.port), timeout=3)


def read_all(sock: socket.socket) -> bytes:
    found = b""
    while piece := sock.recv(65536):
        found += piece
    return found


def ask(served: GuardProxy, lease: Any, *lines: str, body: bytes = b"") -> bytes:
    """Send one request, with the credentials of ``lease`` if there is one; the whole answer."""
    rows = [*lines, *([auth(lease)] if lease else [])]
    with closing(connect(served)) as sock:
        sock.sendall(("\r\n".join(rows) + "\r\n\r\n").encode() + body)
        return read_all(sock)


def get(served: GuardProxy, lease: Any, url: str, *lines: str, host: str = "") -> bytes:
    authority = host or url.split("/")[2]
    return ask(served, lease, f"GET {url} HTTP/1.1", f"Host: {authority}", *lines)


def tunnel(served: GuardProxy, lease: Any, target: str) -> tuple[socket.socket, bytes]:
    """A socket through which CONNECT was asked, and the head of the answer."""
    sock = connect(served)
    sock.sendall(f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n{auth(lease)}\r\n\r\n".encode())
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        piece = sock.recv(1)
        if not piece:
            break
        head += piece
    return sock, head


@contextmanager
def origin(serve: Callable[[socket.socket], None]) -> Iterator[int]:
    """A server that does ``serve`` with each connection in a thread; yields its port."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.05)
        over = threading.Event()
        threads: list[threading.Thread] = []

        def accept() -> None:
            while not over.is_set():
                try:
                    sock, _ = listener.accept()
                except TimeoutError:
                    continue

                def work(sock: socket.socket = sock) -> None:
                    with sock:
                        sock.settimeout(5)
                        with suppress(OSError):
                            serve(sock)

                threads.append(threading.Thread(target=work))
                threads[-1].start()

        acceptor = threading.Thread(target=accept)
        acceptor.start()
        try:
            yield listener.getsockname()[1]
        finally:
            over.set()
            acceptor.join()
            for thread in threads:
                thread.join()


@pytest.fixture
def site() -> Iterator[LoopbackSite]:
    with LoopbackSite() as made:
        yield made


# ---- what it serves ----


def test_a_plain_request_arrives_as_the_page_meant_it(site: LoopbackSite) -> None:
    site.add("/a", "hello", headers={"X-Seen": "1"})
    with proxy("127.0.0.1") as served, served.lease() as lease:
        answer = get(served, lease, site.url("/a?b=c"), "Cookie: k=v", "Connection: X-Odd", "X-Odd: 1")
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200") and b"X-Seen: 1" in head and body == b"hello"
    (seen,) = site.requests
    assert (seen.target, seen.headers["host"], seen.headers["cookie"]) == (
        "/a?b=c",
        f"127.0.0.1:{site.port}",
        "k=v",
    )
    assert not {"proxy-authorization", "x-odd", "proxy-connection"} & set(seen.headers)
    assert lease.failures() == () and lease.received == 5


def test_a_tunnel_carries_tls_to_the_named_host() -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(TLS / "server.pem")
    with LoopbackSite(tls=context) as secure, proxy("127.0.0.1") as served, served.lease() as lease:
        secure.add("/s", "secret")
        sock, head = tunnel(served, lease, f"127.0.0.1:{secure.port}")
        assert head.startswith(b"HTTP/1.1 200")
        client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        client.check_hostname, client.verify_mode = False, ssl.CERT_NONE
        with client.wrap_socket(sock) as spoken:
            spoken.sendall(b"GET /s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            assert read_all(spoken).endswith(b"secret")


def test_posts_arrive_whole_by_length_and_in_chunks(site: LoopbackSite) -> None:
    site.add("/p", lambda request: Reply(body=request.body))
    first = f"POST {site.url('/p')} HTTP/1.1", f"Host: 127.0.0.1:{site.port}"
    with proxy("127.0.0.1") as served, served.lease() as lease:
        whole = ask(
            served, lease, *first, "Content-Length: 3", body=b"abcGET http://evil.example/ HTTP/1.1\r\n\r\n"
        )
        assert whole.endswith(b"\r\n\r\nabc")
        expecting = ask(served, lease, *first, "Content-Length: 3", "Expect: 100-continue", body=b"abc")
        assert expecting.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200") and expecting.endswith(
            b"abc"
        )
    assert len(site.requests) == 2, "what follows a request on its connection is never sent on"


def test_chunks_are_framed_anew() -> None:
    got: list[bytes] = []

    def serve(sock: socket.socket) -> None:
        data = b""
        while not data.endswith(b"0\r\n\r\n"):
            piece = sock.recv(65536)
            if not piece:
                return
            data += piece
        got.append(data.partition(b"\r\n\r\n")[2])
        sock.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")

    with origin(serve) as port, proxy("127.0.0.1") as served, served.lease() as lease:
        first = (
            f"POST http://127.0.0.1:{port}/ HTTP/1.1",
            f"Host: 127.0.0.1:{port}",
            "Transfer-Encoding: chunked",
        )
        assert ask(
            served, lease, *first, body=b"3;x=y\r\nabc\r\n02\r\nde\r\n0\r\nTrailer: 1\r\n\r\n"
        ).startswith(b"HTTP/1.1 204")
        assert got == [b"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"]
        assert ask(served, lease, *first, body=b"3\r\nabcd\r\n0\r\n\r\n").startswith(b"HTTP/1.1 400")


def test_a_name_is_connected_to_at_the_address_that_was_checked(site: LoopbackSite) -> None:
    """DNS rebinding: the second answer, had anybody asked for it, would be another."""
    site.add("/r", "here")
    asked: list[str] = []

    def resolve(host: str, port: int, *_: Any) -> list[tuple[Any, ...]]:
        asked.append(host)
        ip = "127.0.0.1" if len(asked) == 1 else "127.0.0.2"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (ip, port))]

    with proxy("rebind.example", resolve=resolve) as served, served.lease() as lease:
        assert get(served, lease, f"http://rebind.example:{site.port}/r").endswith(b"here")
    assert asked == ["rebind.example"]
    assert site.requests[0].headers["host"] == f"rebind.example:{site.port}"


def test_the_next_address_serves_when_the_first_takes_no_connection(site: LoopbackSite) -> None:
    site.add("/o", "other")
    resolve = names(two_example=["127.0.0.9", "127.0.0.1"])
    with proxy("two.example", resolve=resolve) as served, served.lease() as lease:
        assert get(served, lease, f"http://two.example:{site.port}/o").endswith(b"other")
        sock, head = tunnel(served, lease, f"two.example:{site.port}")
        sock.close()
        assert head.startswith(b"HTTP/1.1 200")


def test_localhost_is_never_asked_of_a_name_server(site: LoopbackSite) -> None:
    resolve = names()
    with proxy("localhost", resolve=resolve) as served, served.lease() as lease:
        assert get(served, lease, f"http://localhost:{site.port}/x").startswith(b"HTTP/1.1 404")
    assert resolve.asked == []


# ---- what it refuses ----


@pytest.mark.parametrize(
    "target",
    [
        "127.0.0.1:443",
        "localhost:443",
        "sub.localhost:443",
        "[::1]:443",
        "[::ffff:127.0.0.1]:443",
        "[64:ff9b::a9fe:a9fe]:80",
        "[2002:7f00:1::]:443",
        "0x7f000001:443",
        "2130706433:443",
        "127.1:443",
        "0:443",
        "10.0.0.1:443",
        "169.254.169.254:80",
        "metadata.google.internal:80",
        "100.100.100.200:443",
        "93.184.216.34:25",
        "93.184.216.34:22",
        "93.184.216.34:6379",
        "rebind.example:443",
        "mixed.example:443",
        "a..example:443",
    ],
)
def test_tunnels_into_the_inside_are_refused_before_any_connection(
    target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    dialled: list[Any] = []
    monkeypatch.setattr(
        "webfetch_core.runtime.proxy_streams.socket.create_connection", lambda *a, **k: dialled.append(a)
    )
    resolve = names(rebind_example="192.168.0.1", mixed_example=["93.184.216.34", "10.1.2.3"])
    with proxy(resolve=resolve) as served, served.lease() as lease:
        with closing(socket.socket()) as sock:
            sock.settimeout(3)
            sock.connect(("127.0.0.1", served.port))
            sock.sendall(f"CONNECT {target} HTTP/1.1\r\n{auth(lease)}\r\n\r\n".encode())
            answer = read_all(sock)
        assert answer.startswith(b"HTTP/1.1 403")
        assert answer.endswith(b"webfetch does not go there\n")
        (failure,) = lease.failures()
        assert failure.kind == "refused" and failure.message
    assert dialled == []
    assert not any(secret in failure.message for secret in ("192.168", "10.1.2.3"))


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("http://169.254.169.254/latest/meta-data/", "refused"),
        ("http://[::1]/", "refused"),
        ("http://127.0.0.1:8080/admin", "refused"),
        ("http://user:word@127.0.0.1/", "refused"),
        ("http://gone.example/", "unavailable"),
    ],
)
def test_plain_requests_to_the_inside_are_refused(url: str, kind: str) -> None:
    with proxy() as served, served.lease() as lease:
        answer = get(served, lease, url, host=url.split("/")[2].rpartition("@")[2])
        assert answer.startswith(b"HTTP/1.1 403" if kind == "refused" else b"HTTP/1.1 502")
        assert [f.kind for f in lease.failures()] == [kind]


def test_a_veto_refuses_with_its_reason_for_the_record_alone() -> None:
    def vetoes(url: str) -> str | None:
        return "not that one" if "vetoed" in url else None

    with (
        proxy(vetoes=vetoes, resolve=names(vetoed_example="93.184.216.34")) as served,
        served.lease() as lease,
    ):
        answer = get(served, lease, "http://vetoed.example/")
        assert answer.startswith(b"HTTP/1.1 403") and b"not that one" not in answer
        assert "not that one" in lease.failures()[0].message
        with pytest.raises(Refused, match="not that one"):
            lease.permit("https://a.example/vetoed?path=only")
        with pytest.raises(Refused, match="scheme"):
            lease.permit("file:///etc/passwd")
        lease.permit("https://a.example/fine")


def test_failures_are_told_once_and_are_bounded() -> None:
    with proxy() as served, served.lease() as lease:
        for _ in range(3):
            get(served, lease, "http://10.0.0.1/")
        assert len(lease.failures()) == 1
        for n in range(proxy_lease.MAX_FAILURES + 10):
            lease.note("a.example", n, Refused("no"))
        assert len(lease.failures()) == proxy_lease.MAX_FAILURES


def test_without_the_credentials_nothing_is_served(site: LoopbackSite) -> None:
    with proxy("127.0.0.1") as served, served.lease() as lease, served.lease() as other:
        url = site.url("/")
        mixed = f"{lease.address.username}:{other.address.password}"
        wrong = [
            "X: y",
            "Proxy-Authorization: Basic " + base64.b64encode(b"a:b").decode(),
            "Proxy-Authorization: Basic " + base64.b64encode(mixed.encode()).decode(),
            "Proxy-Authorization: Basic " + base64.b64encode(f"{lease.address.username}:".encode()).decode(),
        ]
        for line in wrong:
            answer = get(served, None, url, line)
            assert answer.startswith(b"HTTP/1.1 407") and b"Proxy-Authenticate: Basic" in answer
            assert ask(served, None, f"CONNECT 127.0.0.1:{site.port} HTTP/1.1", line).startswith(
                b"HTTP/1.1 407"
            )
        lease.close()
        assert get(served, lease, url).startswith(b"HTTP/1.1 407"), "credentials end with their lease"
        assert get(served, other, url).startswith(b"HTTP/1.1 404")
    assert site.connections == 1
    assert lease.address.password not in repr(lease.address)


@pytest.mark.parametrize(
    "lines",
    [
        ("Content-Length: 3", "Transfer-Encoding: chunked"),
        ("Content-Length: 3", "Content-Length: 4"),
        ("Transfer-Encoding: gzip, chunked",),
        ("Host: other.example",),
        ("Bad : x",),
    ],
)
def test_smuggling_reaches_nobody(site: LoopbackSite, lines: tuple[str, ...]) -> None:
    with proxy("127.0.0.1") as served, served.lease() as lease:
        answer = get(served, lease, site.url("/"), *lines)
    assert answer[9:12] in (b"400", b"501") and site.connections == 0


def test_it_does_not_connect_to_itself() -> None:
    with proxy("127.0.0.1") as served, served.lease() as lease:
        sock, head = tunnel(served, lease, f"127.0.0.1:{served.port}")
        sock.close()
        assert head.startswith(b"HTTP/1.1 403")


def test_an_origins_407_is_not_taken_for_the_proxys(site: LoopbackSite) -> None:
    site.add("/", "", status=407, headers={"Proxy-Authenticate": "Basic realm=x"})
    with proxy("127.0.0.1") as served, served.lease() as lease:
        assert get(served, lease, site.url("/")).startswith(b"HTTP/1.1 502")


# ---- time, size and numbers ----


def test_a_client_that_drips_its_head_is_not_waited_for() -> None:
    with proxy() as served, served.lease():
        with closing(connect(served)) as sock:
            answer = b""
            sock.settimeout(0.05)
            for byte in b"GET http://a.example/ HTTP/1.1\r\n" + b"X: " + b"a" * 200:
                try:
                    sock.sendall(bytes([byte]))
                    answer = sock.recv(4096)
                    break
                except TimeoutError:
                    continue
            assert answer.startswith(b"HTTP/1.1 408")
        for silent in (b"", b"\r\n", b"GET"):
            with closing(connect(served)) as sock:
                sock.sendall(silent)
                assert read_all(sock).startswith(b"HTTP/1.1 4")


def test_a_head_without_end_is_cut_off() -> None:
    with proxy() as served, served.lease(), closing(connect(served)) as sock:
        with suppress(OSError):
            sock.sendall(b"GET http://a.example/ HTTP/1.1\r\nX: " + b"a" * 200_000)
        answer = sock.recv(64)
        assert answer.startswith(b"HTTP/1.1 431")


def test_a_peer_that_never_answers_is_a_time_out(site: LoopbackSite) -> None:
    site.add("/h", hang=True)
    with proxy("127.0.0.1") as served, served.lease() as lease:
        assert get(served, lease, site.url("/h")).startswith(b"HTTP/1.1 504")
        assert [f.kind for f in lease.failures()] == ["timeout"]


def test_a_silent_tunnel_is_given_up() -> None:
    with origin(lambda sock: sock.recv(1)) as port, proxy("127.0.0.1") as served, served.lease() as lease:
        sock, _ = tunnel(served, lease, f"127.0.0.1:{port}")
        with closing(sock):
            assert sock.recv(1) == b""


def test_nobody_listening_is_unavailable() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with proxy("127.0.0.1") as served, served.lease() as lease:
        sock, head = tunnel(served, lease, f"127.0.0.1:{port}")
        sock.close()
        assert head.startswith(b"HTTP/1.1 502")
        assert [(f.kind, f.host, f.port) for f in lease.failures()] == [("unavailable", "127.0.0.1", port)]


@pytest.mark.parametrize(
    "sent", [b"", b"garbage\r\n\r\n", b"HTTP/1.1 200 OK\r\nA : b\r\n\r\n", b"HTTP/1.1 100 C\r\n\r\n" * 9]
)
def test_an_origin_that_speaks_no_http_is_a_bad_gateway(sent: bytes) -> None:
    def serve(sock: socket.socket) -> None:
        sock.recv(65536)
        sock.sendall(sent)

    with origin(serve) as port, proxy("127.0.0.1") as served, served.lease() as lease:
        assert get(served, lease, f"http://127.0.0.1:{port}/").startswith((b"HTTP/1.1 502", b"HTTP/1.1 400"))


def test_a_half_closed_tunnel_still_brings_the_answer() -> None:
    def serve(sock: socket.socket) -> None:
        data = read_all(sock)  # until the client has ended its side
        sock.sendall(data[::-1] * 1000)

    with origin(serve) as port, proxy("127.0.0.1") as served, served.lease() as lease:
        sock, _ = tunnel(served, lease, f"127.0.0.1:{port}")
        with closing(sock):
            sock.sendall(b"abc")
            sock.shutdown(socket.SHUT_WR)
            assert read_all(sock) == b"cba" * 1000


def test_bytes_pass_both_ways_at_once_and_in_order() -> None:
    def echo(sock: socket.socket) -> None:
        while piece := sock.recv(65536):
            sock.sendall(piece)

    data = bytes(range(256)) * 8192
    with origin(echo) as port, proxy("127.0.0.1") as served, served.lease() as lease:
        sock, _ = tunnel(served, lease, f"127.0.0.1:{port}")
        with closing(sock):
            sender = threading.Thread(target=lambda: (sock.sendall(data), sock.shutdown(socket.SHUT_WR)))
            sender.start()
            assert read_all(sock) == data
            sender.join()
        assert lease.received == len(data)


def test_what_a_lease_may_receive_is_bounded() -> None:
    def flood(sock: socket.socket) -> None:
        while True:
            sock.sendall(b"x" * 65536)

    with origin(flood) as port, proxy("127.0.0.1") as served, served.lease(max_bytes=300_000) as lease:
        sock, _ = tunnel(served, lease, f"127.0.0.1:{port}")
        got = 0
        with closing(sock), suppress(ConnectionResetError):
            got = len(read_all(sock))
        assert got < 600_000
        assert "too_large" in [f.kind for f in lease.failures()]
        assert get(served, lease, f"http://127.0.0.1:{port}/").startswith(b"HTTP/1.1 403")


def test_what_a_lease_may_send_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proxy_lease, "MAX_SENT_BYTES", 100_000)
    seen: list[int] = []

    def swallow(sock: socket.socket) -> None:
        seen.append(len(read_all(sock)))

    with origin(swallow) as port, proxy("127.0.0.1") as served, served.lease() as lease:
        first = f"POST http://127.0.0.1:{port}/ HTTP/1.1", f"Host: 127.0.0.1:{port}", "Content-Length: 200000"
        with closing(connect(served)) as sock:
            sock.sendall(("\r\n".join([*first, auth(lease)]) + "\r\n\r\n").encode())
            with suppress(OSError):
                sock.sendall(b"x" * 200_000)
            assert sock.recv(12) == b"HTTP/1.1 403"
        assert "too_large" in [f.kind for f in lease.failures()]
    assert seen[0] < 120_000


def test_an_answer_that_comes_before_the_upload_is_done_is_handed_on() -> None:
    def hasty(sock: socket.socket) -> None:
        sock.recv(1024)
        sock.sendall(b"HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno")
        sock.shutdown(socket.SHUT_WR)
        read_all(sock)

    with origin(hasty) as port, proxy("127.0.0.1") as served, served.lease() as lease:
        first = f"POST http://127.0.0.1:{port}/ HTTP/1.1", f"Host: 127.0.0.1:{port}", "Content-Length: 100000"
        assert ask(served, lease, *first, body=b"x" * 100_000).startswith(b"HTTP/1.1 413")


def test_connections_are_bounded_and_come_back() -> None:
    with proxy(max_connections=3, times=Times(head=30.0)) as served, served.lease() as lease:
        idle = [connect(served) for _ in range(3)]
        wait_until(lambda: served.connections == 3)
        assert get(served, lease, "http://10.0.0.1/").startswith(b"HTTP/1.1 503")
        for sock in idle:
            sock.close()
        wait_until(lambda: served.connections == 0)
        assert get(served, lease, "http://10.0.0.1/").startswith(b"HTTP/1.1 403")


def test_one_lease_cannot_take_them_all(site: LoopbackSite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proxy_lease, "MAX_OF_A_LEASE", 2)
    site.add("/h", hang=True).add("/ok", "fine")
    with proxy("127.0.0.1", times=Times()) as served, served.lease() as greedy, served.lease() as other:
        held = []
        for _ in range(2):
            sock = connect(served)
            rows = [f"GET {site.url('/h')} HTTP/1.1", f"Host: 127.0.0.1:{site.port}", auth(greedy)]
            sock.sendall(("\r\n".join(rows) + "\r\n\r\n").encode())
            held.append(sock)
        wait_until(lambda: len(site.requests) == 2)
        assert get(served, greedy, site.url("/ok")).startswith(b"HTTP/1.1 503")
        assert get(served, other, site.url("/ok")).endswith(b"fine")
        for sock in held:
            sock.close()
        wait_until(lambda: served.connections == 0)  # who has gone is not answered on and on
        assert get(served, greedy, site.url("/ok")).endswith(b"fine")


# ---- the end ----


def test_a_lease_ends_its_connections(site: LoopbackSite) -> None:
    site.add("/h", hang=True)
    with origin(read_all) as port, proxy("127.0.0.1", times=Times()) as served:
        lease = served.lease()
        sock, _ = tunnel(served, lease, f"127.0.0.1:{port}")
        plain = connect(served)
        rows = [f"GET {site.url('/h')} HTTP/1.1", f"Host: 127.0.0.1:{site.port}", auth(lease)]
        plain.sendall(("\r\n".join(rows) + "\r\n\r\n").encode())
        wait_until(lambda: len(site.requests) == 1)
        lease.close()
        lease.close()
        assert sock.recv(1) == b""
        wait_until(lambda: served.connections == 0)
        sock.close()
        plain.close()


def test_closing_ends_everything_and_leaves_no_thread() -> None:
    before = set(threading.enumerate())
    with origin(read_all) as port, proxy("127.0.0.1", times=Times()) as served:
        lease = served.lease()
        sock, _ = tunnel(served, lease, f"127.0.0.1:{port}")
        idle = connect(served)
        wait_until(lambda: served.connections == 2)
        served.close()
        served.close()
        assert sock.recv(1) == b"" and read_all(idle) == b""
        sock.close()
        idle.close()
        with pytest.raises(Unavailable):
            served.lease()
        with pytest.raises(OSError):
            connect(served)
    wait_until(lambda: not [t for t in set(threading.enumerate()) - before if t.name.startswith("webfetch-")])


def test_nothing_listens_before_the_first_lease() -> None:
    with proxy() as served:
        assert served.port == 0 and not [t for t in threading.enumerate() if t.name == "webfetch-guard-proxy"]


def test_the_client_hands_out_leases_of_one_proxy_and_closes_it(site: LoopbackSite) -> None:
    class Clock:
        monotonic = staticmethod(time.monotonic)
        time = staticmethod(time.time)

    with loopback_http(Clock(), trusted=[("127.0.0.1", site.port)]) as http:
        one, two = http.guard_proxy(), http.guard_proxy(max_bytes=10)
        assert one.address.server == two.address.server and one.address.username != two.address.username
        port = int(one.address.server.rpartition(":")[2])
        with closing(socket.create_connection(("127.0.0.1", port))) as sock:
            sock.sendall(f"CONNECT 127.0.0.1:{site.port} HTTP/1.1\r\n{auth(one)}\r\n\r\n".encode())
            assert sock.recv(12) == b"HTTP/1.1 403", "what the plugin may call, a page may not"
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", port))
    with pytest.raises(WebfetchError, match="closed"):
        http.guard_proxy()
    assert site.connections == 0


def wait_until(holds: Callable[[], bool], seconds: float = 5.0) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it does not come to hold"
        time.sleep(0.01)


# ---- another proxy on the way ----


@contextmanager
def upstream_proxy(tunnels_to: int) -> Iterator[tuple[int, list[bytes]]]:
    """A proxy of the operator's: CONNECT leads to one port, everything else is answered by itself."""
    heads: list[bytes] = []

    def serve(sock: socket.socket) -> None:
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += sock.recv(1)
        heads.append(head)
        if head.startswith(b"CONNECT refuse"):
            sock.sendall(b"HTTP/1.1 403 Forbidden\r\n\r\n")
        elif head.startswith(b"CONNECT"):
            with socket.create_connection(("127.0.0.1", tunnels_to), timeout=3) as beyond:
                sock.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
                beyond.sendall(sock.recv(65536))
                sock.sendall(read_all(beyond))
        else:
            sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nvia")

    with origin(serve) as port:
        yield port, heads


def test_the_environments_proxy_is_used_where_the_operator_says_so(
    site: LoopbackSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.add("/t", "tunnelled", headers={"Connection": "close"})
    resolve = names(**dict.fromkeys(("a_example", "refuse_example", "direct_example"), "93.184.216.34"))
    with (
        upstream_proxy(site.port) as (port, heads),
        proxy(resolve=resolve, upstream=from_environment) as served,
        served.lease() as lease,
    ):
        for name in ("http_proxy", "https_proxy"):
            monkeypatch.setenv(name, f"http://us%40er:word@127.0.0.1:{port}")
        monkeypatch.setenv("no_proxy", "direct.example")
        assert get(served, lease, "http://a.example/x").endswith(b"via")
        assert heads[0].startswith(b"GET http://a.example/x HTTP/1.1\r\nHost: a.example\r\n")
        assert base64.b64encode(b"us@er:word") in heads[0] and lease.address.password.encode() not in heads[0]
        sock, head = tunnel(served, lease, "a.example:443")
        with closing(sock):
            assert head.startswith(b"HTTP/1.1 200")
            sock.sendall(b"GET /t HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            assert read_all(sock).endswith(b"tunnelled")
        sock, head = tunnel(served, lease, "refuse.example:443")
        sock.close()
        assert head.startswith(b"HTTP/1.1 502")
        assert get(served, lease, "http://10.0.0.1/").startswith(b"HTTP/1.1 403"), "the guard comes first"
        seen = len(heads)
        assert from_environment(Guard(Policy(), resolve=resolve).check("http://direct.example/")) is None
        monkeypatch.setenv("http_proxy", "socks5://127.0.0.1:1")
        assert get(served, lease, "http://a.example/").startswith(b"HTTP/1.1 502")
        assert "http://host:port" in lease.failures()[-1].message
        assert len(heads) == seen


def test_the_environments_proxy_is_ignored_otherwise(
    site: LoopbackSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.add("/d", "direct")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    with proxy("127.0.0.1") as served, served.lease() as lease:
        assert get(served, lease, site.url("/d")).endswith(b"direct")
