"""The exit codes: documented in docs/cli.md and at the end of ``webfetch --help``. Imports nothing."""

from __future__ import annotations

OK = 0
FAULT = 1
USAGE = 2
CONFIG = 3
NO_ENGINE = 4
NOTHING_FOUND = 5
PAGE = 6
CACHE = 7
INTERRUPTED = 130
PIPE_CLOSED = 141

MEANINGS = {
    OK: "success",
    FAULT: "a fault of webfetch or of a plugin (--debug shows the traceback)",
    USAGE: "wrong usage, or a query that cannot be served as it stands",
    CONFIG: "a setting or a plugin is wrong; also: doctor found a problem",
    NO_ENGINE: "no search engine could answer",
    NOTHING_FOUND: "answered, and nothing was found",
    PAGE: "the page could not be fetched, or holds nothing readable",
    CACHE: "the cache or an index cannot be used",
    INTERRUPTED: "interrupted",
    PIPE_CLOSED: "the reader of the output closed it",
}


def code_of(error: BaseException) -> int:
    """The exit code of an error."""
    from .. import errors
    from .parser import UsageFault

    table: tuple[tuple[type[BaseException], int], ...] = (
        (UsageFault, USAGE),
        (KeyboardInterrupt, INTERRUPTED),
        (BrokenPipeError, PIPE_CLOSED),
        (errors.BadQuery, USAGE),
        (errors.ConfigError, CONFIG),
        (errors.NotConfigured, CONFIG),
        (errors.AllEnginesFailed, NO_ENGINE),
        (errors.CacheError, CACHE),
        (errors.Cancelled, INTERRUPTED),
        (errors.Refused, PAGE),
        (errors.ProviderError, PAGE),
    )
    return next((code for kind, code in table if isinstance(error, kind)), FAULT)
