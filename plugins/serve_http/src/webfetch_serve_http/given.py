"""What a client sent, read as leniently as the API that it means: unknown fields are left alone. Pure."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from email import message_from_bytes
from typing import Any
from urllib.parse import parse_qs

from .faults import bad_request

MAX_ITEMS = 300


class Given:
    """Fields by name. None, an empty string and an empty list are as good as absent."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self._fields = fields

    @classmethod
    def of_json(cls, body: bytes) -> Given:
        """The fields of a JSON object.

        Raises:
            Fault: it is none.
        """
        try:
            fields = json.loads(body)
        except (ValueError, RecursionError):
            raise bad_request("the body is not JSON", fix="send a JSON object") from None
        if not isinstance(fields, dict):
            raise bad_request("the body is not a JSON object")
        return cls(fields)

    @classmethod
    def of_form(cls, text: bytes, content_type: str = "") -> Given:
        """The fields of a form or of a query string; of one that is repeated, the last. Files are no fields.

        Args:
            content_type: of a form; ``multipart/form-data`` is how browsers send ``FormData``.

        Raises:
            Fault: there are more than anybody needs, or no boundary tells the parts.
        """
        if content_type.strip().lower().startswith("multipart/"):
            return cls(_parts(text, content_type))
        try:
            fields = parse_qs(text.decode("utf-8", "replace"), max_num_fields=MAX_ITEMS)
        except ValueError:
            raise bad_request("too many parameters") from None
        return cls({name: values[-1] for name, values in fields.items()})

    def before(self, other: Given) -> Given:
        """These fields, and those of ``other`` that are not among them."""
        return Given({**other._fields, **self._fields})

    def has(self, name: str) -> bool:
        """Whether the field is there, be it empty."""
        return self._fields.get(name) is not None

    def any(self, name: str) -> Any:
        """The field as it came, or None."""
        value = self._fields.get(name)
        return None if value == "" or value == [] else value

    def text(self, name: str) -> str:
        """A text, empty where it is absent.

        Raises:
            Fault: it is something else.
        """
        value = self.any(name)
        if value is None:
            return ""
        if not isinstance(value, str):
            raise bad_request(f"{name} must be a string")
        return mended(value).strip()

    def needed(self, name: str) -> str:
        """A text that must be there.

        Raises:
            Fault: it is not, or is something else.
        """
        value = self.text(name)
        if not value:
            raise bad_request(f"{name} is missing")
        return value

    def whole(self, name: str, default: int, least: int, most: int) -> int:
        """A whole number, also as text; beyond its bounds the nearest of them.

        Raises:
            Fault: it is none.
        """
        return int(self.number(name, default, least, most))

    def number(self, name: str, default: float, least: float, most: float) -> float:
        """A number, also as text; beyond its bounds the nearest of them.

        Raises:
            Fault: it is none.
        """
        value = self.any(name)
        if value is None:
            return default
        try:
            if isinstance(value, bool) or not isinstance(value, (int, float, str)):
                raise ValueError
            number = float(value)
        except (ValueError, OverflowError):
            raise bad_request(f"{name} must be a number") from None
        if math.isnan(number):
            raise bad_request(f"{name} must be a number")
        return min(max(number, least), most)

    def flag(self, name: str) -> bool:
        """Whether the field says yes, in whichever way."""
        value = self.any(name)
        if isinstance(value, str):
            return value.strip().lower() not in ("false", "0", "no", "off", "none")
        return bool(value)

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts; a single one, or one with commas, is a list as well.

        Raises:
            Fault: it is something else, or is too long.
        """
        value = self.any(name)
        if value is None:
            return ()
        if isinstance(value, str):
            value = value.split(",")
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise bad_request(f"{name} must be a list of strings")
        if len(value) > MAX_ITEMS:
            raise bad_request(f"{name} has more than {MAX_ITEMS} items")
        return tuple(text for one in value if (text := mended(one).strip()))

    def addresses(self, name: str, most: int) -> list[str]:
        """Addresses as they were written, each once: a text is one of them, since commas belong to them.

        Raises:
            Fault: it is something else, or there are more than ``most``.
        """
        value = self.any(name)
        listed = [value] if isinstance(value, str) else [] if value is None else value
        if not isinstance(listed, list) or not all(isinstance(one, str) for one in listed):
            raise bad_request(f"{name} must be a URL or a list of URLs")
        if len(listed) > most:
            raise bad_request(f"at most {most} {name} can be read at once")
        return list(dict.fromkeys(mended(one).strip() for one in listed))


def _parts(body: bytes, content_type: str) -> dict[str, str]:
    """The fields of a multipart form (RFC 7578)."""
    kind = " ".join(content_type.split()).encode("latin-1", "replace")
    message = message_from_bytes(b"Content-Type: " + kind + b"\r\n\r\n" + body)
    if message.get_boundary() is None:
        raise bad_request("the form says no boundary")
    parts = [part for part in message.walk() if part is not message]
    if len(parts) > MAX_ITEMS:
        raise bad_request("too many parameters")
    fields = {}
    for part in parts:
        name = part.get_param("name", header="content-disposition")
        value = part.get_payload(decode=True)
        if isinstance(name, str) and part.get_filename() is None and isinstance(value, bytes):
            fields[name] = value.decode("utf-8", "replace")
    return fields


def mended(text: str) -> str:
    """``text`` with U+FFFD for lone surrogates, which JSON can carry and nothing else can."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
