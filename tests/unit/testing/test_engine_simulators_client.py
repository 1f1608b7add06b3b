"""Unmodified official clients take the simulators for the real services.

The clients are no dependency of anything here: without one its tests are skipped.
"""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

from webfetch_core.testing.clock import FakeClock
from webfetch_core.testing.engines import simulator
from webfetch_core.testing.engines.base import CorpusDocument, EngineSimulator

pytestmark = [
    # What the clients do with their own connections and imports is theirs.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

DOCUMENTS = [
    CorpusDocument(url=url, title=title, text=text, published=published)
    for url, title, text, published in (
        ("https://harbor.example/tide?x=1&y=2", "Tide & gauge", "A gauge reads the tide.", "2023-12-31"),
        ("https://sea.example/tables", "Tide tables", "When the tide is high.", "2023-12-10"),
        ("https://docs.sea.example/old", "Old tide tables", "Of the tide in past years.", "2019-01-01"),
    )
]
URLS = {d.url for d in DOCUMENTS}


@pytest.fixture
def served(request: pytest.FixtureRequest) -> Iterator[EngineSimulator]:
    """The simulator named by the test's ``engine`` parameter; it takes the key ``right`` alone."""
    made = simulator(request.param)
    with made(DOCUMENTS, clock=FakeClock(), **({"key": "right"} if made.key_env else {})) as engine:
        yield engine


def engine(name: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("served", [name], indirect=True, ids=[name])


def imported(name: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip(name, exc_type=ImportError)


# ---- ddgs -------------------------------------------------------------------------------------------


@pytest.fixture
def ddgs(served: EngineSimulator, monkeypatch: pytest.MonkeyPatch) -> Any:
    module = imported("ddgs")
    from ddgs.engines.duckduckgo import Duckduckgo

    monkeypatch.setattr(Duckduckgo, "search_url", served.endpoint)
    return module


@engine("ddg")
def test_ddgs_reads_the_results_without_the_advertisement(served: EngineSimulator, ddgs: Any) -> None:
    rows = ddgs.DDGS().text("tide", region="de-de", timelimit="m", backend="duckduckgo")
    assert {row["href"] for row in rows} == {DOCUMENTS[0].url, DOCUMENTS[1].url}
    gauge = next(row for row in rows if "harbor" in row["href"])
    assert gauge["title"] == "Tide & gauge" and gauge["body"] == "A gauge reads the tide."
    query = served.queries[0]
    assert (query.query, query.freshness, query.country) == ("tide", "month", "de")


@engine("ddg")
@pytest.mark.parametrize(
    "fault", ["empty", "silent_block", "challenge_200", "empty_202", "forbidden", "rate_limited"]
)
def test_ddgs_takes_every_block_for_no_results(served: EngineSimulator, ddgs: Any, fault: str) -> None:
    served.fault = fault
    with pytest.raises(ddgs.exceptions.DDGSException, match="No results found"):
        ddgs.DDGS().text("tide", backend="duckduckgo")
    assert served.outcomes[0] == fault


# ---- tavily-python ----------------------------------------------------------------------------------


def tavily(served: EngineSimulator, key: str = "right") -> Any:
    return imported("tavily").TavilyClient(api_key=key, api_base_url=served.base_url)


@engine("tavily")
def test_tavily_python_reads_the_results_and_sends_its_filters(served: EngineSimulator) -> None:
    found = tavily(served).search(
        "tide", max_results=2, time_range="month", include_domains=["sea.example"], topic="news"
    )
    assert [row["url"] for row in found["results"]] == ["https://sea.example/tables"]
    row = found["results"][0]
    assert row["title"] == "Tide tables" and row["content"] == "When the tide is high." and row["score"] > 0
    assert row["published_date"] == "Sun, 10 Dec 2023 00:00:00 GMT"
    query = served.queries[0]
    assert (query.query, query.limit, query.freshness, query.include) == (
        "tide",
        2,
        "month",
        ("sea.example",),
    )
    assert tavily(served).search("zebra")["results"] == []


@engine("tavily")
@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ("quota", "ForbiddenError"),
        ("pay_as_you_go_limit", "ForbiddenError"),
        ("rate_limited", "UsageLimitExceededError"),
        ("bad_query", "BadRequestError"),
        ("auth", "InvalidAPIKeyError"),
        ("server_error", "HTTPError"),
    ],
)
def test_tavily_python_knows_each_error(served: EngineSimulator, fault: str, error: str) -> None:
    client = tavily(served)
    served.fault = fault
    with pytest.raises(Exception, match=r".") as caught:
        client.search("tide")
    assert type(caught.value).__name__ == error


@engine("tavily")
def test_tavily_python_is_told_that_its_key_is_wrong(served: EngineSimulator) -> None:
    client = tavily(served, "wrong")
    with pytest.raises(Exception, match="missing or invalid API key") as caught:
        client.search("tide")
    assert type(caught.value).__name__ == "InvalidAPIKeyError"
    assert served.queries[0].key == "wrong"


# ---- exa-py -----------------------------------------------------------------------------------------


def exa(served: EngineSimulator, key: str = "right") -> Any:
    return imported("exa_py").Exa(key, base_url=served.base_url)


@engine("exa")
def test_exa_py_reads_the_results_and_sends_its_filters(served: EngineSimulator) -> None:
    found = exa(served).search(
        "tide", num_results=5, start_published_date="2023-12-01T00:00:00Z", exclude_domains=["harbor.example"]
    )
    assert [row.url for row in found.results] == ["https://sea.example/tables"]
    row = found.results[0]
    assert row.title == "Tide tables" and row.text == "When the tide is high."
    assert row.published_date == "2023-12-10T00:00:00.000Z"
    query = served.queries[0]
    assert (query.query, query.limit, query.exclude) == ("tide", 5, ("harbor.example",))
    assert exa(served).search("zebra").results == []


@engine("exa")
@pytest.mark.parametrize(
    ("fault", "status"),
    [
        ("quota", 402),
        ("budget", 402),
        ("forbidden", 403),
        ("rate_limited", 429),
        ("bad_query", 400),
        ("auth", 401),
    ],
)
def test_exa_py_tells_each_status(served: EngineSimulator, fault: str, status: int) -> None:
    client = exa(served)
    served.fault = fault
    with pytest.raises(ValueError, match=f"status code {status}"):
        client.search("tide")


@engine("exa")
def test_exa_py_is_told_that_its_key_is_wrong(served: EngineSimulator) -> None:
    client = exa(served, "wrong")
    with pytest.raises(ValueError, match=r"401.*Invalid API key"):
        client.search("tide")


# ---- perplexityai -----------------------------------------------------------------------------------


def perplexity(served: EngineSimulator, key: str = "right", retries: int = 0) -> Any:
    module = imported("perplexity")
    return module.Perplexity(api_key=key, base_url=served.base_url, max_retries=retries)


@engine("perplexity")
def test_perplexityai_reads_the_results_and_sends_its_filters(served: EngineSimulator) -> None:
    with perplexity(served) as client:
        found = client.search.create(
            query="tide",
            max_results=5,
            search_recency_filter="month",
            search_domain_filter=["-harbor.example"],
        )
        nothing = client.search.create(query="zebra")
    assert [row.url for row in found.results] == ["https://sea.example/tables"] and found.id
    row = found.results[0]
    assert (row.title, row.snippet, row.date) == ("Tide tables", "When the tide is high.", "2023-12-10")
    query = served.queries[0]
    assert (query.query, query.limit, query.freshness) == ("tide", 5, "month")
    assert query.exclude == ("harbor.example",) and nothing.results == []


@engine("perplexity")
@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ("auth", "AuthenticationError"),
        ("quota", "AuthenticationError"),
        ("rate_limited", "RateLimitError"),
        ("bad_query", "BadRequestError"),
        ("validation", "UnprocessableEntityError"),
        ("server_error", "InternalServerError"),
    ],
)
def test_perplexityai_knows_each_error(served: EngineSimulator, fault: str, error: str) -> None:
    served.fault = fault
    with perplexity(served) as client, pytest.raises(Exception, match=r".") as caught:
        client.search.create(query="tide")
    assert type(caught.value).__name__ == error


@engine("perplexity")
def test_perplexityai_asks_again_after_a_server_error(served: EngineSimulator) -> None:
    served.script("server_error")
    with perplexity(served, retries=1) as client:
        found = client.search.create(query="tide")
    assert {row.url for row in found.results} == URLS and served.outcomes == ["server_error", "ok"]


@engine("perplexity")
def test_perplexityai_works_asynchronously_too(served: EngineSimulator) -> None:
    module = imported("perplexity")

    async def ask() -> Any:
        async with module.AsyncPerplexity(api_key="right", base_url=served.base_url) as client:
            return await client.search.create(query="tide", max_results=1)

    assert len(asyncio.run(ask()).results) == 1
