"""The one place that says whether a URL may be reached, and at which address.

A URL is parsed once, its host resolved once, and every address judged. The caller connects to
``CheckedTarget.ip`` and to nothing else, so a name cannot change its answer in between.
"""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from ipaddress import IPv4Address, ip_address, ip_network
from typing import Any

from attrs import frozen

from ..errors import Refused, TimedOut, Unavailable
from .addresses import METADATA, Address, Network, is_public, parse_number_host, unwrap
from .cancelling import current, is_done, require_wanted
from .targets import CheckedTarget, ascii_host, parse_url

RESOLVE_S = 5.0
"""The longest that a name may take to resolve."""

Resolve = Callable[..., Sequence[tuple[Any, ...]]]
"""``socket.getaddrinfo`` or a stand-in: called as ``resolve(host, port, 0, SOCK_STREAM)``."""

_METADATA_NAMES = frozenset(
    {"metadata", "metadata.google.internal", "instance-data", "instance-data.ec2.internal"}
)
_LOOPBACK = ("127.0.0.1", "::1")
_PENDING = threading.BoundedSemaphore(64)  # look-ups that the system resolver has not given back


@frozen
class Policy:
    """What the operator allows.

    Attributes:
        allow_hosts: names, addresses and CIDR ranges that may be private, on any port; with
            ``:port`` behind a name or an address (``[v6]:port``), on that port alone. Addresses
            that hand out cloud credentials are opened by their own entry only, not by a range.
        ports: ports of all other hosts.
    """

    allow_hosts: tuple[str, ...] = ()
    ports: tuple[int, ...] = (80, 443, 8000, 8080, 8443)


@frozen
class _Entry:
    name: str = ""
    network: Network | None = None
    port: int | None = None

    def names(self, host: str, port: int) -> bool:
        return self.name == host and self.port in (None, port)

    def holds(self, ip: Address, port: int) -> bool:
        if self.network is None or ip not in self.network or self.port not in (None, port):
            return False
        return ip not in METADATA or self.network.num_addresses == 1


class Guard:
    """Judges URLs by a policy; safe to share between threads."""

    def __init__(
        self,
        policy: Policy,
        *,
        resolve: Resolve = socket.getaddrinfo,
        vetoes: Callable[[str], str | None] | None = None,
    ) -> None:
        """Take the policy.

        Args:
            policy: what the operator allows.
            resolve: stands in for ``socket.getaddrinfo``.
            vetoes: asked with the normalised URL at every check; a reason refuses, and so does
                an exception.

        Raises:
            ValueError: an entry of ``allow_hosts`` cannot be read.
        """
        self._ports = frozenset(policy.ports)
        self._allowed = tuple(_entry(text) for text in policy.allow_hosts)
        self._resolve = resolve
        self._vetoes = vetoes

    def check(
        self,
        url: str,
        *,
        trusted: frozenset[tuple[str, int]] = frozenset(),
        timeout_s: float | None = None,
    ) -> CheckedTarget:
        """Return where ``url`` leads.

        Args:
            url: absolute, http or https.
            trusted: (host, port) pairs that the operator's own settings name: they may be
                private and use any port.
            timeout_s: the most that resolving may take; never more than ``RESOLVE_S``.

        Raises:
            Refused: a rule or a veto speaks against it. The message never has an address that
                the URL itself does not have.
            Unavailable: the name does not exist or cannot be resolved.
            TimedOut: the name was not resolved in time.
        """
        target = self.judge(url)
        host, port = target.host, target.port
        named = (host, port) in trusted or any(e.names(host, port) for e in self._allowed)
        if not named and host in _METADATA_NAMES:
            raise _refused(f"{host} is a metadata service")
        found = self._addresses(target, RESOLVE_S if timeout_s is None else min(timeout_s, RESOLVE_S))
        opened = named or all(self._opens(ip, port) for ip in found)
        if not opened and not all(is_public(ip) or self._opens(ip, port) for ip in found):
            raise _refused(f"{host} is not on the public internet")
        if not opened and port not in self._ports:
            raise Refused(
                f"port {port} of {host} is not in the list of ports",
                fix="add it to net.ports, or the host to net.allow_hosts, if you mean to reach it",
            )
        ip, *others = (str(ip) for ip in found)
        return CheckedTarget(target.url, target.scheme, host, ip, port, tuple(others))

    def judge(self, url: str) -> CheckedTarget:
        """Judge ``url`` by its form and by the vetoes alone; ``ip`` is empty where the host is a name.

        For URLs whose host is resolved, and checked, where the connection is made.

        Raises:
            Refused: as :meth:`check`.
        """
        target = parse_url(url)
        self._ask_vetoes(target.url)
        return target

    def _opens(self, ip: Address, port: int) -> bool:
        return any(e.holds(ip, port) or e.holds(unwrap(ip), port) for e in self._allowed)

    def _ask_vetoes(self, url: str) -> None:
        if self._vetoes is None:
            return
        try:
            reason = self._vetoes(url)
        except Exception as exc:
            raise Refused(f"a veto hook failed on this URL: {type(exc).__name__}") from exc
        if reason is not None:
            raise Refused(f"vetoed: {reason}")

    def _addresses(self, target: CheckedTarget, timeout_s: float) -> list[Address]:
        if target.ip:
            return [ip_address(target.ip)]
        host = target.host
        if host == "localhost" or host.endswith(".localhost"):
            # Never asked of a name server (RFC 6761); of the two, those that are allowed.
            both = [ip_address(text) for text in _LOOPBACK]
            return [ip for ip in both if self._opens(ip, target.port)] or both
        rows = _look_up(self._resolve, host, target.port, timeout_s)
        try:
            found = [ip_address(str(row[4][0])) for row in rows]
        except (ValueError, LookupError, TypeError) as exc:
            raise _refused(f"{host} resolves to something that is no address") from exc
        if not found:
            raise Unavailable(f"{host} has no address")
        return list(dict.fromkeys(found))


