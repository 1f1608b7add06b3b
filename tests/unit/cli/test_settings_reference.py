"""docs/operating.md, docs/cli.md and .env.example say what the code does."""

import argparse
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

import attrs
import pytest

from webfetch_core.cli.exit_codes import MEANINGS
from webfetch_core.cli.parser import CORE_COMMANDS, main_parser
from webfetch_core.cli.process import parse_dotenv
from webfetch_core.settings import Settings

ROOT = next(p for p in Path(__file__).parents if (p / "pyproject.toml").is_file())
OPERATING, CLI = ROOT / "docs" / "operating.md", ROOT / "docs" / "cli.md"
pytestmark = pytest.mark.skipif(not OPERATING.is_file(), reason="the docs are not beside this checkout")

OWN_VARIABLES = {"allow_plugins": "WEBFETCH_PLUGINS", "block_plugins": "WEBFETCH_BLOCK"}


def settings(cls: type = Settings, prefix: str = "") -> Iterator[tuple[str, str, str, str]]:
    """(key, type, default, variable) of every setting, as the reference writes them."""
    hints = get_type_hints(cls)
    defaults = cls()
    for name in attrs.fields_dict(cls):
        key, hint, default = f"{prefix}{name}", hints[name], getattr(defaults, name)
        if key in ("origins", "plugins"):
            continue
        if attrs.has(hint):
            yield from settings(hint, f"{key}.")
            continue
        variable = OWN_VARIABLES.get(key, "WEBFETCH_" + key.upper().replace(".", "__"))
        shown = json.dumps(list(default) if isinstance(default, tuple) else default)
        yield key, _told(hint), "none" if default is None else shown, variable


def _told(hint: Any) -> str:
    plain = {str: "text", int: "whole number", float: "number", bool: "true or false"}
    if hint in plain:
        return plain[hint]
    if get_origin(hint) is tuple:
        return f"list of {'whole numbers' if get_args(hint)[0] is int else 'names'}"
    return "list of names" if type(None) in get_args(hint) else '"auto" or list of names'


def test_every_setting_is_in_the_reference_as_it_is() -> None:
    rows = re.findall(
        r"^\| `([^`]+)` \| ([^|]+) \| `([^`]*)` \| `([^`]+)` \| .+\|$",
        OPERATING.read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    assert rows == list(settings())


def test_every_variable_of_the_example_is_known_and_off() -> None:
    text = (ROOT / ".env.example").read_text(encoding="utf-8")
    assert list(parse_dotenv(text)) == []
    known = {variable for _, _, _, variable in settings()} | {
        "WEBFETCH_PROVIDER",
        "WEBFETCH_CONFIG",
        "WEBFETCH_DEBUG",
    }
    named = [name for _, name, _ in parse_dotenv(re.sub(r"^#(?=[A-Z])", "", text, flags=re.MULTILINE))]
    assert None not in named
    ours = {name for name in named if name and name.startswith("WEBFETCH_")}
    assert {name for name in ours if not name.startswith("WEBFETCH_PLUGINS__")} <= known
    assert "WEBFETCH_HOME" in named


def _parsers(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for sub in action.choices.values():
                yield from _parsers(sub)


def test_every_command_option_and_exit_code_is_documented() -> None:
    text = CLI.read_text(encoding="utf-8")
    for command in CORE_COMMANDS:
        assert f"\n## `webfetch {command}" in text
    for parser in _parsers(main_parser()):
        for action in parser._actions:
            for option in action.option_strings:
                assert option in ("-h", "--help") or f"`{option}" in text, (parser.prog, option)
    for option in ("--json", "--config FILE", "--set KEY=VALUE", "--debug", "--version"):
        assert f"`{option}`" in text
    rows = dict(re.findall(r"^\| (\d+) \| (.+?) \|$", text, re.MULTILINE))
    assert rows == {str(code): meaning for code, meaning in MEANINGS.items()}
