"""The native API: records, schemas, errors, and the guard."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from typing import Any

import pytest

from webfetch_core import Settings, ToolBox, Webfetch
from webfetch_core.api import FetchRequest, FetchTraits, Page, Provider, Unavailable
from webfetch_core.testing import FakePlugin, LoopbackSite, ScriptedEngine, ScriptedFetcher, Slow

WARP, GONE = "https://loom.example/warp", "https://loom.example/gone"
Server = Any  # the running server of conftest.py
Serve = Callable[..., Any]


def test_a_search_is_the_record_and_what_a_model_sees(server: Server) -> None:
    reply = server.post("/api/v1/search", {"query": "warp tension", "limit": 5})
    assert reply.status == 200 and reply.headers["content-type"] == "application/json"
    body = reply.json
    with Webfetch(Settings(), plugins=[], autoload=False, environ={}) as wf:
        told = ToolBox(wf).call("web_search", {"query": "x", "force_fresh": True}).structured
    assert body["schema_version"] == told.get("schema_version", 1) == 1
    assert body["query"] == "warp tension" and body["chunks"][0]["url"] == WARP
    assert "180 g" in body["excerpts"][0]["text"]
    assert "untrusted page text" in body["text"] and "180 g" in body["text"]
    assert {a["stage"] for a in body["attempts"]} >= {"search", "fetch"}
    assert {f["url"] for f in body["failed_urls"]} == {GONE}
    assert body["trace"] and body["provenance"]["kind"] in ("fresh", "exact")


def test_it_is_answered_from_the_cache_the_second_time(server: Server) -> None:
    asked = {"query": "straight edge of the warp", "render": False}
    first, second = (server.post("/api/v1/search", asked).json for _ in range(2))
    assert first["provenance"]["kind"] == "fresh" and second["provenance"]["kind"] == "exact"
    assert first["chunks"] == second["chunks"] and second["text"] is None
    third = server.post("/api/v1/search", {**asked, "force_fresh": True}).json
    assert third["provenance"]["kind"] == "fresh"


def test_a_page_and_a_ranking(server: Server) -> None:
    page = server.post("/api/v1/fetch", {"url": WARP}).json
    assert page["title"] == "Warp tension guide" and "180 g" in page["text"]
    ranked = server.post("/api/v1/rerank", {"query": "warp", "passages": ["a", "the warp"], "limit": 1}).json
    assert [one["index"] for one in ranked["results"]] == [1]


def test_status_tells_what_runs_and_no_place(serve: Serve) -> None:
    body = serve(core=Settings(home="/somewhere/private", extract_workers=0)).get("/api/v1/status").json
    assert {"stage": "search", "name": "loom", "state": "ready", "reason": "", "usd_per_1k": 0.0} in body[
        "providers"
    ]
    assert "/somewhere" not in json.dumps(body)


@pytest.mark.parametrize(
    ("path", "given", "status", "kind"),
    [
        ("search", {"query": "!?"}, 400, "bad_query"),
        ("search", {"query": ""}, 422, "bad_request"),
        ("search", {"query": "warp", "limit": 0}, 422, "bad_request"),
        ("search", {"query": "warp", "limit": "3"}, 422, "bad_request"),
        ("search", {"query": "warp", "fresness": "recent"}, 422, "bad_request"),
        ("search", {"query": "warp", "freshness": "soon"}, 422, "bad_request"),
        ("search", {"query": "warp", "engines": ["nobody"]}, 400, "config"),
        ("search", {"query": "warp", "cache_only": True, "force_fresh": True}, 400, "bad_query"),
        ("fetch", {"url": GONE}, 404, "not_found"),
        ("fetch", {"url": "loom"}, 400, "bad_query"),
        ("fetch", {}, 422, "bad_request"),
        ("rerank", {"query": "warp", "passages": []}, 422, "bad_request"),
    ],
)
def test_errors_have_one_shape(server: Server, path: str, given: Any, status: int, kind: str) -> None:
    reply = server.post(f"/api/v1/{path}", given)
    assert reply.status == status, reply.text
    error = reply.json["error"]
    assert error["kind"] == kind and error["message"]
    assert set(error) <= {"kind", "message", "fix", "retry_after_s", "attempts"}


def test_when_no_engine_answers(serve: Serve) -> None:
    server = serve(engine=ScriptedEngine(Unavailable("the engine is down, see /etc/hosts")))
    reply = server.post("/api/v1/search", {"query": "warp"})
    assert reply.status == 503 and reply.headers["retry-after"] == "30"
    error = reply.json["error"]
    assert error["kind"] == "no_engine" and error["attempts"][0]["provider"] == "loom"
    assert "/etc" not in reply.text


def test_a_slow_engine_costs_its_part_of_the_answer(serve: Serve) -> None:
    """A deadline is no error: what has arrived is the answer."""
    server = serve(engine=ScriptedEngine(Slow(30.0, [])), search_deadline_s=1.0)
    reply = server.post("/api/v1/search", {"query": "warp"})
    assert reply.status in (200, 503), "partial, or honestly nothing; never a hang"


def test_no_place_of_this_machine_is_told(serve: Serve) -> None:
    """Of failures that are part of an answer as little as of those that are all of it."""
    gone = Unavailable("cannot open '/var/lib/secret/place' for this")
    server = serve(
        engine=ScriptedEngine([WARP, GONE]), fetcher=ScriptedFetcher({WARP: "The warp.", GONE: gone})
    )
    for reply in (server.post("/api/v1/search", {"query": "warp"}), server.get("/?q=warp&fresh=1")):
        assert reply.status == 200 and "cannot open" in reply.text
        assert "/var/lib" not in reply.text


# ---- the guard -----------------------------------------------------------------------------------


class Fetcher:
    """Fetches by the host's own client, and so behind its guard."""

    def __init__(self, http: Any) -> None:
        self._http = http

    def fetch(self, request: FetchRequest) -> Page:
        page: Page = self._http.fetch_page(request.url, deadline=request.deadline)
        return page


