"""For plugins that serve HTTP: who may speak to a server on this machine. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from ipaddress import IPv6Address, ip_address
from urllib.parse import urlsplit

from .errors import ConfigError

LEAST_TOKEN_CHARS = 16
_LOOPBACK_NAMES = frozenset({"localhost", "localhost.localdomain", "ip6-localhost"})
_HOST = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]+\]|[^\s\[\]/?#@:%\\]+)(?::(?P<port>[0-9]{1,5}))?")


def is_loopback(host: str) -> bool:
    """Whether a server that is bound to ``host`` is reached from this machine alone."""
    try:
        return ip_address(host.strip("[]").partition("%")[0]).is_loopback
    except ValueError:
        return host.lower().rstrip(".") in _LOOPBACK_NAMES


def host_allowed(header: str, bound: str, allowed: Iterable[str]) -> bool:
    """Whether ``Host: header`` is one that a server bound to ``bound`` goes by.

    An address is always right: a page that turns its own name towards this machine (DNS rebinding) has its
    own name in the header. What is no host and port (RFC 3986, without zones) never is.

    Args:
        allowed: further names; ``*`` allows every one.
    """
    found = _HOST.fullmatch(header)
    if found is None or int(found["port"] or 0) > 65_535:
        return False
    name = found["name"].lower().rstrip(".")
    bare = name.strip("[]")
    if name != bare or ":" in bare:
        return _is_address(bare)
    if not name:
        return False
    if is_loopback(name) or _is_address(name) or name == bound.lower().strip("[]").rstrip("."):
        return True
    return any(a == "*" or a.lower().strip("[]").rstrip(".") == name for a in allowed)


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
        return True
    except ValueError:
        return False


def same_origin(origin: str, host: str) -> bool:
    """Whether ``Origin: origin`` is that of the server which the request reached as ``Host: host``."""
    try:
        parts = urlsplit(origin)
        return parts.scheme in ("http", "https") and bool(host) and parts.netloc.lower() == host.lower()
    except ValueError:
        return False


def origin_listed(origin: str, allowed: Iterable[str]) -> bool:
    """Whether ``origin`` is one of ``allowed``, of which ``*`` allows every one. Its pages may call, and read
    the answers (CORS)."""
    listed = {a.lower().rstrip("/") for a in allowed}
    return "*" in listed or origin.lower() in listed


def origin_allowed(headers: Mapping[str, str], allowed: Iterable[str]) -> bool:
    """Whether the page behind a request, if there is one, may make it: one of the server's own origin, or one
    that is listed.

    A browser leaves ``Origin`` out of a GET, but says with ``Sec-Fetch-Site`` that another site's page is
    behind it.

    Args:
        headers: by names in lower case.
    """
    allowed = tuple(allowed)
    origin = headers.get("origin")
    if origin is not None:
        return origin_listed(origin, allowed) or same_origin(origin, headers.get("host", ""))
    return "*" in allowed or headers.get("sec-fetch-site", "").strip() in ("", "none", "same-origin")


def came_from_afar(headers: Mapping[str, str]) -> bool:
    """Whether a proxy on this machine says that it hands on a request of another machine. A server on
    loopback without a token is for this machine alone, so it should refuse that.

    A proxy may say nothing: this is no substitute for a token.

    Args:
        headers: by names in lower case.
    """
    # All of them: a proxy that writes one hands on the others as a client has made them up.
    named = _FORWARDED_FOR.findall(headers.get("forwarded", ""))
    named += [one for name in _FORWARDED for one in headers.get(name, "").split(",")]
    return any(not _of_this_machine(one) for one in named if one.strip())


_FORWARDED = ("x-forwarded-for", "x-real-ip", "cf-connecting-ip")
_FORWARDED_FOR = re.compile(r'for="?(\[[^\]]*\]|[^;,"\s]+)', re.IGNORECASE)


def _of_this_machine(client: str) -> bool:
    bare = client.strip()
    return is_loopback(bare) or is_loopback(bare.rpartition(":")[0])


def preflight_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """What a preflight of a page that may call is answered with: every header that it asks for may be sent,
    since each API that is imitated has its own.

    Args:
        headers: of the request, by names in lower case.
    """
    asked = headers.get("access-control-request-headers", "")
    names = [name.strip() for name in asked[:_MOST_ASKED_CHARS].split(",")]
    return {
        "access-control-allow-methods": "GET, HEAD, POST, DELETE, OPTIONS",
        "access-control-allow-headers": ", ".join(n for n in names if _TOKEN.fullmatch(n)) or "content-type",
        "access-control-max-age": "600",
        "vary": "origin, access-control-request-headers",
    }


_MOST_ASKED_CHARS = 2_000
_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,80}")


def client_of(address: str) -> str:
    """Who counts as one client: an IPv4 address, or the /64 that an IPv6 one is in."""
    try:
        ip = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(ip, IPv6Address):
        if ip.ipv4_mapped is not None:
            return str(ip.ipv4_mapped)
        return str(IPv6Address(int(ip) >> 64 << 64)) + "/64"
    return str(ip)


def bearer_token(variable: str, host: str, environ: Mapping[str, str]) -> str:
    """The token that callers of a server at ``host`` must show; empty where there is none, on loopback alone.

    Args:
        variable: the environment variable that holds it; empty for none.

    Raises:
        ConfigError: there is none off loopback, it has fewer than 16 characters, or some that no header can
            carry, with which it would never match.
    """
    token = environ.get(variable, "").strip() if variable else ""
    if token and (len(token) < LEAST_TOKEN_CHARS or not re.fullmatch(r"[!-~]+", token)):
        raise ConfigError(
            f"the token in {variable} must be at least {LEAST_TOKEN_CHARS} ASCII characters without blanks",
            fix='make one: python -c "import secrets; print(secrets.token_urlsafe(32))"',
        )
    if not token and not is_loopback(host):
        raise ConfigError(
            f"{host} can be reached from other machines: a bearer token is needed",
            fix=f"set {variable or 'token_env'} to a long random text, or listen on 127.0.0.1",
        )
    return token
