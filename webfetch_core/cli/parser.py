"""The grammar of the command line. Imports argparse alone, so that ``webfetch --help`` stays quick."""

from __future__ import annotations

import argparse

from .exit_codes import MEANINGS
from .parser_cache import configure as _cache

TYPE_CHECKING = False  # typing itself is not imported here: --help is to be quick
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any, NoReturn

CORE_COMMANDS = {
    "search": "search, read the pages, and print the passages that answer",
    "fetch": "print one page as Markdown",
    "plugins": "list plugins, what they provide, their state and the reason",
    "status": "show what serves a search now, the settings and the cache",
    "doctor": "check everything, and say what to do about what is wrong",
    "cache": "look into the cache, purge, export, import, verify or compact it",
    "savings": "what was served, and what hosted searches would have cost",
    "models": "list, fetch, check or export the models that plugins use",
    "serve": "run a front end: an MCP server, an HTTP server",
}

PLUGIN_COMMANDS = {"index": ("search_local", "make your own folders searchable")}
"""Commands of well-known plugins, for --help alone: name to (plugin, help)."""

SERVERS = {"mcp": "tools for MCP clients, over stdio or HTTP", "http": "an HTTP API, and a page to try it"}
"""Servers of well-known plugins, for help alone: name to help; ``mcp`` is of the plugin ``serve_mcp``."""

FRESHNESS = ("realtime", "recent", "stable")


