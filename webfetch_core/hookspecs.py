"""The hooks, in the order in which a host meets them. Plugins declare; the core calls.

Provider hooks are asked once per ``Webfetch`` and answer with records; nothing heavy happens in
them. Hooks only ever gain optional arguments within one API major.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol, TextIO

from attrs import frozen

from .markers import hookspec
from .providers import PluginContext, Provider

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from contextlib import AbstractAsyncContextManager

    from .app import Webfetch
    from .events import Event
    from .exports import ModelExporter
    from .stages import (
        LLM,
        Cache,
        Compressor,
        Extractor,
        Fetcher,
        FreshnessClassifier,
        QueryMatcher,
        Ranker,
        SearchEngine,
    )


@frozen(kw_only=True)
class HealthCheck:
    """One line of ``webfetch doctor``. ``check()`` returns None when well, else what to do."""

    name: str
    check: Callable[[], str | None]


class CommandSet(Protocol):
    """Where a plugin adds its subcommands of ``webfetch``."""

    def add(
        self,
        name: str,
        *,
        help: str,
        configure: Callable[[ArgumentParser], None],
        run: Callable[[Namespace, PluginContext, TextIO], int],
    ) -> None:
        """Add one subcommand.

        Args:
            name: must not be a command of the core or of another plugin.
            help: one line for ``webfetch --help``.
            configure: adds arguments (and nested subcommands) to the parser it is given.
            run: gets the parsed arguments (``args.json`` and ``args.debug`` are always there), the
                plugin's own context and stdout; returns the exit code. A WebfetchError that it
                raises is shown with its fix and ends with the documented code.
        """
        ...


class ServerContext(Protocol):
    """What a server is given: the settings of its command line, and the real streams.

    Attributes:
        settings: the plugin's own, an instance of ``Server.settings``; None without such a class.
        environ: the environment, with that of ``.env`` where a console script read it.
        stdin, stdout: for a protocol that is spoken over them. They are the process's own streams; its
            descriptors 0 and 1 are the null device and stderr meanwhile, so what plugins print is not
            between the lines of the protocol.
    """

    @property
    def settings(self) -> Any: ...
    @property
    def environ(self) -> Mapping[str, str]: ...
    @property
    def stdin(self) -> BinaryIO: ...
    @property
    def stdout(self) -> BinaryIO: ...

    def open(self) -> Webfetch:
        """Make a ``Webfetch`` of the command line's settings; it is the server's to close.

        Plugins are loaded here, and only here: a server may answer before that.

        Raises:
            ConfigError: a setting is wrong.
        """
        ...

    def note(self, text: str) -> None:
        """Write a line to stderr, for the person who runs the server."""
        ...

    def server(self, name: str) -> tuple[Server, Any] | None:
        """Another server with its settings, for one that mounts it; None where its plugin is not there.

        Raises:
            ConfigError: its plugin failed, or its settings are wrong.
        """
        ...


@frozen(kw_only=True)
class Server:
    """A front end that runs until it is stopped: ``webfetch serve <name>``.

    ``run`` returns the exit code. A WebfetchError that it raises is shown with its fix. ``mount`` offers
    the same within another server: it gets that one's ``Webfetch`` and its own settings, and gives an
    asynchronous context manager of an ASGI application, without access control of its own.
    """

    name: str
    summary: str
    configure: Callable[[ArgumentParser], None]
    run: Callable[[Namespace, ServerContext], int]
    settings: type | None = None
    mount: Callable[[Webfetch, Any], AbstractAsyncContextManager[Any]] | None = None


# ---- providers: collect, once per Webfetch ------------------------------------------------------


@hookspec
def webfetch_search_engines() -> Iterable[Provider[SearchEngine]]:  # type: ignore[empty-body]
    """Search engines."""


@hookspec
def webfetch_fetchers() -> Iterable[Provider[Fetcher]]:  # type: ignore[empty-body]
    """Fetchers, by URL scheme."""


@hookspec
def webfetch_extractors() -> Iterable[Provider[Extractor]]:  # type: ignore[empty-body]
    """Extractors, by media type."""


@hookspec
def webfetch_rankers() -> Iterable[Provider[Ranker]]:  # type: ignore[empty-body]
    """Rankers: lexical, bi-encoder, cross-encoder."""


@hookspec
def webfetch_compressors() -> Iterable[Provider[Compressor]]:  # type: ignore[empty-body]
    """Compressors; the first in order is used."""


@hookspec
def webfetch_caches() -> Iterable[Provider[Cache]]:  # type: ignore[empty-body]
    """Stores of bytes; the first in order is used."""


@hookspec
def webfetch_query_matchers() -> Iterable[Provider[QueryMatcher]]:  # type: ignore[empty-body]
    """Semantic query matchers; the first in order is used."""


@hookspec
def webfetch_freshness_classifiers() -> Iterable[Provider[FreshnessClassifier]]:  # type: ignore[empty-body]
    """Freshness classifiers, asked in order until one answers."""


@hookspec
def webfetch_llms() -> Iterable[Provider[LLM]]:  # type: ignore[empty-body]
    """Language models for structured extraction; the first in order is used."""


# ---- policy and observation ---------------------------------------------------------------------


@hookspec
def webfetch_veto_url(url: str) -> str | None:
    """Return why ``url`` must not be fetched, or None.

    Asked before each fetch and each redirect. Any reason blocks; an exception blocks too.
    """


@hookspec
def webfetch_event(event: Event) -> None:
    """Observe what happens. Cannot change a result; an exception is logged and forgotten."""


# ---- the command line ----------------------------------------------------------------------------


@hookspec
def webfetch_commands(commands: CommandSet) -> None:
    """Add subcommands to ``webfetch`` by ``commands.add(...)``."""


@hookspec
def webfetch_servers() -> Iterable[Server]:  # type: ignore[empty-body]
    """Front ends for ``webfetch serve``. ``<name>`` is looked for in the plugin ``serve_<name>`` alone."""


@hookspec
def webfetch_health_checks() -> Iterable[HealthCheck]:  # type: ignore[empty-body]
    """Checks for ``webfetch doctor``."""


@hookspec
def webfetch_model_exporters() -> Iterable[ModelExporter]:  # type: ignore[empty-body]
    """What ``webfetch models export`` can use; the first that does the kind, and lacks nothing, is used."""
