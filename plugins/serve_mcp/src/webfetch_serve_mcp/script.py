"""The console script ``webfetch-mcp``: ``webfetch serve mcp``, for clients that take one word."""

from __future__ import annotations

from typing import NoReturn

from webfetch_core import console


def main() -> NoReturn:
    """Run the server on stdin and stdout, or as the words of the command line say."""
    console("serve", "mcp")
