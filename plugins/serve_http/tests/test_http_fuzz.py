"""Whatever is in the fields, the answer has the shape of the imitated API, and nothing is our fault."""

from __future__ import annotations

import json
import string
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytestmark = pytest.mark.slow
WARP, GONE = "https://loom.example/warp", "https://loom.example/gone"
Server = Any  # the running server of conftest.py
Check = Callable[[int, Any], None]

# ---- what is sent --------------------------------------------------------------------------------

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=12)  # halves of characters among them
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([10**400, -1, 0, 1 << 64])
    | st.floats()
    | ANY_TEXT
)
JUNK = st.recursive(
    SCALARS, lambda c: st.lists(c, max_size=3) | st.dictionaries(ANY_TEXT, c, max_size=3), max_leaves=8
)
FLAGS = st.booleans() | st.sampled_from(["basic", "advanced", "markdown", "false", "no"])
COUNTS = st.integers(-2, 200) | st.sampled_from(["3", "0", "-1", "1e3", "x"])
TIMES = st.sampled_from([0, 0.5, 1, 30, 60_000, "5", -1, 1e308])
QUERIES = st.sampled_from(
    ["warp tension", "warp", "?!", " ", "a" * 3_000, "site:loom.example warp", "\u202ewarp"]
)
HOSTS = st.lists(st.sampled_from(["loom.example", "*.example", ".", "https://loom.example/", "", "bücher"]))
URLS = st.sampled_from(
    [WARP, GONE, "loom.example/warp", "local:docs/a.md", "mailto:a@b.example", "http://127.0.0.1/", "/a",
     "https://[", "https%3A%2F%2Floom.example%2Fwarp", "https://loom.example:99999/", "\x00",
     "https://" + "a" * 9_000]
) | ANY_TEXT  # fmt: skip
DAYS = st.sampled_from(["2026-11-10", "2026-13-40", "0001-01-01", "9999-12-31", "day"])
FORMATS = st.lists(
    st.sampled_from(["markdown", "links", "html", {"type": "markdown"}, {"type": 7}, {}, None])
)


