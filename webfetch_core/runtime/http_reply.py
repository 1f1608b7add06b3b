"""Replies of APIs, and the parameters of requests to them."""

from __future__ import annotations

import json as jsonlib
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode, urlsplit

from attrs import field, frozen

from ..errors import BadResponse
from .http_errors import excerpt


@frozen(kw_only=True)
class Reply:
    """A complete reply of an API. Header names are lower case."""

    status: int
    headers: Mapping[str, str]
    url: str
    body: bytes = field(repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)

    @property
    def text(self) -> str:
        """The body, decoded by its declared charset or as UTF-8; bad bytes replaced."""
        charset = "utf-8"
        for part in self.headers.get("content-type", "").split(";")[1:]:
            name, _, value = part.partition("=")
            if name.strip().lower() == "charset":
                charset = value.strip().strip("\"'")
        try:
            return self.body.decode(charset, "replace")
        except (LookupError, ValueError):
            return self.body.decode("utf-8", "replace")

    def json(self) -> Any:
        """The body as JSON.

        Raises:
            BadResponse: it is no JSON; shows the status and the first safe characters.
        """
        try:
            return jsonlib.loads(self.body)  # JSON is UTF-8, UTF-16 or UTF-32, whatever the header says
        except (ValueError, RecursionError) as exc:
            host = urlsplit(self.url).hostname or ""
            error = BadResponse(
                f"{host} answered {self.status} with something that is no JSON: "
                + (excerpt(self.body, self.secrets) or "an empty body")
            )
            vars(error).update(status=self.status, body=self.body)
            raise error from exc


def with_params(url: str, params: Mapping[str, Any] | None) -> str:
    """Return ``url`` with ``params`` added to its query; None is left out, a list repeats its name."""
    added = urlencode(pairs(params))
    if not added:
        return url
    base, mark, fragment = url.partition("#")
    return f"{base}{'&' if '?' in base else '?'}{added}{mark}{fragment}"


def pairs(params: Mapping[str, Any] | None) -> list[tuple[str | bytes, object]]:
    """Flatten ``params`` for urlencode; booleans are written as JSON writes them."""
    flat: list[tuple[str | bytes, object]] = []
    for name, value in (params or {}).items():
        for one in value if isinstance(value, (list, tuple)) else (value,):
            if one is not None:
                flat.append((name, str(one).lower() if isinstance(one, bool) else str(one)))
    return flat
