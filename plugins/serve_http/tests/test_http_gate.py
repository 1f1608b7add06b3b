"""The gate, over real connections: tokens, hosts, origins, sizes, rates, hang-ups, and what is never told."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from base64 import b64encode
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from webfetch_core import Settings
from webfetch_core.testing import Hang, ScriptedEngine, ScriptedFetcher, hits

WARP, GONE = "https://loom.example/warp", "https://loom.example/gone"
TOKEN = "a-token-of-these-tests-0123456789"
Server = Any  # the running server of conftest.py
Serve = Callable[..., Any]
PATIENT = Settings(
    extract_workers=0, deadline_s=60.0, engine_timeout_s=60.0
)  # nothing ends before its test says so

ENDPOINTS = [
    ("/api/v1/search", {"query": "warp"}),
    ("/api/v1/fetch", {"url": WARP}),
    ("/api/v1/rerank", {"query": "warp", "passages": ["a"]}),
    ("/search", {"query": "warp"}),
    ("/extract", {"urls": WARP}),
    ("/v2/search", {"query": "warp"}),
    ("/v2/scrape", {"url": WARP}),
    ("/openwebui/search", {"query": "warp"}),
    ("/openwebui/load", {"urls": [WARP]}),
    ("/v1/rerank", {"query": "warp", "documents": ["a"]}),
]
every_endpoint = pytest.mark.parametrize(("path", "given"), ENDPOINTS, ids=[path for path, _ in ENDPOINTS])
GETS = ["/", "/?q=warp", "/search?q=warp&format=json", "/?q=warp&format=json", f"/r/{WARP}", "/openapi.json"]


def error_text(path: str, body: Any) -> str:
    """What an error says, wherever the imitated API puts it."""
    if path.startswith("/v2/"):
        assert body["success"] is False
        return str(body["error"])
    if path in ("/search", "/extract"):
        return str(body["detail"]["error"])
    if path.startswith(("/v1/", "/r/")):
        assert body["data"] is None and body["code"] >= 400
        return str(body["message"])
    return str(body["error"]["message"])


def wait_for(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    ends = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < ends, "it does not come to that"
        time.sleep(0.02)


# ---- clients that label what they send otherwise -------------------------------------------------


def test_a_search_is_taken_however_it_is_labelled(serve: Serve) -> None:
    server = serve()
    for path in ("/search?q=warp&format=json", "/?q=warp&format=json"):
        for kind in ("application/json", "text/plain", "application/x-www-form-urlencoded"):
            reply = server.ask("POST", path, b"", {"Content-Type": kind})
            assert reply.status == 200 and reply.json["results"][0]["url"] == WARP, (path, kind)
    curl = {"Content-Type": "application/x-www-form-urlencoded"}
    reply = server.ask("POST", "/search", b'{"query": "warp"}', curl)
    assert reply.status == 200 and reply.json["results"][0]["raw_content"] is None
    refused = server.ask("POST", "/search", b'{"query": ""}', curl)
    assert refused.status == 400 and refused.json["detail"]["error"]


def test_behind_a_proxy_there_must_be_a_token(serve: Serve) -> None:
    server = serve()
    for header in ("X-Forwarded-For", "X-Real-IP"):
        refused = server.ask("GET", "/api/v1/status", headers={header: "203.0.113.9"})
        assert (refused.status, refused.json["error"]["kind"]) == (403, "no_token")
        assert server.ask("GET", "/api/v1/status", headers={header: "127.0.0.1"}).status == 200
    assert serve(token=TOKEN).ask("GET", "/healthz", headers={"X-Forwarded-For": "203.0.113.9"}).status == 200


# ---- tokens --------------------------------------------------------------------------------------


def test_a_token_is_asked_for_everywhere(serve: Serve) -> None:
    server = serve(token=TOKEN)
    for path, given in ENDPOINTS:
        for headers in ({}, {"Authorization": "Bearer wrong"}, {"X-API-Key": "wrong"}):
            reply = server.ask("POST", path, json.dumps(given).encode(), {"Authorization": "", **headers})
            assert reply.status == 401, path
            assert reply.headers["www-authenticate"].startswith("Bearer")
            assert TOKEN not in reply.text
            assert error_text(path, reply.json)
        assert server.post(path, given).status == 200, path
    for path in GETS:
        assert server.get(path, Authorization="").status == 401, path
        assert server.get(path).status == 200, path
    assert server.get("/healthz", Authorization="").status == 200


def test_a_token_is_taken_from_where_clients_put_it(serve: Serve) -> None:
    server = serve(token=TOKEN)
    basic = b64encode(f"anybody:{TOKEN}".encode()).decode()
    for headers in (
        {"Authorization": f"bearer {TOKEN}"},
        {"Authorization": TOKEN},
        {"Authorization": f"Basic {basic}"},
        {"Authorization": "", "X-API-Key": TOKEN},
    ):
        assert server.get("/api/v1/status", **headers).status == 200, headers
    body = {"query": "warp", "api_key": TOKEN}
    assert server.post("/search", body, Authorization="").status == 200
    assert server.post("/search", {**body, "api_key": TOKEN + "x"}, Authorization="").status == 401
    assert server.post("/search", {**body, "api_key": [TOKEN]}, Authorization="").status == 401
    assert server.post("/v2/search", body, Authorization="").status == 401, "that is Tavily's way alone"


def test_a_browser_is_asked_for_the_token(serve: Serve) -> None:
    reply = serve(token=TOKEN).get("/?q=warp", Authorization="")
    assert reply.status == 401 and reply.headers["www-authenticate"].startswith("Basic")
    assert reply.headers["content-type"].startswith("text/html")


# ---- hosts and pages of others -------------------------------------------------------------------


def test_a_rebound_name_is_refused(server: Server) -> None:
    for path in GETS:
        assert server.get(path, Host="evil.example").status == 421
    assert server.get("/healthz", Host="evil.example").status == 421
    assert server.get("/healthz", Host=f"localhost:{server.port}").status == 200


def test_pages_of_other_sites_may_not_call(server: Server) -> None:
    for headers in ({"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}, {"Origin": "null"}):
        reply = server.get("/?q=warp", **{k.replace("-", "_"): v for k, v in headers.items()})
        assert reply.status == 403, headers
        assert "access-control-allow-origin" not in reply.headers
    assert server.get("/", Sec_Fetch_Site="cross-site").status == 200, "a link to the form is no call"
    reply = server.ask("OPTIONS", "/api/v1/search", headers={
        "Origin": "https://evil.example", "Access-Control-Request-Method": "POST",
    })  # fmt: skip
    assert reply.status == 403


def test_an_allowed_origin_may(serve: Serve) -> None:
    server = serve(token=TOKEN, allow_origins=("https://chat.example",))
    asked = {"Origin": "https://chat.example", "Access-Control-Request-Method": "POST", "Authorization": ""}
    reply = server.ask("OPTIONS", "/api/v1/search", headers=asked)
    assert reply.status == 204 and reply.headers["access-control-allow-origin"] == "https://chat.example"
    reply = server.post("/api/v1/search", {"query": "warp"}, Origin="https://chat.example")
    assert reply.status == 200 and reply.headers["access-control-allow-origin"] == "https://chat.example"


def test_a_header_that_is_there_twice_is_refused(server: Server) -> None:
    """Two servers in a row could go by one each."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    connection.putrequest("GET", "/openapi.json")
    connection.putheader("Authorization", "Bearer a")
    connection.putheader("Authorization", "Bearer b")
    connection.endheaders()
    assert connection.getresponse().status == 400
    connection.close()