def bodies(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Objects with some of the fields, each with a value as it should be or any other, and unknown ones."""
    known = st.fixed_dictionaries(
        {}, optional={name: st.one_of(right, right, right, JUNK) for name, right in fields.items()}
    )
    unknown = st.dictionaries(ANY_TEXT, JUNK, max_size=2)
    return st.builds(lambda more, own: {**more, **own}, unknown, known)


# ---- what is answered ----------------------------------------------------------------------------


def tavily_error(status: int, body: Any) -> None:
    assert set(body) == {"detail"} and set(body["detail"]) == {"error"} and body["detail"]["error"]


def tavily_search(status: int, body: Any) -> None:
    if status != 200:
        tavily_error(status, body)
        return
    assert {"query", "answer", "images", "results", "response_time", "request_id"} <= set(body)
    assert body["answer"] is None or isinstance(body["answer"], str)
    for row in body["results"]:
        assert all(isinstance(row[name], str) for name in ("url", "title", "content"))
        assert 0 < row["score"] <= 1 and "raw_content" in row


def tavily_extract(status: int, body: Any) -> None:
    if status != 200:
        tavily_error(status, body)
        return
    assert {"results", "failed_results", "response_time", "request_id"} <= set(body)
    assert all(isinstance(row["raw_content"], str) for row in body["results"])
    assert all(isinstance(row["url"], str) and row["error"] for row in body["failed_results"])


def firecrawl(status: int, body: Any) -> None:
    if status != 200:
        assert set(body) == {"success", "error", "details", "code"} and body["success"] is False
        assert body["details"] == [] and body["error"] and body["code"]
        return
    assert body["success"] is True and isinstance(body["data"], dict)
    rows = body["data"].get("web", []) if "id" in body else [body["data"]]
    for row in rows:
        assert "id" not in body or {"url", "title", "description", "position"} <= set(row)
        assert "metadata" not in row or row["metadata"]["sourceURL"]


def native_error(status: int, body: Any) -> None:
    assert set(body) == {"error"} and {"kind", "message"} <= set(body["error"])


def openwebui_search(status: int, body: Any) -> None:
    if status != 200:
        native_error(status, body)
        return
    assert isinstance(body, list) and all(row["link"] == row["url"] and "snippet" in row for row in body)


def openwebui_load(status: int, body: Any) -> None:
    if status != 200:
        native_error(status, body)
        return
    assert isinstance(body, list) and all(row["metadata"]["source"] and row["page_content"] for row in body)


def jina_error(status: int, body: Any) -> None:
    assert set(body) == {"data", "code", "name", "status", "message", "readableMessage"}
    assert body["data"] is None and body["code"] == status and body["status"] == status * 100


def rerank(status: int, body: Any) -> None:
    if status != 200:
        jina_error(status, body)
        return
    assert set(body) == {"model", "object", "usage", "results"} and body["usage"]["total_tokens"] >= 0
    assert all(isinstance(row["index"], int) and 0 <= row["relevance_score"] <= 1 for row in body["results"])


def reader(status: int, body: Any) -> None:
    if status != 200:
        jina_error(status, body)
        return
    assert body["code"] == 200 and body["data"]["content"] and body["data"]["url"]


def searxng(status: int, body: Any) -> None:
    if status != 200:
        assert set(body) == {"error"} and isinstance(body["error"], str)
        return
    for name in ("results", "answers", "corrections", "infoboxes", "suggestions", "unresponsive_engines"):
        assert isinstance(body[name], list)
    assert all(
        {"title", "url", "content", "engine", "engines", "category"} <= set(r) for r in body["results"]
    )


POSTED: dict[str, tuple[st.SearchStrategy[dict[str, Any]], Check]] = {
    "/search": (
        bodies(
            query=QUERIES, max_results=COUNTS, time_range=st.sampled_from(["d", "week", "x"]), days=COUNTS,
            max_age_hours=COUNTS, start_date=DAYS, end_date=DAYS, topic=st.sampled_from(["news", "general"]),
            include_domains=HOSTS, exclude_domains=HOSTS, include_domains_mode=st.just("prefer"),
            include_answer=FLAGS, include_raw_content=FLAGS, include_usage=FLAGS, include_favicon=FLAGS,
            include_images=FLAGS, country=st.sampled_from(["germany", "atlantis"]), api_key=ANY_TEXT,
        ),
        tavily_search,
    ),
    "/extract": (
        bodies(urls=URLS | st.lists(URLS, max_size=4), timeout=TIMES, format=FLAGS, include_usage=FLAGS),
        tavily_extract,
    ),
    "/v2/scrape": (
        bodies(url=URLS, formats=FORMATS, timeout=TIMES, maxAge=COUNTS, onlyMainContent=FLAGS),
        firecrawl,
    ),
    "/v2/search": (
        bodies(
            query=QUERIES, limit=COUNTS, tbs=st.sampled_from(["qdr:d", "sbd:1,qdr:w", "cdr:1"]),
            country=st.sampled_from(["us", "DE", "xyz"]), sources=FORMATS, includeDomains=HOSTS,
            excludeDomains=HOSTS, timeout=TIMES,
            scrapeOptions=st.fixed_dictionaries({"formats": FORMATS | JUNK}),
        ),
        firecrawl,
    ),
    "/openwebui/search": (bodies(query=QUERIES, count=COUNTS), openwebui_search),
    "/openwebui/load": (bodies(urls=URLS | st.lists(URLS, max_size=4)), openwebui_load),
    "/v1/rerank": (
        bodies(
            query=QUERIES, model=ANY_TEXT, top_n=COUNTS, return_documents=FLAGS,
            documents=st.lists(ANY_TEXT | st.fixed_dictionaries({"text": ANY_TEXT}), max_size=4),
        ),
        rerank,
    ),
    "/r": (bodies(url=URLS), reader),
}  # fmt: skip


def fuzzed(strategy: st.SearchStrategy[Any], check: Callable[[Any], None], examples: int = 120) -> None:
    """Runs ``check`` on what ``strategy`` makes, the same each time."""
    limits = settings(
        max_examples=examples, deadline=None, database=None, derandomize=True,
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    limits(given(strategy)(check))()


def fine(reply: Any, check: Check) -> None:
    """The answer is one of the documented, in its shape."""
    assert reply.status < 500 or reply.status in (503, 504), (reply.status, reply.text)
    assert reply.headers["content-type"] == "application/json"
    assert "Traceback" not in reply.text and "webfetch_" not in reply.text
    check(reply.status, reply.json)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("path", POSTED)
def test_any_value_in_any_field(server: Server, path: str) -> None:
    strategy, check = POSTED[path]
    seen: set[int] = set()

    def one(body: Mapping[str, Any]) -> None:
        reply = server.post(path, json.dumps(body).encode(), Accept="application/json")
        seen.add(reply.status)
        fine(reply, check)

    fuzzed(strategy, one)
    assert {200, 400} <= seen, "both what is right and what is wrong was sent"


@pytest.mark.timeout(300)
@pytest.mark.parametrize("path", POSTED)
def test_any_body(server: Server, path: str) -> None:
    def one(body: bytes) -> None:
        reply = server.post(path, body, Accept="application/json")
        assert reply.status == 400
        fine(reply, POSTED[path][1])

    fuzzed(st.binary(max_size=40) | JUNK.filter(lambda v: not isinstance(v, dict)).map(
        lambda value: json.dumps(value).encode()
    ), one, 40)  # fmt: skip


PARAMETERS = {
    "q": QUERIES, "format": st.sampled_from(["json", "json", "json", "csv"]), "pageno": COUNTS.map(str),
    "time_range": st.sampled_from(["day", "week", "hour", ""]),
    "safesearch": st.sampled_from(["0", "2", "7"]),
    "categories": st.sampled_from(["general", "images", "images,general", ",", "nothing"]),
    "language": st.sampled_from(["en", "en-US", "all", "auto", "x", "zh_TW"]), "engines": ANY_TEXT,
    "timeout_limit": TIMES.map(str),
}  # fmt: skip
FORMS = st.builds(
    lambda more, own: {**more, **own},
    st.dictionaries(ANY_TEXT, ANY_TEXT, max_size=2),
    st.fixed_dictionaries({}, optional={n: st.one_of(s, s, s, ANY_TEXT) for n, s in PARAMETERS.items()}),
)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("path", ["/", "/search"])
def test_any_parameter_of_searxng(server: Server, path: str) -> None:
    seen: set[int] = set()

    def one(form: Mapping[str, str]) -> None:
        text = urlencode(form, errors="surrogatepass")
        asked = urlencode({"format": "json", **form}, errors="surrogatepass")
        replies = [server.post(path, text.encode(), Content_Type="application/x-www-form-urlencoded")]
        if form.get("format", "json") not in ("", "html"):  # else it is the page that is asked for
            replies.append(server.get(f"{path}?{asked}"))
        for reply in replies:
            seen.add(reply.status)
            fine(reply, searxng)

    fuzzed(FORMS, one)
    assert {200, 400} <= seen


HEADERS = st.text(string.ascii_letters + string.digits + "-+.,;=/ ", max_size=8).map(str.strip)


@pytest.mark.timeout(300)
def test_any_address_and_header_of_the_reader(server: Server) -> None:
    names = (
        "X_Timeout",
        "X_Max_Tokens",
        "X_Token_Budget",
        "X_No_Cache",
        "X_Cache_Tolerance",
        "X_Respond_With",
    )
    numbers = st.sampled_from(["1", "0.2", "0", "-1", "nan", "inf", "1e400", "true"])

    def one(asked: tuple[str, dict[str, str], bool]) -> None:
        url, headers, encoded = asked
        path = quote(url, safe="" if encoded else "/:?&=%#[]@", errors="surrogatepass").partition("#")[0]
        fine(server.get(f"/r/{path}", Accept="application/json", **headers), reader)

    wanted = st.fixed_dictionaries({}, optional=dict.fromkeys(names, numbers | HEADERS))
    fuzzed(st.tuples(URLS, wanted, st.booleans()), one)


@pytest.mark.timeout(300)
def test_any_query_of_the_page(server: Server) -> None:
    def one(form: Mapping[str, str]) -> None:
        reply = server.get(f"/?{urlencode({**form, 'format': ''}, errors='surrogatepass')}")
        assert reply.status < 500 or reply.status in (503, 504)
        assert reply.headers["content-type"] == "text/html; charset=utf-8" and "Traceback" not in reply.text
        assert "<script" not in reply.text

    names = {
        "q": QUERIES,
        "read": URLS,
        "freshness": st.sampled_from(["recent", "x"]),
        "fresh": FLAGS.map(str),
    }
    fuzzed(
        st.fixed_dictionaries({}, optional={n: st.one_of(s, s, ANY_TEXT) for n, s in names.items()}), one, 80
    )
