"""Other people's clients, unmodified, against a server on loopback. Each is skipped where it is not there:
``requirements-dev.txt`` brings the light ones, ``nox -s clients`` all of them.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from webfetch_core.api import Unavailable
from webfetch_core.testing import Hang, ScriptedEngine, ScriptedFetcher

# What the clients warn of is theirs.
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.slow]

WARP, EDGE, GONE = "https://loom.example/warp", "https://loom.example/edge", "https://loom.example/gone"
TOKEN = "a-token-of-these-tests-0123456789"
Server = Any  # the running server of conftest.py
Serve = Callable[..., Any]


@pytest.fixture
def locked(serve: Serve) -> Server:
    """A server that asks for a token."""
    return serve(token=TOKEN)


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No proxy, no key and no tracing of the machine that the tests run on."""
    for name in (
        "http_proxy",
        "https_proxy",
        "all_proxy",
        "TAVILY_API_KEY",
        "FIRECRAWL_API_KEY",
        "TAVILY_HTTP_PROXY",
    ):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setenv("LANGSMITH_TRACING", "false")
    yield
    gc.collect()  # what a client left open is closed here, where its complaints are not heard


# ---- tavily-python -------------------------------------------------------------------------------


def test_tavily_python(locked: Server) -> None:
    tavily = pytest.importorskip("tavily")
    client = tavily.TavilyClient(api_key=TOKEN, api_base_url=locked.url)
    told = client.search(
        "warp tension", search_depth="advanced", max_results=3, include_raw_content=True, include_answer=True,
        include_domains=[], exclude_domains=[], time_range="month", chunks_per_source=3, country="germany",
    )  # fmt: skip
    assert [row["url"] for row in told["results"]][:2] == [WARP, EDGE] and len(told["results"]) == 3
    assert "180 g" in told["results"][0]["content"] and "180 g" in told["answer"]
    assert client.qna_search("warp tension")
    pages = client.extract([WARP, GONE], extract_depth="advanced")
    assert [page["url"] for page in pages["results"]] == [WARP]
    assert [page["url"] for page in pages["failed_results"]] == [GONE]
    assert client.extract(WARP)["results"][0]["raw_content"]


def test_tavily_python_keyless_and_asynchronous(server: Server) -> None:
    tavily = pytest.importorskip("tavily")
    assert tavily.TavilyClient(api_base_url=server.url).search("warp tension")["results"]

    async def ask() -> Any:
        client = tavily.AsyncTavilyClient(api_key="tvly-x", api_base_url=server.url)
        try:
            return await asyncio.gather(*(client.search("warp tension") for _ in range(5)))
        finally:
            if hasattr(client, "close"):
                await client.close()

    assert all(told["results"] for told in asyncio.run(ask()))


def test_tavily_python_errors(locked: Server, serve: Serve) -> None:
    tavily = pytest.importorskip("tavily")
    errors = pytest.importorskip("tavily.errors")
    with pytest.raises(errors.InvalidAPIKeyError, match="Unauthorized"):
        tavily.TavilyClient(api_key="tvly-wrong", api_base_url=locked.url).search("warp")
    with pytest.raises(errors.BadRequestError, match="empty"):
        tavily.TavilyClient(api_key=TOKEN, api_base_url=locked.url).search("?!")
    limited = tavily.TavilyClient(api_key="x", api_base_url=serve(rate_per_minute=1, burst=1).url)
    limited.search("warp")
    with pytest.raises(errors.UsageLimitExceededError, match="too many"):
        limited.search("warp")


# ---- firecrawl-py --------------------------------------------------------------------------------


def test_firecrawl_py(locked: Server) -> None:
    firecrawl = pytest.importorskip("firecrawl")
    client = firecrawl.Firecrawl(api_key=TOKEN, api_url=locked.url)
    page = client.scrape(WARP, formats=["markdown", "links"], only_main_content=True, timeout=30_000)
    assert "180 g" in page.markdown and page.metadata.source_url == WARP
    assert page.metadata.title == "Warp tension guide" and page.metadata.status_code == 200
    found = client.search("warp tension", limit=3, sources=["web"], tbs="qdr:m")
    assert [row.url for row in found.web][:2] == [WARP, EDGE] and "180 g" in found.web[0].description
    read = client.search("warp tension", limit=2, scrape_options={"formats": ["markdown"]})
    assert "180 g" in read.web[0].markdown and read.web[0].metadata.source_url == WARP


