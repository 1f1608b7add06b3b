"""The public face: made cheaply, twice if need be, and every argument checked."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import webfetch_core
from webfetch_core import BadQuery, Chunk, ConfigError, Freshness, SearchResult, Settings, Webfetch
from webfetch_core.api import Match, hookimpl
from webfetch_core.errors import ContractViolation
from webfetch_core.models import Provenance, ProvenanceKind
from webfetch_core.testing import (
    FakeClock,
    Hang,
    MemoryCache,
    ScriptedClassifier,
    ScriptedCompressor,
    ScriptedEngine,
    ScriptedExtractor,
    ScriptedFetcher,
    ScriptedMatcher,
    ScriptedRanker,
    fake_plugin,
)

URL = "https://a.example/"
TEXT = "Lamp\n\nThe keeper lights the lamp."
CHUNKS = [Chunk(text="The keeper lights the lamp. " * 20, url=URL), Chunk(text="Ships pass. " * 20, url=URL)]


def face(*plugins: Any, **options: Any) -> Webfetch:
    options.setdefault("settings", Settings(extract_workers=0))
    options.setdefault("environ", {})
    return Webfetch(plugins=[(p.name, p) for p in plugins], autoload=False, **options)


def whole(**options: Any) -> Webfetch:
    return face(
        fake_plugin("search", ScriptedEngine([URL])),
        fake_plugin("fetch", ScriptedFetcher({URL: TEXT})),
        fake_plugin("extract", ScriptedExtractor()),
        fake_plugin("rank", ScriptedRanker()),
        fake_plugin("cache", MemoryCache()),
        **options,
    )


# ---- what importing costs ----


def test_importing_the_package_imports_next_to_nothing() -> None:
    code = (
        "import sys; import webfetch_core; "
        "bad = {'requests', 'lxml', 'numpy', 'trafilatura', 'pluggy', 'attrs', 'attr', 'cattrs', "
        "'structlog', 'urllib3', 'asyncio', 'logging', 'tantivy', 'lmdb', 'webfetch_core.app'}; "
        "sys.exit(', '.join(sorted(bad & set(sys.modules))) or 0)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=False
    )
    assert (ran.returncode, ran.stderr) == (0, "")


def test_the_face_itself_brings_no_heavy_library() -> None:
    code = (
        "import sys; from webfetch_core import Webfetch, Settings\n"
        "with Webfetch(Settings(), autoload=False, environ={}) as wf: wf.status(); wf.plugins()\n"
        "bad = {'requests', 'lxml', 'numpy', 'trafilatura', 'lmdb', 'tantivy', 'ddgs'} & set(sys.modules); "
        "sys.exit(', '.join(sorted(bad & set(sys.modules))) or 0)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=False
    )
    assert (ran.returncode, ran.stderr) == (0, "")


def test_the_face_is_what_it_says() -> None:
    assert set(dir(webfetch_core)) == set(webfetch_core.__all__)
    for name in webfetch_core.__all__:
        assert getattr(webfetch_core, name) is not None
    with pytest.raises(AttributeError, match="nothing"):
        _ = webfetch_core.nothing


# ---- making one ----


def test_without_settings_the_environment_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    environ = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path), "WEBFETCH_LIMIT": "3"}
    with Webfetch(autoload=False, environ=environ) as wf:
        assert (wf.settings.limit, wf.settings.origins["limit"]) == (3, "env WEBFETCH_LIMIT")
    with pytest.raises(ConfigError, match="WEBFETCH_LIMT"):
        Webfetch(autoload=False, environ={**environ, "WEBFETCH_LIMT": "3"})


def test_given_settings_are_all_there_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "webfetch.toml").write_text("limit = 4")
    with face(environ={"WEBFETCH_LIMIT": "3"}) as wf:
        assert wf.settings.limit == 10


def test_a_table_of_an_unknown_plugin_is_an_error_with_the_likely_name() -> None:
    with pytest.raises(ConfigError, match=r"plugins\.serch_fake: .*did you mean search_fake\?"):
        face(fake_plugin("search", ScriptedEngine()), settings=Settings(plugins={"serch_fake": {"a": 1}}))


def test_a_mistake_in_a_plugins_table_is_in_the_status_and_stops_a_search() -> None:
    plugins = [
        fake_plugin("search", ScriptedEngine([URL])),
        fake_plugin("search", ScriptedEngine([URL]), "other"),
    ]
    with face(*plugins, settings=Settings(plugins={"search_fake": {"a": 1}})) as wf:
        states = {p.name: (p.state, p.reason) for p in wf.status().providers if p.stage == "search"}
        with pytest.raises(ConfigError, match=r"plugins\.search_fake"):
            wf.search("q")
    assert states["fake"][0] == "broken"
    assert "plugins.search_fake" in states["fake"][1]
    assert states["other"][0] == "ready"


class Wrong:
    name = "wrong"

    @hookimpl
    def webfetch_search_engines(self) -> Any:
        raise RuntimeError("cannot say")


def test_a_broken_plugin_is_named_and_strict_raises() -> None:
    with face(Wrong(), fake_plugin("search", ScriptedEngine([URL]))) as wf:
        wrong = next(p for p in wf.plugins() if p.name == "wrong")
        assert (wrong.state, "cannot say" in wrong.reason) == ("failed", True)
        assert wf.search("lamp").hits
    with pytest.raises(RuntimeError, match="cannot say"):
        face(Wrong(), settings=Settings(strict_plugins=True))


def test_strict_raises_what_a_plugin_raises() -> None:
    engine = fake_plugin("rank", ScriptedRanker(RuntimeError("boom")))
    with (
        face(engine, settings=Settings(strict_plugins=True)) as wf,
        pytest.raises(RuntimeError, match="boom"),
    ):
        wf.rank("q", ["a"])


def test_objects_and_modules_are_named_after_themselves() -> None:
    class Mine:
        @hookimpl
        def webfetch_search_engines(self) -> Any:
            return []

    with Webfetch(Settings(), plugins=[Mine(), ("given", Mine())], autoload=False, environ={}) as wf:
        assert [p.name for p in wf.plugins()] == ["builtin", "given", "mine"]
    with Webfetch(Settings(), plugins=[object(), Mine(), Mine()], autoload=False, environ={}) as wf:
        assert {p.name: p.state for p in wf.plugins() if p.name != "mine"}["object"] == "failed"


def test_two_can_live_side_by_side() -> None:
    with whole() as one, whole() as two:
        assert one.search("keeper lamp").chunks == two.search("keeper lamp").chunks
        one.close()
        assert two.search("lamp").chunks


def test_events_tell_the_beginning_and_the_end() -> None:
    events: list[Any] = []
    with whole() as wf:
        wf.subscribe(events.append)
        wf.search("keeper lamp")
    names = [e.name for e in events]
    assert names.index("search.started") < names.index("search.finished") < names.index("host.stopping")
    assert names[-1] == "host.stopping"


# ---- parts of it ----


def test_ranking_gives_everything_back_best_first() -> None:
    with whole() as wf:
        ranked = wf.rank("keeper lamp", ["ships", "the keeper and the lamp", "lamp"])
        assert [s.index for s in ranked] == [1, 2, 0]
        assert ranked[0].steps == {"lexical": 2.0}
        assert wf.rank("keeper", []) == []
        with pytest.raises(BadQuery):
            wf.rank(" ", ["a"])


@settings(deadline=None, max_examples=25)
@given(st.lists(st.text("ab ", max_size=5), max_size=60))
def test_ranking_loses_and_doubles_nobody(passages: list[str]) -> None:
    with face(fake_plugin("rank", ScriptedRanker())) as wf:
        assert sorted(s.index for s in wf.rank("a b", passages)) == list(range(len(passages)))


def test_ranking_many_is_linear() -> None:
    from time import process_time

    passages = [f"passage {n}" for n in range(8_000)]
    with face(fake_plugin("rank", ScriptedRanker())) as wf:
        started = process_time()
        assert len(wf.rank("passage 7", passages)) == 8_000
        assert process_time() - started < 20


@pytest.mark.parametrize(
    "step",
    [RuntimeError("boom"), 42, lambda q, c, b: [*c, *c], lambda q, c, b: [Chunk(text="x", url="https://other/")],
     lambda q, c, b: [Chunk(text="x" * (b + 1), url=URL)]],
)  # fmt: skip
def test_a_compressor_that_fails_leaves_the_chunks_as_they_are(step: Any) -> None:
    with face(fake_plugin("compress", ScriptedCompressor(step))) as wf:
        assert wf.compress("q", CHUNKS) == CHUNKS


def test_a_compressor_that_hangs_costs_its_own_limit_and_not_that_of_a_search(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("webfetch_core.pipeline.handout.COMPRESS_S", 0.2)
    with face(fake_plugin("compress", ScriptedCompressor(Hang()))) as wf:
        started = monotonic()
        assert wf.compress("q", CHUNKS) == CHUNKS
        assert monotonic() - started < 20


def test_compressing_keeps_to_its_budget() -> None:
    seen: list[int] = []

    def keep(query: str, chunks: Any, budget: int) -> Any:
        seen.append(budget)
        return chunks[:1]

    with face(fake_plugin("compress", ScriptedCompressor(keep))) as wf:
        wf.compress("q", CHUNKS, budget_tokens=200)
        wf.compress("q", CHUNKS)
        assert seen == [800, wf.settings.budget.compressed]
        with pytest.raises(BadQuery, match="budget_tokens"):
            wf.compress("q", CHUNKS, budget_tokens=0)


def test_rendering_compresses_unless_told_otherwise_and_never_shows_nothing_for_something() -> None:
    result = SearchResult(query="q", chunks=tuple(CHUNKS))
    with face(fake_plugin("compress", ScriptedCompressor(lambda q, c, b: c[:1]))) as wf:
        assert "Ships" not in wf.render(result)
        assert "Ships" in wf.render(result, full_results=True)
        assert result.chunks == tuple(CHUNKS)
    with face(fake_plugin("compress", ScriptedCompressor(lambda q, c, b: []))) as wf:
        assert "keeper" in wf.render(result)


@pytest.mark.parametrize("tokens", [1, 50, 75, 200, 1_000])
@pytest.mark.parametrize("full", [True, False])
def test_the_rendered_text_keeps_to_its_budget(tokens: int, full: bool) -> None:
    provenance = Provenance(kind=ProvenanceKind.SEMANTIC, matched_query="what " * 50)
    result = SearchResult(query="q", chunks=tuple(CHUNKS), provenance=provenance)
    with face() as wf:
        assert len(wf.render(result, tokens, full_results=full)) <= 4 * max(tokens, 50)


def test_matching() -> None:
    with face() as wf:
        assert wf.match("q", ["q"]) is None
    with face(fake_plugin("match", ScriptedMatcher())) as wf:
        assert wf.match("how deep", ["x", "How  deep"]).index == 1  # type: ignore[union-attr]
        assert wf.match("how deep", []) is None
    wrong = ScriptedMatcher(Match(index=5, query="x", score=1.0))
    with face(fake_plugin("match", wrong)) as wf, pytest.raises(ContractViolation):
        wf.match("q", ["q"])


def test_the_first_classifier_that_answers_is_believed() -> None:
    plugins = [
        fake_plugin("freshness", ScriptedClassifier(step), f"c{n}", priority=-n)
        for n, step in enumerate([RuntimeError("x"), "nonsense", None, "realtime", "stable"])
    ]
    with face(*plugins) as wf:
        assert wf.classify_freshness("who painted it") is Freshness.REALTIME
    with face() as wf:
        assert wf.classify_freshness("lighthouse keeper") is Freshness.RECENT


def test_now_is_the_clocks() -> None:
    with face(clock=FakeClock()) as wf:
        assert wf.now() == datetime(2024, 1, 1, tzinfo=UTC)


def test_the_store_in_use() -> None:
    with whole() as wf:
        assert isinstance(wf.cache(), MemoryCache)


def test_closing_is_quiet_however_often() -> None:
    wf = whole()
    wf.search("lamp")
    for _ in range(3):
        wf.close()


class Loader:
    def __init__(self) -> None:
        self.warmed = 0

    def search(self, request: Any) -> list[Any]:
        return []

    def warm_up(self) -> None:
        self.warmed += 1


def test_warming_up_builds_the_stages_that_are_named() -> None:
    loader = Loader()
    with face(fake_plugin("search", loader)) as wf:
        wf.warm_up("rank")
        assert loader.warmed == 0
        wf.warm_up("search")
        assert loader.warmed == 1
        wf.warm_up()
        assert loader.warmed == 2
        with pytest.raises(BadQuery, match="the stages are search"):
            wf.warm_up("serch")


def test_a_provider_that_cannot_warm_up_spoils_nothing() -> None:
    class Cold(Loader):
        def warm_up(self) -> None:
            raise RuntimeError("no fuel")

    loader = Loader()
    with face(fake_plugin("search", Cold()), fake_plugin("search", loader, "other")) as wf:
        wf.warm_up("search")
    assert loader.warmed == 1
