"""Rankings without a model: any script, nothing in common, five times the same."""

from __future__ import annotations

from pathlib import Path

from case_runner import Case, Seen

from webfetch_core import Chunk, SearchResult, Settings, Webfetch
from webfetch_core.pipeline.selection import select


def run(case: Case, tmp_path: Path) -> Seen:
    given = case.json("rank.json")
    chunks = [
        Chunk(**row) if isinstance(row, dict) else Chunk(url=f"https://t.example/{n}", text=row)
        for n, row in enumerate(given["chunks"])
    ]
    settings = Settings(home=str(tmp_path), rank=("bm25",), cache=("none",))
    with Webfetch(settings, environ={}) as host:
        ranked = host.rank(given["query"], [chunk.text for chunk in chunks])
        rules = settings.ranking
        # As the pipeline does: what shares nothing with the query is no evidence.
        kept = select(
            [scored.index for scored in ranked if scored.score > 0],
            chunks,
            keep=given.get("k", rules.keep),
            per_source=rules.per_source,
            near_duplicate=rules.near_duplicate,
        )
        text = host.render(SearchResult(query=given["query"], chunks=kept), full_results=True)
    return Seen(
        text=text,
        error_kind=None if kept else "no_results",
        measured={"top_score": ranked[0].score},
        facts={"top": ranked[0].index},
    )
