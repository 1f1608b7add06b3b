"""``webfetch savings``."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from typing import TYPE_CHECKING

from .exit_codes import OK
from .output import Streams
from .search import note_lost_cache

if TYPE_CHECKING:
    from ..app import Webfetch


def run(args: Namespace, wf: Webfetch, streams: Streams, environ: Mapping[str, str]) -> int:
    """Print what was counted, and what hosted searches would have come to. A command is a session of its
    own, and this one has done nothing: what counts here is the lifetime."""
    report = wf.savings_report(
        usd_per_1k_searches=args.usd_per_1k_searches,
        hosted_tokens=args.hosted_tokens,
        own_tokens=args.own_tokens,
        usd_per_million_tokens=args.usd_per_million_tokens,
    )
    note_lost_cache(wf, streams)
    if args.json:
        streams.record(report)
    else:
        streams.text(report.text)
    return OK
