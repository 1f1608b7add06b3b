"""The token that a request carries. Pure."""

from __future__ import annotations

import binascii
from base64 import b64decode
from collections.abc import Iterable, Mapping
from contextlib import suppress
from hmac import compare_digest


def tokens_of(headers: Mapping[str, str]) -> list[str]:
    """Every token that a request carries, wherever clients put theirs: ``Authorization: Bearer``, without
    the word, or as the password of ``Basic`` (which is what browsers ask for), and ``X-API-Key``."""
    found = []
    given = headers.get("authorization", "").strip()
    scheme, _, rest = given.partition(" ")
    if scheme.lower() == "bearer":
        found.append(rest.strip())
    elif scheme.lower() == "basic":
        with suppress(binascii.Error, ValueError):
            found.append(b64decode(rest, validate=True).decode("utf-8", "replace").partition(":")[2])
    elif given:
        found.append(given)
    if headers.get("x-api-key"):
        found.append(headers["x-api-key"].strip())
    return [token for token in found if token]


def matches(given: Iterable[str], token: str) -> bool:
    """Whether one of ``given`` is ``token``; takes as long whichever character is wrong."""
    wanted = token.encode("utf-8", "surrogatepass")
    right = False
    for one in given:
        right |= compare_digest(one.encode("utf-8", "surrogatepass"), wanted)
    return right
