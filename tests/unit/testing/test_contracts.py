"""The contracts pass what is right, fail what is wrong, and cannot be switched off unseen."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import frozen

from webfetch_core.api import (
    BadResponse,
    EnvKey,
    Freshness,
    Provider,
    RankTraits,
    SearchHit,
    SearchRequest,
    SearchTraits,
    hookimpl,
)
from webfetch_core.testing import (
    CacheContract,
    CompressorContract,
    ExtractorContract,
    FakeContext,
    FreshnessClassifierContract,
    LLMContract,
    MemoryCache,
    QueryMatcherContract,
    RankerContract,
    ScriptedClassifier,
    ScriptedCompressor,
    ScriptedExtractor,
    ScriptedMatcher,
    ScriptedRanker,
    SearchEngineContract,
    fake_plugin,
    overrides_contract,
)
from webfetch_core.testing.contracts.base import CANARY

# ---- a whole engine over HTTP, with a key -------------------------------------------------------


@frozen(kw_only=True)
class MineSettings:
    base_url: str = "https://api.mine.example"


class MineEngine:
    def __init__(self, settings: MineSettings, context: FakeContext) -> None:
        self.settings, self.context = settings, context

    def search(self, request: SearchRequest) -> list[SearchHit]:
        reply = self.context.http.get(
            f"{self.settings.base_url}/search",
            params={"q": request.query},
            headers={"X-Key": self.context.environ["MINE_KEY"]},
            deadline=request.deadline,
        )
        try:
            rows = reply.json()["results"][: request.limit]
            return [SearchHit(url=row["url"], title=row["title"]) for row in rows]
        except (TypeError, KeyError) as exc:
            raise BadResponse(f"no results in the answer: {exc}") from exc


class MinePlugin:
    __name__ = "webfetch_search_mine.plugin"

    @hookimpl
    def webfetch_search_engines(self) -> list[Provider[Any]]:
        return [
            Provider(
                name="mine", build=MineEngine, summary="An engine", settings=MineSettings,
                requires=(EnvKey("MINE_KEY"),), traits=SearchTraits(),
            )
        ]  # fmt: skip


class TestEngineOverHttp(SearchEngineContract):
    plugin = MinePlugin()
    provider = "mine"
    reply = {"results": [{"url": f"https://x.example/{n}", "title": f"T{n}"} for n in range(5)]}
    empty_reply = {"results": []}

    def test_the_key_is_sent_and_only_in_its_header(self, subject: Any, context: Any, service: Any) -> None:
        subject.search(self._request(context))
        (request,) = service.requests
        assert request.headers["x-key"] == CANARY and CANARY not in request.target


class TestMemoryCache(CacheContract):
    plugin = fake_plugin("cache", MemoryCache(), summary="memory")
    provider = "fake"
    persistent = False

    @pytest.fixture
    def subject(self) -> MemoryCache:
        return MemoryCache()


class TestScriptedRanker(RankerContract):
    plugin = fake_plugin("rank", ScriptedRanker(), summary="words", traits=RankTraits())
    provider = "fake"


class TestScriptedCompressor(CompressorContract):
    plugin = fake_plugin("compress", ScriptedCompressor(), summary="lead")
    provider = "fake"
    budget = 200


class TestScriptedExtractor(ExtractorContract):
    plugin = fake_plugin("extract", ScriptedExtractor(), summary="plain")
    provider = "fake"

    @overrides_contract("the fake hands on every byte, control characters too")
    def test_extracts_a_document(self, subject: Any) -> None:
        assert self.expected in subject.extract(self.page).text


class TestScriptedMatcher(QueryMatcherContract):
    plugin = fake_plugin("match", ScriptedMatcher(), summary="equal words")
    provider = "fake"
    same = (("Tarn  lighthouse", "tarn lighthouse"),)


class TestScriptedClassifier(FreshnessClassifierContract):
    plugin = fake_plugin("freshness", ScriptedClassifier(Freshness.STABLE), summary="always")
    provider = "fake"
    examples = {"anything": Freshness.STABLE}


class MineLLM:
    def __init__(self, settings: MineSettings, context: FakeContext) -> None:
        self.settings, self.context = settings, context

    def complete(self, messages: Any, schema: Any) -> Any:
        reply = self.context.http.post(
            f"{self.settings.base_url}/complete", json={"messages": list(messages), "schema": schema}
        ).json()
        if not isinstance(reply, dict) or "answer" not in reply:
            raise BadResponse("no answer in the reply")
        return reply["answer"]


class MineLLMPlugin:
    @hookimpl
    def webfetch_llms(self) -> list[Provider[Any]]:
        return [
            Provider(
                name="mine", build=MineLLM, summary="A model", settings=MineSettings,
                requires=(EnvKey("MINE_KEY"),),
            )
        ]  # fmt: skip


class TestLLM(LLMContract):
    plugin = MineLLMPlugin()
    provider = "mine"
    reply = {"answer": {"height": "41 metres"}}
    expected = {"height": "41 metres"}


# ---- the guard ------------------------------------------------------------------------------------


def test_a_silent_override_is_refused_when_the_class_is_made() -> None:
    with pytest.raises(TypeError, match=r"replaces test_no_passages_no_scores .*@overrides_contract"):

        class Silent(RankerContract):
            def test_no_passages_no_scores(self, subject: Any) -> None: ...


def test_a_removed_test_is_refused() -> None:
    with pytest.raises(TypeError, match="test_one_passage"):

        class Removed(RankerContract):
            test_one_passage = None


def test_a_mixin_cannot_do_it_either() -> None:
    class Mixin:
        def test_one_passage(self) -> None: ...

    with pytest.raises(TypeError, match="test_one_passage"):

        class Mixed(Mixin, RankerContract): ...


def test_the_guard_itself_cannot_be_replaced() -> None:
    with pytest.raises(TypeError, match="test_contract_is_whole"):

        class Silenced(RankerContract):
            def test_contract_is_whole(self) -> None: ...


def test_a_later_replacement_fails_the_collected_guard() -> None:
    class Late(RankerContract): ...

    Late.test_one_passage = lambda self: None  # type: ignore[method-assign]
    with pytest.raises(AssertionError, match="test_one_passage"):
        Late().test_contract_is_whole()


def test_a_reason_lets_it_through_and_is_demanded() -> None:
    class Reasoned(RankerContract):
        @overrides_contract("scores one passage at a time")
        def test_one_passage(self, subject: Any) -> None: ...

    Reasoned().test_contract_is_whole()
    for blank in ("", "  ", None):
        with pytest.raises(ValueError, match="needs a reason"):
            overrides_contract(blank)  # type: ignore[arg-type]


def test_new_tests_are_free() -> None:
    class More(RankerContract):
        def test_of_my_own(self) -> None: ...

    More().test_contract_is_whole()


# ---- what is wrong is found -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scores", "test"),
    [
        ([1.0], "test_scores_one_finite_number_a_passage"),
        ([float("nan")] * 4, "test_scores_one_finite_number_a_passage"),
        ([1.0, 0.0, 0.0, 0.0], "test_the_answer_scores_highest"),
        ([1.0], "test_no_passages_no_scores"),
        ([1.0, 2.0, 3.0, 4.0], "test_scores_do_not_depend_on_order"),
    ],
)
def test_a_wrong_ranker_is_found(scores: list[float], test: str) -> None:
    with pytest.raises(Exception):  # noqa: B017 - an assertion or a ContractViolation
        getattr(RankerContract(), test)(ScriptedRanker(scores))


IMPORTS = {
    "heavy_plugin": ("import requests", "imports .*requests"),
    "loud_plugin": ("print('hello')", "prints: hello"),
    "warned_plugin": ("import warnings; warnings.simplefilter('ignore')", "the warnings filters"),
    "logged_plugin": ("import logging; logging.basicConfig(level='DEBUG')", "loggers"),
    "environ_plugin": ("import os; os.environ['X_SET'] = '1'", "the environment"),
    "thread_plugin": (
        "import threading, time; threading.Thread(target=time.sleep, args=(9,), daemon=True).start()",
        "threads",
    ),
}


@pytest.mark.parametrize("module", IMPORTS)
def test_an_import_with_side_effects_is_found(module: str, fake_dist: Any) -> None:
    statement, told = IMPORTS[module]
    # The statement runs in the fresh process alone, not in the one of this test.
    source = f"import sys\nif len(sys.argv) == 2 and sys.argv[1] == {module!r}:\n    {statement}\n"
    fake_dist(f"webfetch-{module}", modules={module: source})

    class Contract(RankerContract):
        plugin = module

    with pytest.raises(AssertionError, match=told):
        Contract().test_import_is_light_and_leaves_no_trace()


def test_a_clean_import_passes(fake_dist: Any) -> None:
    source = "import json\nfrom webfetch_core.api import Provider\n"
    fake_dist("webfetch-clean", modules={"clean_plugin": source})

    class Contract(RankerContract):
        plugin = "clean_plugin"

    Contract().test_import_is_light_and_leaves_no_trace()


def test_a_provider_that_is_not_declared_is_named() -> None:
    class Contract(RankerContract):
        plugin = fake_plugin("rank", ScriptedRanker(), summary="x")
        provider = "other"

    with pytest.raises(AssertionError, match=r"no provider 'other' among \['fake'\]"):
        Contract().find_provider()
