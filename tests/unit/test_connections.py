"""Connections of the servers: who is let in, who makes room, bodies, and uvicorn held to it on loopback."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webfetch_core.api import (
    BodyRefused,
    ConfigError,
    ConnectionLimits,
    HungUp,
    limited_protocol,
    listen,
    open_files,
    read_body,
    tell_of_accept_errors,
)
from webfetch_core.connections import Connections

# ---- who is let in -------------------------------------------------------------------------------


def test_the_longest_without_a_request_makes_room() -> None:
    book = Connections(ConnectionLimits(most=3))
    assert [book.admit(n, "127.0.0.1") for n in "abc"] == [(True, None)] * 3
    book.asks("a")
    assert book.admit("d", "127.0.0.1") == (True, "b")
    book.rests("a")
    assert book.admit("e", "127.0.0.1") == (True, "c")
    for busy in "ade":
        book.asks(busy)
    assert book.admit("f", "127.0.0.1") == (False, None), "nobody is cut off who is being answered"
    book.leave("a")
    assert book.admit("f", "127.0.0.1") == (True, None)


def test_a_client_has_a_share_and_makes_room_for_itself() -> None:
    book = Connections(ConnectionLimits(most=8))
    assert [book.admit(n, f"2001:db8::{n}") for n in (1, 2)] == [(True, None)] * 2
    assert book.admit(3, "2001:db8::3") == (True, 1), "one network is one client"
    assert book.admit(4, "192.0.2.1") == (True, None)
    book.asks(2), book.asks(3)
    assert book.admit(5, "2001:db8::5") == (False, None)


@pytest.mark.parametrize(
    ("shared", "address", "many"),
    [
        ((), "127.0.0.9", True),
        ((), "::1", True),
        ((), "::ffff:127.0.0.1", True),
        ((), "10.0.0.1", False),
        (("10.0.0.0/24",), "10.0.0.1", True),
        (("10.0.0.1",), "10.0.0.2", False),
        (("*",), "192.0.2.1", True),
        (("no network",), "192.0.2.1", False),
        ((), "", False),
    ],
)
def test_behind_some_addresses_there_are_many_clients(
    shared: tuple[str, ...], address: str, many: bool
) -> None:
    book = Connections(ConnectionLimits.within(1 << 20, 8, shared))
    for n in range(8):
        book.admit(n, address)
    assert len(book) == (8 if many else 2)


STEPS = st.lists(
    st.tuples(st.sampled_from("+-ar"), st.integers(0, 9), st.sampled_from(["a", "b", "10.0.0.1"]))
)


@given(STEPS)
def test_there_are_never_too_many(steps: list[tuple[str, int, str]]) -> None:
    book, inside = Connections(ConnectionLimits(most=4)), set()
    for what, one, address in steps:
        if what == "+" and one not in inside:
            let_in, leaves = book.admit(one, address)
            inside.discard(leaves)
            if let_in:
                inside.add(one)
        elif what == "-":
            book.leave(one)
            inside.discard(one)
        else:
            (book.asks if what == "a" else book.rests)(one)
        assert len(book) == len(inside) <= 4


def test_open_files_bound_them() -> None:
    assert ConnectionLimits.within(1_024, 1_000).most == 480
    assert ConnectionLimits.within(1 << 20, 1_000).most == 1_000
    assert ConnectionLimits.within(32, 1_000).most == 8
    assert open_files() > 0


# ---- bodies --------------------------------------------------------------------------------------


def body_of(*messages: dict[str, Any], length: str = "", most: int = 10, seconds: float = 60.0) -> bytes:
    waiting = list(messages)

    async def receive() -> Any:
        if not waiting:
            await asyncio.Event().wait()
        return waiting.pop(0)

    return asyncio.run(read_body(receive, length, most, seconds))


def part(body: bytes, more: bool = False) -> dict[str, Any]:
    return {"type": "http.request", "body": body, "more_body": more}


def test_a_body_comes_whole_or_not() -> None:
    assert body_of(part(b"ab", True), part(b"", True), part(b"c")) == b"abc"
    assert body_of({"type": "http.request"}) == b""
    assert body_of(part(b"x" * 10), length="10") == b"x" * 10
    assert body_of(part(b"x"), length="ten") == b"x"
    with pytest.raises(HungUp):
        body_of(part(b"ab", True), {"type": "http.disconnect"})


@pytest.mark.parametrize("length", ["11", "9" * 5_000])
def test_too_much_is_refused_by_what_is_told(length: str) -> None:
    with pytest.raises(BodyRefused) as refused:
        body_of(length=length)
    assert refused.value.status == 413


def test_too_much_or_too_slow_is_refused() -> None:
    with pytest.raises(BodyRefused, match="larger than 10 bytes"):
        body_of(part(b"x" * 6, True), part(b"x" * 6, True))
    with pytest.raises(BodyRefused) as refused:
        body_of(part(b"x", True), seconds=0.05)
    assert refused.value.status == 408


# ---- uvicorn, on loopback ------------------------------------------------------------------------

uvicorn = pytest.importorskip("uvicorn", reason="the core does without uvicorn")

Serve = Callable[..., int]
LARGE = 50_000_000


GONE = threading.Event()
BEGUN = threading.Semaphore(0)


async def app(scope: Any, receive: Any, send: Callable[[Any], Awaitable[None]]) -> None:
    if scope["path"] == "/never":
        BEGUN.release()
        await asyncio.Event().wait()
    body = b"x" * LARGE if scope["path"] == "/large" else b"ok"
    headers = [(b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body[:-1], "more_body": True})
    await send({"type": "http.response.body", "body": body[-1:]})
    if (await receive())["type"] == "http.disconnect":
        GONE.set()


@pytest.fixture
def serve() -> Iterator[Serve]:
    with ExitStack() as stack:

        def start(**limits: Any) -> int:
            from uvicorn.protocols.http.h11_impl import H11Protocol

            sock = listen("127.0.0.1", 0)
            protocol = limited_protocol(H11Protocol, ConnectionLimits(**limits))
            config = uvicorn.Config(
                app, http=protocol, lifespan="off", log_config=None, timeout_graceful_shutdown=1
            )
            server = uvicorn.Server(config)
            thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[sock])), daemon=True)
            thread.start()
            stack.callback(sock.close)
            stack.callback(thread.join, 30)
            stack.callback(setattr, server, "should_exit", True)
            return int(sock.getsockname()[1])

        yield start


def dial(port: int, sent: bytes = b"") -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), timeout=60)
    connection.sendall(sent)
    return connection


def ask(connection: socket.socket, path: str = "/") -> bytes:
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
    return connection.recv(65_536)


HALF = b"GET / HTTP/1.1\r\nHost: a\r\nX-Slow: "


@pytest.mark.parametrize("sent", [b"", HALF, b"G"])
def test_a_head_that_does_not_end_is_given_up(serve: Serve, sent: bytes) -> None:
    with dial(serve(head_s=0.2), sent) as connection:
        assert connection.recv(1_000) == b"", "it is hung up"


def test_so_is_a_second_one_that_trickles(serve: Serve) -> None:
    with dial(serve(head_s=0.5)) as connection:
        assert ask(connection).startswith(b"HTTP/1.1 200")
        connection.settimeout(0.05)
        ends = time.monotonic() + 60
        gone = False
        connection.sendall(HALF)
        while not gone and time.monotonic() < ends:
            try:
                connection.sendall(b"a")
                gone = connection.recv(1_000) == b""
            except TimeoutError:
                continue
            except OSError:
                gone = True
        assert gone


def test_a_request_that_is_worked_on_is_not_hung_up(serve: Serve) -> None:
    port = serve(head_s=0.2)
    with dial(port, b"GET /never HTTP/1.1\r\nHost: a\r\n\r\n") as working, dial(port, HALF) as slow:
        assert BEGUN.acquire(timeout=60)
        assert slow.recv(1_000) == b""
        working.settimeout(1.5)
        with pytest.raises(TimeoutError):
            working.recv(1)


def test_requests_one_behind_the_other_are_answered(serve: Serve) -> None:
    with dial(serve(head_s=0.3)) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n" * 3)
        got = b""
        while got.count(b"ok") < 3:
            got += connection.recv(65_536)
        assert got.count(b"HTTP/1.1 200") == 3


def test_half_open_connections_keep_nobody_out(serve: Serve) -> None:
    port = serve(most=8, head_s=60.0)
    with ExitStack() as stack:
        for _ in range(40):
            stack.enter_context(dial(port, HALF))
        with dial(port) as connection:
            assert ask(connection).startswith(b"HTTP/1.1 200")


def test_where_all_are_at_work_the_next_is_told_when_to_come_back(serve: Serve) -> None:
    port = serve(most=2)
    with ExitStack() as stack:
        for _ in range(2):
            stack.enter_context(dial(port, b"GET /never HTTP/1.1\r\nHost: a\r\n\r\n"))
            assert BEGUN.acquire(timeout=60)
        with dial(port) as connection:
            told = ask(connection)
        assert b"retry-after: 5" in told and told.endswith(b"too many connections\n")


def test_an_answer_that_nobody_takes_is_given_up(serve: Serve) -> None:
    GONE.clear()
    with dial(serve(stall_s=0.5), b"GET /large HTTP/1.1\r\nHost: a\r\n\r\n"):
        assert GONE.wait(60)


def test_a_slow_reader_gets_all_of_it(serve: Serve) -> None:
    with dial(serve(stall_s=3.0)) as connection:
        connection.sendall(b"GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
        size = 0
        while size < LARGE:
            got = connection.recv(2_000_000)
            assert got
            size += len(got)
            time.sleep(0.01)


# ---- no file left --------------------------------------------------------------------------------


def test_accept_errors_are_told_of_once() -> None:
    told: list[str] = []
    others: list[Any] = []

    async def main() -> None:
        loop = asyncio.get_running_loop()
        tell_of_accept_errors(loop, told.append)
        for _ in range(100):
            loop.call_exception_handler(
                {"message": "accept", "exception": OSError(24, "Too many open files")}
            )
        loop.default_exception_handler = others.append  # type: ignore[method-assign]
        loop.call_exception_handler({"message": "another"})

    asyncio.run(main())
    assert told == ["webfetch: connections have to wait: Too many open files (raise the limit: ulimit -n)"]
    assert others == [{"message": "another"}]


def test_an_address_that_is_taken_is_named() -> None:
    with listen("127.0.0.1", 0) as sock, pytest.raises(ConfigError, match=r"listen on 127\.0\.0\.1 port"):
        listen("127.0.0.1", sock.getsockname()[1])
    with pytest.raises(ConfigError, match=r"listen on 192\.0\.2\.1"):
        listen("192.0.2.1", 0)
