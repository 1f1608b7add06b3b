"""The command ``webfetch``. ``console`` is its entry point; ``main`` is the same for a host or a test."""

from __future__ import annotations

TYPE_CHECKING = False  # typing itself is not imported here: --help is to be quick
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import NoReturn, TextIO

    from ..app import Webfetch
    from ..settings import Settings

    OpenWebfetch = Callable[[Settings], Webfetch]


def main(
    argv: Sequence[str] | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    stdout: TextIO | None = None,
    stderr: TextIO | None = None,
    open_webfetch: OpenWebfetch | None = None,
) -> int:
    """Run one command and return its exit code. Never raises, never exits, reads no ``.env``.

    Args:
        argv: the words after ``webfetch``; ``sys.argv[1:]`` by default.
        environ: the environment for settings and plugins; the process's own by default.
        stdout, stderr: where it writes; the process's own by default.
        open_webfetch: makes the ``Webfetch`` of the settings read; it is closed here.
    """
    import os
    import sys

    # Help and version are answered before anything else is imported: they are asked for often.
    from .dispatch import run

    return run(
        list(sys.argv[1:] if argv is None else argv),
        os.environ if environ is None else environ,
        sys.stdout if stdout is None else stdout,
        sys.stderr if stderr is None else stderr,
        open_webfetch,
    )


def console(*words: str) -> NoReturn:
    """The console script: ``main`` with ``.env`` of the working directory, then the end of the process.

    Args:
        words: stand before those of the command line: a script of a server's own is
            ``console("serve", "mcp")``.
    """
    import sys

    from .process import environment, leave, prepare_streams

    argv = [*words, *sys.argv[1:]]
    prepare_streams()
    out = sys.stdout
    sys.stdout = sys.stderr  # what a plugin prints must not come between the lines of ours
    code = main(argv, environ=environment(sys.stderr), stdout=out)
    sys.stdout = out
    leave(code)
