"""Every endpoint that takes an address: the same page behind each spelling, and no redirect to the inside."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from urllib.parse import quote

import pytest
from attrs import frozen

from webfetch_core.api import FetchRequest, FetchTraits, Page, Provider, SearchHit, SearchTraits
from webfetch_core.testing import FakePlugin, LoopbackSite, ScriptedEngine, fake_plugin, loopback_http

Server = Any  # the running server of conftest.py


@frozen
class Endpoint:
    """One that takes an address: how it is asked, and how it tells that a page could not be read.

    ``told`` checks the shape of a refusal and returns its words, all that there are.
    """

    ask: Callable[[Server, str], Any]
    told: Callable[[Any, str], str]


def native(reply: Any, url: str) -> str:
    assert 400 <= reply.status < 500 and set(reply.json) == {"error"}
    assert reply.json["error"]["kind"] in ("refused", "bad_query")
    return str(reply.json["error"]["message"])


def tavily(reply: Any, url: str) -> str:
    assert reply.status == 200 and reply.json["results"] == []
    (failed,) = reply.json["failed_results"]
    assert set(failed) == {"url", "error"} and failed["url"] == url.strip()
    return str(failed["error"])


def firecrawl(reply: Any, url: str) -> str:
    assert 400 <= reply.status < 500 and reply.json["success"] is False
    assert set(reply.json) == {"success", "error", "details", "code"}
    return str(reply.json["error"])


def firecrawl_search(reply: Any, url: str) -> str:
    assert reply.status == 200 and reply.json["success"] is True
    (item,) = (item for item in reply.json["data"]["web"] if item["url"] == url)
    assert item["markdown"] is None and item["metadata"]["sourceURL"] == url
    return str(item["metadata"]["error"])


def openwebui(reply: Any, url: str) -> str:
    assert reply.status == 200 and reply.json == []
    return "left out"


def jina(reply: Any, url: str) -> str:
    assert 400 <= reply.status < 500 and reply.json["data"] is None
    assert reply.json["code"] == reply.status and reply.json["status"] == reply.status * 100
    assert reply.json["readableMessage"] == f"{reply.json['name']}: {reply.json['message']}"
    return str(reply.json["message"])


def page(reply: Any, url: str) -> str:
    assert 400 <= reply.status < 500 and reply.headers["content-type"].startswith("text/html")
    return str(reply.text)


def in_path(text: str) -> str:
    """``text`` behind ``/r/``: as it is, where a request line can hold it."""
    return quote(text, safe="/:?&=%[]")


ENDPOINTS = {
    "native": Endpoint(lambda s, u: s.post("/api/v1/fetch", {"url": u, "force_fresh": True}), native),
    "tavily": Endpoint(lambda s, u: s.post("/extract", {"urls": [u]}), tavily),
    "tavily-one": Endpoint(lambda s, u: s.post("/extract", {"urls": u}), tavily),
    "firecrawl": Endpoint(lambda s, u: s.post("/v2/scrape", {"url": u, "maxAge": 0}), firecrawl),
    "openwebui": Endpoint(lambda s, u: s.post("/openwebui/load", {"urls": [u]}), openwebui),
    "reader": Endpoint(lambda s, u: s.get(f"/r/{in_path(u)}"), jina),
    "reader-post": Endpoint(lambda s, u: s.post("/r", {"url": u}), jina),
    "reader-form": Endpoint(
        lambda s, u: s.post(
            "/r/", f"url={quote(u, safe='')}".encode(), Content_Type="application/x-www-form-urlencoded"
        ),
        jina,
    ),
    "page": Endpoint(lambda s, u: s.get(f"/?read={quote(u, safe='')}"), page),
}
BY_ENDPOINT = pytest.mark.parametrize("name", ENDPOINTS)

# ---- addresses -----------------------------------------------------------------------------------


class Seen:
    """A fetcher that remembers what it was asked for."""

    def __init__(self) -> None:
        self.urls: list[str] = []

    def fetch(self, request: FetchRequest) -> Page:
        self.urls.append(request.url)
        body = b"Warp\n\nIt is tense."
        return Page(url=request.url, final_url=request.url, body=body, content_type="text/plain")


def fetching(build: Callable[..., Any], *schemes: str) -> FakePlugin:
    traits = FetchTraits(schemes=("http", "https", *schemes))
    return FakePlugin("fetch_real", {"fetch": [Provider(name="real", build=build, traits=traits)]})


@pytest.fixture(scope="module")
def seen() -> Seen:
    return Seen()


@pytest.fixture(scope="module")
def server(make_server: Callable[..., Any], seen: Seen) -> Iterator[Server]:
    with make_server(plugins=[fetching(lambda *_: seen, "local")]) as made:
        yield made


SPELLINGS = [
    ("https://loom.example/", "https://loom.example/"),
    ("HTTPS://loom.example/", "https://loom.example/"),
    ("https:/loom.example/", "https://loom.example/"),
    ("loom.example/", "https://loom.example/"),
    ("loom.example:8443/", "https://loom.example:8443/"),
    ("//loom.example/", "https://loom.example/"),
    ("https%3A%2F%2Floom.example%2F", "https://loom.example/"),
    ("https://bücher.example/", "https://bücher.example/"),
    ("local:docs/", "local:docs/"),
    ("LOCAL:docs/", "local:docs/"),
]


@BY_ENDPOINT
@pytest.mark.parametrize("number", range(len(SPELLINGS)))
def test_every_endpoint_reads_the_same_page(server: Server, seen: Seen, name: str, number: int) -> None:
    text, begins = SPELLINGS[number]
    own = f"{name}-{number}"  # a page that no other test has put into the cache
    seen.urls.clear()
    reply = ENDPOINTS[name].ask(server, f"{text}{own}")
    assert reply.status == 200 and "It is tense." in reply.text, reply.text
    assert seen.urls == [f"{begins}{own}"]


@BY_ENDPOINT
@pytest.mark.parametrize(
    "text",
    ["mailto:someone@loom.example", "javascript:alert(1)", "data:text/html,<p>x", "/docs/a", "warp",
     "javascript%3Aalert(1)", "file:/etc/passwd", "file:///etc/passwd", "gopher://loom.example/", "local:",
     "user:pw@loom.example/x", "../a", "model-finding:x", "tel:911"],
)  # fmt: skip
def test_what_is_no_address_is_refused_in_the_right_shape(
    server: Server, seen: Seen, name: str, text: str
) -> None:
    seen.urls.clear()
    reply = ENDPOINTS[name].ask(server, text)
    told = ENDPOINTS[name].told(reply, text)
    assert told and "(a path)" not in told and "passwd" not in told
    assert seen.urls == [], "nothing else is fetched in its place"


def test_one_bad_address_does_not_cost_the_others(server: Server) -> None:
    urls = ["mailto:x@loom.example", "https://loom.example/one", "/a", "loom.example/two"]
    body = server.post("/extract", {"urls": urls}).json
    assert [row["url"] for row in body["results"]] == [urls[1], urls[3]]
    assert [row["url"] for row in body["failed_results"]] == [urls[0], urls[2]]
    assert all("It is tense." in row["raw_content"] for row in body["results"])
    rows = server.post("/openwebui/load", {"urls": urls}).json
    assert [row["metadata"]["source"] for row in rows] == [urls[1], urls[3]]


# ---- redirects to the inside ---------------------------------------------------------------------


class ThroughTheGuard:
    """A fetcher over the core's HTTP client."""

    def __init__(self, http: Any) -> None:
        self._http = http

    def fetch(self, request: FetchRequest) -> Page:
        made: Page = self._http.fetch_page(request.url, deadline=request.deadline)
        return made


