"""Answers for reworded queries: a real host, its cache file, an engine that is played.

Every lookup is made by a host of its own, as another process would be, and without the network: what is found
was in the file.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import engine_bench as bench
import pytest
from case_runner import Case, Seen

from webfetch_core import Webfetch
from webfetch_core.api import Embeddings, RankTraits, SearchHit, SearchRequest, SearchTraits
from webfetch_core.models import ProvenanceKind
from webfetch_core.pipeline.cache_admin import purge
from webfetch_core.testing import ScriptedEngine, ScriptedExtractor, ScriptedFetcher, fake_plugin

HITS = (ProvenanceKind.SEMANTIC, ProvenanceKind.EXACT)


def run(case: Case, tmp_path: Path) -> Seen:
    pytest.importorskip("webfetch_match_semantic", reason="the matcher of these cases")
    pytest.importorskip("webfetch_cache_lmdb", reason="the cache of these cases")
    if case.op == "store(a); lookup(b)":
        pytest.importorskip("webfetch_rank_onnx", reason="the vectors of these cases")
        return _pairs(case.json("pairs.json"), tmp_path)
    steps = case.json("script.json")["steps"]
    return _models(steps, tmp_path) if case.op == "mixed models" else _forgotten(steps, tmp_path)


@contextmanager
def host(folder: Path, told: str, *plugins: object, **settings: Any) -> Iterator[Webfetch]:
    """A host with one engine; whatever it is asked, it knows a page that begins with ``told``."""
    folder.mkdir(parents=True, exist_ok=True)
    page = "https://tarn.example/page"
    text: list[str] = []

    def answer(request: SearchRequest) -> list[SearchHit]:
        text[:] = [f"{told} This is what there is to say of {request.query}."]
        return [SearchHit(url=page, title=request.query)]

    made = (
        fake_plugin("search", ScriptedEngine(answer), "played", traits=SearchTraits()),
        fake_plugin("fetch", ScriptedFetcher({page: lambda request: text[0]}), "played"),
        fake_plugin("extract", ScriptedExtractor(), "played"),
    )
    chosen = {"search": ("played",), "fetch": ("played",), "extract": ("played",), **settings}
    with bench.host(folder, {}, *made, *plugins, cache_db=str(folder / "cache.lmdb"), **chosen) as wf:
        yield wf


def _kind(call: bench.Call) -> ProvenanceKind | None:
    return call.result.provenance.kind if call.result is not None and call.result.chunks else None


def _pairs(given: Mapping[str, Any], tmp_path: Path) -> Seen:
    """Each pair in a cache of its own."""
    found = []
    for n, (stored, asked) in enumerate(given["pairs"]):
        folder = tmp_path / str(n)
        with host(folder, "Found then.") as wf:
            kept = bench.ask(wf, stored)
            assert kept.result is not None and kept.result.chunks, kept.text
            assert _kind(bench.ask(wf, stored, cache_only=True)) is ProvenanceKind.EXACT
        with host(folder, "Found now.") as wf:
            call = bench.ask(wf, asked, cache_only=True)
        if _kind(call) in HITS and call.result is not None:
            origin = call.result.provenance
            found.append(f"{stored} | {asked} ({origin.kind}, {origin.score}: {origin.reason})")
    hits = len(found)
    measured = {"hits": hits} if given["should_hit"] else {"false_hits": hits}
    return Seen(text="\n".join(found), measured=measured)


class Model:
    """A bi-encoder of invented vectors: each text has an axis of its own, and another one in another model.

    What one model says of ``height of dam``, another says of ``how tall is the dam``: whoever compares
    vectors of the one with those of the other finds a false hit.
    """

    def __init__(self, model_id: str, dim: int) -> None:
        self.model_id = model_id
        self._dim = dim
        self._swapped = model_id != "m-a"

    def embed(self, texts: Sequence[str]) -> Embeddings:
        data = array("f")
        for text in texts:
            axis = int(text.lower().startswith("height")) ^ int(self._swapped)
            data.extend(float(n == axis) for n in range(self._dim))
        return Embeddings(data=data.tobytes(), rows=len(texts), dim=self._dim, model_id=self.model_id)

    def score(self, query: str, passages: Sequence[str]) -> list[float]:
        return [0.5] * len(passages)

    def prepare(self, passages: Sequence[str]) -> None:
        pass


def _models(steps: Sequence[Mapping[str, Any]], tmp_path: Path) -> Seen:
    """One cache file, a host a step, and its model."""
    wrong, dim = [], 0
    for step in steps:
        dim = step.get("dim", dim)
        named = f"{step['model']}, {dim}"
        traits = RankTraits(kind="biencoder")
        model = fake_plugin("rank", Model(step["model"], dim), "invented", traits=traits)
        with host(tmp_path, "The dam is 41 m high.", model, rank=("invented",)) as wf:
            if "store" in step:
                kept = bench.ask(wf, step["store"])
                assert kept.result is not None and kept.result.chunks, kept.text
                continue
            call = bench.ask(wf, step["lookup"], cache_only=True)
            if (_kind(call) in HITS) is not (step["expect"] == "hit") or call.error is not None:
                wrong.append(f"{named}: {_kind(call)} {call.text}")
    return Seen(text="; ".join(wrong), error_kind="judged wrongly" if wrong else None)


def _forgotten(steps: Sequence[Mapping[str, Any]], tmp_path: Path) -> Seen:
    """A hit that a user does not want: it is deleted by its query, or passed by."""
    wrong = []
    for n, step in enumerate(steps):
        with host(tmp_path, f"Told at step {n}.") as wf:
            if "store" in step:
                assert bench.ask(wf, step["store"]).result is not None
            elif "forget" in step:
                assert purge(wf.cache(), now=wf.now().timestamp(), query=step["forget"]) == 1
            elif "force_fresh" in step:
                fresh = bench.ask(wf, step["force_fresh"], force_fresh=True)
                again = bench.ask(wf, step["force_fresh"], cache_only=True)
                replaced = all(
                    call.result is not None and call.result.chunks[0].text.startswith(f"Told at step {n}.")
                    for call in (fresh, again)
                )
                if _kind(fresh) is not ProvenanceKind.FRESH or not replaced:
                    wrong.append(f"force_fresh: {_kind(fresh)}, then {_kind(again)}")
            else:
                call = bench.ask(wf, step["lookup"], cache_only=True)
                hit = call.result if _kind(call) in HITS else None
                if hit is not None and not hit.provenance.matched_query:
                    wrong.append("a hit that does not say what was matched")
                if hit is not None and not step.get("accept_hit"):
                    wrong.append(f"{step['lookup']}: hit")
    return Seen(text="; ".join(wrong), error_kind="judged wrongly" if wrong else None)
