"""Every way out of a page leads through the guard. The inner server must see not one connection."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from attrs import evolve
from webfetch_fetch_browser.fetcher import BrowserFetcher
from webfetch_fetch_browser.settings import FetchBrowserSettings

from webfetch_core import Settings, Webfetch
from webfetch_core.api import FetchRequest, Page, Refused, WebfetchError, hookimpl
from webfetch_core.testing import FakeContext, LoopbackSite, ScriptedExtractor, fake_plugin, loopback_http

TEXT = f"<p>{'The keeper lights the lamp at dusk. ' * 12}</p>"


def render(fetcher: BrowserFetcher, url: str, within_s: float = 20.0) -> Page:
    return fetcher.fetch(FetchRequest(url=url, deadline=time.monotonic() + within_s, purpose="user"))


def refused(browser: Any, url: str) -> str:
    with pytest.raises(Refused) as caught:
        render(browser, url)
    return str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/latest/meta-data/",
        "http://metadata.google.internal/",
        "http://[::1]/",
        "http://0x7f.1/",
        "http://10.0.0.1/",
        "https://192.168.0.1/",
        "http://localhost:{port}/",
        "http://127.0.0.1:{port}/",
        "http://[::ffff:127.0.0.1]:{port}/",
        "file:///etc/passwd",
        "chrome://version",
        "view-source:http://127.0.0.1:{port}/",
        "javascript:alert(1)",
        "data:text/html,x",
        "http://user:word@127.0.0.1:{port}/",
    ],
)
def test_addresses_that_lead_inside_are_refused(browser: Any, inside: LoopbackSite, url: str) -> None:
    refused(browser, url.format(port=inside.port))
    assert inside.connections == 0


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_to_the_inside_are_refused(
    browser: Any, site: LoopbackSite, inside: LoopbackSite, status: int
) -> None:
    site.redirect("/in", inside.url("/secret"), status=status).redirect("/in2", "/in")
    for path in ("/in", "/in2"):
        refused(browser, site.url(path))
    assert inside.connections == 0


@pytest.mark.parametrize(
    "html",
    [
        "<meta http-equiv=refresh content='0;url={inner}/s'>",
        "<script>location.href='{inner}/s'</script>",
        "<script>setTimeout(()=>location.assign('{inner}/s'), 200)</script>",
        "<body onload='f.submit()'><form id=f method=post action='{inner}/s'><input name=a></form>",
        "<a id=a href='{inner}/s'>x</a><script>a.click()</script>",
    ],
)
def test_navigations_of_the_pages_own_are_refused(
    browser: Any, site: LoopbackSite, inside: LoopbackSite, html: str
) -> None:
    site.add("/nav", html.format(inner=inside.base_url))
    refused(browser, site.url("/nav"))
    assert inside.connections == 0


def test_nothing_that_a_page_loads_comes_from_the_inside(
    browser: Any, site: LoopbackSite, inside: LoopbackSite
) -> None:
    inner, port = inside.base_url, inside.port
    site.redirect("/to-inside", f"{inner}/redirected")
    site.add("/sw.js", f"fetch('{inner}/sw')")
    site.add("/worker.js", f"fetch('{inner}/worker'); new WebSocket('ws://127.0.0.1:{port}/worker')")
    site.add(
        "/loads",
        f"""{TEXT}<link rel=stylesheet href="{inner}/css"><link rel=prefetch href="{inner}/prefetch">
        <link rel=preconnect href="{inner}"><link rel=dns-prefetch href="{inner}">
        <link rel=icon href="{inner}/icon">
        <link rel=modulepreload href="{inner}/module"><link rel=manifest href="{inner}/manifest">
        <img src="{inner}/img"><img srcset="{inner}/set 2x"><iframe src="{inner}/frame"></iframe>
        <iframe src="/to-inside"></iframe><embed src="{inner}/embed"><object data="{inner}/object"></object>
        <video src="{inner}/video"></video><audio src="{inner}/audio"></audio>
        <script src="{inner}/script"></script>
        <script src="/to-inside"></script><script type=module src="{inner}/mod"></script>
        <style>@import '{inner}/import'; p {{ background: url({inner}/background) }}</style>
        <a id=ping ping="{inner}/ping" href="#x">x</a>
        <script>
          const quiet = (f) => {{
            try {{ const p = f(); p && p.catch && p.catch(() => 0); }} catch (e) {{}} }};
          quiet(() => fetch('{inner}/fetch', {{mode: 'no-cors'}}));
          quiet(() => fetch('/to-inside'));
          quiet(() => fetch('http://localhost:{port}/name', {{mode: 'no-cors'}}));
          quiet(() => fetch('http://[::ffff:127.0.0.1]:{port}/mapped', {{mode: 'no-cors'}}));
          quiet(() => {{ const x = new XMLHttpRequest(); x.open('POST', '{inner}/xhr'); x.send('a'); }});
          quiet(() => navigator.sendBeacon('{inner}/beacon', 'x'));
          quiet(() => new WebSocket('ws://127.0.0.1:{port}/ws'));
          quiet(() => new WebSocket('wss://127.0.0.1:{port}/wss'));
          quiet(() => new EventSource('{inner}/events'));
          quiet(() => new Worker('/worker.js'));
          quiet(() => new SharedWorker('/worker.js'));
          quiet(() => navigator.serviceWorker.register('/sw.js'));
          quiet(() => import('{inner}/import'));
          quiet(() => window.open('{inner}/window'));
          quiet(() => new WebTransport('https://127.0.0.1:{port}/transport').ready);
          quiet(() => ping.click());
          const i = new Image(); i.src = '{inner}/image';
        </script>""",
    )
    page = render(browser, site.url("/loads"))
    assert b"The keeper lights the lamp" in page.body
    time.sleep(0.3)  # whatever is still on its way
    assert inside.connections == 0, [request.target for request in inside.requests]


@pytest.fixture
def datagrams() -> Iterator[tuple[int, list[bytes]]]:
    """A UDP port of this machine, and what arrived there."""
    got: list[bytes] = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", 0))
        sock.settimeout(0.05)
        over = threading.Event()

        def listen() -> None:
            while not over.is_set():
                try:
                    got.append(sock.recv(2048))
                except TimeoutError:
                    continue

        thread = threading.Thread(target=listen)
        thread.start()
        yield sock.getsockname()[1], got
        over.set()
        thread.join()


def test_no_datagram_leaves_a_page(
    browser: Any, site: LoopbackSite, datagrams: tuple[int, list[bytes]]
) -> None:
    """WebRTC's STUN, HTTP/3 and WebTransport go by UDP, past any forward proxy."""
    port, got = datagrams
    site.add(
        "/rtc",
        f"""{TEXT}<p id=r>none</p><script>
        const pc = new RTCPeerConnection({{iceServers: [{{urls: 'stun:127.0.0.1:{port}'}}]}});
        pc.createDataChannel('x'); pc.createOffer().then((o) => pc.setLocalDescription(o));
        pc.onicecandidate = (e) => {{ if (e.candidate) r.textContent += ' ' + e.candidate.candidate; }};
        try {{ new WebTransport('https://127.0.0.1:{port}/').ready.catch(() => 0); }} catch (e) {{}}
        </script>""",
        headers={"Alt-Svc": f'h3=":{port}"; ma=60'},
    )
    render(browser, site.url("/rtc"))
    render(browser, site.url("/rtc"))
    assert got == []


