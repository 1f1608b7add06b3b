"""Commands that plugins add. They are asked for only when the first word is none of the core's."""

from __future__ import annotations

import re
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, TextIO

from attrs import evolve, field, frozen

from ..errors import ConfigError, WebfetchError
from ..providers import PluginContext, Provider
from ..registry.catalog import Entry
from ..registry.manager import describe
from ..registry.report import STAGES
from ..runtime.context import HostContext
from ..settings_load import structure
from .faults import PluginFault
from .output import Streams
from .parser import CORE_COMMANDS, PLUGIN_COMMANDS, Parser, ShowHelp, UsageFault

if TYPE_CHECKING:
    from ..app import Webfetch

_NAME = re.compile(r"[a-z][a-z0-9_-]*\Z")
MAX_CODE = 255


@frozen(kw_only=True)
class Command:
    """One command of one plugin."""

    name: str
    help: str
    configure: Callable[[ArgumentParser], None]
    run: Callable[[Namespace, PluginContext, TextIO], int]
    plugin: str = ""


@frozen(kw_only=True)
class Offered:
    """What plugins offer: commands by name, and (plugin, problem) for what is refused."""

    commands: dict[str, Command] = field(factory=dict)
    problems: tuple[tuple[str, str], ...] = ()


class Collector:
    """The ``CommandSet`` that one plugin after the other is given."""

    def __init__(self) -> None:
        self._added: list[Command] = []

    def add(
        self,
        name: str,
        *,
        help: str,
        configure: Callable[[ArgumentParser], None],
        run: Callable[[Namespace, PluginContext, TextIO], int],
    ) -> None:
        """See ``hookspecs.CommandSet``. Raises ValueError or TypeError, which the plugin's author sees."""
        if not isinstance(name, str) or not _NAME.match(name):
            raise ValueError(f"a command's name is lower case letters, digits and dashes; got {name!r}")
        if not callable(configure) or not callable(run):
            raise TypeError(f"configure and run of the command {name!r} must be callable")
        self._added.append(Command(name=name, help=str(help), configure=configure, run=run))

    def taken(self, plugin: str) -> list[Command]:
        """What was added since the last time, as the commands of ``plugin``."""
        added, self._added = self._added, []
        return [evolve(command, plugin=plugin) for command in added]


def collect(wf: Webfetch) -> Offered:
    """Ask every plugin for its commands; names that the core has or that two plugins give are refused."""
    collector = Collector()
    problems: list[tuple[str, str]] = []
    given: dict[str, list[Command]] = {}
    for answer in wf.host.manager.ask_each("webfetch_commands", commands=collector):
        added = collector.taken(answer.plugin)
        if answer.problem:
            problems.append((answer.plugin, answer.problem))
            continue
        for command in added:
            if command.name in CORE_COMMANDS:
                problems.append(
                    (answer.plugin, f"the command {command.name} is the core's own; it is refused")
                )
            else:
                given.setdefault(command.name, []).append(command)
    for name, commands in given.items():
        if len(commands) > 1:
            owners = " and ".join(sorted(c.plugin for c in commands))
            problems.append(
                (commands[0].plugin, f"the command {name} is given by {owners}: block one (block_plugins)")
            )
    return Offered(
        commands={name: rows[0] for name, rows in given.items() if len(rows) == 1}, problems=tuple(problems)
    )


def run_plugin_command(
    wf: Webfetch, name: str, words: Sequence[str], flags: dict[str, Any], streams: Streams
) -> int:
    """Run the command ``name`` with the words after it.

    Raises:
        UsageFault: nobody offers it, or the words are wrong.
        ConfigError: it is contested, or its plugin's settings are wrong.
        PluginFault: it failed in a way that it did not foresee.
    """
    offered = collect(wf)
    command = offered.commands.get(name)
    if command is None:
        raise _missing(wf, name, offered)
    try:
        parser = Parser(prog=f"webfetch {name}", description=command.help)
        command.configure(parser)
        args = parser.parse_args(list(words))
        vars(args).update(json=flags["json"], debug=flags["debug"])
        code = command.run(args, context_of(wf, command.plugin), streams.out)
        if isinstance(code, bool) or not isinstance(code, int) or not 0 <= code <= MAX_CODE:
            raise TypeError(f"it returned {code!r} where an exit code belongs")
    except (WebfetchError, UsageFault, ShowHelp, BrokenPipeError, KeyboardInterrupt):
        raise
    except BaseException as exc:  # SystemExit too: how the process ends is not the plugin's to say
        raise PluginFault(f"{_told(wf, command)} failed: {describe(exc)}") from exc
    return code


def _told(wf: Webfetch, command: Command) -> str:
    plugin = wf.host.manager.get(command.plugin)
    dist = f" ({plugin.dist} {plugin.version})" if plugin is not None and plugin.dist else ""
    off = next(
        (e.reason for s in STAGES for e in wf.host.catalog.entries(s) if _is_off(e, command.plugin)), ""
    )
    return f"the command {command.name} of the plugin {command.plugin}{dist}" + (
        f", which is off: {off};" if off else ""
    )


def _is_off(entry: Entry, plugin: str) -> bool:
    return entry.plugin == plugin and entry.state != "ready"


def _missing(wf: Webfetch, name: str, offered: Offered) -> Exception:
    for plugin, problem in offered.problems:
        if problem.startswith(f"the command {name} is given by"):
            return ConfigError(problem)
        if plugin == PLUGIN_COMMANDS.get(name, ("",))[0]:
            return ConfigError(f"webfetch {name} is of the plugin {plugin}, which failed: {problem}")
    if name in PLUGIN_COMMANDS:
        plugin = PLUGIN_COMMANDS[name][0]
        met = wf.host.manager.get(plugin)
        if met is not None:
            return ConfigError(
                f"webfetch {name} needs the plugin {plugin}, which is {met.state}: {met.reason}"
            )
        return UsageFault(
            f"webfetch {name} needs the plugin {plugin}",
            fix=f"pip install webfetch-{plugin.replace('_', '-')}",
        )
    known = sorted({*CORE_COMMANDS, *PLUGIN_COMMANDS, *offered.commands})
    near = get_close_matches(name, known, n=3)
    told = "; ".join(f"{plugin}: {problem}" for plugin, problem in offered.problems)
    return UsageFault(
        f"there is no command {name!r}" + (f" (of plugins that failed: {told})" if told else ""),
        fix=f"did you mean {' or '.join(near)}?" if near else f"the commands are {', '.join(known)}",
    )


def context_of(wf: Webfetch, plugin: str) -> HostContext:
    """The context of a plugin as a whole: of its first provider that can be used, and its settings.

    A provider that is off (a key or a model is missing) still lends its settings: its plugin's command
    may be what puts that right.
    """
    entries = [e for stage in STAGES for e in wf.host.catalog.entries(stage) if e.plugin == plugin]
    ready = next((e for e in entries if e.state == "ready"), None)
    if ready is not None:
        return HostContext(wf.host, ready)
    entry = next(iter(entries), None)
    if entry is None:
        nothing: Provider[Any] = Provider(name="command", build=lambda settings, context: None)
        return HostContext(wf.host, Entry(stage="", provider=nothing, plugin=plugin))
    if entry.provider.settings is not None:
        made: Any = structure(
            entry.provider.settings,
            wf.settings.plugins.get(plugin, {}),
            path=f"plugins.{plugin}",
            origins=wf.settings.origins,
        )
        entry = evolve(entry, settings=made)
    return HostContext(wf.host, entry)
