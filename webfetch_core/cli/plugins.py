"""``webfetch plugins``."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from typing import TYPE_CHECKING

from .exit_codes import OK
from .output import Streams, table, width_of

if TYPE_CHECKING:
    from ..app import Webfetch


def run(args: Namespace, wf: Webfetch, streams: Streams, environ: Mapping[str, str]) -> int:
    """List every plugin that was met; a broken one is a line, not a failure of this command."""
    plugins = wf.plugins()
    if args.json:
        from ..wire import to_plain

        streams.json({"plugins": [to_plain(plugin) for plugin in plugins]})
        return OK
    width = width_of(environ)
    for plugin in plugins:
        dist = " ".join(x for x in (plugin.dist or "no distribution", plugin.version) if x)
        hooks = ", ".join(hook.removeprefix("webfetch_") for hook in plugin.hooks)
        rows = [("hooks", hooks)] if hooks else []
        rows += [("reason", plugin.reason)] if plugin.reason else []
        streams.text(f"{plugin.name}  ({dist})  {plugin.state}")
        for line in table(rows, indent="  ", width=width):
            streams.text(line)
        providers = [(p.stage, p.name, p.state, p.reason or p.summary) for p in plugin.providers]
        for line in table(providers, indent="    ", width=width):
            streams.text(line)
    return OK
