"""Five chunks are five facts, from more than one source where more than one has something to say."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from webfetch_core.models import Chunk, Document
from webfetch_core.pipeline.chunking import chunk as cut
from webfetch_core.pipeline.selection import overlap, select, shingled

WORDS = st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=8).map(" ".join)
CHUNKS = st.lists(st.builds(Chunk, text=WORDS, url=st.sampled_from(["u1", "u2", "u3"])), max_size=20)


def chosen(chunks: list[Chunk], keep: int = 5, per_source: int = 3, near: float = 0.85) -> list[Chunk]:
    ranked = range(len(chunks))
    return list(select(ranked, chunks, keep=keep, per_source=per_source, near_duplicate=near))


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


# ---- surroundings ------------------------------------------------------------------------------

WORDS_OF_THE_SEA = ("anchor", "barrel", "compass", "dinghy", "ensign", "fender", "galley", "hawser", "keel")
LINES = [
    f"Line {n} says that the {word} is number {n} of them all." for n, word in enumerate(WORDS_OF_THE_SEA)
]
PAGE = Document(url="p", title="T", text="\n\n".join(LINES))
PIECES = cut(PAGE, chars=60, overlap=0.0)


def widened(
    ranked: list[int], *, keep: int = 5, context: int = 1, max_chars: int = 400, cap: int = 5
) -> list[str]:
    picked = select(
        ranked,
        PIECES,
        {"p": PAGE.text},
        keep=keep,
        per_source=cap,
        near_duplicate=0.85,
        context=context,
        max_chars=max_chars,
    )
    for excerpt in picked:
        assert excerpt.text == PAGE.text[excerpt.start : excerpt.end]
    return [excerpt.text for excerpt in picked]


def test_an_excerpt_has_its_neighbours_with_it() -> None:
    assert widened([5]) == ["\n\n".join(LINES[4:7])]
    assert widened([0]) == ["\n\n".join(LINES[:2])]
    assert widened([5], context=0) == [LINES[5]]


def test_excerpts_that_meet_become_one_and_leave_their_place_to_another() -> None:
    assert widened([1, 3, 7], keep=2) == ["\n\n".join(LINES[:5]), "\n\n".join(LINES[6:9])]


def test_an_excerpt_does_not_outgrow_its_limit() -> None:
    for limit in range(60, 400, 20):
        texts = widened([2, 4, 6, 8], max_chars=limit)
        assert all(len(text) <= max(limit, 60) for text in texts)
        assert all(sum(line in text for text in texts) <= 1 for line in LINES)


@given(st.permutations(range(len(PIECES))), st.integers(1, 6), st.integers(0, 3), st.integers(60, 900))
def test_no_line_is_shown_twice_and_the_best_is_always_there(
    ranked: list[int], keep: int, context: int, limit: int
) -> None:
    texts = widened(ranked, keep=keep, context=context, max_chars=limit)
    assert len(texts) <= keep
    assert PIECES[ranked[0]].text in texts[0]
    assert all(sum(text.count(line) for text in texts) <= 1 for line in LINES)


def test_surroundings_never_cross_into_another_page() -> None:
    other = cut(Document(url="q", text="\n\n".join(reversed(LINES))), chars=60, overlap=0.0)
    chunks = [*PIECES, *other]
    picked = select(
        [len(PIECES) - 1, len(PIECES)],
        chunks,
        {"p": PAGE.text, "q": "\n\n".join(reversed(LINES))},
        keep=2,
        per_source=3,
        near_duplicate=1.0,
        context=2,
    )
    assert [p.url for p in picked] == ["p"]  # the same line twice is one fact
    assert picked[0].text == "\n\n".join(LINES[-3:])


def test_an_excerpt_that_begins_inside_a_table_keeps_the_header() -> None:
    rows = "\n".join(f"| station {n} | {n * 3} metres above the sea |" for n in range(12))
    page = Document(url="t", text=f"| Station | Height |\n| --- | --- |\n{rows}")
    pieces = cut(page, chars=160, overlap=0.0)
    last = len(pieces) - 1
    (excerpt,) = select(
        [last], pieces, {"t": page.text}, keep=1, per_source=1, near_duplicate=0.9, context=1, max_chars=900
    )
    assert excerpt.text.startswith("| Station | Height |")
    assert excerpt.text.endswith(page.text[excerpt.start : excerpt.end])
    assert excerpt.text.count("| Station | Height |") == 1


def test_a_snippet_stands_alone() -> None:
    snippet = Chunk(text="an engine's own words", url="elsewhere")
    assert select([0], [snippet], {}, keep=1, per_source=1, near_duplicate=0.9, context=2) == (snippet,)


def test_an_excerpt_that_begins_inside_code_keeps_the_fence() -> None:
    text = "```sh\n" + "\n".join(f"step {n} of gauge{n} {'x' * 20}" for n in range(60)) + "\n```\n\nDone."
    chunks = cut(Document(url="u", text=text))
    [excerpt] = select([3], chunks, {"u": text}, keep=1, per_source=1, near_duplicate=0.85, context=1)
    assert excerpt.start == chunks[2].start > 0
    assert excerpt.text == "```sh\n" + text[excerpt.start : excerpt.end]
