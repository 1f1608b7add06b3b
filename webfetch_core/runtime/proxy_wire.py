"""What the guard's proxy reads and writes: heads of HTTP/1.1 messages, strictly. Pure.

Strict on purpose: a head that two readers could take differently (RFC 9112 section 11.2, request
smuggling) is refused, not mended. The one client is a browser, which writes none of them.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable

from attrs import frozen

from ..errors import Refused
from .netguard import CheckedTarget, parse_url

MAX_HEAD_BYTES = 64 * 1024
"""Of a request's or a reply's head; Chromium itself gives up at 256 KB."""

MAX_FIELDS = 256
CHUNKED = -1
"""The length of a body that is sent in chunks."""
TO_THE_END = -2
"""The length of a reply's body that ends with the connection."""

Fields = tuple[tuple[str, str], ...]

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+\Z")
_REQUEST_LINE = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]{1,32}) ([\x21-\x7e]+) (HTTP/1\.[01])\Z")
_STATUS_LINE = re.compile(r"HTTP/1\.[0-9] ([1-5][0-9][0-9])(?: ([\t\x20-\x7e\x80-\xff]*))?\Z")
_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*\Z")
_AUTHORITY = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\[\]:@/?#\\%\s]+):([0-9]{1,5})\Z")
_LENGTH = re.compile(r"[0-9]{1,18}\Z")
_CHUNK_LINE = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;[\t\x20-\x7e\x80-\xff]*)?\r\n\Z")

_HOP_BY_HOP = frozenset(
    {
        "connection",
        "keep-alive",
        "proxy-connection",
        "proxy-authorization",
        "proxy-authenticate",
        "proxy-authentication-info",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "http2-settings",
        "expect",
    }
)
"""RFC 9110 section 7.6.1, and what concerns the proxy alone. ``expect`` is answered by the proxy itself."""


class BadMessage(Exception):
    """The head cannot be read in exactly one way. ``status`` is what a client is answered."""

    def __init__(self, what: str, status: int = 400) -> None:
        super().__init__(what)
        self.status = status


@frozen
class Request:
    """The head of a request. ``fields`` are in order, names as written."""

    method: str
    target: str
    version: str
    fields: Fields


@frozen
class Reply:
    """The head of a reply, ready to be handed on; ``length`` is that of the body that follows."""

    status: int
    length: int
    head: bytes


# ---- reading --------------------------------------------------------------------------------------


def parse_request(head: bytes) -> Request:
    """Read a request's head, its final empty line included.

    Raises:
        BadMessage: it is not one, or one that readers could take differently.
    """
    first, fields = _split(head)
    match = _REQUEST_LINE.match(first)
    if match is None:
        raise BadMessage("the request line is malformed")
    return Request(match[1], match[2], match[3], fields)


def _split(head: bytes) -> tuple[str, Fields]:
    if not head.endswith(b"\r\n\r\n"):
        raise BadMessage("the head is not complete")
    first, *lines = head[:-4].decode("latin-1").split("\r\n")
    if len(lines) > MAX_FIELDS:
        raise BadMessage("too many header fields", 431)
    fields = []
    for line in lines:
        name, colon, value = line.partition(":")
        # A blank before the colon, a folded line, a bare CR or LF: all fail here.
        if not colon or not _TOKEN.match(name) or not _VALUE.match(value):
            raise BadMessage("a header field is malformed")
        fields.append((name, value.strip(" \t")))
    return first, tuple(fields)


def values(fields: Fields, name: str) -> list[str]:
    """Every value of a field; ``name`` is lower case."""
    return [value for key, value in fields if key.lower() == name]


def body_length(request: Request) -> int:
    """The length of a request's body: a number of bytes, or CHUNKED.

    Raises:
        BadMessage: it is told twice, by two means, or in a way that readers differ on.
    """
    coding, length = values(request.fields, "transfer-encoding"), values(request.fields, "content-length")
    if coding and length:
        raise BadMessage("both Content-Length and Transfer-Encoding are given")
    if coding:
        if request.version != "HTTP/1.1" or len(coding) != 1 or coding[0].lower() != "chunked":
            raise BadMessage("a transfer coding other than chunked", 501)
        return CHUNKED
    if not length:
        return 0
    if len(length) != 1 or not _LENGTH.match(length[0]):
        raise BadMessage("Content-Length is not one number")
    return int(length[0])


def chunk_size(line: bytes) -> int:
    """The size that a chunk's first line announces. Raises BadMessage."""
    match = _CHUNK_LINE.match(line)
    if match is None:
        raise BadMessage("a chunk of the body is malformed")
    return int(match[1], 16)


