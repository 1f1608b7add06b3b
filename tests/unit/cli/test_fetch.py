import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webfetch_core import errors
from webfetch_core.cli.fetch import window
from webfetch_core.models import Document
from webfetch_core.testing import ScriptedExtractor, ScriptedFetcher, fake_plugin

URL = "https://a.example.org/fusion"


def test_the_text_goes_to_stdout(cli: Any) -> None:
    ran = cli("fetch", URL)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == "Fusion\nReciprocal rank fusion adds one over sixty plus the rank.\n"


def test_a_long_text_is_cut_and_says_how_to_go_on(cli: Any) -> None:
    text = "word " * 1_000
    cli.plugins[1] = fake_plugin("fetch", ScriptedFetcher({URL: text}), name="p")
    parts, start = [], 0
    while True:
        ran = cli("fetch", URL, "--max-tokens", "300", "--start", str(start), "--json")
        data = json.loads(ran.out)
        parts.append(data["text"])
        assert data["total_chars"] == len(text)
        if data["next_start"] is None:
            break
        start = data["next_start"]
    assert "".join(parts) == text
    shown = cli("fetch", URL, "--max-tokens", "300").out
    assert (
        f"[truncated: characters 0 to 1200 of 5000; go on with: webfetch fetch {URL} --start 1200]" in shown
    )


def test_the_default_length_is_a_setting(cli: Any) -> None:
    cli.plugins[1] = fake_plugin("fetch", ScriptedFetcher({URL: "word " * 1_000}), name="p")
    assert "of 5000" in cli("fetch", URL, "--set", "budget.fetch=400").out
    assert "truncated" not in cli("fetch", URL).out


def test_json_is_the_whole_document_unless_a_part_is_asked_for(cli: Any) -> None:
    cli.plugins[1] = fake_plugin("fetch", ScriptedFetcher({URL: "word " * 9_000}), name="p")
    data = json.loads(cli("fetch", URL, "--json").out)
    assert len(data["text"]) == 45_000
    assert (data["schema_version"], data["start"], data["next_start"]) == (1, 0, None)


def test_a_start_past_the_end_is_bad_usage(cli: Any) -> None:
    ran = cli("fetch", URL, "--start", "9999")
    assert ran.code == 2
    assert "--start 9999 is past the end: the text has" in ran.err


@given(st.text(alphabet="ab \n", max_size=200), st.integers(1, 50))
def test_windows_meet_without_gap_or_overlap(text: str, budget: int) -> None:
    parts, start = [], 0
    while start < len(text):
        stop = window(text, start, budget)
        assert start < stop <= start + budget
        parts.append(text[start:stop])
        start = stop
    assert "".join(parts) == text


@pytest.mark.parametrize("url", ["example.org", "", "/etc/passwd", "mailto:x"])
def test_what_is_no_url_is_bad_usage(cli: Any, url: str) -> None:
    ran = cli("fetch", url)
    assert ran.code == 2
    assert "fix: give it with its scheme" in ran.err


def test_a_page_that_is_not_there(cli: Any) -> None:
    ran = cli("fetch", "https://nowhere.example.org/", "--json")
    assert ran.code == 6
    assert json.loads(ran.out)["error"]["kind"] == "not_found"


def test_a_page_without_text(cli: Any) -> None:
    cli.plugins[2] = fake_plugin("extract", ScriptedExtractor(None), name="plain")
    ran = cli("fetch", URL)
    assert ran.code == 6
    assert "nothing readable" in ran.err


def test_no_fetcher_is_a_matter_of_plugins(bare_cli: Any) -> None:
    ran = bare_cli("fetch", URL)
    assert ran.code == 3
    assert "fix: pip install webfetch-fetch-http" in ran.err


def test_explain_names_fetcher_extractor_and_facts(cli: Any) -> None:
    document = Document(
        url=URL, text="Text.", title="A title", flags=("hidden_text_removed",), metadata={"author": "Anon"}
    )
    cli.plugins[2] = fake_plugin("extract", ScriptedExtractor(document), name="plain")
    ran = cli("fetch", URL, "--explain")
    assert ran.out == "Text.\n"
    for told in ("fetch    pages", "extract  plain", "A title", "metadata author  Anon"):
        assert told in ran.err
    assert "webfetch: note: hidden_text_removed" in ran.err
    assert "page cache" in cli("fetch", URL, "--explain").err


def test_explain_tells_of_a_page_that_failed(cli: Any) -> None:
    cli.plugins[1] = fake_plugin("fetch", ScriptedFetcher({URL: errors.Blocked("a wall")}), name="pages")
    ran = cli("fetch", URL, "--explain")
    assert ran.code == 6
    assert "blocked" in ran.err
    assert ran.err.endswith("webfetch: a wall\n")
