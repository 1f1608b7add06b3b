"""Content that a page carries as data: JSON-LD, microdata, and the state of a script framework."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import schema
from .head import Head
from .microdata import read_microdata
from .page_state import read_state

_ENOUGH = 40
"""Words with which the first source that has them is taken."""


def structured(root: Any, head: Head) -> tuple[str, str]:
    """Return where the page's data was found and what it says as Markdown; two empty strings when nothing.

    The name is ``json_ld``, ``microdata`` or ``state``. The first with enough words wins, else the fullest.
    Text of the data that reads like an order to a language model is left out: no reader sees it.
    """
    best = ("", "")
    sources: tuple[tuple[str, Callable[[], str]], ...] = (
        ("json_ld", lambda: schema.to_markdown(head.data)),
        ("state", lambda: read_state(root)),
        ("microdata", lambda: schema.to_markdown(read_microdata(root))),
    )
    for name, read in sources:
        text = read()
        if len(text.split()) > len(best[1].split()):
            best = (name, text)
        if len(text.split()) >= _ENOUGH:
            break
    return best