class Canary:
    """A listening socket that nobody may reach."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]

    def heard(self) -> bool:
        """Whether a connection has come in: the kernel takes it without our doing."""
        self._socket.settimeout(0.0)
        try:
            self._socket.accept()[0].close()
        except BlockingIOError:
            return False
        return True

    def close(self) -> None:
        self._socket.close()


class Clock:
    def monotonic(self) -> float:
        return time.monotonic()

    def time(self) -> float:
        return time.time()


RESOLVED = {"outside.example": "127.0.0.1", "inside.example": "127.0.0.1", "private.example": "10.41.42.43"}
"""Where names lead in these tests; ``outside.example`` is permitted, on the port of the site."""
INSIDE = {
    "metadata": "http://169.254.169.254/latest/meta-data/",
    "another port": "http://outside.example:{canary}/",
    "an address": "http://127.0.0.1:{canary}/",
    "localhost": "http://localhost:{canary}/",
    "mapped": "http://[::ffff:127.0.0.1]:{canary}/",
    "a number": "http://2130706433:{canary}/",
    "a name": "http://inside.example:{canary}/",
    "a private name": "http://private.example/",
    "a file": "file:///etc/passwd",
    "gopher": "gopher://127.0.0.1:{canary}/",
    "a second hop": "/again/{canary}",
}


def resolve(host: str, port: int, *rest: Any) -> Sequence[tuple[Any, ...]]:
    if host not in RESOLVED:
        raise socket.gaierror(f"{host} is not known here")
    return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (RESOLVED[host], port))]


class World:
    """A server whose fetcher may read one site, the engine's one hit, and the canary."""

    def __init__(self, server: Server, site: LoopbackSite, canary: Canary, found: list[str]) -> None:
        self.server, self.site, self.canary, self._found = server, site, canary, found
        self._count = 0

    def leading(self, to: str) -> str:
        """A new address on the site that redirects to ``to``; it is what a search finds."""
        self._count += 1
        port, to = self.canary.port, to.format(canary=self.canary.port)
        self.site.redirect(f"/again/{port}", f"http://127.0.0.1:{port}/")
        self.site.redirect(f"/from/{self._count}", to)
        url = f"http://outside.example:{self.site.port}/from/{self._count}"
        self._found[:] = [url]
        return url

    def untouched(self, reply: Any, url: str) -> None:
        """The site was asked, the canary was not, and the answer tells neither address nor file."""
        assert any(url.endswith(request.path) for request in self.site.requests)
        assert not self.canary.heard()
        assert "10.41.42.43" not in reply.text and "root:" not in reply.text


