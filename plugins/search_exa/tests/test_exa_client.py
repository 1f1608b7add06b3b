"""The simulator against Exa's own client, unmodified: it is not an invention of this repository."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from webfetch_core.testing.engines.corpus import CorpusDocument
from webfetch_core.testing.engines.exa import ExaSimulator

exa_py = pytest.importorskip("exa_py", reason="exa-py, the official client, is not installed")

KEY = "9d1c2f4e-loom-4b7a-weft-0a1b2c3d4e5f"
PAGES = [
    CorpusDocument(url=f"https://loom{n}.example/", title=f"Warp {n}", text="Warp tension", published=day)
    for n, day in enumerate(("2023-12-20", "2020-01-01"))
]


@pytest.fixture
def simulated() -> Iterator[ExaSimulator]:
    with ExaSimulator(PAGES, key=KEY) as simulated:
        yield simulated


@pytest.fixture
def client(simulated: ExaSimulator) -> Any:
    return exa_py.Exa(KEY, base_url=simulated.base_url)


def test_its_client_reads_results(client: Any) -> None:
    found = client.search("warp", num_results=5, start_published_date="2023-01-01")
    [hit] = found.results
    assert (hit.url, hit.title, hit.text) == ("https://loom0.example/", "Warp 0", "Warp tension")
    assert hit.published_date == "2023-12-20T00:00:00.000Z"
    assert found.cost_dollars.total > 0


def test_its_client_reads_highlights_and_nothing_found(client: Any) -> None:
    found = client.search("warp", contents={"highlights": True}, exclude_domains=["loom1.example"])
    assert [hit.highlights for hit in found.results] == [["Warp tension"]]
    assert client.search("rowan").results == []


@pytest.mark.parametrize(
    ("fault", "status"),
    [
        ("auth", 401),
        ("quota", 402),
        ("budget", 402),
        ("forbidden", 403),
        ("bad_query", 400),
        ("rate_limited", 429),
        ("server_error", 500),
    ],
)
def test_its_client_reads_errors(simulated: ExaSimulator, client: Any, fault: str, status: int) -> None:
    simulated.fault = fault
    with pytest.raises(ValueError, match=f"status code {status}"):
        client.search("warp")
