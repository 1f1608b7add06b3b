import pytest
from hypothesis import given
from hypothesis import strategies as st

from webfetch_core.cli import parser, parser_cache
from webfetch_core.cli.exit_codes import MEANINGS
from webfetch_core.cli.parser import ShowHelp, UsageFault, parse_core, take_globals


@pytest.mark.parametrize("words", [["--json", "status"], ["status", "--json"], ["index", "list", "--json"]])
def test_json_may_stand_anywhere(words: list[str]) -> None:
    found, rest = take_globals(words)
    assert found["json"]
    assert rest == [w for w in words if w != "--json"]


def test_globals_before_and_after_add_up() -> None:
    found, rest = take_globals(["--set", "a=1", "search", "q", "--set=b=2", "--config", "f.toml", "--debug"])
    assert found["set"] == ["a=1", "b=2"]
    assert (found["config"], found["debug"], rest) == ("f.toml", True, ["search", "q"])


def test_words_after_two_dashes_are_left_alone() -> None:
    found, rest = take_globals(["search", "--", "--json", "--set"])
    assert not found["json"]
    assert parse_core(rest).query == ["--json", "--set"]


@pytest.mark.parametrize("words", [["--config"], ["status", "--set"], ["--set", "--json", "status"]])
def test_a_global_without_its_value_is_refused(words: list[str]) -> None:
    with pytest.raises(UsageFault, match="needs a value"):
        take_globals(words)


@given(st.lists(st.text()))
def test_without_globals_the_words_stay_as_they_are(words: list[str]) -> None:
    plain = [w for w in words if not w.startswith("--")]
    assert take_globals(plain)[1] == plain


def test_help_names_every_command_and_exit_code() -> None:
    with pytest.raises(ShowHelp) as shown:
        parse_core(["--help"])
    for name in (*parser.CORE_COMMANDS, *parser.PLUGIN_COMMANDS):
        assert f"\n  {name} " in shown.value.text or f"\n    {name} " in shown.value.text
    for code, meaning in MEANINGS.items():
        assert f"{code}" in shown.value.text
        assert meaning in shown.value.text


@pytest.mark.parametrize("command", list(parser.CORE_COMMANDS))
def test_each_command_has_help_of_its_own(command: str) -> None:
    with pytest.raises(ShowHelp) as shown:
        parse_core([command, "--help"])
    assert shown.value.text.startswith(f"usage: webfetch {command} ")
    assert "--set KEY=VALUE" in shown.value.text


@pytest.mark.parametrize(
    ("words", "message", "fix"),
    [
        (["search"], "QUERY", ""),
        (["search", "q", "--enigne", "x"], "--enigne", "did you mean --engine?"),
        (["search", "q", "--eng", "x"], "--eng", "did you mean --engine?"),
        (["search", "q", "--limit", "0"], "whole number from 1, got '0'", ""),
        (["search", "q", "--deadline", "nan"], "seconds above 0, got 'nan'", ""),
        (["fetch", "u", "--start", "-1"], "--start", ""),
        (["cache"], "ACTION", ""),
        (["cache", "purge", "--space", "x"], "invalid choice: 'x'", ""),
        (["cache", "purge", "--older-than", "7x"], "such as 90s, 15m, 12h, 7d or 2w, got '7x'", ""),
    ],
)
def test_wrong_usage_is_named(words: list[str], message: str, fix: str) -> None:
    with pytest.raises(UsageFault) as raised:
        parse_core(words)
    assert message in raised.value.message
    assert raised.value.fix == fix
    assert raised.value.usage.startswith("usage: webfetch")


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("15m", 900), ("12h", 43_200), ("7d", 604_800), ("0.5h", 1_800)]
)
def test_an_age_has_a_unit(text: str, seconds: float) -> None:
    assert parser_cache.age(text) == seconds


@pytest.mark.parametrize("text", ["", "7", "d", "-1d", "nand", "infs", "1 y"])
def test_an_age_without_sense_is_refused(text: str) -> None:
    with pytest.raises(parser.argparse.ArgumentTypeError):
        parser_cache.age(text)


@pytest.mark.parametrize("make", [parser.whole, parser.count])
def test_digits_of_other_scripts_are_no_numbers(make: object) -> None:
    with pytest.raises(parser.argparse.ArgumentTypeError):
        make("²")  # type: ignore[operator]
