"""Five chunks are five facts, from more than one source where more than one has something to say."""

from __future__ import annotations

from itertools import combinations
from time import process_time

from hypothesis import given
from hypothesis import strategies as st

from webfetch_core.models import Chunk
from webfetch_core.pipeline.selection import overlap, select, shingled, sources

WORDS = st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=8).map(" ".join)
CHUNKS = st.lists(st.builds(Chunk, text=WORDS, url=st.sampled_from(["u1", "u2", "u3"])), max_size=20)


def chosen(chunks: list[Chunk], keep: int = 5, per_source: int = 3, near: float = 0.85) -> list[Chunk]:
    return list(select(chunks, keep=keep, per_source=per_source, near_duplicate=near))


def fact(number: int, url: str) -> Chunk:
    return Chunk(text=f"fact {number} tells of number{number} thing{number} and item{number}", url=url)


@given(CHUNKS, st.integers(1, 6), st.integers(1, 3))
def test_what_is_chosen_is_distinct_in_order_and_within_its_limits(
    chunks: list[Chunk], keep: int, cap: int
) -> None:
    picked = chosen(chunks, keep, cap)
    assert len(picked) <= keep
    places = [next(i for i, c in enumerate(chunks) if c is p) for p in picked]
    assert places == sorted(set(places))
    assert all(overlap(shingled(a.text), shingled(b.text)) < 0.85 for a, b in combinations(picked, 2))
    if chunks:
        assert picked[0] is chunks[0]


@given(CHUNKS, st.integers(1, 6))
def test_places_stay_empty_only_when_everything_left_was_said_already(chunks: list[Chunk], keep: int) -> None:
    picked = chosen(chunks, keep, 2)
    if len(picked) < keep:
        for chunk in chunks:
            mine = shingled(chunk.text)
            assert any(overlap(mine, shingled(p.text)) >= 0.85 for p in picked)


def test_the_same_text_of_five_pages_counts_once() -> None:
    footer = "Call our office at 555-0100 for questions of any kind about reservoir depth"
    chunks = [Chunk(text=footer, url=f"u{n}") for n in range(5)]
    answer = Chunk(text="Soundings in 2025 put the deepest point at 41.3 m.", url="facts")
    assert chosen([*chunks, answer], keep=3) == [chunks[0], answer]


def test_a_text_inside_a_longer_one_is_the_same() -> None:
    long = Chunk(text="The keeper of the lamp walked down to the shore every night of the winter", url="a")
    short = Chunk(text="walked down to the shore every night", url="b")
    assert chosen([long, short]) == [long]
    assert chosen([short, long]) == [short]


def test_no_source_takes_more_than_its_share_while_others_have_something_to_say() -> None:
    mine = [fact(n, "big") for n in range(6)]
    others = [fact(10 + n, f"small{n}") for n in range(2)]
    picked = chosen([*mine, *others], keep=5, per_source=3)
    assert picked == [*mine[:3], *others]
    assert sources(picked) == ("big", "small0", "small1")


def test_what_others_leave_free_is_filled_and_stays_best_first() -> None:
    mine = [fact(n, "big") for n in range(6)]
    other = fact(10, "small")
    assert chosen([*mine, other], keep=5, per_source=2) == [*mine[:4], other]
    assert chosen(mine, keep=5, per_source=1) == mine[:5]


def test_a_chunk_that_is_not_shown_does_not_hide_another_source() -> None:
    said = "the lighthouse keeper counted forty ships before the storm came in"
    mine = [fact(1, "big"), Chunk(text=said, url="big")]
    other = Chunk(text=said, url="small")
    assert chosen([*mine, other], keep=2, per_source=1) == [mine[0], other]


def test_text_without_spaces_is_compared_too() -> None:
    text = "湖の最も深い地点は四十一メートルであると二千二十五年の測量で報告された" * 2
    assert len(chosen([Chunk(text=text, url="a"), Chunk(text=text + "。", url="b")])) == 1
    assert len(chosen([Chunk(text=text, url="a"), Chunk(text="灯台守は毎晩浜辺まで歩いた", url="b")])) == 2


def test_a_thousand_chunks_of_one_source_are_quick() -> None:
    filler = "some words that are in every one of them " * 5
    chunks = [
        Chunk(text=f"{filler} {' '.join(f'w{n}x{k}' for k in range(60))}", url="one") for n in range(1_000)
    ]
    started = process_time()
    assert len(chosen(chunks, keep=5, per_source=1)) == 5
    assert process_time() - started < 0.5


def test_a_thousand_near_duplicates_are_quick() -> None:
    chunks = [Chunk(text="the very same sixty words " * 12, url=f"u{n}") for n in range(1_000)]
    started = process_time()
    assert len(chosen(chunks)) == 1
    assert process_time() - started < 0.5