def test_firecrawl_py_without_a_key_and_asynchronous(server: Server) -> None:
    firecrawl = pytest.importorskip("firecrawl")
    assert firecrawl.Firecrawl(api_url=server.url).scrape(WARP).markdown

    async def ask() -> Any:
        client = firecrawl.AsyncFirecrawl(api_key="fc-x", api_url=server.url)
        return await asyncio.gather(client.scrape(WARP), client.search("warp tension", limit=2))

    page, found = asyncio.run(ask())
    assert page.markdown and len(found.web) == 2


def test_firecrawl_py_errors(locked: Server, serve: Serve) -> None:
    firecrawl = pytest.importorskip("firecrawl")
    errors = pytest.importorskip("firecrawl.v2.utils.error_handler")
    with pytest.raises(errors.UnauthorizedError):
        firecrawl.Firecrawl(api_key="fc-wrong", api_url=locked.url).scrape(WARP)
    with pytest.raises(errors.FirecrawlError, match="no such page"):
        firecrawl.Firecrawl(api_key=TOKEN, api_url=locked.url).scrape(GONE)
    hang = Hang()
    slow = serve(fetcher=ScriptedFetcher({WARP: lambda _: hang.released.wait(30)}), scrape_deadline_s=0.5)
    try:
        with pytest.raises(errors.RequestTimeoutError):
            firecrawl.Firecrawl(api_key="x", api_url=slow.url).scrape(WARP)
    finally:
        hang.released.set()


# ---- LangChain -----------------------------------------------------------------------------------


def test_langchain_tavily(locked: Server) -> None:
    module = pytest.importorskip("langchain_tavily")
    tool = module.TavilySearch(max_results=3, topic="general", tavily_api_key=TOKEN, api_base_url=locked.url)
    told = tool.invoke({"query": "warp tension", "time_range": "month"})
    assert [row["url"] for row in told["results"]][:2] == [WARP, EDGE]
    extract = module.TavilyExtract(tavily_api_key=TOKEN, api_base_url=locked.url)
    assert "180 g" in extract.invoke({"urls": [WARP]})["results"][0]["raw_content"]


def test_langchain_searx(server: Server) -> None:
    module = pytest.importorskip("langchain_community.utilities.searx_search")
    wrapper = module.SearxSearchWrapper(searx_host=server.url, k=3)
    assert "180 g" in wrapper.run("warp tension", categories="general")
    rows = wrapper.results("warp tension", num_results=3, engines=["google"], time_range="month")
    assert [row["link"] for row in rows][:2] == [WARP, EDGE]
    assert rows[0]["engines"] == ["loom"] and rows[0]["category"] == "general"


def test_langchain_searx_with_a_token_and_without_engines(serve: Serve) -> None:
    module = pytest.importorskip("langchain_community.utilities.searx_search")
    server = serve(token=TOKEN, engine=ScriptedEngine(Unavailable("down")))
    wrapper = module.SearxSearchWrapper(
        searx_host=server.url, headers={"Authorization": f"Bearer {TOKEN}"}, unsecure=False
    )
    assert wrapper.run("warp tension") == "No good search result found"


# ---- the schema ----------------------------------------------------------------------------------


@pytest.mark.timeout(300)
@pytest.mark.parametrize("mode", ["POSITIVE", "NEGATIVE"])
def test_schemathesis(server: Server, mode: str) -> None:
    """Generated requests: every answer is one that the schema tells of, and a bad request is refused."""
    schemathesis = pytest.importorskip("schemathesis")
    import hypothesis

    named = ["status_code_conformance", "content_type_conformance", "response_schema_conformance"]
    if mode == "NEGATIVE":
        named.append("negative_data_rejection")
    schema = schemathesis.openapi.from_url(f"{server.url}/openapi.json")
    specs = pytest.importorskip("schemathesis.specs.openapi.checks")
    checks = [schemathesis.checks.not_a_server_error, *(getattr(specs, name) for name in named)]
    statuses: dict[str, set[int]] = {}
    for found in schema.get_all_operations():
        operation = found.ok()
        if mode == "NEGATIVE" and operation.method.upper() == "GET":
            continue  # nothing can be wrong with a request that has no parameters

        @hypothesis.given(case=operation.as_strategy(generation_mode=schemathesis.GenerationMode[mode]))
        @hypothesis.settings(
            max_examples=25,
            deadline=None,
            database=None,
            derandomize=True,
            suppress_health_check=list(hypothesis.HealthCheck),
        )
        def ask(case: Any) -> None:
            reply = case.call_and_validate(base_url=server.url, checks=checks)
            statuses.setdefault(case.operation.path, set()).add(reply.status_code)

        ask()
    assert set(statuses) >= {"/api/v1/search", "/api/v1/fetch", "/api/v1/rerank"}
    if mode == "POSITIVE":
        assert all(200 in seen for path, seen in statuses.items() if path != "/api/v1/fetch"), statuses