class UsageFault(Exception):
    """The command line is wrong. ``usage`` is the synopsis to show above the message."""

    kind = "usage"

    def __init__(self, message: str, usage: str = "", fix: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.usage = usage
        self.fix = fix


class ShowHelp(Exception):
    """Help was asked for; ``text`` is it."""

    def __init__(self, text: str) -> None:
        super().__init__("help was asked for")
        self.text = text


class Parser(argparse.ArgumentParser):
    """argparse that raises where the original prints and exits: streams belong to ``main``."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("allow_abbrev", False)
        kwargs.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        super().__init__(*args, **kwargs)

    def print_help(self, file: Any = None) -> NoReturn:
        raise ShowHelp(self.format_help())

    def error(self, message: str) -> NoReturn:
        raise UsageFault(message, usage=self.format_usage(), fix=self._near(message))

    def _near(self, message: str) -> str:
        marker = "unrecognized arguments: "
        if not message.startswith(marker):
            return ""
        from difflib import get_close_matches

        known = list(_options(self))
        for word in message.removeprefix(marker).split():
            if near := get_close_matches(word.partition("=")[0], known, n=1):
                return f"did you mean {near[0]}?"
        return ""


def _options(parser: argparse.ArgumentParser) -> Iterator[str]:
    """Every option of a parser and of its subcommands: the outermost one reports what none of them knows."""
    for action in parser._actions:
        yield from action.option_strings
        if isinstance(action, argparse._SubParsersAction):
            for sub in action.choices.values():
                yield from _options(sub)


# ---- options of every command, wherever they stand ------------------------------------------------

_FLAGS = {"--json": "json", "--debug": "debug", "--version": "version"}
_VALUES = {"--config": "config", "--set": "set"}
GLOBAL_HELP = """\
options of every command, before it or after it:
  --json            print JSON (see docs/cli.md)
  --config FILE     read this settings file instead of the usual two
  --set KEY=VALUE   set one setting, as in --set ranking.keep=8; repeat for more
  --debug           log to stderr, and show the traceback of what fails
  --version         print the version
"""


def take_globals(argv: Sequence[str]) -> tuple[dict[str, Any], list[str]]:
    """Split the options of every command from the rest; words after ``--`` are left alone.

    argparse cannot take one option before and after a subcommand (the inner parser's default wins),
    nor inside the subcommands that plugins nest.

    Raises:
        UsageFault: an option lacks its value.
    """
    found: dict[str, Any] = {"json": False, "debug": False, "version": False, "config": None, "set": []}
    rest: list[str] = []
    words = iter(argv)
    for word in words:
        name, equals, value = word.partition("=")
        if word == "--":
            return found, [*rest, word, *words]
        if word in _FLAGS:
            found[_FLAGS[word]] = True
        elif name in _VALUES:
            given = value if equals else next(words, None)
            if given is None or (not equals and given.startswith("--")):
                raise UsageFault(f"{name} needs a value")
            if name == "--set":
                found["set"].append(given)
            else:
                found["config"] = given
        else:
            rest.append(word)
    return found, rest


# ---- the commands of the core ---------------------------------------------------------------------


def main_parser() -> Parser:
    """The parser of everything that the core itself understands."""
    offered = "\n".join(f"  {n:<11} {h} (plugin {p})" for n, (p, h) in PLUGIN_COMMANDS.items())
    codes = "\n".join(f"  {code:<5} {meaning}" for code, meaning in MEANINGS.items())
    parser = Parser(
        prog="webfetch",
        usage="webfetch COMMAND ...",
        description="Web search for LLM agents that you run yourself.",
        epilog=f"from plugins:\n{offered}\n\n{GLOBAL_HELP}\nexit codes:\n{codes}",
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands", prog="webfetch")
    for name, configure in _CONFIGURE.items():
        sub = commands.add_parser(
            name, help=CORE_COMMANDS[name], description=CORE_COMMANDS[name] + ".", epilog=GLOBAL_HELP
        )
        configure(sub)
    return parser


def parse_core(words: Sequence[str]) -> argparse.Namespace:
    """Parse a command line that starts with a command of the core (or asks for help).

    Raises:
        ShowHelp, UsageFault.
    """
    return main_parser().parse_args(list(words))


def _search(p: argparse.ArgumentParser) -> None:
    p.add_argument("query", metavar="QUERY", nargs="+", help="what to look for; several words are joined")
    p.add_argument("--here", metavar="PATH", action="append", default=[], help="search this folder too")
    p.add_argument("--engine", metavar="NAME", action="append", default=[], help="ask this engine; repeat")
    p.add_argument("--limit", metavar="N", type=whole, help="pages to look at (default 10)")
    p.add_argument("--freshness", metavar="CLASS", help=f"{', '.join(FRESHNESS)}: how old an answer may be")
    p.add_argument("--force-fresh", action="store_true", help="pass by the caches")
    p.add_argument("--cache-only", action="store_true", help="never touch the network")
    p.add_argument(
        "--include-domain", metavar="D", action="append", default=[], help="only this host; repeat"
    )
    p.add_argument("--exclude-domain", metavar="D", action="append", default=[], help="not this host; repeat")
    p.add_argument("--language", metavar="CODE", help="ISO 639-1, as en")
    p.add_argument("--country", metavar="CODE", help="ISO 3166-1, as us")
    p.add_argument("--deadline", metavar="S", type=seconds, help="longest wait in seconds (default 8)")
    p.add_argument("--max-tokens", metavar="N", type=whole, help="length of the text (default 2000)")
    p.add_argument("--full-results", action="store_true", help="whole passages, longer text")
    p.add_argument("--explain", action="store_true", help="show what took how long, and what became of it")


def _fetch(p: argparse.ArgumentParser) -> None:
    p.add_argument("url", metavar="URL", help="with its scheme, as https://example.org/")
    p.add_argument(
        "--format",
        metavar="F",
        choices=("markdown", "text", "json", "html"),
        default="markdown",
        help="markdown (the default), text, json (as --json) or html",
    )
    p.add_argument("--max-tokens", metavar="N", type=whole, help="length of the text (default 6000)")
    p.add_argument("--start", metavar="N", type=count, default=0, help="character to start at (default 0)")
    p.add_argument("--force-fresh", action="store_true", help="pass by the page cache")
    p.add_argument("--cache-only", action="store_true", help="never touch the network")
    p.add_argument("--deadline", metavar="S", type=seconds, help="longest wait in seconds (default 10)")
    p.add_argument(
        "--explain", action="store_true", help="show who fetched it, which step found the text, and why"
    )


def _status(p: argparse.ArgumentParser) -> None:
    p.add_argument("--all", action="store_true", help="every setting, not only those that were set")


def _savings(p: argparse.ArgumentParser) -> None:
    p.add_argument(
        "--usd-per-1k-searches", metavar="USD", type=amount, help="of a hosted search tool (default 10)"
    )
    p.add_argument(
        "--hosted-tokens", metavar="N", type=amount, help="input tokens of a hosted search (default 17400)"
    )
    p.add_argument(
        "--own-tokens", metavar="N", type=amount, help="of a search of ours, if not counted (default 3500)"
    )
    p.add_argument(
        "--usd-per-million-tokens", metavar="USD", type=amount, help="of your model's input (default 5)"
    )


def _models(p: argparse.ArgumentParser) -> None:
    actions = p.add_subparsers(dest="action", metavar="ACTION", required=True)
    actions.add_parser("list", help="every model that an installed plugin names, and whether it is here")
    for name, told, default in (
        ("pull", "fetch models from the hub", "what providers wait for"),
        ("verify", "hash every file of them", "all"),
    ):
        action = actions.add_parser(name, help=told)
        action.add_argument(
            "names", metavar="NAME", nargs="*", help=f"a model of the list (default: {default})"
        )
    export = actions.add_parser("export", help="turn a model into one that runs here, and measure it")
    export.add_argument("model", metavar="MODEL", help="a folder, or ORG/NAME@COMMIT of the hub")
    export.add_argument("--to", metavar="FOLDER", help="where to (default: below WEBFETCH_HOME/models)")
    export.add_argument(
        "--kind", choices=("biencoder", "crossencoder"), help="what it is (default: as its own files tell)"
    )
    export.add_argument(
        "--precision", choices=("int8", "fp32"), default="int8", help="of its weights (default int8)"
    )


def _serve(p: argparse.ArgumentParser) -> None:
    listed = "; ".join(f"{name}: {told} (plugin serve_{name})" for name, told in SERVERS.items())
    p.add_argument("server", metavar="SERVER", nargs="?", help=listed)
    p.add_argument("words", metavar="...", nargs=argparse.REMAINDER, help="its options: SERVER --help")


_CONFIGURE = {
    "search": _search,
    "fetch": _fetch,
    "plugins": lambda p: None,
    "status": _status,
    "doctor": lambda p: None,
    "cache": _cache,
    "savings": _savings,
    "models": _models,
    "serve": _serve,
}


# ---- values ---------------------------------------------------------------------------------------


def whole(text: str) -> int:
    """A whole number from 1."""
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number from 1, got {text!r}")
    return int(text)


def count(text: str) -> int:
    """A whole number from 0."""
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"expected a whole number from 0, got {text!r}")
    return int(text)


def seconds(text: str) -> float:
    """A number of seconds above 0."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 86_400:
        raise argparse.ArgumentTypeError(f"expected a number of seconds above 0, got {text!r}")
    return value


def amount(text: str) -> float:
    """A number from 0, of dollars or tokens."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1e9:
        raise argparse.ArgumentTypeError(f"expected a number from 0, got {text!r}")
    return value
