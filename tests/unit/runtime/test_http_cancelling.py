"""Requests under way for somebody who cancels: real sockets, and a far deadline."""

from __future__ import annotations

import random
import socket
import ssl
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from urllib3.util import wait_for_write

from webfetch_core.errors import TimedOut
from webfetch_core.runtime.cancelling import CancelToken
from webfetch_core.runtime.http import HttpClient
from webfetch_core.runtime.netguard import Guard, Policy
from webfetch_core.settings import NetSettings
from webfetch_core.testing.site import LoopbackSite, Received, Reply

TLS = Path(__file__).parent / "tls"
FAR_S = 60.0
"""The deadline of every request here: nothing that ends soon ends by that."""
SOON_S = 15.0
"""Within this, on a busy machine too, what is cancelled has ended."""


class RealClock:
    def monotonic(self) -> float:
        return time.monotonic()

    def time(self) -> float:
        return time.time()


def to_loopback(host: str, port: int, family: int, kind: int) -> list[tuple[Any, ...]]:
    return [(socket.AF_INET, kind, 6, "", ("127.0.0.1", port))]


@pytest.fixture
def make() -> Iterator[Callable[..., HttpClient]]:
    made: list[HttpClient] = []

    def client(resolve: Any = to_loopback, **net: Any) -> HttpClient:
        guard = Guard(Policy(allow_hosts=("127.0.0.1",)), resolve=resolve)
        ca = str(TLS / "authority.pem")
        made.append(HttpClient(guard, RealClock(), NetSettings(**net), "1.2", ca_bundle=ca))
        return made[-1]

    yield client
    for one in made:
        one.close()


@pytest.fixture
def site() -> Iterator[LoopbackSite]:
    with LoopbackSite() as made:
        yield made


class Peer:
    """Takes one connection, sends ``said`` once it was asked, and then says no more."""

    def __init__(self, said: bytes | None, *, tls: bool) -> None:
        """``said`` is None for one that accepts and does not even read."""
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.reached, self.gone = threading.Event(), threading.Event()
        self.url = f"http{'s' if tls else ''}://pinned.example:{self.listener.getsockname()[1]}/"
        self._said, self._tls = said, tls
        self._open: list[socket.socket] = []
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def _serve(self) -> None:
        with suppress(OSError):
            taken, _ = self.listener.accept()
            self._open.append(taken)
            if self._said is None:
                taken.recv(1, socket.MSG_PEEK)
                self.reached.set()
                return
            if self._tls:
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                context.load_cert_chain(TLS / "server.pem")
                taken = context.wrap_socket(taken, server_side=True)
                self._open.append(taken)
            asked = b""
            while b"\r\n\r\n" not in asked:
                asked += taken.recv(65536)
            taken.sendall(self._said)
            self.reached.set()
            with suppress(OSError):
                taken.recv(1)
            self.gone.set()

    def close(self) -> None:
        self.listener.close()
        for one in self._open:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
        self.thread.join(SOON_S)


@pytest.fixture
def peer() -> Iterator[Callable[..., Peer]]:
    made: list[Peer] = []

    def one(said: bytes | None, *, tls: bool = False) -> Peer:
        made.append(Peer(said, tls=tls))
        return made[-1]

    yield one
    for each in made:
        each.close()


def begun(token: CancelToken | None, work: Callable[..., Any], *given: Any, **more: Any) -> Future[Any]:
    """``work`` in a thread of its own, in which ``token`` applies."""
    outcome: Future[Any] = Future()

    def run() -> None:
        try:
            if token is None:
                outcome.set_result(work(*given, **more))
            else:
                with token.applied():
                    outcome.set_result(work(*given, **more))
        except BaseException as exc:
            outcome.set_exception(exc)

    threading.Thread(target=run, daemon=True).start()
    return outcome


def is_given_up(outcome: Future[Any]) -> bool:
    error = outcome.exception(SOON_S)
    return isinstance(error, TimedOut) and error.kind == "cancelled"


def far() -> float:
    return time.monotonic() + FAR_S


def asks(client: HttpClient, way: str) -> Callable[..., Any]:
    bound = client.bound()
    return {"page": bound.fetch_page, "call": bound.get, "post": bound.post}[way]


def until(condition: Callable[[], Any]) -> None:
    end = time.monotonic() + SOON_S
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.002)


# ---- wherever it is --------------------------------------------------------------------------------

OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
PLACES = {
    "before the reply": b"",
    "in its head": OK,
    "in a body of known length": OK + b"Content-Length: 100\r\n\r\n<p>half",
    "in a body that ends with the connection": OK + b"\r\n<p>half a page, which looks like a whole one",
    "between two chunks": OK + b"Transfer-Encoding: chunked\r\n\r\n7\r\n<p>half\r\n",
    "in a redirect": b"HTTP/1.1 302 Found\r\nLocation: /on\r\nContent-Le",
}


@pytest.mark.parametrize("tls", [False, True], ids=["plain", "tls"])
@pytest.mark.parametrize("way", ["page", "call", "post"])
@pytest.mark.parametrize("place", PLACES)
def test_a_read_that_is_under_way_ends(make: Any, peer: Any, place: str, way: str, tls: bool) -> None:
    one, client, token = peer(PLACES[place], tls=tls), make(), CancelToken()
    outcome = begun(token, asks(client, way), one.url, deadline=far())
    assert one.reached.wait(SOON_S)
    token.cancel()
    assert is_given_up(outcome)
    assert one.gone.wait(SOON_S), "the other side is told at once"
    assert not client.slots._slots and not token._wakes


@pytest.mark.parametrize("way", ["page", "call"])
def test_a_handshake_that_never_comes_ends(make: Any, peer: Any, way: str) -> None:
    one, token = peer(None), CancelToken()
    outcome = begun(token, asks(make(), way), one.url.replace("http:", "https:"), deadline=far())
    assert one.reached.wait(SOON_S)
    token.cancel()
    assert is_given_up(outcome)


@pytest.mark.parametrize("said", [b"", b"HTTP/1.1 200 OK\r\n\r\n"], ids=["tunnel", "handshake in it"])
def test_a_proxy_of_the_operator_that_hangs_is_left(
    make: Any, peer: Any, monkeypatch: pytest.MonkeyPatch, said: bytes
) -> None:
    one, token = peer(said), CancelToken()
    monkeypatch.setenv("https_proxy", one.url.replace("pinned.example", "localhost"))
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    outcome = begun(
        token, asks(make(use_env_proxies=True), "page"), "https://pinned.example/", deadline=far()
    )
    assert one.reached.wait(SOON_S)
    token.cancel()
    assert is_given_up(outcome)


def test_sending_to_one_who_does_not_read_ends(make: Any, peer: Any) -> None:
    one, token = peer(None), CancelToken()
    outcome = begun(token, make().bound().post, one.url, data=bytes(64 << 20), deadline=far())
    assert one.reached.wait(SOON_S)
    token.cancel()
    assert is_given_up(outcome)


def waits_to_connect(frame: Any) -> bool:
    while frame is not None and frame.f_code is not wait_for_write.__code__:
        frame = frame.f_back
    return frame is not None


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a full queue refuses at once")
def test_connecting_ends(make: Any) -> None:
    """To one whose queue is full, so that nothing is answered."""
    token, client = CancelToken(), make()
    client.load()
    tried: list[socket.socket] = []
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        for _ in range(20):
            tried.append(socket.socket())
            tried[-1].setblocking(False)
            with suppress(BlockingIOError):
                tried[-1].connect(full.getsockname())
        outcome = begun(token, asks(client, "page"), f"http://127.0.0.1:{full.getsockname()[1]}/")
        until(lambda: outcome.done() or any(map(waits_to_connect, sys._current_frames().values())))
        token.cancel()
        assert is_given_up(outcome)
    for one in tried:
        one.close()


def test_waiting_for_the_resolver_ends_and_what_it_finds_is_dropped(make: Any, site: LoopbackSite) -> None:
    asked, answers, token = threading.Event(), threading.Event(), CancelToken()

    def slow(*given: Any) -> list[tuple[Any, ...]]:
        asked.set()
        answers.wait(FAR_S)
        return to_loopback(*given)

    outcome = begun(token, asks(make(slow), "page"), f"http://slow.example:{site.port}/", deadline=far())
    assert asked.wait(SOON_S)
    token.cancel()
    assert is_given_up(outcome)
    answers.set()
    assert not site.connections


def test_waiting_for_a_place_at_the_host_is_cancelled_no_busy_host(make: Any, site: LoopbackSite) -> None:
    site.add("/hang", hang=True)
    client, other, token = make(per_host=1), CancelToken(), CancelToken()
    first = begun(other, asks(client, "page"), site.url("/hang"), deadline=far())
    until(lambda: site.paths)
    second = begun(token, asks(client, "page"), site.url("/hang"), deadline=far())
    until(lambda: client.slots._slots[site.host][1] == [2])
    token.cancel()
    assert is_given_up(second)
    other.cancel()
    assert is_given_up(first) and len(site.paths) == 1


