"""What is handed to a model: JSON under a limit, and excerpts that cannot forge their frame."""

from __future__ import annotations

import json
import re
from pathlib import Path

from case_runner import Case, Seen

from webfetch_core import Chunk, SearchResult
from webfetch_core.pipeline.render import render
from webfetch_core.pipeline.truncate import MARKER, guard

INVARIANTS = (
    "every URL in the output is one of the input URLs in full",
    "JSON part parses",
    "ends with [truncated]",
)
URL = re.compile(r"https?://[^\s\"<>\\]+")


def run(case: Case, tmp_path: Path) -> Seen:
    if case.op == "guard(payload)":
        return _guard(case)
    if case.op == "format(chunks)":
        return _format(case)
    raise AssertionError(f"no adapter for {case.op!r}")


def _guard(case: Case) -> Seen:
    given = case.json("guard.json")
    known = set(URL.findall(json.dumps(given["payload"])))
    limits = [given["max_chars"], *map(int, re.findall(r"\b\d+\b", case.expected["why"]))]
    holds = dict.fromkeys(INVARIANTS, True)
    over = 0
    for limit in limits:
        text, truncated = guard(given["payload"], limit)
        over = max(over, len(text) - limit)
        urls, parses, ends = INVARIANTS
        holds[urls] &= set(URL.findall(text)) <= known
        part = text.removesuffix(MARKER).rstrip("\n")
        holds[parses] &= not part or _parses(part)
        # Where the marker itself has no room, only the flag can say it.
        holds[ends] &= truncated and (text.endswith(MARKER) or limit < len(MARKER))
    return Seen(
        text=guard(given["payload"], given["max_chars"])[0],
        measured={"chars": given["max_chars"] + over},
        invariants=holds,
    )


def _parses(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _format(case: Case) -> Seen:
    chunks = tuple(Chunk(**row) for row in case.json("chunks.json"))
    text = render(SearchResult(query="where to send the code", chunks=chunks), 4_000)
    headers = re.findall(r"\[\s*Source\s*:[^\]]*\]", text, re.IGNORECASE)
    first, *others = text.splitlines()
    forged = [line for line in others if re.match(r"\s*\[\s*(cache|fresh)\b", line, re.IGNORECASE)]
    return Seen(
        text=text,
        invariants={
            "exactly one source header in the output and it names evil.example": len(headers) == 1
            and "| evil.example]" in headers[0],
            "no line starts with [cache: unless written by the product": not forged
            and first.startswith("[fresh search"),
        },
    )