# ---- sizes ---------------------------------------------------------------------------------------


@every_endpoint
def test_a_huge_body_is_refused(server: Server, path: str, given: Any) -> None:
    reply = server.post(path, json.dumps({**given, "more": "x" * 1_100_000}).encode())
    assert reply.status == 413
    assert "bytes" in error_text(path, reply.json)


def test_a_huge_body_in_chunks_is_refused(server: Server) -> None:
    def chunks() -> Any:
        for _ in range(40):
            yield b"x" * 65_536

    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
        connection.sendall(b"POST /search HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n")
        try:
            for chunk in chunks():
                connection.sendall(b"%x\r\n%s\r\n" % (len(chunk), chunk))
        except OSError:
            pass  # it was cut off while sending, as it may be
        with connection.makefile("rb") as answer:
            try:
                first = answer.readline()
            except ConnectionResetError:
                first = b"HTTP/1.1 413"
    assert first.startswith(b"HTTP/1.1 413") or first == b""
    assert server.get("/healthz").status == 200


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b'"text"', b"\xff\xfe", b"[" * 50_000, b'{"a":' * 5_000, b"NaN", b"null"]
)
@every_endpoint
def test_bad_json_is_refused(server: Server, path: str, given: Any, body: bytes) -> None:
    reply = server.post(path, body)
    assert reply.status in (400, 422), reply.text
    assert error_text(path, reply.json)
    assert "Traceback" not in reply.text and "File " not in reply.text


