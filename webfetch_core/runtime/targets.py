"""URLs read once, and what the reading comes to. Used by :mod:`.netguard` alone."""

from __future__ import annotations

import re
import unicodedata
from urllib.parse import quote, urlsplit

from attrs import frozen

from ..errors import Refused
from .addresses import parse_number_host, parse_v6

DEFAULT_PORTS = {"http": 80, "https": 443}
MAX_URL_CHARS = 8192

_BAD_CHARS = re.compile(r"[\x00-\x20\x7f-\xa0\\\u1680\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff]")
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\Z")
_DOTS = re.compile("[\u3002\uff0e\uff61]")


@frozen
class CheckedTarget:
    """Where a URL leads: all that is needed to connect, judged and final.

    Attributes:
        url: normalised, ASCII only, without a fragment.
        scheme: ``http`` or ``https``.
        host: the ASCII name (no final dot), or the address as text without brackets.
        ip: the address to connect to.
        port: the port to connect to.
        others: further addresses of the host, as good as ``ip``.
    """

    url: str
    scheme: str
    host: str
    ip: str
    port: int
    others: tuple[str, ...] = ()

    @property
    def netloc(self) -> str:
        """The value of the ``Host`` header."""
        return _netloc(self.scheme, self.host, self.port)


def parse_url(url: str) -> CheckedTarget:
    """Parse and normalise ``url``; ``ip`` is empty where the host is a name.

    Raises:
        Refused: it is no http(s) URL, or one that two parsers might read differently.
    """
    if not isinstance(url, str) or not url:
        raise Refused("the URL is empty")
    if len(url) > MAX_URL_CHARS:
        raise Refused(f"the URL is longer than {MAX_URL_CHARS} characters")
    if _BAD_CHARS.search(url):
        raise Refused("the URL has a blank, a backslash or a control character", fix="percent-encode it")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as exc:
        raise Refused("the URL cannot be parsed") from exc
    if parts.scheme not in DEFAULT_PORTS:
        raise Refused(f"scheme {parts.scheme or '(none)'} is not http or https")
    if "@" in parts.netloc:
        raise Refused("the URL carries a user name or password", fix="leave them out")
    if port == 0:
        raise Refused("port 0 is no port")
    host, literal = _host(parts.netloc, parts.hostname or "")
    port = port or DEFAULT_PORTS[parts.scheme]
    try:
        path = quote(parts.path or "/", safe="%/:=&+!$,;'@()*~[]|^")
        query = quote(parts.query, safe="%/:=&?+!$,;'@()*~[]|^")
    except UnicodeEncodeError as exc:
        raise Refused("the URL is not valid Unicode") from exc
    path = path if path.startswith("/") else f"/{path}"
    whole = f"{parts.scheme}://{_netloc(parts.scheme, host, port)}{path}" + (f"?{query}" if query else "")
    return CheckedTarget(whole, parts.scheme, host, literal, port)


def _host(netloc: str, hostname: str) -> tuple[str, str]:
    """Return the ASCII host and, where it is an address in any spelling, that address."""
    if not hostname:
        raise Refused("the URL has no host")
    if netloc.startswith("["):
        if not re.fullmatch(r"\[[0-9A-Fa-f:.]+\](?::\d*)?", netloc):
            raise Refused("the host is not a valid IPv6 address")
        try:
            text = str(parse_v6(hostname))
        except ValueError as exc:
            raise Refused("the host is not a valid IPv6 address") from exc
        return text, text
    try:
        host = ascii_host(hostname)
        number = parse_number_host(host)
    except ValueError as exc:
        raise Refused("the host is not a valid name or address") from exc
    return (str(number), str(number)) if number is not None else (host, "")


def ascii_host(host: str) -> str:
    """Return the lower-case ASCII form of a host name, without its final dot.

    Names in other scripts become punycode (IDNA; the letters that IDNA 2003 folded away keep
    their own code, as browsers do it).

    Raises:
        ValueError: an empty or overlong label, or a character that no host name has.
    """
    host = _DOTS.sub(".", unicodedata.normalize("NFKC", host)).lower()
    host = host[:-1] if host.endswith(".") else host
    labels = [_ascii_label(label) for label in host.split(".")]
    whole = ".".join(labels)
    if len(whole) > 253:
        raise ValueError("the name is too long")
    return whole


def _ascii_label(label: str) -> str:
    if not label.isascii():
        if any(letter in label for letter in "\u00df\u03c2"):
            label = "xn--" + unicodedata.normalize("NFKC", label).encode("punycode").decode("ascii")
        else:
            label = label.encode("idna").decode("ascii").lower()  # UnicodeError is a ValueError
    if not _LABEL.match(label):
        raise ValueError("not a label of a host name")
    return label


def _netloc(scheme: str, host: str, port: int) -> str:
    shown = f"[{host}]" if ":" in host else host
    return shown if port == DEFAULT_PORTS[scheme] else f"{shown}:{port}"