@pytest.fixture(scope="module")
def world(make_server: Callable[..., Any]) -> Iterator[World]:
    found: list[str] = []
    engine = ScriptedEngine(lambda request: [SearchHit(url=url, title="Warp", snippet="A.") for url in found])
    canary = Canary()
    with (
        LoopbackSite() as site,
        loopback_http(Clock(), allow=[f"outside.example:{site.port}"], resolve=resolve) as http,
    ):
        plugins = [
            fetching(lambda *_: ThroughTheGuard(http)),
            fake_plugin("search", engine, name="first", traits=SearchTraits(), timeout_s=60.0),
        ]
        with make_server(plugins=plugins) as server:
            yield World(server, site, canary, found)
    canary.close()


def test_the_site_itself_is_read(world: World) -> None:
    world.site.add("/there", "Warp. It is tense.", headers={"Content-Type": "text/plain"})
    url = world.leading("/there")
    for endpoint in ENDPOINTS.values():
        reply = endpoint.ask(world.server, url)
        assert reply.status == 200 and "It is tense." in reply.text


@BY_ENDPOINT
@pytest.mark.parametrize("to", INSIDE.values(), ids=INSIDE)
def test_a_redirect_leads_nobody_inside(world: World, name: str, to: str) -> None:
    url = world.leading(to)
    endpoint = ENDPOINTS[name]
    reply = endpoint.ask(world.server, url)
    assert endpoint.told(reply, url)
    world.untouched(reply, url)
    # An address that the redirect itself names is no secret; what a name resolves to is one.
    named = any(word in to for word in ("127.0.0.1", "2130706433", "again"))
    assert named or "127.0.0.1" not in reply.text


@pytest.mark.parametrize("to", INSIDE.values(), ids=INSIDE)
def test_a_redirect_of_a_result_leads_nobody_inside(world: World, to: str) -> None:
    url = world.leading(to)
    number = url.rpartition("/")[2]
    reply = world.server.post(
        "/v2/search", {"query": f"warp number {number}", "scrapeOptions": {"formats": ["markdown"]}}
    )
    assert firecrawl_search(reply, url)
    world.untouched(reply, url)
    reply = world.server.post("/search", {"query": f"weft {number}", "include_raw_content": True})
    (row,) = (row for row in reply.json["results"] if row["url"] == url)
    assert reply.status == 200 and row["raw_content"] is None
    world.untouched(reply, url)
    for path in (f"/search?q=edge+{number}&format=json", f"/?q=temple+{number}"):
        reply = world.server.get(path)
        assert reply.status == 200 and url in reply.text
        world.untouched(reply, url)
