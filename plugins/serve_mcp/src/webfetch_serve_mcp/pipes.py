"""The stdio transport: lines of JSON on two byte streams, with an answer to each line that is none.

The SDK's own passes over what it cannot read in silence, takes lines of any length, and drops running
requests at the end of input. The messages are the SDK's; only the bytes are handled here. Both streams
are read and written in threads, since a pipe, a file and a console have nothing else in common.
"""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import AsyncIterator
from concurrent.futures import CancelledError
from contextlib import asynccontextmanager, suppress
from typing import Any, BinaryIO

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp.types import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    jsonrpc_message_adapter,
)

from .answers import plain

_log = logging.getLogger("webfetch.serve_mcp")

MAX_OPEN = 1_000
"""With so many unanswered requests no more are read: who sends without reading waits in the pipe."""
_WITHOUT_END = frozenset({"subscriptions/listen"})
"""Requests that are answered when the client goes: nobody waits for them at the end of input."""


class Pipes:
    """One client's two streams.

    Args:
        max_bytes: of one line; a longer one is refused.
        drain_s: how long running requests are waited for at the end of input.
    """

    def __init__(self, stdin: BinaryIO, stdout: BinaryIO, *, max_bytes: int, drain_s: float) -> None:
        self._stdin = stdin
        self._stdout = stdout
        self._max_bytes = max_bytes
        self._drain_s = drain_s
        self._open: set[str | int] = set()
        self._settled = asyncio.Event()
        self.answered = asyncio.Event()
        """Set when the first message has been written."""
        self._writing = anyio.CapacityLimiter(1)

    @asynccontextmanager
    async def streams(
        self,
    ) -> AsyncIterator[
        tuple[MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]]
    ]:
        """The pair of streams for the SDK's ``Server.run``. They end with the input, or with the reader of
        the output."""
        read_send, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        write, write_receive = anyio.create_memory_object_stream[SessionMessage](0)
        lines_send, lines = anyio.create_memory_object_stream[bytes | None](0)
        loop = asyncio.get_running_loop()
        threading.Thread(
            target=self._read_lines, args=(loop, lines_send), name="webfetch-mcp-stdin", daemon=True
        ).start()
        async with anyio.create_task_group() as group:

            async def reading() -> None:
                async with read_send, lines:
                    await self._take(lines, read_send, write)
                    await self._drain()

            async def writing() -> None:
                async with write_receive:
                    try:
                        async for message in write_receive:
                            await self._put(message)
                    except (OSError, ValueError):  # the client reads no more
                        _log.debug("stdout is closed")
                        group.cancel_scope.cancel()

            group.start_soon(reading)
            group.start_soon(writing)
            try:
                yield read, write
            finally:
                group.cancel_scope.cancel()

    # ---- in --------------------------------------------------------------------------------------

    def _read_lines(
        self, loop: asyncio.AbstractEventLoop, lines: MemoryObjectSendStream[bytes | None]
    ) -> None:
        """Read lines in a thread of its own; None stands for one that is too long."""
        try:
            while True:
                line: bytes | None = self._stdin.readline(self._max_bytes + 1)
                if not line:
                    break
                if len(line) > self._max_bytes and not line.endswith(b"\n"):
                    while (rest := self._stdin.readline(65_536)) and not rest.endswith(b"\n"):
                        pass
                    line = None
                if line is None or line.strip():
                    # Waits until it is taken: a client that sends faster than it is served waits in its pipe.
                    asyncio.run_coroutine_threadsafe(lines.send(line), loop).result()
        except (OSError, ValueError, RuntimeError, CancelledError, anyio.BrokenResourceError) as exc:
            _log.debug("stdin is read no more: %r", exc)  # the stream or the loop is closed
        finally:
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(lines.close)

    async def _take(
        self,
        lines: MemoryObjectReceiveStream[bytes | None],
        read: MemoryObjectSendStream[SessionMessage | Exception],
        write: MemoryObjectSendStream[SessionMessage],
    ) -> None:
        async for line in lines:
            if line is None:
                told = f"The message is longer than {self._max_bytes} bytes"
                await write.send(SessionMessage(_refusal(None, INVALID_REQUEST, told)))
                continue
            message, refusal = read_message(line)
            if refusal is not None:
                await write.send(SessionMessage(refusal))
            elif message is not None:
                self._note(message)
                await read.send(SessionMessage(message))
                await self._fewer_than(MAX_OPEN)

    def _note(self, message: Any) -> None:
        """Keep account of the requests that are not answered yet."""
        if isinstance(message, JSONRPCRequest):
            if message.method not in _WITHOUT_END:
                self._open.add(message.id)
        elif isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
            cancelled = (message.params or {}).get("requestId")
            if isinstance(cancelled, (str, int)):
                self._close(cancelled)

    def _close(self, id_: str | int) -> None:
        """Count a request as settled. Some clients write an id as a number once and as text the next time."""
        self._open -= {id_, str(id_), int(id_) if str(id_).isdecimal() and len(str(id_)) < 20 else id_}
        self._settled.set()

    async def _fewer_than(self, count: int) -> None:
        while len(self._open) >= count:
            self._settled.clear()
            await self._settled.wait()

    async def _drain(self) -> None:
        """Wait for the answers to what was asked before the end of input."""
        with anyio.move_on_after(self._drain_s):
            await self._fewer_than(1)

    # ---- out -------------------------------------------------------------------------------------

    async def _put(self, message: SessionMessage) -> None:
        one = message.message
        # Left behind when the server is stopped: a client that does not read must not hold that up.
        await anyio.to_thread.run_sync(self._write, _line(one), abandon_on_cancel=True, limiter=self._writing)
        self.answered.set()
        if isinstance(one, (JSONRPCResponse, JSONRPCError)) and one.id is not None:
            self._close(one.id)

    def _write(self, line: bytes) -> None:
        self._stdout.write(line)
        self._stdout.flush()


