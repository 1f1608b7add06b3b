"""What the imitated APIs promise, field by field: types, what is always there, what is ignored, dates."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime
from typing import Any

import pytest
from hypothesis import given as fuzzed
from hypothesis import strategies as st
from webfetch_serve_http.dates import days_since, http_date, utc_clock
from webfetch_serve_http.faults import Fault
from webfetch_serve_http.firecrawl import _document
from webfetch_serve_http.given import Given

from webfetch_core.api import Document, Freshness, SearchHit
from webfetch_core.testing import ScriptedEngine, ScriptedFetcher

WARP, GONE = "https://loom.example/warp", "https://loom.example/gone"
FORM = {"Content_Type": "application/x-www-form-urlencoded"}
Server = Any  # the running server of conftest.py
Serve = Callable[..., Any]

# ---- dates ---------------------------------------------------------------------------------------

DATES = [
    ("2026-11-10", "Tue, 10 Nov 2026 00:00:00 GMT"),
    ("2026-11-10T09:00:00", "Tue, 10 Nov 2026 09:00:00 GMT"),
    ("2026-11-10T09:00:00Z", "Tue, 10 Nov 2026 09:00:00 GMT"),
    ("2026-11-10T09:00:00.250+00:00", "Tue, 10 Nov 2026 09:00:00 GMT"),
    ("2026-11-10T09:00:00+02:00", "Tue, 10 Nov 2026 07:00:00 GMT"),
    ("2026-11-10T01:30:00+05:30", "Mon, 09 Nov 2026 20:00:00 GMT"),
    ("2026-12-31T23:00:00-08:00", "Fri, 01 Jan 2027 07:00:00 GMT"),
    ("Tue, 10 Nov 2026 09:00:00 GMT", "Tue, 10 Nov 2026 09:00:00 GMT"),
    ("Tue, 10 Nov 2026 09:00:00 +0200", "Tue, 10 Nov 2026 07:00:00 GMT"),
    ("0001-01-01T00:00:00+14:00", None),
    ("9999-12-31T23:59:59-14:00", None),
    ("yesterday", None),
    ("2026-13-40", None),
    ("", None),
    (None, None),
]


@pytest.mark.parametrize(("published", "told"), DATES)
def test_a_date_is_told_in_utc(published: str | None, told: str | None) -> None:
    assert http_date(published) == told
    clock = utc_clock(published)
    assert (clock is None) is (told is None)
    if clock is not None and told is not None:
        assert clock.tzinfo is None and clock == datetime.strptime(told, "%a, %d %b %Y %H:%M:%S GMT")


def test_days_since_a_day() -> None:
    today = date(2026, 11, 10)
    assert [days_since(day, today) for day in ("2026-11-10", "2026-11-01", "2027-01-01", "soon", "")] == [
        0, 9, 0, None, None,
    ]  # fmt: skip


@pytest.mark.parametrize(("published", "told"), [row for row in DATES if row[0]])
def test_published_dates_on_the_wire(serve: Serve, published: str, told: str | None) -> None:
    server = serve(
        engine=ScriptedEngine([SearchHit(url=WARP, title="Warp", snippet="x", published=published)])
    )
    row = server.post("/search", {"query": "warp", "topic": "news"}).json["results"][0]
    assert row.get("published_date") == told
    assert "published_date" not in server.post("/search", {"query": "warp"}).json["results"][0]
    row = server.get("/search?q=warp&format=json").json["results"][0]
    if told is None:
        assert row["publishedDate"] is None and row["pubdate"] == ""
    else:
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", row["publishedDate"])
        assert row["pubdate"] == row["publishedDate"].replace("T", " ")


# ---- Tavily --------------------------------------------------------------------------------------


def test_tavily_search_field_by_field(server: Server) -> None:
    body = server.post(
        "/search", {"query": "warp tension", "include_favicon": True, "include_images": True, "new_field": {}}
    ).json
    assert set(body) == {
        "query", "follow_up_questions", "answer", "images", "results", "response_time", "request_id",
    }  # fmt: skip
    assert body["answer"] is None and body["follow_up_questions"] is None and body["images"] == []
    assert isinstance(body["response_time"], float) and isinstance(body["request_id"], str)
    for row in body["results"]:
        assert set(row) == {"url", "title", "content", "score", "raw_content", "favicon"}
        assert isinstance(row["score"], float) and row["raw_content"] is None and row["favicon"] is None
        assert all(isinstance(row[name], str) for name in ("url", "title", "content"))


def test_tavily_extract_field_by_field(server: Server) -> None:
    body = server.post("/extract", {"urls": [WARP, GONE], "include_usage": True, "format": "text"}).json
    assert set(body) == {"results", "failed_results", "response_time", "request_id", "usage"}
    (row,), (failed,) = body["results"], body["failed_results"]
    assert set(row) == {"url", "title", "raw_content", "images", "favicon"} and row["images"] == []
    assert set(failed) == {"url", "error"} and isinstance(failed["error"], str)


@pytest.mark.parametrize("given", [{}, {"urls": []}, {"urls": ""}, {"urls": None}, {"urls": 7}, {"urls": [7]},
                                   {"urls": {"0": WARP}}, {"urls": [[WARP]]}])  # fmt: skip
def test_urls_are_a_text_or_a_list_of_texts(server: Server, given: Any) -> None:
    reply = server.post("/extract", given)
    assert reply.status == 400 and set(reply.json["detail"]) == {"error"}


@pytest.mark.parametrize(
    ("given", "freshness"),
    [
        ({"start_date": "2099-01-01"}, Freshness.REALTIME),
        ({"start_date": "2001-01-01", "topic": "news"}, Freshness.RECENT),
        ({"start_date": "2099-01-01", "time_range": "week"}, Freshness.RECENT),
        ({"start_date": "soon"}, None),
    ],
)
def test_tavily_start_date(serve: Serve, given: Any, freshness: Freshness | None) -> None:
    engine = ScriptedEngine([WARP])
    reply = serve(engine=engine).post("/search", {"query": "facts of the warp", **given})
    assert reply.status == 200
    assert freshness is None or engine.calls[0][0].freshness is freshness


# ---- SearXNG -------------------------------------------------------------------------------------


def test_searxng_field_by_field(server: Server) -> None:
    body = server.get("/search?q=warp&format=json").json
    lists = {"results", "answers", "corrections", "infoboxes", "suggestions", "unresponsive_engines"}
    assert set(body) == {"query", "number_of_results", *lists}
    assert all(isinstance(body[name], list) for name in lists)
    for row in body["results"]:
        assert set(row) == {
            "url", "engine", "parsed_url", "template", "title", "content", "img_src", "iframe_src",
            "audio_src", "thumbnail", "publishedDate", "pubdate", "length", "views", "author", "metadata",
            "priority", "engines", "open_group", "close_group", "positions", "score", "category",
        }  # fmt: skip
        assert isinstance(row["score"], float) and row["engines"] and row["category"] == "general"
        assert len(row["parsed_url"]) == 6 and row["parsed_url"][:2] == ["https", row["url"].split("/")[2]]


@pytest.mark.parametrize(
    ("name", "value"),
    [("pageno", "0"), ("pageno", "-1"), ("pageno", "1.5"), ("pageno", "two"), ("pageno", "²"),
     ("pageno", "9" * 5_000), ("safesearch", "3"), ("safesearch", "yes"), ("time_range", "hour")],
)  # fmt: skip
def test_searxng_names_the_parameter_that_is_wrong(server: Server, name: str, value: str) -> None:
    for reply in (
        server.post("/search", f"q=warp&format=json&{name}={value}".encode(), **FORM),
        server.post("/", f"q=warp&{name}={value}".encode(), **FORM),
    ):
        assert reply.status == 400
        assert reply.json == {"error": f"Invalid value {value[:40]} for parameter {name}"}


@pytest.mark.parametrize(
    "more",
    [
        "pageno=&safesearch=&time_range=&categories=&language=&timeout_limit=",
        "pageno=01&safesearch=0&language=all&theme=simple&image_proxy=1&new=1",
    ],
)
def test_searxng_takes_what_is_empty_as_absent_and_ignores_the_rest(server: Server, more: str) -> None:
    assert server.get(f"/?q=warp&format=json&{more}").json["results"]


def test_a_form_and_a_query_string_go_together(server: Server) -> None:
    body = server.post("/search?format=json&q=weft&pageno=2", b"q=warp&pageno=1", **FORM).json
    assert body["query"] == "warp" and body["results"], "the form counts first"
    assert server.post("/?q=warp&format=json", b"", **FORM).json["query"] == "warp"
    assert server.post("/search?format=csv", b"q=warp", **FORM).status == 403


def multipart(**fields: str) -> tuple[bytes, str]:
    """A form as a browser's ``FormData`` is sent."""
    parts = [
        f'--aB3--x\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in fields.items()
    ]
    return ("".join(parts) + "--aB3--x--\r\n").encode(), 'multipart/form-data; boundary="aB3--x"'