def guarded() -> FakePlugin:
    traits = FetchTraits()
    build = lambda settings, context: Fetcher(context.http)  # noqa: E731
    return FakePlugin("fetch_real", {"fetch": [Provider(name="real", build=build, traits=traits)]})


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:{port}/inside",
        "http://localhost:{port}/inside",
        "http://[::ffff:127.0.0.1]:{port}/inside",
        "http://2130706433:{port}/inside",
        "http://169.254.169.254/latest/meta-data/",
        "http://user:pass@127.0.0.1:{port}/inside",
        "file:///etc/passwd",
        "ftp://127.0.0.1/inside",
    ],
)
def test_no_endpoint_reaches_inside(guarded_server: Server, inside: LoopbackSite, url: str) -> None:
    server, url = guarded_server, url.format(port=inside.port)
    answers = [
        server.post("/api/v1/fetch", {"url": url}),
        server.post("/v2/scrape", {"url": url}),
        server.get(f"/r/{url}"),
    ]
    assert all(reply.status in (400, 403, 422) for reply in answers), [reply.status for reply in answers]
    several = [
        server.post("/extract", {"urls": [url]}),
        server.post("/openwebui/load", {"urls": [url]}),
    ]
    assert several[0].json["results"] == [] and several[0].json["failed_results"][0]["url"] == url
    assert several[1].json == []
    page = server.get(f"/?read={url}")
    assert page.status in (400, 403, 422)
    assert not inside.requests
    for reply in [*answers, *several, page]:
        assert "secret-of-the-inside" not in reply.text
        assert "localhost" not in url or "127.0.0.1" not in reply.text, "what a name resolves to is not told"


@pytest.fixture(scope="module")
def inside() -> Any:
    with LoopbackSite() as site:
        site.add("/inside", "<p>secret-of-the-inside</p>")
        yield site


@pytest.fixture(scope="module")
def guarded_server(make_server: Callable[..., Any]) -> Any:
    with make_server(plugins=[guarded()]) as server:
        yield server


# ---- OpenAPI -------------------------------------------------------------------------------------


def test_the_schema_names_what_the_answers_have(server: Server) -> None:
    schema = server.get("/openapi.json").json
    assert set(schema["paths"]) == {
        "/api/v1/search", "/api/v1/fetch", "/api/v1/rerank", "/api/v1/status", "/healthz",
    }  # fmt: skip
    parts = schema["components"]["schemas"]
    for path, given, part in (
        ("search", {"query": "warp"}, "SearchReply"),
        ("fetch", {"url": WARP}, "FetchReply"),
        ("rerank", {"query": "warp", "passages": ["a"]}, "RerankReply"),
    ):
        body = server.post(f"/api/v1/{path}", given).json
        assert set(body) == set(parts[part]["properties"]), path
        assert set(parts[part]["required"]) <= set(body)
    assert set(server.get("/api/v1/status").json) == set(parts["StatusReply"]["properties"])
    for operations in schema["paths"].values():
        for operation in operations.values():
            assert operation["summary"] and "200" in operation["responses"]
    errors = schema["paths"]["/api/v1/search"]["post"]["responses"]
    assert errors["422"]["content"]["application/json"]["schema"]["$ref"].endswith("/ErrorReply")
    assert "HTTPValidationError" not in parts


def test_the_schema_says_that_a_token_is_needed(serve: Serve, server: Server) -> None:
    open_to_all = server.get("/openapi.json").json
    assert "security" not in open_to_all["paths"]["/api/v1/search"]["post"]
    locked = serve(token="a-token-of-these-tests-0123456789").get("/openapi.json").json
    assert locked["paths"]["/api/v1/search"]["post"]["security"] == [{"HTTPBearer": []}]
    assert locked["components"]["securitySchemes"]["HTTPBearer"]["scheme"] == "bearer"


# ---- apps of others ------------------------------------------------------------------------------


def test_another_app_is_mounted_behind_the_gate(serve: Serve) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        body = (await receive())["body"]
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": scope["path"].encode() + b" " + body})

    token = "a-token-of-these-tests-0123456789"
    server = serve(token=token, mounts={"/mcp": app})
    assert server.post("/mcp", b"{}").body == b"/mcp {}"
    assert server.post("/mcp/more", b"{}").body == b"/mcp/more {}"
    assert server.post("/mcpx", b"{}").status == 404
    assert server.post("/mcp", b"{}", Authorization="").status == 401
    assert server.post("/mcp", b"{}", Host="evil.example").status == 421


def test_what_an_app_does_after_its_answer_is_not_cut_off(serve: Serve) -> None:
    done = threading.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"x", "more_body": True})
        await send({"type": "http.response.body", "body": b"y"})
        for _ in range(20):  # the wait for a hang-up ends meanwhile
            await asyncio.sleep(0.01)
        done.set()

    assert serve(mounts={"/mcp": app}).post("/mcp", b"{}").body == b"xy"
    assert done.wait(20)
