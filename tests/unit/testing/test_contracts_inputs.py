"""A contract with a wrong or missing input, or a plugin that raises what it should not, is told clearly."""

from __future__ import annotations

import csv
import re
from textwrap import dedent
from typing import Any

import pytest

from webfetch_core.api import FetchTraits, PageError, Provider, SearchTraits, hookimpl
from webfetch_core.testing import (
    CacheContract,
    CompressorContract,
    ExtractorContract,
    FetcherContract,
    FreshnessClassifierContract,
    LLMContract,
    QueryMatcherContract,
    RankerContract,
    ScriptedEngine,
    ScriptedExtractor,
    ScriptedFetcher,
    ScriptedRanker,
    SearchEngineContract,
    fake_plugin,
)

pytest_plugins = ["pytester"]

ENGINE = fake_plugin("search", ScriptedEngine(["https://a.example/", "https://b.example/"]), summary="x")

CASES: list[tuple[type, dict[str, Any], str]] = [
    (RankerContract, {"plugin": None}, "plugin is not set: set it to the module that the entry point names"),
    (RankerContract, {"plugin": ScriptedRanker}, "plugin must be the plugin's module, .* got type: <class"),
    (RankerContract, {"plugin": b"x"}, "plugin must be .* got bytes"),
    (RankerContract, {"provider": ""}, "provider is not set: set it to the name that the Provider"),
    (RankerContract, {"provider": 3}, "provider must be a string that is not blank, got int: 3"),
    (RankerContract, {"settings": ["x"]}, "settings must be a mapping of settings by name, got list"),
    (RankerContract, {"environ": {"KEY": 1}}, "environ must be a mapping of strings to strings"),
    (RankerContract, {"irrelevant": "one text"}, "irrelevant must be a list of strings, .* got str"),
    (RankerContract, {"irrelevant": ()}, "irrelevant must be a list of strings, with at least one"),
    (RankerContract, {"query": None}, "query must be a string that is not blank, got None"),
    (ExtractorContract, {"page": b"%PDF-1.4"}, r"page must be a webfetch_core\.api\.Page, .* got bytes: b"),
    (ExtractorContract, {"page": None}, r"page must be a webfetch_core\.api\.Page"),
    (ExtractorContract, {"expected": b"text"}, "expected must be a string that is not blank, got bytes"),
    (ExtractorContract, {"title": None}, "title must be a string, got None"),
    (FetcherContract, {"expected": "text"}, "expected must be bytes that are in the page .* got str"),
    (FetcherContract, {"good_url": b"x"}, "good_url must be a string, the URL of a page that is there"),
    (SearchEngineContract, {"reply": object()}, "reply must be the body of an answer: bytes, text, a Reply"),
    (SearchEngineContract, {"reply": [{1, 2}]}, "reply must be the body of an answer"),
    (SearchEngineContract, {"empty_reply": object()}, "empty_reply must be"),
    (SearchEngineContract, {"base_url_path": "v1"}, "base_url_path must be empty or a path that begins with"),
    (CompressorContract, {"chunks": ["text"]}, r"chunks must be a list of webfetch_core\.api\.Chunk"),
    (CompressorContract, {"budget": "160"}, "budget must be a whole number of characters"),
    (CompressorContract, {"answer": "43 metres"}, "answer must be text of one of chunks; none of them has"),
    (CompressorContract, {"budget": 3}, "budget must leave room for answer, which has 14 characters"),
    (CacheContract, {"persistent": "no"}, "persistent must be True or False, got str: 'no'"),
    (QueryMatcherContract, {}, "same is not set: set it to pairs of questions"),
    (QueryMatcherContract, {"same": ("a", "b")}, "same must be a list of pairs of strings, got tuple"),
    (QueryMatcherContract, {"same": [("a", "b", "c")]}, "same must be a list of pairs of strings"),
    (FreshnessClassifierContract, {}, "examples is not set: set it to queries and their class"),
    (FreshnessClassifierContract, {"examples": {"q": "soon"}}, "examples must be a mapping of queries to"),
    (LLMContract, {"expected": {}}, "reply is not set: set it to a recorded answer of the service"),
    (LLMContract, {"reply": {"x": 1}}, "expected is not set: set it to the JSON that complete returns"),
    (LLMContract, {"reply": {"x": 1}, "expected": object()}, "expected must be what JSON can hold"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("contract", "inputs", "message"), CASES, ids=[f"{c.__name__}-{'-'.join(i)}" for c, i, _ in CASES]
)
def test_a_wrong_input_is_told_by_its_name(contract: type, inputs: dict[str, Any], message: str) -> None:
    right = {"plugin": "webfetch_core.api", "provider": "x"}
    cls = type("Wrong", (contract,), {**right, **inputs})
    told = "\n".join(cls().input_problems())
    (name, *_) = message.split(" ")
    assert re.search(message, told) and name in told, f"{told!r} does not say {message!r}"


def test_what_is_unset_or_wrong_is_told_all_at_once() -> None:
    class Empty(LLMContract): ...

    told = [problem.split(" ")[0] for problem in Empty().input_problems()]
    assert told == ["plugin", "provider", "reply", "expected"]


def test_an_engine_without_any_input_is_told_what_it_may_give() -> None:
    engine = ScriptedEngine(["https://a.example/", "https://b.example/"])

    class NoReply(SearchEngineContract):
        plugin = fake_plugin("search", engine, summary="x", traits=SearchTraits())
        provider = "fake"

    assert "SearchTraits(network=False), or override the fixture" in "".join(NoReply().input_problems())

    class OwnSubject(NoReply):
        @pytest.fixture
        def subject(self) -> Any:
            return ScriptedEngine(["https://a.example/"])

    class NoNetwork(NoReply):
        plugin = ENGINE

    assert not [*OwnSubject().input_problems(), *NoNetwork().input_problems()]


def test_a_service_that_would_never_be_asked_is_told() -> None:
    class Deaf(SearchEngineContract):
        plugin = ENGINE
        provider = "fake"
        reply = {"results": []}

    assert "base_url_setting is 'base_url', which is no setting of fake" in "".join(Deaf().input_problems())


def test_a_fetcher_of_another_scheme_needs_its_urls() -> None:
    class Wiki(FetcherContract):
        plugin = fake_plugin("fetch", ScriptedFetcher({}), summary="x", traits=FetchTraits(schemes=("wiki",)))
        provider = "fake"

    told = list(Wiki().input_problems())
    assert [problem.split(" ")[0] for problem in told] == ["good_url", "bad_url"]


def test_a_module_that_is_not_there_is_told_apart_from_one_that_fails(fake_dist: Any) -> None:
    class Absent(RankerContract):
        plugin = "webfetch_not_here_at_all"

    with pytest.raises(AssertionError, match=r"no module webfetch_not_here_at_all: install the project"):
        Absent().loaded_plugin()
    fake_dist("webfetch-halfway", modules={"halfway_plugin": "import not_installed_here\n"})

    class Halfway(RankerContract):
        plugin = "halfway_plugin"

    with pytest.raises(ModuleNotFoundError, match="not_installed_here"):
        Halfway().loaded_plugin()


def test_a_hook_that_is_not_there_and_a_name_that_is_not_declared_are_told() -> None:
    class OtherStage(RankerContract):
        plugin = ENGINE
        provider = "fake"

    with pytest.raises(AssertionError, match="does not implement webfetch_rankers: RankerContract is for"):
        OtherStage().find_provider()


# ---- one clear failure, not as many as there are tests --------------------------------------------


def test_a_wrong_input_fails_once(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        dedent("""
            from webfetch_core.testing import ExtractorContract, ScriptedExtractor, fake_plugin

            class TestMine(ExtractorContract):
                plugin = fake_plugin("extract", ScriptedExtractor(), summary="plain")
                provider = "fake"
                page = b"name,height"
        """)
    )
    done = pytester.runpytest_inprocess("-p", "no:cacheprovider", "-rs")
    outcomes = done.parseoutcomes()
    assert outcomes.get("errors", 0) + outcomes.get("failed", 0) == 1 and outcomes["skipped"] > 5, outcomes
    done.stdout.fnmatch_lines(["*TestMine.page must be a webfetch_core.api.Page*got bytes: b'name,height'*"])
    done.stdout.fnmatch_lines(["*the inputs of TestMine are wrong: see its first test*"])


# ---- what a plugin raises ---------------------------------------------------------------------------


class Extracts(ExtractorContract):
    plugin = fake_plugin("extract", ScriptedExtractor(), summary="plain")
    provider = "fake"


def test_an_extractor_that_raises_anything_is_told_what_to_raise() -> None:
    def strict(page: Any) -> None:
        page.body.decode("utf-8")

    with pytest.raises(AssertionError) as caught:
        Extracts().test_any_bytes_are_survived(ScriptedExtractor(strict))
    told = str(caught.value)
    assert "for the page behind two bytes that are no UTF-8, it raised UnicodeDecodeError" in told
    assert 'return None, or raise PageError(message, kind="bad_encoding")' in told


def test_an_exception_is_named_with_its_module() -> None:
    with pytest.raises(AssertionError, match=r"it raised _csv\.Error: line contains NUL; return None, or"):
        Extracts().test_any_bytes_are_survived(ScriptedExtractor(csv.Error("line contains NUL")))


def test_a_clear_error_of_an_extractor_counts() -> None:
    for error in (PageError("no text", kind="bad_encoding"), PageError("none")):
        Extracts().test_any_bytes_are_survived(ScriptedExtractor(error))
        Extracts().test_nothing_in_it_is_none_or_a_clear_error(ScriptedExtractor(error))


def test_an_extractor_that_returns_no_document_is_told() -> None:
    with pytest.raises(AssertionError, match="it returned str where a Document belongs"):
        Extracts().test_nothing_in_it_is_none_or_a_clear_error(ScriptedExtractor("text"))


def test_an_engine_that_raises_or_returns_the_wrong_thing_is_told(tmp_path: Any) -> None:
    class Asks(SearchEngineContract):
        plugin = ENGINE
        provider = "fake"

    class Service:
        def answer(self, *_: Any, **__: Any) -> None: ...

    context = Asks().make_context(tmp_path)
    for step, told in (
        (
            KeyError("results"),
            "it raised KeyError: 'results'; raise BadResponse of webfetch_core.api",
        ),
        ((), r"it returned \(\); raise BadResponse of webfetch_core.api instead"),
    ):
        with pytest.raises(AssertionError, match=told):
            Asks().test_a_broken_answer_is_an_error_not_an_empty_one(
                ScriptedEngine(step), context, Service(), b"null"
            )


def test_a_provider_that_lacks_a_method_is_told_which(tmp_path: Any) -> None:
    class Plugin:
        @hookimpl
        def webfetch_rankers(self) -> list[Provider[Any]]:
            return [Provider(name="mine", build=lambda settings, context: object(), summary="x")]

    class Lacks(RankerContract):
        plugin = Plugin()
        provider = "mine"

    contract = Lacks()
    with pytest.raises(AssertionError, match="build returned a object, which is no Ranker: it lacks score"):
        contract.test_builds_quickly_what_it_declares(
            contract.find_provider(), contract.make_context(tmp_path)
        )
