"""Prints, as JSON, what importing a module does to its process. Run as a script in a fresh one."""

from __future__ import annotations

import importlib
import json
import logging
import os
import signal
import socket
import sys
import threading
import warnings
from pathlib import Path
from typing import Any


def _loggers() -> dict[str, str]:
    manager = logging.Logger.manager
    named = {n: x for n, x in manager.loggerDict.items() if isinstance(x, logging.Logger)}
    return {
        name or "root": f"level {logger.level}, {len(logger.handlers)} handlers, disabled {logger.disabled}"
        for name, logger in {"": logging.getLogger(), **named}.items()
        if logger.level != logging.NOTSET or logger.handlers or logger.disabled
    }


def state() -> dict[str, Any]:
    """Everything process-wide that an import must leave alone."""
    return {
        "the warnings filters": [repr(f) for f in warnings.filters],
        "loggers": _loggers(),
        "logging.disable": logging.root.manager.disable,
        "the environment": dict(os.environ),
        "the working folder": str(Path.cwd()),
        "sys.path": list(sys.path),
        "sys.excepthook": repr(sys.excepthook),
        "the socket default timeout": socket.getdefaulttimeout(),
        "signal handlers": [repr(signal.getsignal(s)) for s in (signal.SIGINT, signal.SIGTERM)],
        "threads": sorted(t.name for t in threading.enumerate()),
    }


def main(module: str) -> None:
    importlib.import_module("webfetch_core.api")
    before, known = state(), set(sys.modules)
    importlib.import_module(module)
    after = state()
    own = {"webfetch_core", "pluggy", "attr", "attrs", module.partition(".")[0]}
    tops = {name.partition(".")[0] for name in set(sys.modules) - known}
    # Names with a leading "__editable__" belong to the installer's import hook.
    heavy = sorted(t for t in tops if t not in own | sys.stdlib_module_names and not t.startswith("__"))
    changed = sorted(name for name in before if before[name] != after[name])
    sys.stdout.write("\n" + json.dumps({"heavy": heavy, "changed": changed}) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
