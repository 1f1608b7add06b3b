"""``webfetch serve NAME``: the server of the plugin ``serve_NAME``, and of no other.

The server is started before any other plugin is loaded: it can answer while they are.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, BinaryIO, TextIO

from attrs import frozen

from .. import __version__
from ..errors import ConfigError, WebfetchError
from ..hookspecs import Server
from ..registry.discovery import discover
from ..registry.manager import Manager, describe
from ..settings_load import structure
from .faults import PluginFault
from .opening import logged, made, read_settings
from .output import put
from .parser import SERVERS, Parser, ShowHelp, UsageFault
from .plugin_commands import MAX_CODE
from .process import protocol_streams

if TYPE_CHECKING:
    from ..app import Webfetch
    from ..settings import Settings
    from . import OpenWebfetch

_PREFIX = "serve_"


class Blocked(ConfigError):
    """The settings block the plugin."""


@frozen(kw_only=True)
class Context:
    """The ``ServerContext`` of a command line."""

    settings: Any
    environ: Mapping[str, str]
    stdin: BinaryIO
    stdout: BinaryIO
    core: Settings
    err: TextIO
    open_webfetch: OpenWebfetch | None

    def open(self) -> Webfetch:
        """See ``hookspecs.ServerContext``."""
        return made(self.core, self.environ, self.open_webfetch)

    def note(self, text: str) -> None:
        """See ``hookspecs.ServerContext``."""
        put(self.err, text)
        self.err.flush()

    def server(self, name: str) -> tuple[Server, Any] | None:
        """See ``hookspecs.ServerContext``."""
        try:
            found = _server(name, self.core)
        except (UsageFault, Blocked):
            return None
        except PluginFault as exc:
            raise ConfigError(str(exc)) from exc
        return found, _settings(found, self.core)


def run_server(
    name: str,
    words: Sequence[str],
    flags: Namespace,
    environ: Mapping[str, str],
    out: TextIO,
    err: TextIO,
    open_webfetch: OpenWebfetch | None = None,
) -> int:
    """Run the server ``name`` with the words after it, until it ends; return its exit code.

    Raises:
        UsageFault: there is no such server, or the words are wrong.
        ConfigError: its plugin is off, or a setting is wrong.
        PluginFault: it failed in a way that it did not foresee.
    """
    settings = read_settings(flags, environ)
    stdin, stdout, give_back = protocol_streams(out)
    with logged(flags.debug, err), _given_back(give_back):
        server = _server(name, settings)
        try:
            parser = Parser(prog=f"webfetch serve {name}", description=server.summary)
            server.configure(parser)
            args = parser.parse_args(list(words))
            vars(args).update(json=flags.json, debug=flags.debug)
            context = Context(
                settings=_settings(server, settings),
                environ=environ,
                stdin=stdin,
                stdout=stdout,
                core=settings,
                err=err,
                open_webfetch=open_webfetch,
            )
            code = server.run(args, context)
            if isinstance(code, bool) or not isinstance(code, int) or not 0 <= code <= MAX_CODE:
                raise TypeError(f"it returned {code!r} where an exit code belongs")
        except (WebfetchError, UsageFault, ShowHelp, BrokenPipeError, KeyboardInterrupt):
            raise
        except BaseException as exc:  # SystemExit too: how the process ends is not the plugin's to say
            raise PluginFault(
                f"the server {name} of the plugin {_PREFIX}{name} failed: {describe(exc)}"
            ) from exc
    return code


@contextmanager
def _given_back(give_back: Callable[[], None]) -> Iterator[None]:
    """Have help and errors where they belong; after a server that ran, stdout stays its own to the end."""
    try:
        yield
    except BaseException:
        give_back()
        raise


def _server(name: str, settings: Settings) -> Server:
    plugin = _PREFIX + name
    candidates = discover(__version__)
    manager = Manager(strict=settings.strict_plugins)
    manager.load((c for c in candidates if c.name == plugin), settings.allow_plugins, settings.block_plugins)
    met = manager.get(plugin)
    if met is None:
        there = {c.name.removeprefix(_PREFIX) for c in candidates if c.name.startswith(_PREFIX)}
        raise _missing(name, sorted(there | set(SERVERS)))
    if met.state != "loaded":
        raise (Blocked if met.state == "blocked" else ConfigError)(
            f"webfetch serve {name} needs the plugin {plugin}, which is {met.state}: {met.reason}"
        )
    for answer in manager.ask_each("webfetch_servers"):
        if answer.problem:
            raise PluginFault(f"the plugin {plugin} failed: {answer.problem}")
        for server in answer.value or ():
            if isinstance(server, Server) and server.name == name:
                return server
    raise PluginFault(f"the plugin {plugin} ({met.dist} {met.version}) gives no server {name!r}")


def _missing(name: str, known: Sequence[str]) -> UsageFault:
    if name in SERVERS:
        return UsageFault(
            f"webfetch serve {name} needs the plugin {_PREFIX}{name}",
            fix=f"pip install webfetch-serve-{name} (with uvx: uvx 'webfetch[{name}]' serve {name})",
        )
    near = get_close_matches(name, known, n=1)
    return UsageFault(
        f"there is no server {name!r}",
        fix=f"did you mean {near[0]}?" if near else f"the servers are {', '.join(known)}",
    )


def _settings(server: Server, settings: Settings) -> Any:
    plugin = _PREFIX + server.name
    table = settings.plugins.get(plugin, {})
    if not isinstance(table, Mapping):
        raise ConfigError(f"plugins.{plugin}: expected a table, got {table!r}")
    if server.settings is None:
        if table:
            raise ConfigError(
                f"plugins.{plugin}: {server.name} has no settings, got {', '.join(sorted(table))}"
            )
        return None
    made_of: Any = structure(server.settings, table, path=f"plugins.{plugin}", origins=settings.origins)
    return made_of
