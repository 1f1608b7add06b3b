"""One client on stdin and stdout, until it goes or the server is stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

import anyio

from .desk import Desk
from .pipes import Pipes
from .service import Service
from .settings import McpSettings

if TYPE_CHECKING:
    from .running import Stop

OPEN_BEHIND_S = 0.05


async def serve_stdio(
    desk: Desk, settings: McpSettings, stdin: BinaryIO, stdout: BinaryIO, stop: Stop
) -> None:
    """Serve; the ``Webfetch`` is opened behind the first answer."""
    service = Service(desk, settings)
    pipes = Pipes(stdin, stdout, max_bytes=settings.max_message_bytes, drain_s=settings.answer_s + 1)
    async with anyio.create_task_group() as group:

        async def stopping() -> None:
            await stop.event.wait()
            group.cancel_scope.cancel()

        async def opening() -> None:
            await pipes.answered.wait()
            await anyio.sleep(OPEN_BEHIND_S)  # let the list of tools go first, which is asked for at once
            desk.begin()

        group.start_soon(stopping)
        group.start_soon(opening)
        async with pipes.streams() as (read, write):
            await service.run(read, write, service.create_initialization_options())
        group.cancel_scope.cancel()
