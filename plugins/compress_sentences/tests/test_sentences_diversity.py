"""Queries that want a list get many names and not one name many times."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from webfetch_compress_sentences.compressor import SentenceCompressor
from webfetch_compress_sentences.diversity import MOST_CANDIDATES, choose_diverse, names_in
from webfetch_compress_sentences.layout import lay_out
from webfetch_compress_sentences.lines import Kind
from webfetch_compress_sentences.question import read_question

from webfetch_core.api import Chunk

LAKES = ("Orvane", "Tarn", "Quill", "Southmark", "Holt", "Brannet", "Ferrow", "Gant")


@pytest.mark.parametrize(
    ("text", "kind", "names"),
    [
        ("The lakes are Orvane, Tarn and Quill.", Kind.PROSE, {"orvane", "tarn", "quill"}),
        ("- Lake Orvane: 41 m, Tarn", Kind.ITEM, {"lake orvane", "tarn"}),
        ("| Orvane | 41 |", Kind.ROW, {"orvane"}),
        ("milk, flour, two eggs, salt", Kind.PROSE, {"milk", "flour", "two eggs", "salt"}),
        ("It was built there, long ago.", Kind.PROSE, set()),
        ("Deep lakes", Kind.HEADING, set()),
        ("德国、法国、意大利", Kind.PROSE, {"德国", "法国", "意大利"}),
        ("", Kind.PROSE, set()),
    ],
)
def test_names(text: str, kind: Kind, names: set[str]) -> None:
    asked = frozenset(read_question("deep lakes").terms)
    found = names_in(text, asked, kind)
    assert {name for name in found if not name.startswith("the lakes are")} >= names
    assert all(name == name.casefold() for name in found)
    if not names:
        assert not found


def test_what_the_query_names_is_no_entry() -> None:
    asked = frozenset(read_question("members of the Tarn Council").terms)
    assert "tarn council" not in names_in("The Tarn Council has seats for Orvane.", asked)


def test_new_names_go_before_repeated_ones() -> None:
    again = [f"Lake {LAKES[0]} is the deepest of the deep lakes, as survey {n} says." for n in range(6)]
    others = [f"{one} and {two} are deep." for one, two in zip(LAKES[1::2], LAKES[2::2], strict=False)]
    chunk = Chunk(text=" ".join([*again, *others]), url="https://tarn.example/")
    [kept] = SentenceCompressor().compress("list the deep lakes", [chunk], 240)
    assert all(name in kept.text for name in LAKES[:7])
    [one] = SentenceCompressor().compress("which lake is the deepest of the deep lakes", [chunk], 240)
    assert "survey" in one.text


def test_the_best_sentence_is_kept_even_where_lists_have_more_names() -> None:
    answer = "The roles of the harbour board are to dredge and to levy dues."
    lists = "\n".join(
        f"- {one}, {two}, {three}" for one, two, three in zip(LAKES, LAKES[2:], LAKES[4:], strict=False)
    )
    chunk = Chunk(
        text=f"{answer}\n\n{lists}\n\n" + "The tide is low at noon. " * 9, url="https://tarn.example/"
    )
    [kept] = SentenceCompressor().compress("what are the roles of the harbour board", [chunk], 150)
    assert answer in kept.text


def test_a_row_comes_with_its_header_in_a_list_too() -> None:
    rows = "\n".join(f"| {name} | {30 + n} |" for n, name in enumerate(LAKES))
    chunk = Chunk(text=f"Nothing here. {'It rained. ' * 20}\n\n| Lake | Depth |\n|---|---|\n{rows}", url="u")
    [kept] = SentenceCompressor().compress("list the deep lakes", [chunk], 120)
    assert kept.text.startswith("| Lake | Depth |") and "| Orvane | 30 |" in kept.text


sentences = st.lists(
    st.sampled_from(
        ["Lake Orvane is deep. ", "Tarn, Quill, Holt. ", "- Gant\n", "\n\n", "| a | B |\n", "it is. "]
    ),
    max_size=30,
).map("".join)


@settings(deadline=None)
@given(st.lists(sentences, min_size=1, max_size=4), st.integers(1, 300), st.randoms(use_true_random=False))
def test_never_over_budget_never_a_dropped_unit(texts: Sequence[str], budget: int, chance: object) -> None:
    chunks = [Chunk(text=text, url=f"https://{n}.example/", title="Lakes") for n, text in enumerate(texts)]
    placed = lay_out(chunks)
    if not placed:
        return
    scores = [float(chance.randint(-5, 5)) for _ in placed]  # type: ignore[attr-defined]
    costs = {chunk.url: 30 for chunk in chunks}
    dropped = {i for i in range(len(placed)) if i % 3 == 0}
    kept = choose_diverse(
        read_question("list the lakes"), placed, scores, budget, costs, dropped, lambda i: [[i]]
    )
    spent = sum(len(placed[i].unit.text) + 1 for i in kept)
    assert spent + 30 * len({placed[i].source for i in kept}) <= budget
    assert not kept & dropped


def test_a_whole_document_is_weighed_in_bounded_work() -> None:
    text = "\n".join(f"- Place{n} of Tarn" for n in range(4 * MOST_CANDIDATES))
    placed = lay_out([Chunk(text=text, url="u")])
    scores = [float(-n) for n in range(len(placed))]
    kept = choose_diverse(
        read_question("list places"), placed, scores, 10**6, {"u": 0}, set(), lambda i: [[i]]
    )
    assert len(kept) <= MOST_CANDIDATES
