"""How the server ends: signals at any moment, requests that last longer, and connections out of step."""

from __future__ import annotations

import http.client
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from webfetch_core import Settings
from webfetch_core.testing import ScriptedEngine, ScriptedFetcher, hits

Serve = Callable[..., Any]
WARP = "https://loom.example/warp"
BIG = "https://loom.example/big"
COMMAND = [sys.executable, "-m", "webfetch_core", "serve", "http", "--port", "0"]
PATIENT = Settings(extract_workers=0, deadline_s=60.0, engine_timeout_s=60.0)
posix = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")


def start(home: Path) -> subprocess.Popen[str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith("WEBFETCH_")}
    environ = {**kept, "WEBFETCH_HOME": str(home), "WEBFETCH_PLUGINS": "serve_http"}
    pipe = subprocess.PIPE
    return subprocess.Popen(COMMAND, env=environ, cwd=home, text=True, stdout=pipe, stderr=pipe)


@pytest.mark.slow
@posix
@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP"])
def test_a_signal_right_after_the_address_ends_it_in_order(tmp_path: Path, name: str) -> None:
    process = start(tmp_path)
    try:
        assert process.stdout is not None and process.stdout.readline().startswith("http://")
        process.send_signal(getattr(signal, name))
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 0, err
    assert "has stopped serving" in err and "Traceback" not in err


SHAPES = [
    ("/api/v1/search", {"query": "warp"}, lambda body: body["error"]["kind"] == "cancelled"),
    ("/search", {"query": "warp"}, lambda body: "stopped" in body["detail"]["error"]),
    ("/v2/search", {"query": "warp"}, lambda body: body["success"] is False),
]


def test_what_lasts_longer_than_the_stop_is_told_so(serve: Serve) -> None:
    go = threading.Event()
    engine = ScriptedEngine(lambda request: hits(WARP) if go.wait(60) else [])
    server = serve(engine=engine, core=PATIENT, search_deadline_s=60.0, drain_s=1.0)
    try:
        with ThreadPoolExecutor(len(SHAPES)) as pool:
            asked = [pool.submit(server.post, path, {**given, "n": path}) for path, given, _ in SHAPES[1:]]
            asked.insert(0, pool.submit(server.post, *SHAPES[0][:2]))
            for _ in range(6_000):
                if server.desk.admitted == len(SHAPES):
                    break
                threading.Event().wait(0.01)
            server.stop()
            replies = [one.result(60) for one in asked]
    finally:
        go.set()
    for reply, (path, _, right) in zip(replies, SHAPES, strict=True):
        assert reply.status == 503 and right(reply.json), path
        assert reply.headers["retry-after"] == "5"
        assert reply.headers["x-content-type-options"] == "nosniff"


def test_answers_that_nobody_reads_count_as_connections(serve: Serve) -> None:
    fetcher = ScriptedFetcher({WARP: "the warp", BIG: "warp " * 1_000_000})
    server = serve(fetcher=fetcher, max_connections=8)
    with ExitStack() as stack:
        held = []
        for _ in range(40):
            one = stack.enter_context(socket.socket())
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1_024)
            one.settimeout(60)
            one.connect(("127.0.0.1", server.port))
            one.sendall(f"GET /r/{BIG} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
            held.append(one.recv(12))
    assert held.count(b"HTTP/1.1 200") == 8
    assert set(held) == {b"HTTP/1.1 200", b"HTTP/1.1 503"}


def raw(server: Any, head: str, body: bytes = b"") -> tuple[bytes, bool]:
    """All that comes back within the first answer, and whether the connection is closed after it."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        connection.sendall(head.replace("\n", "\r\n").encode() + b"\r\n\r\n" + body)
        reply = http.client.HTTPResponse(connection)
        reply.begin()
        told = b"%d " % reply.status + reply.read()
        return told, reply.will_close


def test_two_lengths_of_one_body_are_refused(serve: Serve) -> None:
    server = serve()
    head = (
        "POST /search HTTP/1.1\nHost: 127.0.0.1\nContent-Type: application/json\n"
        "Content-Length: 4\nTransfer-Encoding: chunked"
    )
    told, closed = raw(server, head, b"2\r\n{}\r\n0\r\n\r\n")
    assert told.startswith(b"400 ") and closed and b"at the same time" in told


def test_who_asks_first_is_not_told_to_go_on_with_what_is_refused(serve: Serve) -> None:
    server = serve(max_body_bytes=1_024)
    head = (
        "POST /search HTTP/1.1\nHost: 127.0.0.1\nContent-Type: application/json\n"
        "Content-Length: 5000\nExpect: 100-continue"
    )
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        connection.sendall(head.replace("\n", "\r\n").encode() + b"\r\n\r\n")
        assert connection.recv(4_096).startswith(b"HTTP/1.1 413 ")


def test_what_is_no_http_is_told_so(serve: Serve) -> None:
    server = serve()
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        connection.sendall(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 hello over TLS\r\n\r\n")
        reply = http.client.HTTPResponse(connection)
        reply.begin()
        assert (reply.status, reply.getheader("x-content-type-options")) == (400, "nosniff")
        assert reply.read() == b"this is no HTTP\n"


def test_health_can_be_asked_for_by_its_head(serve: Serve) -> None:
    reply = serve(token="a-token-of-these-tests-0123456789").ask(
        "HEAD", "/healthz", headers={"Authorization": ""}
    )
    assert reply.status == 200 and reply.body == b""
