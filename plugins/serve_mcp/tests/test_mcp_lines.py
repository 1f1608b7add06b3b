"""The server over stdio, line by line: what is no message, what prints, and how it ends."""

from __future__ import annotations

import json
import select
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

Start = Callable[..., Any]
posix = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")


def ping(id_: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id_, "method": "ping"}


PROC = Path("/proc")


def stat(pid: Any) -> list[str]:
    """State, parent and more of a process; empty where there is none."""
    try:
        return (PROC / str(pid) / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return []


def children(pid: int) -> list[int]:
    """The processes that a server has started, where the system tells."""
    pids = [entry.name for entry in PROC.iterdir() if entry.name.isdigit()] if PROC.is_dir() else []
    return [int(name) for name in pids if stat(name)[1:2] == [str(pid)]]


def gone(pid: int) -> bool:
    """Whether a process ends, if not at once: one that was left may be told by the end of its input."""
    until = time.monotonic() + 60
    while (found := stat(pid)) and found[0] != "Z" and time.monotonic() < until:
        time.sleep(0.02)
    return not found or found[0] == "Z"


def test_only_messages_get_to_stdout_whatever_a_plugin_prints(raw: Start) -> None:
    server = raw(STAGE_NOISE="1")
    server.begin()
    server.call(1, "web_search", query="ferry")
    server.call(2, "web_search", query="broken")
    assert server.ask(3, "ping")["result"] == {}
    server.call(4, "fetch_url", url="https://stage.example/ferry")
    started = children(server.process.pid)
    assert server.end() == 0
    assert all(gone(pid) for pid in started)
    assert all("method" in message for message in server.rest())
    for told in ("print: import", "stdout: noise", "write: noise", "child: noise", "print: search"):
        assert told in server.errors


def test_text_is_utf_8_both_ways_whatever_the_locale(raw: Start) -> None:
    server = raw(
        STAGE_NOISE="1", LC_ALL="C", PYTHONIOENCODING="cp1252", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0"
    )
    server.begin()
    query = "café 🚀 東京"
    line = json.dumps(
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": "web_search", "arguments": {"query": query}},
        },
        ensure_ascii=False,
    )
    server.send(line.encode())
    result = server.answer(1)["result"]
    assert result["structuredContent"]["query"] == query
    assert not result["isError"]
    # Half of a pair of surrogates, as of a text that was cut in the middle of a character.
    server.send(
        b'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"web_search","arguments":'
        b'{"query":"ferry \\ud83d"}}}'
    )
    assert server.answer(2)["result"]["structuredContent"]["query"] == "ferry ?"


NOT_MESSAGES: list[tuple[bytes, int, Any]] = [
    (b"this is not json", -32700, None),
    (b"{", -32700, None),
    (b"\xff\xfe\xfd", -32700, None),
    (b'"\xc3("', -32700, None),
    (b"[" * 100_000, -32700, None),
    (b"7", -32600, None),
    (b"null", -32600, None),
    (b"[]", -32600, None),
    (json.dumps([ping(1), ping(2)]).encode(), -32600, None),
    (b'{"id": 5, "method": "ping"}', -32600, 5),
    (b'{"jsonrpc": "1.0", "id": "five", "method": "ping"}', -32600, "five"),
    (b'{"jsonrpc": "2.0", "id": true, "method": "ping"}', -32600, None),
    (b'{"jsonrpc": "2.0", "id": 6, "method": 7}', -32600, 6),
    (b'{"jsonrpc": "2.0", "id": 6, "method": "ping", "params": "x"}', -32600, 6),
    (b'{"jsonrpc": "2.0", "id": {"a": 1}, "method": "ping"}', -32600, None),
    (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', -32600, None),
    (b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}', -32600, None),
    (b'{"jsonrpc": "2.0", "id": 8, "method": "tools/list", "params": {"cursor": 7}}', -32602, 8),
    (b'{"jsonrpc": "2.0", "id": 8, "method": "tools/call", "params": {"name": 7}}', -32602, 8),
    (b'{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"x","arguments":[]}}', -32602, 8),
    (b'{"jsonrpc": "2.0", "id": 8, "method": "tools/call"}', -32602, 8),
    (b'{"jsonrpc": "2.0", "id": 8, "method": "tools/call", "params": {"name": "nope"}}', -32602, 8),
    (b'{"jsonrpc": "2.0", "id": 9, "method": "no/such"}', -32601, 9),
    (b'{"jsonrpc": "2.0", "id": 9, "method": "resources/list"}', -32601, 9),
    (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"%b"}}' % (b"y" * 2_000_000), -32600, None),
]  # fmt: skip


