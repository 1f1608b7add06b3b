"""The drop-ins, read the way their clients read them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from webfetch_core.api import Freshness, Unavailable
from webfetch_core.testing import ScriptedEngine, hits

WARP, EDGE, GONE = "https://loom.example/warp", "https://loom.example/edge", "https://loom.example/gone"
Server = Any  # the running server of conftest.py
Serve = Callable[..., Any]

# ---- Tavily --------------------------------------------------------------------------------------


def test_tavily_search(server: Server) -> None:
    reply = server.post("/search", {
        "query": "warp tension", "search_depth": "advanced", "max_results": 2,
        "include_domains": [], "exclude_domains": [], "include_answer": "basic",
        "include_raw_content": "markdown", "include_usage": True, "topic": "news", "api_key": "anything",
    }, X_Tavily_Access_Mode="keyless")  # fmt: skip
    assert reply.status == 200
    body = reply.json
    assert body["query"] == "warp tension" and body["images"] == [] and isinstance(body["answer"], str)
    assert [row["url"] for row in body["results"]] == [WARP, EDGE]
    first = body["results"][0]
    assert "180 g" in first["content"] and "180 g" in first["raw_content"] and 0 < first["score"] <= 1
    assert first["published_date"] == "Tue, 10 Nov 2026 00:00:00 GMT"
    assert body["usage"] == {"credits": 0} and body["request_id"] and body["response_time"] >= 0


def test_tavily_scores_fall(server: Server) -> None:
    scores = [row["score"] for row in server.post("/search", {"query": "warp"}).json["results"]]
    assert scores == sorted(scores, reverse=True) and len(set(scores)) == len(scores) > 2


def test_tavily_without_results(server: Server) -> None:
    body = server.post("/search", {"query": "warp", "max_results": 0}).json
    assert body["results"] == [] and body["answer"] is None


@pytest.mark.parametrize("urls", [WARP, [WARP], [WARP, GONE, WARP]])
def test_tavily_extract(server: Server, urls: Any) -> None:
    body = server.post("/extract", {"urls": urls, "extract_depth": "advanced", "format": "markdown"}).json
    assert [row["url"] for row in body["results"]] == [WARP] and "180 g" in body["results"][0]["raw_content"]
    gone = [row["url"] for row in body["failed_results"]]
    assert gone == ([GONE] if GONE in urls else [])
    assert all(row["error"] for row in body["failed_results"])


def test_tavily_takes_twenty_urls(server: Server) -> None:
    urls = [f"https://loom.example/{n}" for n in range(21)]
    assert server.post("/extract", {"urls": urls}).status == 400
    assert len(server.post("/extract", {"urls": urls[:20]}).json["failed_results"]) == 20


@pytest.mark.parametrize(
    ("given", "freshness"),
    [
        ({"time_range": "day"}, Freshness.REALTIME),
        ({"time_range": "w"}, Freshness.RECENT),
        ({"days": 1}, Freshness.REALTIME),
        ({"max_age_hours": 12}, Freshness.REALTIME),
        ({"topic": "news"}, Freshness.RECENT),
        ({"time_range": "someday"}, None),
    ],
)
def test_tavily_filters_reach_the_engine(serve: Serve, given: Any, freshness: Freshness | None) -> None:
    engine = ScriptedEngine([WARP])
    server = serve(engine=engine)
    asked = {
        "query": "stable facts of the warp",
        "include_domains": ["loom.example"],
        "country": "germany",
        **given,
    }
    assert server.post("/search", asked).status == 200
    request = engine.calls[0][0]
    assert request.include_domains == ("loom.example",) and request.country == "DE"
    assert freshness is None or request.freshness is freshness


# ---- SearXNG -------------------------------------------------------------------------------------


def asked_of_searxng(server: Server) -> list[Any]:
    form = {"Content_Type": "application/x-www-form-urlencoded"}
    return [
        server.get("/?q=warp+tension&format=json&language=en"),
        server.get(
            "/search?q=warp+tension&format=json&time_range=&categories=&safesearch=1", Accept="text/html"
        ),
        server.get(
            "/search?q=warp%20tension&format=json&engines=google,bing&categories=general&language=all"
        ),
        server.post("/search", b"q=warp+tension&format=json", **form),
        server.post("/", b"q=warp+tension&format=json", **form),
    ]


def test_searxng_on_both_paths_and_methods(server: Server) -> None:
    for reply in asked_of_searxng(server):
        assert reply.status == 200
        body = reply.json
        assert body["query"] == "warp tension"
        for name in ("answers", "suggestions", "corrections", "infoboxes", "unresponsive_engines"):
            assert body[name] == []
        first = body["results"][0]
        assert first["url"] == WARP and first["engine"] == "loom" and first["engines"] == ["loom"]
        assert first["category"] == "general" and "180 g" in first["content"]
        scores = [row["score"] for row in body["results"]]
        assert scores == sorted(scores, reverse=True)


def test_searxng_errors(server: Server) -> None:
    assert server.get("/search?format=json").json == {"error": "No query"}
    assert server.get("/search?q=%20&format=json").status == 400
    reply = server.get("/search?q=warp&format=json&time_range=hour")
    assert reply.status == 400 and reply.json == {"error": "Invalid value hour for parameter time_range"}
    assert server.get("/search?q=warp&format=csv").status == 403


def test_searxng_for_other_media_is_empty(server: Server) -> None:
    assert server.get("/search?q=warp&format=json&categories=images").json["results"] == []
    assert server.get("/search?q=warp&format=json&categories=images,general").json["results"]


def test_searxng_pages(serve: Serve) -> None:
    server = serve(engine=ScriptedEngine(lambda request: hits(*many(request.limit))))
    pages = [server.get(f"/search?q=warp&format=json&pageno={n}").json["results"] for n in (1, 2, 11)]
    assert [len(page) for page in pages] == [10, 10, 0]


def many(count: int) -> list[str]:
    return [f"https://loom.example/{n}" for n in range(count)]


def test_searxng_when_no_engine_answers(serve: Serve) -> None:
    reply = serve(engine=ScriptedEngine(Unavailable("down"))).get("/search?q=warp&format=json")
    assert reply.status == 200 and reply.json["results"] == []
    assert reply.json["unresponsive_engines"] == [["loom", "down"]]


# ---- Firecrawl -----------------------------------------------------------------------------------


def test_firecrawl_scrape(server: Server) -> None:
    reply = server.post("/v2/scrape", {
        "url": WARP, "formats": ["markdown", {"type": "links"}, "screenshot"], "onlyMainContent": True,
        "timeout": 30000, "maxAge": 14400000, "origin": "python-sdk", "blockAds": True,
    })  # fmt: skip
    body = reply.json
    assert reply.status == 200 and body["success"] is True and "screenshot" in body["data"]["warning"]
    assert "180 g" in body["data"]["markdown"] and body["data"]["links"] == []
    metadata = body["data"]["metadata"]
    assert metadata["title"] == "Warp tension guide" and metadata["sourceURL"] == WARP
    assert metadata["statusCode"] == 200


def test_firecrawl_refuses_what_it_cannot_do(server: Server) -> None:
    reply = server.post("/v2/scrape", {"url": WARP, "formats": ["screenshot"]})
    assert reply.status == 400 and reply.json["success"] is False and reply.json["details"] == []
    assert server.post("/v1/scrape", {"url": WARP}).status == 404, "v2 only"


def test_firecrawl_search(server: Server) -> None:
    body = server.post("/v2/search", {"query": "warp tension", "limit": 2, "sources": [{"type": "web"}]}).json
    assert body["success"] is True
    assert [row["url"] for row in body["data"]["web"]] == [WARP, EDGE]
    assert [row["position"] for row in body["data"]["web"]] == [1, 2]
    assert "180 g" in body["data"]["web"][0]["description"]
    news = server.post("/v2/search", {"query": "warp", "sources": ["news"]}).json
    assert news["data"] == {"news": []} and "news" in news["warning"]


def test_firecrawl_search_with_pages(server: Server) -> None:
    given = {"query": "warp", "limit": 4, "scrapeOptions": {"formats": ["markdown"]}}
    rows = {row["url"]: row for row in server.post("/v2/search", given).json["data"]["web"]}
    assert "180 g" in rows[WARP]["markdown"] and rows[WARP]["metadata"]["statusCode"] == 200
    assert rows[GONE]["markdown"] is None and rows[GONE]["metadata"]["error"]


# ---- open-webui ----------------------------------------------------------------------------------


def test_openwebui_search_is_a_bare_list(server: Server) -> None:
    reply = server.post("/openwebui/search", {"query": "warp tension", "count": 3}, Authorization="Bearer ")
    rows = reply.json
    assert isinstance(rows, list) and len(rows) == 3
    assert rows[0]["link"] == rows[0]["url"] == WARP
    assert rows[0]["title"] == "Warp tension guide" and "180 g" in rows[0]["snippet"]


def test_openwebui_loader_is_a_bare_list(server: Server) -> None:
    rows = server.post("/openwebui/load", {"urls": [WARP, GONE, EDGE]}).json
    assert [row["metadata"]["source"] for row in rows] == [WARP, EDGE]
    assert "180 g" in rows[0]["page_content"]
    assert server.post("/openwebui/load", {"urls": []}).status in (200, 400)


# ---- Jina ----------------------------------------------------------------------------------------


def test_rerank_in_jinas_shape(server: Server) -> None:
    body = server.post("/v1/rerank", {
        "model": "jina-reranker-v2-base-multilingual", "query": "the warp", "top_n": 2,
        "return_documents": True, "documents": ["weft", {"text": "the warp"}, "the loom"],
    }).json  # fmt: skip
    assert [row["index"] for row in body["results"]] == [1, 2]
    assert body["results"][0]["document"] == {"text": "the warp"} and body["usage"]["total_tokens"] > 0
    assert 1 > body["results"][0]["relevance_score"] > body["results"][1]["relevance_score"] > 0
    assert body["model"] == "jina-reranker-v2-base-multilingual"


def test_the_reader(server: Server) -> None:
    for url in (WARP, WARP.replace("https://", "https:/"), WARP.replace("https://", "")):
        reply = server.get(f"/r/{url}")
        assert reply.status == 200 and reply.headers["content-type"].startswith("text/plain")
        assert reply.text.startswith(
            f"Title: Warp tension guide\n\nURL Source: {WARP}\n\nMarkdown Content:\n"
        )
    reply = server.get(f"/r/{WARP}", Accept="application/json")
    assert reply.json["code"] == 200 and "180 g" in reply.json["data"]["content"]
    assert server.post("/r/", {"url": WARP}).status == 200
    assert server.get(f"/r/{GONE}").json["code"] == 404
    assert len(server.get(f"/r/{WARP}", X_Max_Tokens="5").text.partition("Content:\n")[2]) == 20


def test_the_reader_takes_the_url_as_it_is(serve: Serve) -> None:
    seen: list[str] = []

    class Fetcher:
        def fetch(self, request: Any) -> Any:
            seen.append(request.url)
            raise Unavailable("no")

    server = serve(fetcher=Fetcher())
    url = "https://loom.example/a//b%2Fc?x=1&y=%20z"
    assert server.get(f"/r/{url}").status == 502
    assert seen and seen[0] == url


def test_the_reader_without_a_url(server: Server) -> None:
    assert server.get("/r/").status == 400


# ---- findings ------------------------------------------------------------------------------------


def test_what_models_saved_is_never_a_result(serve: Serve) -> None:
    server = serve()
    server.wf.save_finding("how tense is the warp?", "Five hundred grams, I am sure.")
    for reply in (
        server.post("/search", {"query": "how tense is the warp?"}),
        server.post("/v2/search", {"query": "how tense is the warp?"}),
        server.post("/openwebui/search", {"query": "how tense is the warp?"}),
        server.get("/search?format=json&q=how+tense+is+the+warp%3F"),
    ):
        assert reply.status == 200 and "I am sure" not in reply.text and "180 g" in reply.text
    # Asked for through the library's own API it is there, and marked.
    server.wf.save_finding("how tense is the weft?", "Five hundred grams, I am sure.")
    native = server.post("/api/v1/search", {"query": "how tense is the weft?"}).json
    assert native["provenance"]["kind"] == "finding" and "UNVERIFIED" in native["text"]
