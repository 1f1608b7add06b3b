"""Does anything get out to where it must not? Every vector, through every path.

    python evals/ssrf.py [--browser 60] [--paths guard,fetch,...]

Vectors: the addresses that are private, special or hand out credentials, in every spelling; IPv6 forms
that carry them; names that resolve to them, alone or among public ones, and names that change their
answer; metadata services; schemes, ports and URLs that two parsers read differently; and the hand cases,
where they lie beside this checkout (``../shared/cases``). Paths: the guard itself, a page that is named, a
page that a search found (robots.txt first), an API call, redirects (301, 302, 303, 307, 308, meta refresh,
the Refresh header, a script), robots.txt that redirects, the guard's proxy, and a real browser.

A vector counts as refused when it ends in an error, or is not followed, and nothing was connected to. A
canary listens on loopback on a port that the policy allows, and every ``connect`` of this process is
watched: both must see nothing. Controls, public addresses next to the private ones, must pass: a connection
to the address that was checked is tried (and stopped here).
"""

from __future__ import annotations

import argparse
import base64
import errno
import os
import re
import socket
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from common import ROOT, finish
from ssrf_vectors import PUBLIC, allowed, case_urls, refused

from webfetch_core import Settings, Webfetch, __version__
from webfetch_core.api import FetchRequest
from webfetch_core.errors import WebfetchError
from webfetch_core.runtime.deadline import SystemClock
from webfetch_core.runtime.http import HttpClient
from webfetch_core.runtime.netguard import Guard, Policy
from webfetch_core.settings import NetSettings
from webfetch_core.testing import FakeContext, LoopbackSite, ScriptedExtractor, fake_plugin
from webfetch_core.testing.site import Reply

CASES = Path(os.environ.get("WEBFETCH_CASES", ROOT.parent / "shared" / "cases")) / "inputs"
START = "start.example"
SECRET = "canary-secret"
OWN = "the starting page says nothing of interest, and says it in a sentence long enough to be read"
STATUSES = (301, 302, 303, 307, 308)
Verdict = str


class Canary:
    """A server that nobody may reach."""

    def __init__(self) -> None:
        self.reached: list[Any] = []
        self._server = socket.socket()
        self._server.bind(("127.0.0.1", 0))
        self._server.listen(64)
        self.port = int(self._server.getsockname()[1])
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            connection, peer = self._server.accept()
            self.reached.append(peer)
            with connection, suppress(OSError):
                connection.sendall(f"HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\n{SECRET}".encode())


class World:
    """Everything that the paths share. ``connected`` has every address that this process wanted to reach."""

    def __init__(self, stack: ExitStack) -> None:
        self.canary = Canary()
        with socket.create_connection(("127.0.0.1", self.canary.port)) as probe:
            assert probe.recv(4) == b"HTTP", "the canary does not sing"
        self.canary.reached.clear()
        self.site = stack.enter_context(LoopbackSite())
        self.groups, self.records = refused(self.canary.port)
        more, self.allowed_by_cases, case_records = case_urls(CASES)
        self.groups["hand_cases"] = more
        self.records |= {**case_records, START: ["127.0.0.1"]}
        self.flips: dict[str, Iterator[str]] = {}
        self.connected: list[tuple[str, int]] = []
        self.open_ports = {self.site.port}
        stack.enter_context(self._watch())
        policy = Policy(
            allow_hosts=(f"{START}:{self.site.port}",), ports=(80, 443, 8000, 8080, 8443, self.canary.port)
        )
        self.guard = Guard(policy, resolve=self.resolve)
        self.client = HttpClient(self.guard, SystemClock(), NetSettings(), __version__)
        stack.callback(self.client.close)
        self.http = self.client.bound()
        self.context = FakeContext("eval", http=self.http, environ=dict(os.environ))

    def resolve(self, host: str, port: int, *_: Any, **__: Any) -> list[tuple[Any, ...]]:
        answers = [next(self.flips[host])] if host in self.flips else self.records.get(host, [PUBLIC])
        return [(socket.AF_INET6 if ":" in a else socket.AF_INET, 1, 6, "", (a, port)) for a in answers]

    @contextmanager
    def _watch(self) -> Iterator[None]:
        real = socket.socket.connect

        def connect(connection: socket.socket, address: Any) -> None:
            if isinstance(address, tuple):
                target = (str(address[0]), int(address[1]))
                if target[0] != "127.0.0.1" or target[1] not in self.open_ports:
                    self.connected.append(target)
                    raise ConnectionRefusedError(errno.ECONNREFUSED, "stopped by the eval")
            real(connection, address)

        socket.socket.connect = connect  # type: ignore[method-assign]
        try:
            yield
        finally:
            socket.socket.connect = real  # type: ignore[method-assign]

    def start(self, path: str) -> str:
        return f"http://{START}:{self.site.port}{path}"

    def webfetch(self, stack: ExitStack, fetcher: Any) -> Webfetch:
        plugins = [fake_plugin("fetch", fetcher, timeout_s=30.0), fake_plugin("extract", ScriptedExtractor())]
        named = [(plugin.name, plugin) for plugin in plugins]
        settings = Settings(extract_workers=0, cache=("none",), fetch_timeout_s=20.0)
        return stack.enter_context(Webfetch(settings, plugins=named, autoload=False, environ={}))


