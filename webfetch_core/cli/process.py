"""What only the console script does to its process: streams, ``.env``, and an end that is prompt."""

from __future__ import annotations

import io
import os
import re
import sys
import threading
from contextlib import suppress

TYPE_CHECKING = False  # typing and pathlib are not imported here: --help is to be quick
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path
    from typing import Any, BinaryIO, NoReturn, TextIO

DOTENV = ".env"
_LINE = re.compile(r"\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*?)\s*\Z", re.DOTALL)
# What such names do, they do to any program that is started: a folder must not get hold of that.
_NEVER = re.compile(r"PATH\Z|PYTHON|LD_|DYLD_|_?MALLOC_")
# Nor of private hosts, of who is let in, of where keys are sent, and of which other file says so: what a
# settings file that only lies here may not set either (settings_load.NOT_FROM_A_FOLDER).
_NOT_FROM_A_FOLDER = re.compile(
    r"WEBFETCH_(?:CONFIG\Z|NET__|PLUGINS__SERVE_|PLUGINS__\w+?__\w*(?:BASE_URL|PROXY|BIENCODER|CROSSENCODER)\Z)",
    re.I,
)


def environment(stderr: TextIO, folder: Path | None = None) -> Mapping[str, str]:
    """The process's environment over that of ``.env`` in ``folder`` (the working directory)."""
    own = dict(os.environ)
    try:
        path = os.path.join(folder or os.getcwd(), DOTENV)  # noqa: PTH118, PTH109
        if not os.path.isfile(path):  # noqa: PTH113
            return own
        with open(path, encoding="utf-8-sig") as file:  # noqa: PTH123
            text = file.read()
    except (OSError, UnicodeDecodeError) as exc:
        print(f"webfetch: {DOTENV} here cannot be read and is passed over: {exc}", file=stderr)
        return own
    told: dict[str, str] = {}
    for number, name, value in parse_dotenv(text):
        if name is None:
            print(f"webfetch: {path}:{number} is not NAME=VALUE and is passed over", file=stderr)
        elif _NEVER.match(name) or _NOT_FROM_A_FOLDER.match(name):
            print(f"webfetch: {path}:{number}: {name} is not taken from {DOTENV}", file=stderr)
        else:
            told[name] = value
    return told | own


def parse_dotenv(text: str) -> Iterator[tuple[int, str | None, str]]:
    """Yield (line number, name, value) of each line of ``.env``; the name is None where there is none.

    ``export`` is passed over; a value in single quotes is taken as it stands, one in double quotes
    with ``\\n``, ``\\t``, ``\\"`` and ``\\\\``; an unquoted value ends at `` #``. Nothing is expanded.
    """
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        match = _LINE.match(line)
        value = None if match is None else _value(match[2])
        if match is None or value is None:
            yield number, None, ""
        else:
            yield number, match[1], value


def _value(raw: str) -> str | None:
    """The value that ``raw`` writes; None when a quote is left open."""
    if raw[:1] == "'":
        body, quote, rest = raw[1:].partition("'")
        return body if quote and _is_comment(rest) else None
    if raw[:1] == '"':
        match = re.match(r'"((?:[^"\\]|\\.)*)"(.*)\Z', raw)
        if match is None or not _is_comment(match[2]):
            return None
        return re.sub(r"\\(.)", lambda m: {"n": "\n", "t": "\t"}.get(m[1], m[1]), match[1])
    return "" if raw.startswith("#") else re.split(r"\s#", raw, maxsplit=1)[0].rstrip()


def _is_comment(rest: str) -> bool:
    return not rest.strip() or rest.lstrip().startswith("#")


def prepare_streams() -> None:
    """Make stdout and stderr be there and take any text: UTF-8 where nobody chose otherwise, else with
    replacements."""
    _fill_standard_descriptors()
    chosen = "PYTHONIOENCODING" in os.environ
    for stream in (sys.stdout, sys.stderr):
        reconfigure: Any = getattr(stream, "reconfigure", None)
        if reconfigure is None or _is_utf8(stream):
            continue
        with suppress(ValueError, OSError):
            if chosen or stream.isatty():
                reconfigure(errors="replace")
            else:
                reconfigure(encoding="utf-8")


def _fill_standard_descriptors() -> None:
    """Open on nothing what the caller closed (``>&-``): the next file to be opened, a database perhaps,
    would get the number of a standard stream, and all that is written there."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            with suppress(OSError):
                os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free: this one
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115


def protocol_streams(out: TextIO) -> tuple[BinaryIO, BinaryIO, Callable[[], None]]:
    """stdin and stdout for a protocol alone, as bytes, and what gives stdout back.

    Where ``out`` is the process's stdout, descriptor 0 becomes the null device and 1 becomes stderr:
    nothing that a plugin, a C library or a child process prints or reads, now or when it is shut down, gets
    between the lines of the protocol. Other streams are handed on as they are.
    """
    try:
        own = out.fileno() == 1
    except (OSError, ValueError, AttributeError):
        own = False
    if not own:
        given: Any = getattr(out, "buffer", None)
        return io.BytesIO(), io.BytesIO() if given is None else given, lambda: None
    out.flush()
    stdin, stdout = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)

    def give_back() -> None:
        with suppress(OSError, ValueError):
            os.dup2(stdout.fileno(), 1)

    return stdin, stdout, give_back


def _is_utf8(stream: TextIO) -> bool:
    return (stream.encoding or "").lower().replace("-", "").replace("_", "") == "utf8"


def leave(code: int) -> NoReturn:
    """End the process with ``code``, now.

    Calls that were left behind at their deadline still run in their threads. The interpreter would
    tear itself down around those, and one that is inside of a C or Rust extension can crash then,
    or hold up the exit: with any thread still there the process ends without a tear-down.
    """
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            # The reader is gone: point the stream at nothing, or the exit would complain about it.
            with suppress(OSError, ValueError, AttributeError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    if any(thread is not threading.current_thread() for thread in threading.enumerate()):
        os._exit(code)
    sys.exit(code)