WRONG: list[Any] = [None, 7, True, [], {}, [1], {"a": 1}, "", "\ud800", "x" * 9_000, [None]]


@pytest.mark.parametrize("value", WRONG, ids=[repr(v)[:20] for v in WRONG])
@every_endpoint
def test_wrong_types_are_refused_or_read(server: Server, path: str, given: Any, value: Any) -> None:
    for name in given:
        reply = server.post(path, {**given, name: value})
        assert reply.status in (200, 400, 404, 422), (name, reply.text)
        if reply.status != 200:
            assert error_text(path, reply.json)
        assert "Traceback" not in reply.text


def test_unknown_fields_are_ignored_where_the_imitated_api_ignores_them(server: Server) -> None:
    for path, given in ENDPOINTS:
        wanted = 422 if path.startswith("/api/") else 200
        assert server.post(path, {**given, "a_new_option": {"x": [1]}}).status == wanted, path


@pytest.mark.parametrize(
    "path", ["/nothing", "/v1/scrape", "/v2/nothing", "/r", "/../etc/passwd", "/%00", "//"]
)
def test_paths_that_are_not_there(server: Server, path: str) -> None:
    reply = server.get(path)
    assert reply.status in (404, 405)
    assert reply.headers["content-type"] == "application/json"


def test_methods_that_are_not_there(server: Server) -> None:
    for method, path in (("DELETE", "/search"), ("PUT", "/v2/scrape"), ("GET", "/extract"), ("TRACE", "/")):
        assert server.ask(method, path).status == 405, (method, path)


def test_bytes_that_are_no_http(server: Server) -> None:
    for sent in (
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc",
        b"GET\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + b"x" * 100_000 + b"\r\n\r\n",
    ):
        with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
            try:
                connection.sendall(sent)
                connection.shutdown(socket.SHUT_WR)
                told = connection.recv(65_536)
            except OSError:
                told = b""
        assert b"Traceback" not in told
    assert server.get("/healthz").status == 200


# ---- headers -------------------------------------------------------------------------------------


def test_no_answer_can_be_taken_for_a_page(server: Server) -> None:
    for path in [*GETS, "/nothing", f"/r/{GONE}", "/r/https://evil.example/page"]:
        reply = server.get(path)
        assert reply.headers["x-content-type-options"] == "nosniff", path
        assert "default-src 'none'" in reply.headers["content-security-policy"], path
        assert "script" not in reply.headers["content-security-policy"], path
        assert reply.headers["cache-control"] == "no-store", path
        assert "server" not in reply.headers, path
        if not path.startswith("/?q=warp") or "format" in path:
            html = reply.headers["content-type"].startswith("text/html")
            assert html is (path == "/"), path


# ---- load ----------------------------------------------------------------------------------------


def test_too_many_requests_are_told_when_to_come_back(serve: Serve) -> None:
    server = serve(rate_per_minute=60, burst=3)
    replies = [server.post("/search", {"query": "warp"}) for _ in range(8)]
    refused = [reply for reply in replies if reply.status == 429]
    assert len(refused) >= 4 and replies[0].status == 200
    assert all(int(reply.headers["retry-after"]) >= 1 for reply in refused)
    assert "too many" in error_text("/search", refused[0].json)
    assert server.get("/healthz").status == 200, "whoever looks after the server is not counted"


def test_a_client_cannot_pass_for_many(serve: Serve) -> None:
    server = serve(token=TOKEN, rate_per_minute=1, burst=2)
    told = [server.get("/openapi.json", X_Forwarded_For=f"198.51.100.{n}").status for n in range(4)]
    assert told == [200, 200, 429, 429]


def test_a_proxy_that_is_trusted_speaks_for_its_clients(serve: Serve) -> None:
    server = serve(rate_per_minute=1, burst=1, trust_forwarded=("127.0.0.1",))
    told = [server.get("/openapi.json", X_Forwarded_For=f"198.51.100.{n % 3}").status for n in range(4)]
    assert told == [200, 200, 200, 429]


def test_fifty_at_once_are_all_answered(serve: Serve) -> None:
    server = serve(workers=4, queue=100)
    jobs = [ENDPOINTS[n % len(ENDPOINTS)] for n in range(50)]
    with ThreadPoolExecutor(50) as pool:
        replies = list(pool.map(lambda job: server.post(*job), jobs))
    assert [reply.status for reply in replies] == [200] * 50


