"""The grammar of ``webfetch cache``. Imports argparse alone."""

from __future__ import annotations

import argparse

SPACES = ("queries", "pages", "negative", "vectors", "findings", "stats")


def configure(p: argparse.ArgumentParser) -> None:
    """Give ``p`` the actions on the cache."""
    actions = p.add_subparsers(dest="action", metavar="ACTION", required=True)
    actions.add_parser("stats", help="where it is, how big, and how often it served")
    actions.add_parser("list", help="the searches it holds, youngest first")
    show = actions.add_parser("show", help="one search's result")
    show.add_argument("which", metavar="QUERY_OR_KEY", help="the query, or 8 or more digits of its key")
    purge = actions.add_parser("purge", help="delete rows; conditions narrow each other")
    purge.add_argument("--query", metavar="Q", help="of this query, or this key")
    purge.add_argument("--space", metavar="S", choices=SPACES, help=f"of this space: {', '.join(SPACES)}")
    purge.add_argument("--older-than", metavar="AGE", type=age, help="of this age: 90s, 15m, 12h, 7d, 2w")
    purge.add_argument("--all", action="store_true", help="everything that can be had again")
    export = actions.add_parser("export", help="write rows into a file; vectors only where they are named")
    export.add_argument("file", metavar="FILE", help="the file; deflated where its name ends in .gz")
    _spaces(export, "only this space; repeat")
    export.add_argument("--all", action="store_true", help="every space, vectors too")
    import_ = actions.add_parser("import", help="store the rows of such a file, with the ages they have")
    import_.add_argument("file", metavar="FILE", help="what export wrote")
    _spaces(import_, "only this space; repeat")
    actions.add_parser("verify", help="look for damage in the store and in its rows; changes nothing")
    actions.add_parser("compact", help="give the disk back what deleted rows left, while others go on")


def _spaces(p: argparse.ArgumentParser, told: str) -> None:
    p.add_argument("--space", metavar="S", action="append", default=[], help=told)


def age(text: str) -> float:
    """An age in seconds, of a number with its unit: ``90s``, ``15m``, ``12h``, ``7d``, ``2w``."""
    sizes = {"s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0, "w": 604_800.0}
    number, unit = text[:-1], text[-1:]
    try:
        value = float(number) * sizes[unit]
    except (ValueError, KeyError):
        value = -1.0
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"expected an age such as 90s, 15m, 12h, 7d or 2w, got {text!r}")
    return value