def verdict(work: Callable[[], str]) -> Verdict:
    """``refused``, another error's kind, ``own`` for the starting page's own text, or what came."""
    try:
        text = work()
    except WebfetchError as exc:
        return exc.kind
    return "own" if OWN in text else f"got {text[:40]!r}"


# ---- paths: each takes the world and returns what judges one URL ---------------------------------


def guard(world: World, stack: ExitStack) -> Callable[[str], Verdict]:
    return lambda url: verdict(lambda: world.guard.check(url).ip)


def api(world: World, stack: ExitStack) -> Callable[[str], Verdict]:
    return lambda url: verdict(lambda: world.http.get(url, deadline=time.monotonic() + 5).text)


def http_fetcher(world: World) -> Any:
    from webfetch_fetch_http.plugin import build

    return build(None, world.context)


def body_of(fetcher: Any, url: str) -> str:
    """As a search fetches: robots.txt first."""
    page = fetcher.fetch(FetchRequest(url=url, deadline=time.monotonic() + 5))
    return str(page.body.decode())


def fetch(world: World, stack: ExitStack) -> Callable[[str], Verdict]:
    wf = world.webfetch(stack, http_fetcher(world))
    return lambda url: verdict(lambda: wf.fetch(url, force_fresh=True).text)


def search(world: World, stack: ExitStack) -> Callable[[str], Verdict]:
    """As a search fetches its hits, and PDF links of pages: robots.txt first."""
    fetcher = http_fetcher(world)
    return lambda url: verdict(lambda: body_of(fetcher, url))


def _hop(world: World, stack: ExitStack, reply: Callable[[str, int], Reply]) -> Callable[[str], Verdict]:
    wf = world.webfetch(stack, http_fetcher(world))
    place = iter(range(10**9))

    def judge(url: str) -> Verdict:
        number = next(place)
        world.site.queue(f"/hop{number}", reply(url, number))
        return verdict(lambda: wf.fetch(world.start(f"/hop{number}"), force_fresh=True).text)

    return judge


def _header(url: str) -> str:
    return url.encode("utf-8").decode("latin-1")


def redirect(world: World, stack: ExitStack) -> Callable[[str], Verdict]:
    def reply(url: str, number: int) -> Reply:
        return Reply(status=STATUSES[number % 5], headers={"Location": _header(url)}, body=OWN.encode())

    return _hop(world, stack, reply)


def refresh(world: World, stack: ExitStack) -> Callable[[str], Verdict]:
    def reply(url: str, number: int) -> Reply:
        if number % 3 == 0:
            return Reply(headers={"Refresh": f"0; url={_header(url)}"}, body=f"<p>{OWN}</p>".encode())
        html = f'<meta http-equiv="refresh" content="0; url={url}"><p>{OWN}</p>'
        if number % 3 == 1:
            html = f'<p>{OWN}</p><script>window.location.replace("{url}")</script>'
        return Reply(body=html.encode("utf-8", "replace"))

    return _hop(world, stack, reply)


def robots(world: World, stack: ExitStack) -> Callable[[str], Verdict]:
    """robots.txt redirects to the vector; its page is asked for by a search."""

    def judge(url: str) -> Verdict:
        world.site.queue("/robots.txt", Reply(status=302, headers={"Location": _header(url)}))
        world.site.add("/page", OWN)
        fetcher = http_fetcher(world)  # one that remembers no rules
        return verdict(lambda: body_of(fetcher, world.start("/page")))

    return judge