def test_beyond_the_queue_they_are_told_to_come_back(serve: Serve) -> None:
    hang = Hang(at_most_s=60.0)
    server = serve(engine=ScriptedEngine(hang), core=PATIENT, workers=1, queue=1, search_deadline_s=60.0)
    # Each asks for something else: the same question would be searched for once.
    with ThreadPoolExecutor(6) as pool:
        asked = [pool.submit(server.post, "/v2/search", {"query": f"warp {n}"}) for n in range(6)]
        try:
            wait_for(lambda: sum(one.done() for one in asked) == 4)
            refused = [one.result() for one in asked if one.done()]
        finally:
            hang.released.set()
        assert [reply.status for reply in refused] == [429] * 4
        assert all("retry-after" in reply.headers for reply in refused)
        assert all(one.result().status < 500 or one.result().status == 503 for one in asked)


def test_the_deadline_is_kept(serve: Serve) -> None:
    """A fetcher that never answers: the imitated API's own word for a time-out, and the server goes on."""
    hang = Hang(at_most_s=30.0)
    server = serve(fetcher=ScriptedFetcher({WARP: lambda _: hang.released.wait(30)}), scrape_deadline_s=0.5)
    try:
        reply = server.post("/v2/scrape", {"url": WARP})
        assert reply.status == 408 and reply.json["success"] is False
        assert server.get("/api/v1/status").status == 200
    finally:
        hang.released.set()


def test_who_hangs_up_frees_the_place_in_the_queue(serve: Serve) -> None:
    hang = Hang(at_most_s=60.0)
    engine = ScriptedEngine(hang)
    server = serve(engine=engine, core=PATIENT, workers=1, queue=2, search_deadline_s=60.0)
    request = b"POST /search HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 18\r\n\r\n"
    connections = [socket.create_connection(("127.0.0.1", server.port), timeout=30) for _ in range(3)]
    try:
        connections[0].sendall(request + b'{"query": "first"}')
        wait_for(lambda: bool(engine.calls))
        for waiting in connections[1:]:
            waiting.sendall(request + b'{"query": "other"}')
        wait_for(lambda: server.desk.admitted == 3)
        assert server.post("/search", {"query": "is there a place?"}).status == 429
        for connection in connections:
            connection.close()
        wait_for(lambda: server.desk.admitted == 0)
        wait_for(lambda: server.desk.running == 0)
        assert not hang.released.is_set(), "what had begun was cancelled"
        assert len(engine.calls) == 1, "nothing is begun for who is gone"
    finally:
        hang.released.set()
    assert server.get("/healthz").status == 200


def test_who_hangs_up_in_the_middle_of_an_answer_does_no_harm(serve: Serve) -> None:
    server = serve(fetcher=ScriptedFetcher({WARP: "The warp is long. " * 200_000}))
    body = b'{"url": "%s"}' % WARP.encode()
    request = b"POST /api/v1/fetch HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    for _ in range(5):
        with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
            connection.sendall(request + b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
            assert connection.recv(100).startswith(b"HTTP/1.1 200")
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
        connection.sendall(request + b"Content-Length: 100\r\n\r\n{")  # and never the rest
    wait_for(lambda: server.desk.admitted == 0)
    assert len(server.post("/api/v1/fetch", {"url": WARP}).json["text"]) > 1_000_000


def test_what_is_under_way_is_answered_while_the_server_stops(serve: Serve) -> None:
    go = threading.Event()
    engine = ScriptedEngine(lambda request: hits(WARP) if go.wait(60) else [])
    server = serve(engine=engine, core=PATIENT, search_deadline_s=60.0, drain_s=60.0)
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(server.post, "/search", {"query": "warp"})
        wait_for(lambda: bool(engine.calls))
        server.stop()
        wait_for(lambda: not server.listens())
        assert not asked.done()
        go.set()
        reply = asked.result(60)
    assert reply.status == 200 and reply.json["results"][0]["url"] == WARP


def test_faults_of_ours_tell_nothing(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    server = serve()

    def broken(*_: Any, **__: Any) -> Any:
        raise RuntimeError("at /srv/somebody/secret.py with key=hunter2-hunter2")

    monkeypatch.setattr(server.wf, "search", broken)
    monkeypatch.setattr(server.wf, "fetch", broken)
    monkeypatch.setattr(server.wf, "rank", broken)
    for path, given in ENDPOINTS:
        reply = server.post(path, given)
        assert "hunter2" not in reply.text and "secret.py" not in reply.text, path
        assert reply.status == (200 if path in ("/extract", "/openwebui/load") else 500), path
    for path in ("/?q=warp", "/search?q=warp&format=json", f"/r/{WARP}"):
        reply = server.get(path)
        assert reply.status == 500 and "hunter2" not in reply.text and "Traceback" not in reply.text
    assert server.get("/healthz").status == 200