def test_forms_in_parts(server: Server) -> None:
    body, kind = multipart(q="straight edges\r\nof warp", format="json", pageno="1")
    for path in ("/", "/search"):
        reply = server.post(path, body, Content_Type=kind.replace('"', ""))
        assert reply.status == 200 and reply.json["query"] == "straight edges\r\nof warp"
    body, kind = multipart(url=WARP)
    assert "180 g" in server.post("/r/", body, Content_Type=kind).text
    body, kind = multipart(**{f"n{number}": "x" for number in range(400)})
    assert server.post("/search", body, Content_Type=kind).json == {"error": "too many parameters"}
    reply = server.post("/search", body, Content_Type="multipart/form-data")
    assert reply.status == 400 and reply.json == {"error": "the form says no boundary"}


@fuzzed(st.binary(max_size=200), st.text(max_size=60))
def test_a_form_is_read_or_refused(body: bytes, kind: str) -> None:
    head = b'--b\r\ncontent-disposition: form-data; name="q"\r\n\r\n'
    for text, told in ((body, f"multipart/{kind}"), (head + body, "multipart/form-data; boundary=b")):
        try:
            Given.of_form(text, told).text("q")
        except Fault as fault:
            assert fault.status == 400


def test_searxng_head(server: Server) -> None:
    reply = server.ask("HEAD", "/search?q=warp&format=json")
    assert reply.status == 200 and reply.body == b""
    assert reply.headers["content-type"] == "application/json"


