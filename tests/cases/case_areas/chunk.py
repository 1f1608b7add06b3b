"""Texts that are hard to cut."""

from __future__ import annotations

import time
from pathlib import Path

from case_runner import Case, Seen

from webfetch_core import Chunk, Document
from webfetch_core.pipeline.chunking import chunk

_MARKS = "。！？.!?"


def run(case: Case, tmp_path: Path) -> Seen:
    text, config = case.text("text.txt"), case.json("config.json")
    size = config["chunk_size"]
    overlap = config.get("overlap", size // 10) / size
    started = time.perf_counter()
    cut = chunk(Document(url="https://t.example/", text=text), chars=size, overlap=overlap)
    took = time.perf_counter() - started
    return Seen(
        text="\n".join(each.text for each in cut),
        measured={
            "chunk_len": max(len(each.text) for each in cut),
            "min_chunks": len(cut),
            "borders_at_sentence_share": sum(each.text[-1] in _MARKS for each in cut) / len(cut),
            "exceptions": 0,
            "call_s": took,
            # An encoder's vocabulary has one token for such a character, and two marks frame the text.
            "tokens": max(len(each.text) for each in cut) + 2,
        },
        facts={"lossless": _joined(cut, text) == text},
    )


def _joined(cut: list[Chunk], text: str) -> str:
    """The chunks in a row without their overlaps; the white space between them is the text's."""
    out, at = "", 0
    for each in cut:
        assert text[each.start : each.end] == each.text
        gap = text[at : each.start]
        assert not gap.strip(), f"lost between chunks: {gap!r}"
        out += gap + each.text[max(0, at - each.start) :]
        at = max(at, each.end)
    return out + text[at:] if not text[at:].strip() else out
