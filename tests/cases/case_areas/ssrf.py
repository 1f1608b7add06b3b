"""URLs that lead where they must not, and some that only look like it."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from case_runner import Case, Seen

from webfetch_core import __version__
from webfetch_core.errors import WebfetchError
from webfetch_core.runtime.deadline import SystemClock
from webfetch_core.runtime.http import HttpClient
from webfetch_core.runtime.netguard import Guard, Policy
from webfetch_core.settings import NetSettings
from webfetch_core.testing import LoopbackSite
from webfetch_core.testing.site import Received, Reply

PUBLIC = "93.184.216.34"


def run(case: Case, tmp_path: Path) -> Seen:
    if (case.folder / "urls.json").is_file():
        return _judge(case)
    if (case.folder / "dns.json").is_file():
        return _resolve(case)
    return _redirect(case)


def _judge(case: Case) -> Seen:
    listed = case.json("urls.json")
    guard = Guard(Policy(), resolve=_names({}))
    seen = {url: _kind(lambda url=url: guard.check(url)) for url in (*listed["refuse"], *listed["allow"])}
    wrong = [url for url in listed["refuse"] if seen[url] != "refused"]
    wrong += [url for url in listed["allow"] if seen[url] is not None]
    if wrong:
        return Seen(text=str([(url, seen[url]) for url in wrong]), error_kind="judged wrongly")
    return Seen(error_kind="refused" if listed["refuse"] else None)


def _resolve(case: Case) -> Seen:
    script = case.json("dns.json")
    records = {}
    for name, rows in script["records"].items():
        found = [*rows.get("A", ()), *rows.get("AAAA", ())]
        records[name] = found or (["127.0.0.1", "::1"] if rows.get("CNAME") == "localhost" else [])
    with _sockets() as opened, _client(Guard(Policy(), resolve=_names(records))) as http:
        kinds = {_kind(lambda url=url: _fetch(http, url)) for url in script["urls"]}
    return Seen(
        error_kind=kinds.pop() if len(kinds) == 1 else f"differing: {kinds}",
        measured={"sockets_opened": len(opened)},
    )


def _redirect(case: Case) -> Seen:
    """The script's public host is played on loopback, which the operator of this test allows by name."""
    script = case.json("http.json")
    host = urlsplit(script["request"]["url"]).hostname or ""

    def answer(request: Received) -> Reply:
        rule = next(r for r in script["rules"] if r["match"] == f"http://{host}{request.target}")
        return Reply(
            status=rule["status"], headers=rule.get("headers", {}), body=rule.get("body", "").encode()
        )

    with LoopbackSite() as site:
        for rule in script["rules"]:
            if urlsplit(rule["match"]).hostname == host:
                site.add(urlsplit(rule["match"]).path, answer)
        policy = Policy(allow_hosts=(f"{host}:{site.port}",))
        text, kind = "", None
        with _sockets() as opened, _client(Guard(policy, resolve=_names({host: ["127.0.0.1"]}))) as http:
            for path in ("/robots.txt", urlsplit(script["request"]["url"]).path):
                try:
                    text += _fetch(http, f"http://{host}:{site.port}{path}").body.decode()
                    kind = None
                except WebfetchError as exc:
                    text, kind = text + str(exc), exc.kind
        elsewhere = [address for address in opened if address[:2] != ("127.0.0.1", site.port)]
    return Seen(text=text, error_kind=kind, measured={"private_requests": len(elsewhere)})


def _kind(work: Any) -> str | None:
    try:
        work()
    except WebfetchError as exc:
        return exc.kind
    return None


def _fetch(http: Any, url: str) -> Any:
    return http.fetch_page(url, deadline=time.monotonic() + 3)


def _names(records: dict[str, list[str]]) -> Any:
    def resolve(host: str, port: int, *_: Any, **__: Any) -> list[tuple[Any, ...]]:
        rows = []
        for address in records.get(host, [PUBLIC]):
            family = socket.AF_INET6 if ":" in address else socket.AF_INET
            rows.append((family, socket.SOCK_STREAM, 6, "", (address, port)))
        return rows

    return resolve


@contextmanager
def _client(guard: Guard) -> Iterator[Any]:
    client = HttpClient(guard, SystemClock(), NetSettings(), __version__)
    try:
        yield client.bound()
    finally:
        client.close()


@contextmanager
def _sockets() -> Iterator[list[Any]]:
    """Addresses that anything in this process connects to meanwhile."""
    opened: list[Any] = []
    real = socket.socket.connect

    def connect(self: socket.socket, address: Any) -> None:
        opened.append(address)
        real(self, address)

    socket.socket.connect = connect  # type: ignore[method-assign]
    try:
        yield opened
    finally:
        socket.socket.connect = real  # type: ignore[method-assign]