def test_each_line_that_is_no_message_is_answered_as_such(raw: Start) -> None:
    server = raw()
    server.begin()
    for line, code, id_ in NOT_MESSAGES:
        server.send(line)
        answer = server.read()
        assert (answer["error"]["code"], answer["id"]) == (code, id_), line[:80]
        assert answer["error"]["message"]
    # What needs no answer gets none: blank lines, answers to nothing, notifications that nobody knows.
    server.send(
        b"",
        b"   ",
        {"jsonrpc": "2.0", "id": 77, "result": {}},
        {"jsonrpc": "2.0", "id": None, "error": {"code": 1, "message": "x"}},
        {"jsonrpc": "2.0", "method": "notifications/unknown_future", "params": {"x": 1}},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "never"}},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": []}},
        {"jsonrpc": "2.0", "method": "notifications/cancelled"},
        {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": True}},
    )
    assert server.ask("last", "ping")["result"] == {}
    assert server.call(1, "status")["isError"] is False
    assert server.end() == 0


def test_a_client_that_sends_and_does_not_read_waits_in_its_pipe(raw: Start) -> None:
    server = raw()
    server.begin()
    count = 5_000  # the answers are several times what a pipe holds
    writer = threading.Thread(target=server.send, args=[ping(number) for number in range(count)])
    writer.start()
    assert sorted(server.read()["id"] for _ in range(count)) == list(range(count))
    writer.join()
    assert server.end() == 0


def test_before_the_handshake_only_a_ping_is_answered(raw: Start) -> None:
    server = raw()
    assert server.ask(1, "tools/list")["error"]["code"] == -32602
    assert server.ask(2, "ping")["result"] == {}
    server.begin()
    assert server.ask(3, "tools/list")["result"]["tools"]


def test_a_cancelled_request_gets_no_answer(raw: Start, stage: Any) -> None:
    server = raw("--set", "plugins.serve_mcp.parallel=1")
    server.begin()
    arguments = {"name": "web_search", "arguments": {"query": "slow-x"}}
    server.send({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": arguments})
    while not (stage.folder / "reached-slow-x").exists():
        time.sleep(0.01)
    server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "2"}})
    assert server.ask(3, "ping")["result"] == {}
    assert not server.call(4, "web_search", query="ferry")["isError"]
    stage.release("slow-x")
    assert server.ask(5, "ping")["result"] == {}
    assert server.end() == 0
    assert all("method" in message for message in server.rest())


# ---- the end -------------------------------------------------------------------------------------


def test_the_end_of_input_waits_for_what_was_asked(raw: Start) -> None:
    server = raw("--deadline", "60")
    server.begin()
    arguments = {"name": "web_search", "arguments": {"query": "ferry"}}
    server.send({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": arguments})
    server.process.stdin.close()
    assert "leaves at 7:40" in server.answer(2)["result"]["content"][0]["text"]
    assert server.wait() == 0


def test_without_a_word_it_ends_with_its_input(raw: Start) -> None:
    assert raw().end() == 0


@posix
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_signal_ends_it_and_all_that_it_started(raw: Start, stage: Any, number: int, code: int) -> None:
    server = raw()
    server.begin()
    server.call(1, "fetch_url", url="https://stage.example/ferry")
    arguments = {"name": "web_search", "arguments": {"query": "slow-y"}}
    server.send({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": arguments})
    while not (stage.folder / "reached-slow-y").exists():
        time.sleep(0.01)
    started = children(server.process.pid)
    assert started or not PROC.is_dir()
    server.process.send_signal(number)
    assert server.wait() == code
    assert all(gone(pid) for pid in started)
    assert (stage.folder / "closed").exists()
    assert "Traceback" not in server.errors


@posix
def test_a_signal_ends_it_while_its_client_does_not_read(raw: Start) -> None:
    server = raw()
    server.begin()

    def write() -> None:
        with suppress(BrokenPipeError):
            server.send(*(ping(number) for number in range(20_000)))

    writer = threading.Thread(target=write)
    writer.start()
    select.select([server.process.stdout], [], [], 60)  # it has begun to answer
    server.process.send_signal(signal.SIGTERM)
    assert server.wait() == 0
    writer.join()


@posix
def test_a_client_that_reads_no_more_ends_it(raw: Start) -> None:
    server = raw()
    server.begin()
    server.process.stdout.close()
    server.send(ping(1), ping(2))
    assert server.wait() == 0
    assert "Traceback" not in server.errors
