from __future__ import annotations

import attrs
from webfetch_compress_sentences.layout import lay_out

from webfetch_core.api import Chunk

TEXT = "The dam was built in 1931. It holds water for the whole town of Orvane. The gate opens at six."


def test_a_sentence_cut_by_overlapping_chunks_is_whole_again() -> None:
    chunks = [
        Chunk(text="for the whole town of Orvane. The gate opens at six.", url="u"),
        Chunk(text="The dam was built in 1931. It holds water for the whole town of O", url="u"),
    ]
    placed = lay_out(chunks)
    assert [p.unit.text for p in placed] == [
        "The dam was built in 1931.",
        "It holds water for the whole town of Orvane.",
        "The gate opens at six.",
    ]
    assert [(p.owner, p.rank) for p in placed] == [(1, 1), (1, 0), (0, 0)]


def test_offsets_are_believed_when_they_fit() -> None:
    chunks = [
        Chunk(text=TEXT[:40], url="u", start=0, end=40),
        Chunk(text=TEXT[36:], url="u", start=36, end=len(TEXT)),
    ]
    assert [p.unit.text for p in lay_out(chunks)][1] == "It holds water for the whole town of Orvane."


def test_chunks_of_different_sources_stay_apart() -> None:
    shared = "a stretch of text that both of them hold"
    placed = lay_out([Chunk(text=f"One. {shared}", url="u"), Chunk(text=f"{shared}. Two.", url="v")])
    assert {p.chain for p in placed} == {0, 1}


def test_chunks_that_repeat_each_other_in_a_ring_still_end() -> None:
    one, two = "abcdefghijklmnopqrst", "uvwxyzabcdefghijklmn"
    placed = lay_out([Chunk(text=one + two, url="u"), Chunk(text=two + one, url="u")])
    assert len(placed) == 1


def test_blank_chunks_hold_nothing() -> None:
    assert lay_out([Chunk(text="", url="u"), Chunk(text=" \n", url="v")]) == []
    assert lay_out([]) == []


def test_chunks_that_begin_inside_a_table_or_code_are_joined_without_their_header() -> None:
    for header, lines in (
        ("| a | b |\n|---|---|\n", [f"| {n} | gauge |" for n in range(9)]),
        ("```sh\n", [f"step {n}" for n in range(9)]),
    ):
        text = header + "\n".join(lines)
        half, overlap = text.index(lines[5]), text.index(lines[4])
        chunks = [
            Chunk(text=text[: half - 1], url="u", start=0, end=half - 1),
            Chunk(text=header + text[overlap:], url="u", start=overlap, end=len(text)),
        ]
        placed = lay_out(chunks)
        assert "\n".join(p.unit.text for p in placed) == text
        assert len({p.chain for p in placed}) == 1
        placed = lay_out([attrs.evolve(chunks[1], url="other"), chunks[0]])
        assert placed[0].unit.text.startswith(header.partition("\n")[0])
        assert len({p.chain for p in placed}) == 2
