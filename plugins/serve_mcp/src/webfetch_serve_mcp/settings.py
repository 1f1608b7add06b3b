"""Settings of the plugin: the table ``[plugins.serve_mcp]``. The flags of ``webfetch serve mcp`` win."""

from __future__ import annotations

from argparse import Namespace

from attrs import evolve, field, frozen
from attrs.validators import ge, gt, le

from webfetch_core.api import ConfigError

TOKEN_ENV = "WEBFETCH_MCP_TOKEN"
MARGIN_S = 2.5
"""What a call may take beyond ``deadline_s``, to rank and to write. With the default that is 9.5 seconds:
clients give up after 10, where they are impatient."""


@frozen(kw_only=True)
class McpSettings:
    """How long calls may take, how many there may be, and how HTTP is served.

    Attributes:
        deadline_s: seconds that a call may search or read; it is answered ``MARGIN_S`` later at the latest.
        parallel: calls that are worked on at the same time.
        queue: calls that wait for their turn; the next one is told to come back.
        structured: send structured content beside the text, where both fit. Without it an answer is shorter
            in clients that show their model both.
        max_message_bytes: of one message; a longer one is refused and the server goes on.
        host, port: where HTTP listens; port 0 takes a free one.
        token_env: the environment variable that holds the bearer token. Off loopback there must be one.
        allow_hosts: names that an HTTP request may be addressed to, beside loopback, addresses and ``host``;
            ``*`` allows any. A page of another site cannot reach the server by a name of its own.
        allow_origins: origins whose pages may call, as ``https://chat.example``; none by default.
        max_connections: HTTP connections at the same time, as far as the limit of open files allows
            (``ulimit -n``); of one client, other than this machine, a quarter of them.
        max_sessions: HTTP sessions at the same time; beyond them the one that was quiet for longest ends.
        session_idle_s: seconds after which a session that nobody uses is ended.
        drain_s: seconds that running requests have to end when the HTTP server is stopped.
    """

    deadline_s: float = field(default=7.0, validator=[gt(0), le(600)])
    parallel: int = field(default=8, validator=[ge(1), le(256)])
    queue: int = field(default=64, validator=ge(0))
    structured: bool = True
    max_message_bytes: int = field(default=1_048_576, validator=ge(1_024))
    host: str = "127.0.0.1"
    port: int = field(default=8765, validator=[ge(0), le(65_535)])
    token_env: str = TOKEN_ENV
    allow_hosts: tuple[str, ...] = ()
    allow_origins: tuple[str, ...] = ()
    max_connections: int = field(default=1_000, validator=ge(8))
    max_sessions: int = field(default=100, validator=ge(1))
    session_idle_s: float = field(default=1_800.0, validator=gt(0))
    drain_s: float = field(default=10.0, validator=[ge(0), le(600)])

    @property
    def answer_s(self) -> float:
        """Seconds within which every call is answered."""
        return self.deadline_s + MARGIN_S


def with_flags(settings: McpSettings, args: Namespace) -> McpSettings:
    """``settings`` with what the command line says otherwise.

    Raises:
        ConfigError: a flag is out of range.
    """
    given = {"host": args.host, "port": args.port, "deadline_s": args.deadline}
    try:
        return evolve(settings, **{name: value for name, value in given.items() if value is not None})
    except ValueError as exc:
        raise ConfigError(f"webfetch serve mcp: {exc.args[0]}") from None