def _line(message: Any) -> bytes:
    try:
        text: str = message.model_dump_json(by_alias=True, exclude_unset=True)
    except ValueError as exc:  # something in it that JSON cannot write; ours are cleaned before
        _log.error("a message cannot be written", exc_info=exc)
        refusal = _refusal(getattr(message, "id", None), INTERNAL_ERROR, "The answer cannot be written")
        text = refusal.model_dump_json(by_alias=True, exclude_unset=True)
    return text.encode("utf-8", "replace") + b"\n"


def read_message(line: bytes) -> tuple[JSONRPCMessage | None, JSONRPCError | None]:
    """The message that a line is, or the answer to one that is none."""
    data: Any = None
    line = line.removeprefix(b"\xef\xbb\xbf")  # what editors and shells of Windows begin a text with
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
        if not isinstance(message, JSONRPCNotification) or b'"id"' not in line:
            return message, None
        data = json.loads(line)
        if "id" not in data:
            return message, None
    except ValueError:
        try:
            data = json.loads(line)
        except (ValueError, RecursionError):
            return None, _refusal(None, PARSE_ERROR, "Parse error: a line must be one JSON-RPC message")
        # Half of a pair of surrogates is written by programs that cut a text in the middle of a character.
        with suppress(ValueError):
            if (cleaned := plain(data)) != data:
                return jsonrpc_message_adapter.validate_python(cleaned, by_name=False), None
    if isinstance(data, list):
        return None, _refusal(None, INVALID_REQUEST, "Batches are no part of the protocol")
    id_ = data.get("id") if isinstance(data, dict) else None
    known = isinstance(id_, (str, int)) and not isinstance(id_, bool)
    return None, _refusal(id_ if known else None, INVALID_REQUEST, "Not a JSON-RPC 2.0 message of MCP")


def _refusal(id_: Any, code: int, message: str) -> JSONRPCError:
    return JSONRPCError(jsonrpc="2.0", id=id_, error=ErrorData(code=code, message=message))
