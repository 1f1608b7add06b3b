"""Faults that any server may show, whatever it serves. Pure."""

from __future__ import annotations

import json
from typing import Any

from attrs import evolve

from ..site import Reply
from .messages import SimulatedHit, json_reply, text_reply

ENGINE_FAULTS = ("empty", "silent_block", "auth", "quota", "rate_limited", "bad_query", "server_error")
"""Faults that each engine words in its own way; an engine may lack some and have more."""

JSON_FAULTS = ("html_instead_of_json", "truncated_json")
WIRE_FAULTS = (*JSON_FAULTS, "cut_off", "slow_drip", "hang", "missing_fields")
"""An HTML page of a gateway; JSON that ends in the middle; a connection that does; eight bytes every tenth
of a second; no answer at all; results that lack fields."""

_GATEWAY = (
    "<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head>"
    "<body><center><h1>502 Bad Gateway</h1></center><hr><center>gateway</center></body></html>"
)

SOME_HITS = tuple(
    SimulatedHit(
        url=f"https://page{n}.example/a",
        title=f"Page {n}",
        snippet=f"The text of page {n}, which stands here so that an answer has something to lose.",
        published=f"2026-01-0{n}",
        score=1.0 / n,
        text=f"The text of page {n}.",
    )
    for n in range(1, 5)
)
"""Hits for a fault that needs some, where the search found none."""


def wire_fault(kind: str, whole: Reply) -> Reply:
    """``whole`` as it comes out of a server with this fault; ``missing_fields`` is not one of these."""
    half = len(whole.body) // 2
    if kind == "hang":
        return Reply(hang=True)
    if kind == "html_instead_of_json":
        return text_reply(_GATEWAY, kind="text/html")
    if kind == "truncated_json":
        return evolve(whole, body=whole.body[:half])
    if kind == "cut_off":
        return evolve(whole, truncate=half)
    return evolve(whole, drip=(8, 0.1))


def without_fields(whole: Reply, results_at: tuple[str, ...], url_field: str) -> Reply:
    """An answer whose first results lack fields; it must have at least four.

    In this order: nothing but the URL; no URL; everything null but the URL; no object at all (its
    own result goes to the end). The rest is as it was.
    """
    data = json.loads(whole.body)
    rows: Any = data
    for step in results_at:
        rows = rows[step]
    first, second, third, fourth = rows[:4]
    rows[:4] = [
        {url_field: first[url_field]},
        {k: v for k, v in second.items() if k not in (url_field, "id")},
        {k: v if k == url_field else None for k, v in third.items()},
        None,
    ]
    rows.append(fourth)
    return json_reply(data, whole.status)