# ---- Firecrawl -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("tbs", "freshness"), [
    ("qdr:d", Freshness.REALTIME), ("qdr:h", Freshness.REALTIME), ("QDR:W", Freshness.RECENT),
    ("sbd:1,qdr:m", Freshness.RECENT), ("qdr:h2", Freshness.REALTIME), ("cdr:1,cd_min:11/1/2026", None),
])  # fmt: skip
def test_firecrawl_time_filter(serve: Serve, tbs: str, freshness: Freshness | None) -> None:
    engine = ScriptedEngine([WARP])
    reply = serve(engine=engine).post("/v2/search", {"query": "facts of the warp", "tbs": tbs})
    assert reply.status == 200
    assert freshness is None or engine.calls[0][0].freshness is freshness


def test_firecrawl_search_field_by_field(server: Server) -> None:
    body = server.post("/v2/search", {"query": "warp", "sources": ["web", {"type": "news"}], "new": 1}).json
    assert set(body) == {"success", "data", "warning", "id", "creditsUsed"} and body["success"] is True
    assert body["data"]["news"] == [] and "news" in body["warning"]
    for place, row in enumerate(body["data"]["web"], 1):
        assert set(row) == {"url", "title", "description", "position"} and row["position"] == place
    assert server.post("/v2/search", {"query": "warp"}).json["warning"] is None


def test_firecrawl_names_what_of_a_scrape_is_left_out(server: Server) -> None:
    given = {"query": "warp", "scrapeOptions": {"formats": ["html", {"type": "markdown"}]}}
    body = server.post("/v2/search", given).json
    assert body["warning"] == "not served here: html" and "180 g" in body["data"]["web"][0]["markdown"]
    bad = {"query": "warp", "scrapeOptions": {"formats": 7}}
    assert server.post("/v2/search", bad).json["error"] == "formats must be a list"
    bare = server.post("/v2/search", {"query": "warp", "scrapeOptions": {}}).json
    assert "markdown" not in bare["data"]["web"][0]


