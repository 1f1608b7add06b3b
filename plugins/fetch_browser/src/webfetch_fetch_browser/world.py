"""Running our scripts in a page, in a world that the page's own scripts do not share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.async_api import CDPSession

WORLD = "webfetch"
ANSWER_S = 4.0
"""How long a page may take to answer: one whose scripts never let go does not answer at all."""


class Unresponsive(Exception):
    """The page does not answer: its scripts run on and on."""


class Elsewhere(Exception):
    """The page was on its way to another document."""


class World:
    """Evaluates expressions in the main frame of a page."""

    def __init__(self, session: CDPSession) -> None:
        self._session = session

    async def read(self, expression: str, *, waits: bool = False) -> Any:
        """Return the value of ``expression``, which must be JSON; with ``waits``, that of the promise that
        it is, however long that takes.

        Raises:
            Elsewhere: the document went away meanwhile.
            Exception: what the driver raises when the page has crashed or was closed.
        """
        from playwright.async_api import Error

        try:
            tree = await self._session.send("Page.getFrameTree")
            world = await self._session.send(
                "Page.createIsolatedWorld",
                {"frameId": tree["frameTree"]["frame"]["id"], "worldName": WORLD},
            )
            answer = await self._session.send(
                "Runtime.evaluate",
                {
                    "expression": expression,
                    "contextId": world["executionContextId"],
                    "returnByValue": True,
                    "awaitPromise": waits,
                    "timeout": ANSWER_S * 1000,
                },
            )
        except Error as exc:
            if any(sign in exc.message for sign in _GONE):
                raise Elsewhere from None
            raise
        if "exceptionDetails" in answer:
            raise Elsewhere
        return answer["result"].get("value")


_GONE = (
    "Cannot find context",
    "context was destroyed",
    "No frame",
    "Cannot find frame",
    "Inspected target navigated",
)
