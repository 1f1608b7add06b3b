import json
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from typing import Any, TextIO

import pytest
from attrs import frozen

from webfetch_core.cli.parser import PLUGIN_COMMANDS
from webfetch_core.errors import CacheError
from webfetch_core.hookspecs import CommandSet
from webfetch_core.markers import hookimpl
from webfetch_core.providers import PluginContext, Provider
from webfetch_core.requirements import EnvKey
from webfetch_core.testing import FakePlugin


@frozen(kw_only=True)
class GreetSettings:
    greeting: str = "hello"


def _configure(parser: ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True)
    actions.add_parser("to").add_argument("name")


def _greet(args: Namespace, context: PluginContext, out: TextIO) -> int:
    told = {"text": f"{context.settings.greeting} {args.name}", "plugin": context.plugin, "debug": args.debug}
    print(json.dumps(told) if args.json else told["text"], file=out)
    return 4


def commander(
    name: str = "serve_greet",
    command: str = "greet",
    run: Callable[..., Any] = _greet,
    requires: tuple[Any, ...] = (),
) -> FakePlugin:
    provider: Provider[Any] = Provider(
        name=name,
        build=lambda settings, context: None,
        settings=GreetSettings,
        requires=requires,
    )
    plugin = FakePlugin(name, {"search": [provider]})

    def commands(commands: CommandSet) -> None:
        commands.add(command, help="say hello", configure=_configure, run=run)

    plugin.webfetch_commands = hookimpl(  # type: ignore[attr-defined]
        commands, specname="webfetch_commands"
    )
    return plugin


def test_a_plugins_command_runs_with_its_context_settings_and_code(cli: Any) -> None:
    cli.plugins.append(commander())
    ran = cli("greet", "to", "Ann", "--set", "plugins.serve_greet.greeting=good day")
    assert (ran.code, ran.out, ran.err) == (4, "good day Ann\n", "")
    data = json.loads(cli("--debug", "greet", "to", "Ann", "--json").out)
    assert data == {"text": "hello Ann", "plugin": "serve_greet", "debug": True}


def test_a_provider_that_is_off_lends_its_settings_all_the_same(cli: Any) -> None:
    cli.plugins.append(commander(requires=(EnvKey("NOT_SET_KEY"),)))
    assert cli("greet", "to", "Ann", "--set", "plugins.serve_greet.greeting=hi").out == "hi Ann\n"
    ran = cli("greet", "to", "Ann", "--set", "plugins.serve_greet.greeting=3")
    assert ran.code == 3
    assert "plugins.serve_greet.greeting: expected text, got 3 [flag]" in ran.err


def test_its_usage_and_help_are_those_of_a_command(cli: Any) -> None:
    cli.plugins.append(commander())
    ran = cli("greet")
    assert ran.code == 2
    assert "usage: webfetch greet [-h]" in ran.err
    assert "say hello" in cli("greet", "--help").out


@pytest.mark.parametrize(
    ("error", "code", "told"),
    [
        (CacheError("the index is damaged", fix="remove it"), 7, "the index is damaged\nfix: remove it"),
        (
            ZeroDivisionError("oops"),
            1,
            "command greet of the plugin serve_greet failed: ZeroDivisionError",
        ),
        (SystemExit(0), 1, "the command greet of the plugin serve_greet failed: SystemExit"),
    ],
)
def test_what_it_raises_is_told(cli: Any, error: BaseException, code: int, told: str) -> None:
    def run(*_: Any) -> int:
        raise error

    cli.plugins.append(commander(run=run))
    ran = cli("greet", "to", "Ann")
    assert ran.code == code
    assert told in ran.err
    assert "Traceback" not in ran.err


@pytest.mark.parametrize("value", [None, "0", True, 256, -1])
def test_what_is_no_exit_code_is_the_plugins_fault(cli: Any, value: Any) -> None:
    cli.plugins.append(commander(run=lambda *_: value))
    ran = cli("greet", "to", "Ann")
    assert ran.code == 1
    assert f"returned {value!r} where an exit code belongs" in ran.err


def test_two_plugins_with_one_command_are_both_named(cli: Any) -> None:
    cli.plugins.extend([commander("serve_one"), commander("serve_two")])
    ran = cli("greet", "to", "Ann")
    assert ran.code == 3
    assert "the command greet is given by serve_one and serve_two" in ran.err
    assert "given by serve_one and serve_two" in cli("doctor").out


def test_a_command_of_the_core_cannot_be_taken(cli: Any) -> None:
    cli.plugins.append(commander(command="status"))
    assert "serving" in cli("status").out
    ran = cli("doctor")
    assert ran.code == 3
    assert "the command status is the core's own" in ran.out


@pytest.mark.parametrize("name", ["", "Greet", "-x", "a b", 3])
def test_a_name_that_nobody_could_type_is_refused(cli: Any, name: Any) -> None:
    cli.plugins.append(commander(command=name))
    checks = json.loads(cli("doctor", "--json").out)["checks"]
    told = next(c["problem"] for c in checks if c["name"] == "commands")
    assert f"a command's name is lower case letters, digits and dashes; got {name!r}" in told


def test_a_broken_plugin_does_not_spoil_the_commands_of_another(cli: Any) -> None:
    broken = FakePlugin("aaa_broken", {})

    def commands(commands: CommandSet) -> None:
        commands.add("lost", help="", configure=_configure, run=_greet)
        raise RuntimeError("oops")

    broken.webfetch_commands = hookimpl(commands)  # type: ignore[attr-defined]
    cli.plugins.extend([broken, commander()])
    assert cli("greet", "to", "Ann").out == "hello Ann\n"
    ran = cli("lost")
    assert ran.code == 2
    assert "aaa_broken: webfetch_commands raised RuntimeError: oops" in ran.err


def test_an_unknown_command_gets_near_matches(cli: Any) -> None:
    cli.plugins.append(commander())
    ran = cli("great")
    assert (ran.code, ran.err) == (2, "webfetch: there is no command 'great'\nfix: did you mean greet?\n")
    assert "the commands are cache, doctor, fetch, greet, index," in cli("zzz").err


@pytest.mark.parametrize("name", list(PLUGIN_COMMANDS))
def test_a_well_known_command_says_what_to_install(bare_cli: Any, name: str) -> None:
    plugin = PLUGIN_COMMANDS[name][0]
    ran = bare_cli(name, "list")
    assert ran.code == 2
    assert ran.err == (
        f"webfetch: webfetch {name} needs the plugin {plugin}\n"
        f"fix: pip install webfetch-{plugin.replace('_', '-')}\n"
    )


def test_a_well_known_command_of_a_blocked_plugin(bare_cli: Any) -> None:
    pytest.importorskip("webfetch_search_local")
    bare_cli.environ["WEBFETCH_BLOCK"] = "search_local"
    ran = bare_cli("index", "list", installed=True)
    assert ran.code == 3
    assert "needs the plugin search_local, which is blocked: blocked by settings" in ran.err
