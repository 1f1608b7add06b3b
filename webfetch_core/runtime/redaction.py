"""Striking secrets out of text that a server or a plugin had a hand in. Pure."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable
from functools import lru_cache
from html import escape

LEAST_CHARS = 4
"""What is shorter is no secret, and would be found in everything."""

_KEYISH = re.compile(
    r"""(?ix)
    ( \b[\w.-]* (?: key | token | secret | passw(?:or)?d | signature | credential | api[_-]?id )
      | \b (?: auth | authorization | sig | pwd | sid | session | x-subscription-token ) )
    ( ["']? \s* [=:] \s* ["']? ) (?: (?: bearer | basic ) \s+ )? [^\s"'&,;<>]+
    """
)
_BEARER = re.compile(r"(?i)\b(bearer|basic)\s+[\w.~+/=-]{6,}")


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """Return ``text`` with secrets, and the values of parameters named like keys, struck out."""
    return _BEARER.sub(r"\1 ***", _KEYISH.sub(r"\1\2***", strike(text, secrets)))


def strike(text: str, secrets: Iterable[str]) -> str:
    """Return ``text`` without ``secrets``, however they are written: in any case, percent-encoded, as
    HTML entities, with JSON's escapes or in base64, in whole or in part."""
    for secret in secrets:
        if len(secret.strip()) >= LEAST_CHARS:
            text = _pattern(secret.strip()).sub("***", text)
    return text


@lru_cache(maxsize=64)
def _pattern(secret: str) -> re.Pattern[str]:
    packed = b64encode(secret.encode("utf-8", "surrogatepass")).decode().rstrip("=")
    forms = {packed, packed.replace("+", "-").replace("/", "_")}
    whole = "".join(map(_written, secret))
    return re.compile("|".join([whole, *(f"{re.escape(form)}={{0,2}}" for form in sorted(forms))]), re.I)


def _written(c: str) -> str:
    """A pattern of the ways in which a character is written."""
    percent = "".join(f"%{byte:02x}" for byte in c.encode("utf-8", "surrogatepass"))
    ways = [rf"\\?{re.escape(c)}", percent, f"&\\#0*{ord(c)};", f"&\\#x0*{ord(c):x};"]
    ways += [rf"\\u{ord(c):04x}"] if ord(c) < 0x10000 else []
    ways += [re.escape(escape(c))] if escape(c) != c else []
    ways += [r"\+"] if c == " " else []
    return f"(?:{'|'.join(ways)})"
