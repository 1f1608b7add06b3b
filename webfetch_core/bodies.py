"""For plugins that serve HTTP: bodies of requests, which come whole and in time or not at all."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any


class BodyRefused(Exception):
    """A body that is not taken.

    Attributes:
        status: 408 or 413.
        told: why.
    """

    def __init__(self, status: int, told: str) -> None:
        super().__init__(told)
        self.status = status
        self.told = told


class HungUp(Exception):
    """The client is gone: there is nobody to answer."""


async def read_body(receive: Callable[[], Awaitable[Any]], length: str, most: int, seconds: float) -> bytes:
    """The whole body of an ASGI request.

    Args:
        length: its header ``Content-Length``; empty where there is none.
        most: bytes; more are refused.
        seconds: in which it must be there.

    Raises:
        BodyRefused: it is too large (413) or too slow (408).
        HungUp: the client left while it was sending.
    """
    too_large = BodyRefused(413, f"the body is larger than {most} bytes")
    if length.isascii() and length.isdigit() and (len(length) > 18 or int(length) > most):
        raise too_large
    import asyncio

    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(seconds):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise HungUp
                parts.append(message.get("body", b""))
                size += len(parts[-1])
                if size > most:
                    raise too_large
                if not message.get("more_body"):
                    return b"".join(parts)
    except TimeoutError:
        raise BodyRefused(408, f"the body did not arrive within {seconds:.0f} s") from None
