"""A remote service played on loopback: whatever is asked, it gives the answer it was told to give."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from .site import LoopbackSite, Received, Reply


class LoopbackService(LoopbackSite):
    """One service behind any path. Set the answer with ``answer``; read ``requests``."""

    def __init__(self, body: Any = b"") -> None:
        super().__init__()
        self.answer(body)

    def __enter__(self) -> LoopbackService:
        self.start()
        return self

    def answer(
        self,
        body: Any = b"",
        *,
        status: int = 200,
        content_type: str = "",
        headers: Mapping[str, str] | None = None,
        hang: bool = False,
    ) -> None:
        """Answer like this from now on.

        Args:
            body: bytes, text, a :class:`~webfetch_core.testing.site.Reply`, or what JSON can hold.
            content_type: by the kind of body unless given: octets, HTML or JSON.
            hang: never answer.
        """
        if isinstance(body, Reply):
            self._reply = body
            return
        if isinstance(body, bytes):
            kind, data = "application/octet-stream", body
        elif isinstance(body, str):
            kind, data = "text/html; charset=utf-8", body.encode()
        else:
            kind, data = "application/json", json.dumps(body).encode()
        named = {"Content-Type": content_type or kind, **(headers or {})}
        self._reply = Reply(body=data, status=status, headers=named, hang=hang)

    def _answer(self, request: Received) -> Reply:
        with self._lock:
            self.requests.append(request)
        return self._reply
