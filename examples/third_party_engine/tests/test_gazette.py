"""The contract of every engine, and what is the Gazette's own."""

# ruff: noqa: RUF012 - the inputs of a contract are class attributes

from __future__ import annotations

from typing import Any

import pytest
from webfetch_search_gazette.engine import parse

from webfetch_core.api import BadResponse, Freshness, QuotaExceeded
from webfetch_core.testing.contracts import SearchEngineContract

ARTICLES = [
    {
        "link": "https://gazette.example/1887/lighthouse",
        "headline": "New <b>lighthouse</b> lit &amp; praised",
        "summary": "The keeper&#39;s lamp burns 41 metres above the sea.",
        "printed": "1887-05-01",
        "edition": "morning",
    },
    {"link": "https://gazette.example/1888/storm?page=2&copy=1", "headline": None, "summary": None},
    {"headline": "An article without a link"},
]


class TestGazette(SearchEngineContract):
    plugin = "webfetch_search_gazette.plugin"
    provider = "gazette"
    reply = {"articles": ARTICLES}
    empty_reply = {"articles": []}
    base_url_path = "/v2"

    def test_the_request(self, subject: Any, context: Any, service: Any) -> None:
        subject.search(
            self._request(context, limit=7, freshness=Freshness.RECENT, include_domains=("gazette.example",))
        )
        (received,) = service.requests
        assert received.target.startswith("/v2/search?q=lighthouse+site%3Agazette.example&size=7&edition=all")
        assert received.query.endswith("since=30d")
        assert received.headers["x-gazette-key"] == context.environ["GAZETTE_API_KEY"]

    def test_credit_that_is_used_up(self, subject: Any, context: Any, service: Any) -> None:
        service.answer({"code": "out_of_credit"}, status=403)
        with pytest.raises(QuotaExceeded, match="used up"):
            subject.search(self._request(context))


def test_parse() -> None:
    first, second = parse({"articles": ARTICLES})
    assert first.title == "New lighthouse lit & praised"
    assert first.snippet == "The keeper's lamp burns 41 metres above the sea."
    assert (first.published, first.extra) == ("1887-05-01", {"edition": "morning"})
    assert second.url == second.title == "https://gazette.example/1888/storm?page=2&copy=1"
    assert second.published is None


@pytest.mark.parametrize("data", [None, [], "x", {}, {"articles": None}, {"articles": "x"}])
def test_what_is_no_answer(data: Any) -> None:
    with pytest.raises(BadResponse, match="no list of articles"):
        parse(data)
