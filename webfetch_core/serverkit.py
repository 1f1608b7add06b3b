"""For plugins that serve HTTP: who may speak to a server on this machine. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import ip_address
from urllib.parse import urlsplit

_LOOPBACK_NAMES = frozenset({"localhost", "localhost.localdomain", "ip6-localhost"})


def is_loopback(host: str) -> bool:
    """Whether a server that is bound to ``host`` is reached from this machine alone."""
    try:
        return ip_address(host.strip("[]").partition("%")[0]).is_loopback
    except ValueError:
        return host.lower().rstrip(".") in _LOOPBACK_NAMES


def host_allowed(header: str, bound: str, allowed: Iterable[str]) -> bool:
    """Whether ``Host: header`` is one that a server bound to ``bound`` goes by.

    An address is always right: a page that turns its own name towards this machine (DNS rebinding) has its
    own name in the header.

    Args:
        allowed: further names; ``*`` allows every one.
    """
    name = _name(header)
    if not name:
        return False
    if is_loopback(name) or name == bound.lower().strip("[]"):
        return True
    try:
        ip_address(name)
        return True
    except ValueError:
        return any(a == "*" or a.lower().strip("[]").rstrip(".") == name for a in allowed)


def same_origin(origin: str, host: str) -> bool:
    """Whether ``Origin: origin`` is that of the server which the request reached as ``Host: host``."""
    try:
        parts = urlsplit(origin)
        return parts.scheme in ("http", "https") and bool(host) and parts.netloc.lower() == host.lower()
    except ValueError:
        return False


def _name(header: str) -> str:
    try:
        parts = urlsplit(f"//{header}")
        if parts.path or parts.query or parts.fragment or parts.username is not None:
            return ""
        _ = parts.port  # ValueError where it is none
        return (parts.hostname or "").rstrip(".")
    except ValueError:
        return ""
