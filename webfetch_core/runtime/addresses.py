"""Which IP addresses may be reached: pure tables and functions under :mod:`.netguard`.

The tables are written out, since ``ipaddress.is_global`` changes between releases of Python; an
address must pass both. Sources: the IANA special-purpose address registries, and
for the embedded forms RFC 4291 (mapped, compatible), RFC 2765 (translated), RFC 6052 (NAT64),
RFC 3056 (6to4), RFC 4380 (Teredo) and RFC 5214 (ISATAP).
"""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import (
    AddressValueError,
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
)

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

METADATA = frozenset(
    ip_address(text)
    for text in (
        "169.254.169.254",  # most clouds
        "169.254.170.2",  # container credentials
        "100.100.100.200",
        "168.63.129.16",  # a public range, but served by the host of a virtual machine
        "192.0.0.192",
        "fd00:ec2::254",
        "fd20:ce::254",
    )
)
"""Addresses that hand out credentials: a range in the allow-list does not open them."""

_SPECIAL_V4 = tuple(
    IPv4Network(text)
    for text in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # carrier-grade NAT
        "127.0.0.0/8",  # loopback
        "169.254.0.0/16",  # link local
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocol assignments, whole
        "192.0.2.0/24",  # documentation
        "192.88.99.0/24",  # 6to4 relays, retired
        "192.168.0.0/16",  # private
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, and broadcast
    )
)
_GLOBAL_UNICAST_V6 = IPv6Network("2000::/3")
_SPECIAL_V6 = tuple(
    IPv6Network(text)
    for text in (
        "2001::/23",  # protocol assignments, Teredo among them
        "2001:db8::/32",  # documentation
        "3fff::/20",  # documentation
    )
)
_MAPPED = IPv6Network("::ffff:0:0/96")
_TRANSLATED = IPv6Network("::ffff:0:0:0/96")
_COMPATIBLE = IPv6Network("::/96")
_NAT64 = IPv6Network("64:ff9b::/96")
_SIX_TO_FOUR = IPv6Network("2002::/16")
_ISATAP_IDS = (0x00005EFE, 0x02005EFE)


def _low32(ip: IPv6Address) -> IPv4Address:
    return IPv4Address(int(ip) & 0xFFFF_FFFF)


def carried(ip: IPv6Address) -> IPv4Address | None:
    """Return the IPv4 address that ``ip`` merely stands for, if it is of such a form."""
    if any(ip in net for net in (_MAPPED, _TRANSLATED, _NAT64)):
        return _low32(ip)
    if ip in _COMPATIBLE and int(ip) > 0xFFFF:  # below are ``::`` and ``::1`` and their kin
        return _low32(ip)
    return None


def embedded(ip: IPv6Address) -> Iterator[IPv4Address]:
    """Yield IPv4 addresses that a packet to ``ip`` may be delivered to on its way."""
    if ip in _SIX_TO_FOUR:
        yield IPv4Address((int(ip) >> 80) & 0xFFFF_FFFF)
    if (int(ip) >> 32) & 0xFFFF_FFFF in _ISATAP_IDS:
        yield _low32(ip)
    if ip.teredo is not None:
        yield from ip.teredo


def unwrap(ip: Address) -> Address:
    """Return ``ip``, or the IPv4 address that it stands for."""
    return (carried(ip) or ip) if isinstance(ip, IPv6Address) else ip


def is_public(ip: Address) -> bool:
    """Whether ``ip``, and every address inside it, is one of the open internet."""
    ip = unwrap(ip)
    if ip in METADATA:
        return False
    if isinstance(ip, IPv4Address):
        return ip.is_global and not any(ip in net for net in _SPECIAL_V4)
    if ip.scope_id is not None or ip not in _GLOBAL_UNICAST_V6:
        return False
    if any(ip in net for net in _SPECIAL_V6):
        return False
    if not ip.is_global and ip not in _SIX_TO_FOUR:  # 6to4 is as public as what it embeds
        return False
    return all(is_public(inner) for inner in embedded(ip))


# ---- spelling ------------------------------------------------------------------------------------


def parse_number_host(host: str) -> IPv4Address | None:
    """Read ``host`` as the C library's ``inet_aton`` does: one to four decimal, octal or hex parts.

    Returns None when ``host`` is a name: its last label is not a number.

    Raises:
        ValueError: the last label is a number, but the whole is no address.
    """
    parts = host.split(".")
    if not _is_number(parts[-1]):
        return None
    if len(parts) > 4:
        raise ValueError("too many parts")
    values = [_part(part) for part in parts]
    *head, last = values
    if any(value > 0xFF for value in head) or last >= 256 ** (5 - len(values)):
        raise ValueError("a part is too large")
    total = last
    for place, value in enumerate(head):
        total += value << (24 - 8 * place)
    return IPv4Address(total)


def _is_number(label: str) -> bool:
    return (label.isascii() and label.isdigit()) or (
        label[:2] in ("0x", "0X") and all(c in "0123456789abcdefABCDEF" for c in label[2:])
    )


def _part(text: str) -> int:
    if not _is_number(text):
        raise ValueError("a part is not a number")
    if len(text) > 64:
        raise ValueError("a part is too long")
    if text[:2] in ("0x", "0X"):
        return int(text[2:], 16)  # a bare 0x raises ValueError: readers differ on it
    if len(text) > 1 and text[0] == "0":
        return int(text, 8)  # 08 raises ValueError, which is right
    return int(text)


def parse_v6(text: str) -> IPv6Address:
    """Read what stands between brackets. Raises ValueError; a zone is an error too."""
    if "%" in text:
        raise ValueError("a zone is not allowed")
    try:
        return IPv6Address(text)
    except AddressValueError as exc:
        raise ValueError("not an IPv6 address") from exc