def test_names_are_resolved_by_the_guard_alone(
    chromium: str, environ: dict[str, str], site: LoopbackSite
) -> None:
    """A name that only the guard's own resolver knows, and that the next look-up would lead elsewhere."""
    asked: list[str] = []

    def resolve(host: str, port: int, *_: Any) -> list[Any]:
        asked.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

    site.add("/named", TEXT)
    context = FakeContext("fetch_browser")
    with loopback_http(context.clock, allow=[f"tarn.example:{site.port}"], resolve=resolve) as http:
        fetcher = BrowserFetcher(FetchBrowserSettings(), http, context.clock, environ, context.log)
        try:
            page = render(fetcher, f"http://tarn.example:{site.port}/named")
            assert b"The keeper" in page.body and set(asked) == {"tarn.example"}
            assert site.requests[-1].headers["host"] == f"tarn.example:{site.port}"
            with pytest.raises(WebfetchError):
                render(fetcher, f"http://other.example:{site.port}/named")
        finally:
            fetcher.close()


class Forbids:
    """A plugin with a veto for one path."""

    @hookimpl
    def webfetch_veto_url(self, url: str) -> str | None:
        return "members only" if "/members/" in url else None


def test_vetoes_see_whole_addresses_on_every_hop(
    chromium: str, environ: dict[str, str], site: LoopbackSite
) -> None:
    site.add("/members/list", TEXT)
    site.redirect("/hop", "/members/list").add("/js", "<script>location.href='/members/list'</script>")
    site.add("/part", f"{TEXT}<script>fetch('/members/list')</script><iframe src='/members/list'></iframe>")
    settings = Settings(
        net=evolve(Settings().net, allow_hosts=(f"127.0.0.1:{site.port}",)),
        fetch=("browser",),
        extract_workers=0,
    )
    plain = fake_plugin("extract", ScriptedExtractor(), name="plain")
    with Webfetch(settings, plugins=[Forbids(), plain], environ=environ) as host:
        for path in ("/members/list", "/hop", "/js"):
            with pytest.raises(Refused, match="members only"):
                host.fetch(site.url(path), deadline_s=20)
        asked = len([path for path in site.paths if path == "/members/list"])
        assert "The keeper lights" in host.fetch(site.url("/part"), deadline_s=20).text
        assert len([path for path in site.paths if path == "/members/list"]) == asked


def test_no_other_program_can_use_the_way_out(chromium: str, site: LoopbackSite) -> None:
    with loopback_http(FakeContext().clock, allow=["127.0.0.1"]) as http, http.guard_proxy() as lease:
        port = int(lease.address.server.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port), timeout=3) as sock:
            sock.sendall(f"GET {site.url('/')} HTTP/1.1\r\nHost: 127.0.0.1:{site.port}\r\n\r\n".encode())
            assert sock.recv(64).startswith(b"HTTP/1.1 407")
