"""From words to a command, and from what goes wrong to a message and an exit code."""

from __future__ import annotations

from argparse import Namespace
from contextlib import suppress

from .exit_codes import OK, code_of
from .parser import CORE_COMMANDS, SERVERS, ShowHelp, UsageFault, main_parser, parse_core, take_globals

TYPE_CHECKING = False  # typing itself is not imported here: --help is to be quick
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, TextIO

    from . import OpenWebfetch


def run(
    argv: Sequence[str],
    environ: Mapping[str, str],
    out: TextIO,
    err: TextIO,
    open_webfetch: OpenWebfetch | None = None,
) -> int:
    """Run one command line; see :func:`webfetch_core.cli.main`."""
    flags: dict[str, Any] = {"json": "--json" in argv, "debug": _debug(environ, "--debug" in argv)}
    try:
        given, words = take_globals(argv)
        flags |= given | {"debug": _debug(environ, given["debug"])}
        code = _run(flags, words, environ, out, err, open_webfetch)
        out.flush()
        return code
    except ShowHelp as shown:
        return _show(shown.text, out)
    except BaseException as exc:
        from .faults import tell

        code = code_of(exc)
        with suppress(OSError, ValueError):  # stderr may be closed too, and then nobody is told
            tell(exc, code, out, err, json=flags["json"], debug=flags["debug"])
        return code


def _show(text: str, out: TextIO) -> int:
    try:
        out.write(text)
        out.flush()
    except BrokenPipeError as exc:
        return code_of(exc)
    return OK


def _debug(environ: Mapping[str, str], flag: bool) -> bool:
    return flag or environ.get("WEBFETCH_DEBUG", "").strip().lower() in ("1", "true", "yes", "on")


def _run(
    flags: dict[str, Any],
    words: list[str],
    environ: Mapping[str, str],
    out: TextIO,
    err: TextIO,
    open_webfetch: OpenWebfetch | None,
) -> int:
    if flags["version"]:
        from .. import __version__

        out.write(f"webfetch {__version__}\n")
        return OK
    if not words:
        raise UsageFault("no command was given", usage=main_parser().format_help())
    first = words[0]
    if first == "serve" and words[1:2] not in (["-h"], ["--help"]):
        from .serve import run_server

        if not words[1:]:
            raise UsageFault("which server?", fix=f"the well-known ones are {', '.join(SERVERS)}")

        return run_server(words[1], words[2:], Namespace(**flags), environ, out, err, open_webfetch)
    if first in CORE_COMMANDS or first.startswith("-"):
        args = parse_core(words)
        if args.command is None:
            raise UsageFault("no command was given", usage=main_parser().format_usage())
        flags["json"] = (
            flags["json"] or getattr(args, "format", "") == "json"
        )  # errors, too, are in JSON then
        vars(args).update(flags)
        return _run_core(args, environ, out, err, open_webfetch)

    from .opening import opened
    from .output import Streams
    from .plugin_commands import run_plugin_command

    settings_flags = Namespace(**flags)
    with opened(settings_flags, environ, err, open_webfetch) as wf:
        return run_plugin_command(wf, first, words[1:], flags, Streams(out=out, err=err))


def _run_core(
    args: Namespace,
    environ: Mapping[str, str],
    out: TextIO,
    err: TextIO,
    open_webfetch: OpenWebfetch | None,
) -> int:
    from importlib import import_module

    from .opening import opened
    from .output import Streams

    command = import_module(f".{args.command}", __package__)
    with opened(args, environ, err, open_webfetch) as wf:
        code: int = command.run(args, wf, Streams(out=out, err=err), environ)
        out.flush()  # closing may take a moment, and nobody need wait for that
        return code