@pytest.mark.parametrize(
    ("url", "more", "kind"),
    [
        ("local:docs/a.md", {}, "text/markdown"),
        ("local:docs/a.md#part", {}, "text/markdown"),
        ("local:docs/a.txt", {}, "text/plain"),
        ("local:docs/a.html", {}, "text/html"),
        ("local:docs/a.py", {"metadata": {"text_format": "plain"}}, "text/plain"),
        ("https://loom.example/a.PDF?x=1", {}, "application/pdf"),
        ("https://loom.example/paper", {"metadata": {"pages": "3"}}, "application/pdf"),
        ("https://loom.example/readme.md", {"metadata": {"extracted_by": "density"}}, "text/html"),
        ("https://loom.example/readme.md", {"page_type": "docs"}, "text/html"),
        ("https://loom.example/warp", {}, "text/html"),
        ("https://loom.example/x", {"metadata": {"content_type": "text/x-own"}}, "text/x-own"),
    ],
)
def test_firecrawl_content_type(url: str, more: dict[str, Any], kind: str) -> None:
    document = Document(url=url, text="# Warp", title="Warp", **more)
    assert _document(url, document, ["markdown"])["metadata"]["contentType"] == kind


# ---- open-webui and Jina -------------------------------------------------------------------------


def test_openwebui_loads_nothing_when_nothing_is_wanted(server: Server) -> None:
    reply = server.post("/openwebui/load", {"urls": []})
    assert reply.status == 200 and reply.json == []
    assert server.post("/openwebui/load", {}).status == 400
    assert server.post("/openwebui/load", {"urls": WARP}).json[0]["metadata"]["source"] == WARP


@pytest.mark.parametrize(
    "kind",
    [
        "application/json",
        "text/plain",
        "application/x-www-form-urlencoded",
        "application/json; charset=utf-8",
    ],
)
def test_the_reader_takes_json_however_it_is_labelled(server: Server, kind: str) -> None:
    for path in ("/r", "/r/"):
        assert "180 g" in server.post(path, {"url": WARP}, Content_Type=kind).text
        reply = server.post(path, b" {", Content_Type=kind, Accept="application/json")
        assert reply.status == 400 and reply.json["code"] == 400


def test_the_reader_in_json_field_by_field(server: Server) -> None:
    body = server.get(f"/r/{WARP}", Accept="application/json").json
    assert set(body) == {"code", "status", "data", "meta"} and (body["code"], body["status"]) == (200, 20000)
    data = body["data"]
    assert {"title", "description", "url", "content", "metadata", "external", "usage"} <= set(data)
    assert data["external"] == {} and isinstance(data["usage"]["tokens"], int)
    assert body["meta"]["usage"] == data["usage"]


@pytest.mark.parametrize(
    ("tokens", "chars"), [("5", 20), ("5.9", 20), ("0.2", 4), ("0", 77), ("x", 77), ("inf", 77)]
)
def test_the_reader_cuts_to_the_budget_and_never_to_nothing(server: Server, tokens: str, chars: int) -> None:
    for header in ("X_Max_Tokens", "X_Token_Budget"):
        text = server.get(f"/r/{WARP}", **{header: tokens}).text.partition("Content:\n")[2]
        assert len(text) == chars


@pytest.mark.parametrize("header", [{"X_No_Cache": "true"}, {"X_Cache_Tolerance": "0"}])
def test_the_reader_reads_past_the_cache(serve: Serve, header: dict[str, str]) -> None:
    fetcher = ScriptedFetcher({WARP: "The warp."})
    server = serve(fetcher=fetcher)
    for more, count in (({}, 1), ({}, 1), (header, 2)):
        assert server.get(f"/r/{WARP}", **more).status == 200
        assert len(fetcher.calls) == count