def proxy(world: World, stack: ExitStack) -> Callable[[str], Verdict]:
    """Both ways in which a browser asks the guard's proxy: by absolute URL, and for a tunnel."""
    lease = stack.enter_context(world.http.guard_proxy())
    host, _, port = lease.address.server.removeprefix("http://").partition(":")
    world.open_ports.add(int(port))
    login = base64.b64encode(f"{lease.address.username}:{lease.address.password}".encode()).decode()

    def ask(line: bytes, host_header: bytes) -> int:
        with socket.create_connection((host, int(port)), timeout=10) as connection:
            connection.sendall(
                line + b" HTTP/1.1\r\nHost: " + host_header + b"\r\nProxy-Authorization: Basic "
                + login.encode() + b"\r\n\r\n"
            )  # fmt: skip
            with suppress(OSError):
                first = connection.makefile("rb").readline(200).split()
                return int(first[1]) if len(first) > 1 else 0
        return 0

    def judge(url: str) -> Verdict:
        raw = url.encode("utf-8")
        named = re.match(rb"https?://([^/?#]+)", raw)
        netloc = named[1] if named else b"x"
        codes = {ask(b"GET " + raw, netloc)}
        if named:
            tunnel = netloc if netloc.rpartition(b":")[2].isdigit() else netloc + b":443"
            codes.add(ask(b"CONNECT " + tunnel, tunnel))
        return "refused" if all(code == 0 or code >= 400 for code in codes) else f"answered {codes}"

    return judge


def browser(world: World, stack: ExitStack) -> Callable[[str], Verdict]:
    """Pages, and pages that load the vector in every way that a page can."""
    from webfetch_fetch_browser.plugin import build

    fetcher = build(None, world.context)
    stack.callback(fetcher.close)
    wf = world.webfetch(stack, fetcher)
    place = iter(range(10**9))

    def judge(url: str) -> Verdict:
        number = next(place)
        if number % 2:
            world.site.add(f"/b{number}", loading(url).body)
            url = world.start(f"/b{number}")
        return verdict(lambda: wf.fetch(url, force_fresh=True, deadline_s=20.0).text)

    lease = world.http.guard_proxy()  # the proxy's port: the browser's own connections go there
    world.open_ports.add(int(lease.address.server.rpartition(":")[2]))
    lease.close()
    return judge


def loading(url: str) -> Reply:
    socket_url = "ws" + url.removeprefix("http") if url.startswith("http") else url
    html = (
        f'<!doctype html><title>Start</title><link rel=stylesheet href="{url}">'
        f'<link rel=prefetch href="{url}">'
        f'<link rel=icon href="{url}"><p>{OWN}</p><p>{OWN}</p><img src="{url}"><iframe src="{url}"></iframe>'
        f'<object data="{url}"></object><video src="{url}"></video><script src="{url}"></script><script>'
        f'const u = "{url}"; fetch(u, {{mode: "no-cors"}}).catch(() => 0); navigator.sendBeacon(u, "x");'
        f'try {{ new WebSocket("{socket_url}") }} catch (e) {{}} try {{ new EventSource(u) }} catch (e) {{}}'
        'try { new RTCPeerConnection({iceServers: [{urls: "stun:127.0.0.1"}]}).createOffer() } catch (e) {}'
        "try { window.open(u) } catch (e) {}</script>"
    )
    return Reply(body=html.encode("utf-8", "replace"))


PATHS: dict[str, Callable[[World, ExitStack], Callable[[str], Verdict]]] = {
    "guard": guard,
    "fetch": fetch,
    "search": search,
    "api": api,
    "redirect": redirect,
    "refresh": refresh,
    "robots": robots,
    "proxy": proxy,
    "browser": browser,
}
_ON_THE_WIRE = ("redirect", "refresh", "robots", "proxy", "browser")
_HOPS = frozenset({"redirect", "refresh", "robots", "browser"})
_STRICT = frozenset({"refused"})
_LED_NOWHERE = frozenset({"refused", "own", "not_found"})
"""What a page may come to whose redirect is not one: its own text, or a path of its own host."""


def sayable(url: str) -> bool:
    """Whether a URL can stand in a header or an attribute at all."""
    return len(url) < 4_000 and not any(c in url for c in '\r\n\0\t"\\')