def credentials(request: Request) -> tuple[str, str] | None:
    """User name and password of ``Proxy-Authorization: Basic``; None without any, or with bad ones."""
    given = values(request.fields, "proxy-authorization")
    if len(given) != 1:
        return None
    scheme, _, encoded = given[0].partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        user, colon, password = base64.b64decode(encoded.strip(), validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return None
    return (user, password) if colon else None


# ---- where it leads -------------------------------------------------------------------------------


def tunnel_url(request: Request) -> str:
    """The URL that stands for what a CONNECT asks for: the guard judges URLs.

    What runs inside the tunnel cannot be seen; on port 80 it is taken for http (a WebSocket), else for
    https.

    Raises:
        BadMessage: the target is no ``host:port``.
        Refused: by the rules of :func:`.netguard.parse_url`.
    """
    if body_length(request):
        raise BadMessage("a CONNECT has no body")
    match = _AUTHORITY.match(request.target)
    if match is None:
        raise BadMessage("the target of a CONNECT must be host:port")
    scheme = "http" if int(match[2]) == 80 else "https"
    return parse_url(f"{scheme}://{match[1]}:{int(match[2])}/").url


def plain_url(request: Request) -> str:
    """The URL of a request that is to be forwarded.

    Raises:
        BadMessage: it is not in absolute form, or its Host says something else.
        Refused: by the rules of :func:`.netguard.parse_url`.
    """
    if request.method.upper() in ("CONNECT", "TRACE"):
        raise BadMessage(f"{request.method} is not forwarded", 405)
    if request.target[:7].lower() != "http://":
        raise BadMessage("the target must be an absolute http URL; for https use CONNECT")
    if "#" in request.target:
        raise BadMessage("the target has a fragment")
    target = parse_url(request.target)
    hosts = values(request.fields, "host")
    if len(hosts) > 1 or (not hosts and request.version != "HTTP/1.0"):
        raise BadMessage("exactly one Host is needed")
    if hosts and not _same_authority(hosts[0], target):
        raise BadMessage("Host and target name different hosts")
    return target.url


def _same_authority(host: str, target: CheckedTarget) -> bool:
    if not host or re.search(r"[/?#@\\\s]", host):
        return False
    try:
        named = parse_url(f"http://{host}/")
    except Refused:
        return False
    return (named.host, named.port) == (target.host, target.port)


# ---- writing --------------------------------------------------------------------------------------


def forwarded(
    request: Request, target: CheckedTarget, length: int, *, absolute: bool = False, credentials: str = ""
) -> bytes:
    """The head as it is sent on: to the checked host, without what was meant for the proxy.

    Args:
        absolute: keep the absolute form, for another proxy on the way.
        credentials: the header line that such a proxy wants.
    """
    origin = f"http://{target.netloc}"
    place = target.url if absolute else target.url[len(origin) :]
    lines = [f"{request.method} {place} HTTP/1.1", f"Host: {target.netloc}"]
    lines += [
        f"{name}: {value}" for name, value in _end_to_end(request.fields, drop={"host", "content-length"})
    ]
    if length == CHUNKED:
        lines.append("Transfer-Encoding: chunked")
    elif length or request.method.upper() in ("POST", "PUT", "PATCH"):
        lines.append(f"Content-Length: {length}")
    lines += [credentials] if credentials else []
    lines.append("Connection: close")
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def parse_reply(head: bytes, method: str) -> Reply:
    """Read the head of an origin's reply and write it as the client gets it. ``Connection: close``, always.

    Raises:
        BadMessage: it is not one, or its length is told in two ways.
    """
    first, fields = _split(head)
    match = _STATUS_LINE.match(first)
    if match is None:
        raise BadMessage("the reply is malformed", 502)
    status = int(match[1])
    coding, lengths = values(fields, "transfer-encoding"), set(values(fields, "content-length"))
    if len(lengths) > 1 or any(not _LENGTH.match(length) for length in lengths):
        raise BadMessage("the reply's length is not one number", 502)
    drop = {"content-length"}
    framing = ""
    if method.upper() == "HEAD" or status in (204, 304) or status < 200:
        length = 0
    elif coding:
        if len(coding) != 1 or coding[0].lower() != "chunked":
            raise BadMessage("the reply has a transfer coding other than chunked", 502)
        length, framing = TO_THE_END, "Transfer-Encoding: chunked"
    elif lengths:
        length = int(lengths.pop())
        framing = f"Content-Length: {length}"
    else:
        length = TO_THE_END
    # A 407 of an origin would pass for ours, and the browser would answer it with our credentials.
    shown = 502 if status == 407 else status
    lines = [f"HTTP/1.1 {shown} {'' if status == 407 else match[2] or ''}".rstrip()]
    lines += [f"{name}: {value}" for name, value in _end_to_end(fields, drop=drop)]
    lines += [framing] if framing else []
    lines.append("Connection: close")
    return Reply(status, length, ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"))


def _end_to_end(fields: Fields, *, drop: Iterable[str]) -> Fields:
    named = {part.strip().lower() for value in values(fields, "connection") for part in value.split(",")}
    gone = _HOP_BY_HOP | named | set(drop)
    return tuple((name, value) for name, value in fields if name.lower() not in gone)


def answer(status: int, reason: str, text: str = "", extra: str = "") -> bytes:
    """A whole reply of the proxy's own. ``extra`` is a header line."""
    body = f"{text}\n".encode() if text else b""
    lines = [f"HTTP/1.1 {status} {reason}", *([extra] if extra else [])]
    lines += ["Content-Type: text/plain; charset=utf-8", "Cache-Control: no-store"]
    lines += [f"Content-Length: {len(body)}", "Connection: close"]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1") + body
