"""Contracts of query matchers and freshness classifiers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, ClassVar

from ...models import Freshness
from ...providers import Provider
from ...runtime.replies import check_match, check_places
from ...stages import FreshnessClassifier, QueryMatcher
from . import inputs
from .base import ProviderContract, concurrently
from .inputs import Input

_ODD_QUERIES = ("", "   ", "?", "東京", "مرحبا", "a" * 5_000, "x\x00y", "\u200b", "1 2 3", "👩‍👩‍👧")


class QueryMatcherContract(ProviderContract):
    """Set ``same`` (pairs that ask the same thing) and ``different`` (pairs that do not)."""

    stage = "match"
    protocol = QueryMatcher

    INPUTS: ClassVar[Mapping[str, Input]] = {
        "same": Input(
            "a list of pairs of strings", inputs.are_pairs, "pairs of questions that ask the same thing"
        ),
        "different": Input("a list of pairs of strings, with at least one", inputs.are_pairs),
    }

    same: ClassVar[Sequence[tuple[str, str]]] = ()
    different: ClassVar[Sequence[tuple[str, str]]] = (
        ("population of Norway 2020", "population of Norway 2023"),
        ("convert miles to kilometres", "convert kilometres to miles"),
        ("who founded Tarn Shipping", "capital of Mongolia"),
    )

    def test_equal_queries_match(self, subject: Any) -> None:
        query = "how high is the lighthouse of Tarn"
        found = check_match(subject.match(query, ["capital of Mongolia", query]), 2)
        assert found is not None and found.index == 1 and found.query == query

    def test_same_questions_match(self, subject: Any) -> None:
        for query, candidate in self.same:
            found = check_match(subject.match(query, [candidate]), 1)
            assert found is not None, f"{query!r} and {candidate!r} ask the same thing"
            assert found.query == candidate and 0.0 <= found.score <= 1.0

    def test_different_questions_do_not_match(self, subject: Any) -> None:
        for query, candidate in self.different:
            found = check_match(subject.match(query, [candidate]), 1)
            assert found is None, f"{query!r} and {candidate!r} ask different things: {found}"

    def test_no_candidates_no_match(self, subject: Any) -> None:
        assert subject.match("anything", []) is None

    def test_any_text_can_be_matched(self, subject: Any) -> None:
        for query in _ODD_QUERIES:
            check_match(subject.match(query, list(_ODD_QUERIES)), len(_ODD_QUERIES))

    def test_a_shortlist_names_places_once_and_keeps_to_its_length(self, subject: Any) -> None:
        shortlist = getattr(subject, "shortlist", None)
        if shortlist is None:
            return  # the core goes by age then
        query = "how high is the lighthouse of Tarn"
        texts = (*(b for _, b in self.different), query, *_ODD_QUERIES)
        places = check_places(shortlist(query, texts, 3), len(texts), 3)
        assert places[:1] == (texts.index(query),), "the nearest text to a query is that query"
        assert not check_places(shortlist(query, (), 3), 0, 3)
        for odd in _ODD_QUERIES:
            check_places(shortlist(odd, texts, 5), len(texts), 5)

    def test_concurrent_calls_agree(self, subject: Any, declared: Provider[Any]) -> None:
        query, candidates = self.different[0][0], [b for _, b in self.different]
        alone = subject.match(query, candidates)
        found = concurrently(min(4, declared.max_concurrency), lambda: subject.match(query, candidates))
        assert all(match == alone for match in found)


class FreshnessClassifierContract(ProviderContract):
    """Set ``examples``: queries and the class that they must get, None where it must be unsure."""

    stage = "freshness"
    protocol = FreshnessClassifier

    INPUTS: ClassVar[Mapping[str, Input]] = {
        "examples": Input(
            'a mapping of queries to Freshness, or to None for "unsure"',
            inputs.are_examples,
            'queries and their class, as in {"weather today": Freshness.REALTIME}',
        ),
        "now": Input(
            "a datetime with a time zone", lambda v: isinstance(v, datetime) and v.tzinfo is not None
        ),
    }

    examples: ClassVar[Mapping[str, Freshness | None]] = {}
    now: ClassVar[datetime] = datetime(2024, 5, 1, 12, tzinfo=UTC)

    def test_examples(self, subject: Any) -> None:
        wrong = {q: subject.classify(q, self.now) for q in self.examples}
        wrong = {q: got for q, got in wrong.items() if got != self.examples[q]}
        assert not wrong, f"classified otherwise than in examples: {wrong}"

    def test_any_text_gets_a_class_or_none(self, subject: Any) -> None:
        for query in _ODD_QUERIES:
            answer = subject.classify(query, self.now)
            assert answer is None or isinstance(answer, Freshness), f"{query!r}: {answer!r}"

    def test_same_query_and_time_same_class(self, subject: Any) -> None:
        for query in (*self.examples, *_ODD_QUERIES):
            assert subject.classify(query, self.now) == subject.classify(query, self.now)

    def test_concurrent_calls_agree(self, subject: Any, declared: Provider[Any]) -> None:
        def work() -> list[Freshness | None]:
            return [subject.classify(query, self.now) for query in self.examples]

        alone = work()
        assert all(found == alone for found in concurrently(min(4, declared.max_concurrency), work))