def run_path(world: World, name: str, urls: list[str]) -> tuple[int, int]:
    """Judge ``urls`` by one path; print and return how many were refused, of how many."""
    good = 0
    wrong: list[str] = []
    kinds: dict[str, int] = defaultdict(int)
    with ExitStack() as stack:
        judge = PATHS[name](world, stack)
        for url in urls:
            before, reached = len(world.connected), len(world.canary.reached)
            seen = judge(url)
            kinds[seen] += 1
            quiet = len(world.connected) == before and len(world.canary.reached) == reached
            # The library takes no relative URL: that is a bad query, before there is anything to guard.
            fine = _LED_NOWHERE if name in _HOPS else _STRICT | ({"bad_query"} if name == "fetch" else set())
            if seen in fine and quiet:
                good += 1
            else:
                wrong.append(f"{url[:100]!r}: {seen}, connected to {world.connected[before:]}")
    told = ", ".join(f"{kind} {n}" for kind, n in sorted(kinds.items(), key=lambda item: -item[1])[:6])
    print(f"  {name:10} refused {good:5} of {len(urls)}   ({told})")
    for line in wrong[:10]:
        print(f"    GOT THROUGH {line}")
    return good, len(urls)


def run_controls(world: World, name: str) -> tuple[int, int]:
    """Public addresses pass: a connection to the very address is tried."""
    good = 0
    pairs = [*allowed(), *((url, "") for url in world.allowed_by_cases)]
    if name == "proxy":  # on the wire a URL is ASCII, its scheme small, and without a fragment
        pairs = [(url, ip) for url, ip in pairs if url.isascii() and url[0] == "h" and "#" not in url]
    with ExitStack() as stack:
        judge = PATHS[name](world, stack)
        for url, ip in pairs:
            before = len(world.connected)
            seen = judge(url)
            tried = {ip_address(address) for address, _ in world.connected[before:]}
            passed = seen.startswith("got") if name == "guard" else bool(tried)
            passed &= not ip or name == "guard" or tried == {ip_address(ip)}
            good += passed
            if not passed:
                print(f"    HELD BACK {url}: {seen}, connected to {tried}")
    print(f"  {name:10} allowed {good:5} of {len(pairs)}")
    return good, len(pairs)


def run_rebinding(world: World) -> tuple[int, int]:
    """Names that answer with a public address first and with loopback afterwards, and the reverse."""
    good = count = 0
    with ExitStack() as stack:
        wf = world.webfetch(stack, http_fetcher(world))
        for number in range(40):
            host = f"flip{number}.vector.example"
            answers = [PUBLIC, "127.0.0.1"] if number % 2 else ["127.0.0.1", PUBLIC]
            world.flips[host] = iter(answers * 20)
            before = len(world.connected)
            url = f"http://{host}:{world.canary.port}/"
            if number % 4 > 1:
                world.site.redirect(f"/flip{number}", url)
                url = world.start(f"/flip{number}")
            seen = verdict(lambda url=url: wf.fetch(url, force_fresh=True).text)  # type: ignore[misc]
            reached = {address for address, _ in world.connected[before:]}
            fine = reached == {PUBLIC} if answers[0] == PUBLIC else (seen == "refused" and not reached)
            good, count = good + fine, count + 1
            if not fine:
                print(f"    REBOUND {host}: {seen}, connected to {reached}")
    print(f"  {'rebinding':10} held    {good:5} of {count}")
    return good, count


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--browser", type=int, default=60, help="vectors for the browser; 0 leaves it out")
    parser.add_argument("--paths", default="", help="paths, by name, with commas")
    args = parser.parse_args()
    figures: dict[str, Any] = {}
    chosen = [name for name in args.paths.split(",") if name] or list(PATHS)
    with ExitStack() as stack:
        world = World(stack)
        every = [url for urls in world.groups.values() for url in urls]
        print("vectors: " + ", ".join(f"{name} {len(urls)}" for name, urls in world.groups.items()))
        for name in chosen:
            urls = [url for url in every if name not in _ON_THE_WIRE or sayable(url)]
            if name == "browser":
                urls = urls[:: max(len(urls) // max(args.browser, 1), 1)][: args.browser]
                if not urls:
                    continue
            good, count = run_path(world, name, urls)
            figures |= {f"{name}_refused": good / count, f"{name}_vectors": count}
        for name in ("guard", "fetch", "proxy"):
            if name in chosen:
                good, count = run_controls(world, name)
                figures |= {f"{name}_allowed": good / count, f"{name}_controls": count}
        if "fetch" in chosen:
            good, count = run_rebinding(world)
            figures["rebinding_held"] = good / count
        figures["canary_reached"] = len(world.canary.reached)
        print(f"  connections to the canary: {len(world.canary.reached)}")
    finish("ssrf", figures)


if __name__ == "__main__":
    main()