# ---- what is left ----------------------------------------------------------------------------------


def test_the_place_at_the_host_is_free_at_once(make: Any, site: LoopbackSite) -> None:
    site.add("/hang", hang=True).add("/x", "here")
    client = make(per_host=1)
    for number in range(1, 4):
        token = CancelToken()
        outcome = begun(token, asks(client, "page"), site.url("/hang"), deadline=far())
        until(lambda number=number: len(site.paths) == number)
        token.cancel()
        assert is_given_up(outcome)
    late = begun(None, asks(client, "page"), site.url("/x"), deadline=far())
    assert late.result(SOON_S).body == b"here"


def test_what_was_cut_is_not_used_again_and_no_other_connection_is_touched(
    make: Any, site: LoopbackSite
) -> None:
    answers, client, token = threading.Event(), make(), CancelToken()

    def late(request: Received) -> Reply:
        answers.wait(FAR_S)
        return Reply(body=b"late")

    site.add("/x", "here").add("/hang", hang=True).add("/late", late)
    assert client.bound().get(site.url("/x")).body == b"here"
    doomed = begun(token, asks(client, "call"), site.url("/hang"), deadline=far())
    until(lambda: len(site.paths) == 2)
    assert site.connections == 1, "the kept connection is the one that is cut"
    other = begun(CancelToken(), asks(client, "post"), site.url("/late"), deadline=far())
    until(lambda: len(site.paths) == 3)
    token.cancel()
    assert is_given_up(doomed)
    answers.set()
    assert other.result(SOON_S).body == b"late"
    for _ in range(3):
        assert client.bound().post(site.url("/x")).body == b"here"
    assert site.connections == 2


def test_whoever_cancels_after_the_reply_cuts_nothing(make: Any, site: LoopbackSite) -> None:
    site.add("/x", "here")
    client, token = make(), CancelToken()
    with token.applied():
        client.bound().fetch_page(site.url("/x"))
    token.cancel()
    assert client.bound().post(site.url("/x")).body == b"here"
    assert site.connections == 1


@pytest.mark.slow
@pytest.mark.parametrize("way", ["page", "post"])
def test_it_may_come_at_any_step(make: Any, site: LoopbackSite, way: str) -> None:
    """As from a signal handler in the very thread. The outcome is the whole reply or that it was cancelled,
    and whoever comes next meets a connection that works, or none."""
    site.add("/x", "here")
    client = make()

    def cancelled_at(step: int) -> tuple[str, int]:
        token, seen = CancelToken(), 0

        def count(frame: Any, event: str, argument: Any) -> None:
            nonlocal seen
            seen += 1
            if seen == step:
                token.cancel()

        with token.applied():
            sys.setprofile(count)
            try:
                told = asks(client, way)(site.url("/x"), deadline=far()).body.decode()
            except TimedOut as exc:
                told = exc.kind
            finally:
                sys.setprofile(None)
        return told, seen

    told, steps = cancelled_at(-1)
    assert told == "here" and steps > 100
    outcomes = []
    for step in range(1, steps, 9):
        outcomes.append(cancelled_at(step)[0])
        assert asks(client, "post")(site.url("/x"), deadline=far()).body == b"here"
    assert set(outcomes) <= {"here", "cancelled"} and outcomes.count("cancelled") > len(outcomes) // 2
    assert not client.slots._slots


@pytest.mark.slow
def test_many_that_are_cut_at_any_moment_leave_the_others_alone(make: Any, site: LoopbackSite) -> None:
    """POST, which is not tried again on a connection that turns out to be dead."""
    site.add("/x", "here").add("/slow", "slow", delay_s=0.003)
    client, chance, over = make(per_host=4), random.Random(7), threading.Event()
    moments = [chance.uniform(0.0, 0.006) for _ in range(300)]

    def cut_short() -> int:
        for moment in moments:
            token = CancelToken()
            timer = threading.Timer(moment, token.cancel)
            timer.start()
            with token.applied(), suppress(TimedOut):
                asks(client, "call")(site.url("/slow"), deadline=far())
            timer.join(SOON_S)
        return len(moments)

    def undisturbed() -> int:
        count = 0
        while not over.is_set():
            assert asks(client, "post")(site.url("/x"), deadline=far()).body == b"here"
            count += 1
        return count

    others = [begun(None, undisturbed) for _ in range(2)]
    cut = [begun(None, cut_short) for _ in range(2)]
    try:
        assert [one.result(FAR_S) for one in cut] == [300, 300]
    finally:
        over.set()
    assert all(one.result(SOON_S) > 10 for one in others)
