"""Lists, tables and pronouns under a budget."""

from __future__ import annotations

from pathlib import Path

from case_runner import Case, Seen

from webfetch_core import Chunk, Settings, Webfetch
from webfetch_core.pipeline.render import CHARS_PER_TOKEN


def run(case: Case, tmp_path: Path) -> Seen:
    given = case.json("compress.json")
    chunks = [Chunk(text=text, url=f"https://t.example/{n}") for n, text in enumerate(given["chunks"])]
    size = sum(len(chunk.text) for chunk in chunks)
    budget = int(size * given["ratio"]) // CHARS_PER_TOKEN
    with Webfetch(Settings(home=str(tmp_path), compress=("sentences",)), environ={}) as host:
        kept = host.compress(given["query"], chunks, budget)
    text = "\n".join(chunk.text for chunk in kept)
    return Seen(text=text, measured={"max_ratio": len(text) / size})
