"""The simulator against Perplexity's own client, unmodified: it is not an invention of this repository."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from webfetch_core.testing.engines.corpus import CorpusDocument
from webfetch_core.testing.engines.perplexity import PerplexitySimulator

perplexity = pytest.importorskip("perplexity", reason="perplexityai, the official client, is not installed")

KEY = "pplx-4b7a9d1c2f4e0a1b2c3d4e5f"
PAGES = [
    CorpusDocument(url=f"https://kiln{n}.example/", title=f"Ash {n}", text="Ash glaze", published=day)
    for n, day in enumerate(("2023-12-20", "2020-01-01"))
]


@pytest.fixture
def simulated() -> Iterator[PerplexitySimulator]:
    with PerplexitySimulator(PAGES, key=KEY) as simulated:
        yield simulated


@pytest.fixture
def client(simulated: PerplexitySimulator) -> Iterator[Any]:
    with perplexity.Perplexity(api_key=KEY, base_url=simulated.base_url, max_retries=0) as client:
        yield client


def test_its_client_reads_results(client: Any) -> None:
    found = client.search.create(query="ash", max_results=5, search_after_date_filter="01/01/2023")
    [hit] = found.results
    assert (hit.url, hit.title, hit.snippet) == ("https://kiln0.example/", "Ash 0", "Ash glaze")
    assert (hit.date, hit.last_updated) == ("2023-12-20", "2023-12-20")


def test_its_client_asks_several_at_once_and_leaves_domains_out(client: Any) -> None:
    assert len(client.search.create(query=["ash", "glaze"]).results) == 4
    assert len(client.search.create(query="ash", search_domain_filter=["-kiln1.example"]).results) == 1
    assert client.search.create(query="rowan").results == []


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
def test_its_client_reads_errors(simulated: PerplexitySimulator, client: Any, fault: str, error: str) -> None:
    simulated.fault = fault
    with pytest.raises(getattr(perplexity, error)):
        client.search.create(query="ash")


def test_its_client_waits_as_it_is_told(simulated: PerplexitySimulator) -> None:
    simulated.script("rate_limited")
    with perplexity.Perplexity(api_key=KEY, base_url=simulated.base_url, max_retries=1) as client:
        assert len(client.search.create(query="ash").results) == 2
    assert simulated.outcomes == ["rate_limited", "ok"]
