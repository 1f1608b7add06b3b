import json
from typing import Any

from webfetch_core import errors
from webfetch_core.cli.progress import Board
from webfetch_core.events import Event
from webfetch_core.testing import ScriptedEngine, ScriptedFetcher, fake_plugin


def test_a_pipe_gets_the_text_and_nothing_else(cli: Any) -> None:
    ran = cli("search", "reciprocal", "rank", "fusion")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("[fresh search]\n")
    assert "[Source: Fusion | a.example.org]" in ran.out
    assert "FOUND BY" not in ran.out


def test_a_terminal_gets_the_sources_too_and_progress_that_goes_away(cli: Any) -> None:
    ran = cli("search", "reciprocal rank fusion", terminal=True)
    assert ran.code == 0
    assert "#  SOURCE         FOUND BY  OUTCOME" in ran.out
    assert "1  a.example.org  alpha #1  quoted" in ran.out
    assert "search: alpha 2" in ran.err
    assert ran.err.endswith("\r\x1b[2K")


def test_json_is_the_whole_record(cli: Any) -> None:
    ran = cli("search", "reciprocal rank fusion", "--json", terminal=True)
    data = json.loads(ran.out)
    assert data["schema_version"] == 1
    assert [hit["url"] for hit in data["hits"]] == [
        "https://a.example.org/fusion",
        "https://b.example.org/other",
    ]
    assert data["provenance"]["kind"] == "fresh"


def test_options_reach_the_engine(cli: Any) -> None:
    engine = ScriptedEngine(["https://a.example.org/fusion"])
    cli.plugins[0] = fake_plugin("search", engine, name="alpha")
    words = "search fusion --freshness stable --include-domain example.org --language en --country us"
    assert cli(*words.split(), "--exclude-domain", "b.example.org", "--force-fresh").code == 0
    request = engine.calls[-1][0]
    assert (request.freshness, request.language, request.country) == ("stable", "en", "us")
    assert (request.include_domains, request.exclude_domains) == (("example.org",), ("b.example.org",))


def test_the_limit_is_that_of_pages(cli: Any) -> None:
    ran = cli("search", "fusion", "--limit", "1", "--json")
    data = json.loads(ran.out)
    assert len({a["target"] for a in data["attempts"] if a["stage"] == "fetch"}) == 1


def test_what_an_option_cannot_be_is_bad_usage(cli: Any) -> None:
    for words in (["--freshness", "new"], ["--limit", "101"], ["--include-domain", " "]):
        ran = cli("search", "fusion", *words)
        assert ran.code == 2, words
        assert ran.err.startswith("webfetch: "), words


def test_nothing_found_has_a_code_of_its_own(cli: Any) -> None:
    cli.plugins[0] = fake_plugin("search", ScriptedEngine([]), name="alpha")
    ran = cli("search", "fusion")
    assert ran.code == 5
    assert "Nothing was found" in ran.out


def test_cache_only_finds_nothing_until_it_was_searched(cli: Any) -> None:
    cli.plugins[0] = fake_plugin("search", ScriptedEngine(["https://a.example.org/fusion"]), name="alpha")
    engine_entry = ("search", "reciprocal rank fusion")
    assert cli(*engine_entry, "--cache-only").code == 5
    assert "cache_only" in cli(*engine_entry, "--cache-only").out


def test_the_length_of_the_text_is_kept(cli: Any) -> None:
    long = "Fusion\n" + "Rank fusion adds a number for each engine, and the sum is the score. " * 200
    cli.plugins[1] = fake_plugin("fetch", ScriptedFetcher({"https://a.example.org/fusion": long}), name="p")
    short = cli("search", "rank fusion", "--max-tokens", "100").out
    full = cli("search", "rank fusion", "--full-results", "--max-tokens", "1000").out
    assert len(short) <= 401
    assert len(short) < len(full) <= 4001


def test_explain_shows_every_part(cli: Any) -> None:
    cli.plugins.append(fake_plugin("search", ScriptedEngine(errors.Blocked("a CAPTCHA came")), name="beta"))
    ran = cli("search", "reciprocal rank fusion", "--explain")
    for title in ("waterfall", "engines", "pages", "result"):
        assert f"\n{title}\n" in ran.out
    assert "beta    0" in ran.out
    assert "a CAPTCHA came" in ran.out
    assert "█" in ran.out
    assert "ranked by    lexical" in ran.out
    assert "compression  kept" in ran.out
    assert all(len(line) <= 100 for line in ran.out.partition("waterfall")[2].splitlines())


def test_explain_beside_json_leaves_stdout_to_json(cli: Any) -> None:
    ran = cli("search", "fusion", "--json", "--explain")
    json.loads(ran.out)
    assert "waterfall" in ran.err


def test_a_lost_cache_is_told_and_the_search_goes_on(cli: Any) -> None:
    def build(settings: Any, context: Any) -> Any:
        raise errors.CacheError("the disk is full", fix="make room")

    from webfetch_core.providers import Provider
    from webfetch_core.testing import FakePlugin

    cli.plugins[-1] = FakePlugin("cache_full", {"cache": [Provider(name="full", build=build)]})
    ran = cli("search", "reciprocal rank fusion")
    assert ran.code == 0
    assert ran.err == "webfetch: note: no cache is in use: the disk is full (make room)\n"


def test_what_a_terminal_would_obey_is_made_visible(cli: Any) -> None:
    page = "Fusion \x1b]0;owned\x07 of ranks \x1b[2J"
    cli.plugins[1] = fake_plugin("fetch", ScriptedFetcher({"https://a.example.org/fusion": page}), name="p")
    for words in (("search", "fusion ranks"), ("fetch", "https://a.example.org/fusion")):
        ran = cli(*words, "--force-fresh", terminal=True)
        assert "\x1b" not in ran.out
        assert "\x07" not in ran.out


def test_progress_counts_engines_and_pages() -> None:
    board = Board()
    for event in (
        Event(name="call.started", at=0, stage="search", provider="ddg"),
        Event(name="call.started", at=0, stage="search", provider="brave"),
        Event(name="call.finished", at=1, stage="search", provider="ddg", outcome="ok", count=7),
        Event(name="call.finished", at=1, stage="search", provider="brave", outcome="timeout"),
        Event(name="call.started", at=1, stage="fetch", target="https://x.example/"),
        Event(name="call.started", at=1, stage="fetch", target="https://y.example/"),
        Event(name="call.finished", at=2, stage="fetch", target="https://y.example/", outcome="ok"),
        Event(name="call.started", at=2, stage="rank", provider="bm25"),
    ):
        board.note(event)
    assert board.line() == "search: ddg 7, brave timeout | pages: 1 of 2 | ranking"