def _refused(what: str) -> Refused:
    return Refused(what, fix="if it is yours to reach, add it to net.allow_hosts")


def _entry(text: str) -> _Entry:
    text = text.strip()
    try:
        return _Entry(network=ip_network(text, strict=False))
    except ValueError:
        pass
    host, port = text, None
    if match := re.fullmatch(r"(\[[^\]]+\]|[^:\[\]]+):(\d{1,5})", text):
        host, port = match[1], int(match[2])
    host = host.strip("[]")
    try:
        return _Entry(network=ip_network(host), port=port)
    except ValueError:
        pass
    try:
        name = ascii_host(host)
        number = parse_number_host(name)
    except ValueError as exc:
        raise ValueError(
            f"{text!r} of net.allow_hosts is not a host name, an address or a range like 10.0.0.0/8"
        ) from exc
    if isinstance(number, IPv4Address):
        return _Entry(network=ip_network(number), port=port)
    return _Entry(name, port=port)


def _look_up(resolve: Resolve, host: str, port: int, timeout_s: float) -> Sequence[tuple[Any, ...]]:
    """Resolve in a daemon thread, since getaddrinfo has no time limit of its own."""
    if not _PENDING.acquire(blocking=False):
        raise Unavailable("too many host names wait for the resolver")
    answer: Future[Sequence[tuple[Any, ...]]] = Future()

    def ask() -> None:
        try:
            answer.set_result(resolve(host, port, 0, socket.SOCK_STREAM))
        except Exception as exc:
            answer.set_exception(exc)
        finally:
            _PENDING.release()

    threading.Thread(target=ask, name="webfetch-resolve", daemon=True).start()
    if not is_done(answer, max(timeout_s, 0.001), current()):
        require_wanted()  # the look-up goes on, for nobody
        raise TimedOut(f"{host} was not resolved in {timeout_s:.1f} s")
    try:
        return list(answer.result())
    except Exception as exc:
        raise Unavailable(f"{host} cannot be resolved") from exc


__all__ = ["RESOLVE_S", "CheckedTarget", "Guard", "Policy", "Resolve", "ascii_host", "parse_url"]
