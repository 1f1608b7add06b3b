"""Nothing that a provider returns gets further unless it keeps its protocol."""

from __future__ import annotations

import math
from itertools import count, repeat
from typing import Any

import pytest
from attrs import asdict
from hypothesis import given
from hypothesis import strategies as st

from webfetch_core.api import Chunk, Document, Embeddings, Match, Page, SearchHit, SearchRequest
from webfetch_core.errors import ContractViolation
from webfetch_core.runtime.replies import (
    MAX_DOCUMENT_CHARS,
    MAX_SCORE,
    MAX_TEXT_CHARS,
    check_compressed,
    check_document,
    check_embeddings,
    check_hits,
    check_match,
    check_page,
    check_scores,
    usable_url,
    visible,
)

REQUEST = SearchRequest(query="q", limit=3)
ANYTHING = st.one_of(
    st.none(),
    st.integers(),
    st.text(max_size=5),
    st.binary(max_size=5),
    st.lists(st.one_of(st.none(), st.integers(), st.text(max_size=3)), max_size=4),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=3),
    st.floats(),
)


def hit(url: Any, **fields: Any) -> SearchHit:
    return SearchHit(url=url, **fields)


@given(ANYTHING)
def test_no_value_of_any_type_gets_through_or_raises_otherwise(value: Any) -> None:
    for check in (
        lambda v: check_hits(v, REQUEST, "e"),
        check_page,
        check_document,
        lambda v: check_scores(v, 3),
        lambda v: check_embeddings(v, 3),
        lambda v: check_compressed(v, [Chunk(text="x", url="u")], 10),
        lambda v: check_match(v, 3),
    ):
        try:
            check(value)
        except ContractViolation:
            continue


# ---- hits ----


def test_hits_are_numbered_stamped_and_cut() -> None:
    rows = check_hits([hit(f"https://x.example/{n}") for n in range(9)], REQUEST, "mine")
    assert [(r.rank, r.engine, dict(r.engines)) for r in rows] == [
        (n, "mine", {"mine": n}) for n in (1, 2, 3)
    ]


def test_what_the_engine_said_of_its_rank_is_not_believed() -> None:
    (row,) = check_hits([hit("https://x.example/", rank=99, engine="other")], REQUEST, "mine")
    assert (row.rank, row.engine) == (1, "mine")


@pytest.mark.parametrize(
    "url",
    [
        None, 5, "", "x.example", "//x.example/", "/path", "javascript:alert(1)", "file:///etc/passwd",
        "https://", "https:///path", "ht tp://x.example/", "https://x.example/a b", "https://x.example/\n",
        "https://[::1", "mailto:a@x.example", "https://x.example/" + "a" * 9_000,
    ],
)  # fmt: skip
def test_unusable_urls_are_dropped(url: Any) -> None:
    rows = check_hits([hit(url), hit("https://good.example/")], REQUEST, "mine")
    assert [r.url for r in rows] == ["https://good.example/"]
    with pytest.raises(ContractViolation, match="none of its 1 hits"):
        check_hits([hit(url)], REQUEST, "mine")


def test_repeats_are_dropped() -> None:
    rows = check_hits([hit("https://x.example/"), hit("https://x.example/")], REQUEST, "mine")
    assert len(rows) == 1


def test_a_plugins_own_scheme_is_usable_for_it_alone() -> None:
    row = hit("local:notes/readme.md")
    assert check_hits([row], REQUEST, "mine", ("local",))
    with pytest.raises(ContractViolation):
        check_hits([row], REQUEST, "mine")


def test_an_endless_answer_is_cut() -> None:
    endless = (hit(f"https://x.example/{n}") for n in count())
    assert len(check_hits(endless, REQUEST, "mine")) == 3
    with pytest.raises(ContractViolation):
        check_hits(repeat(hit("nonsense")), REQUEST, "mine")


def test_text_is_made_visible_and_short() -> None:
    (row,) = check_hits(
        [hit("https://x.example/", title="a\u202eb\U000e0041", snippet="x" * 30_000)], REQUEST, "mine"
    )
    assert row.title == "ab" and len(row.snippet) == MAX_TEXT_CHARS


@pytest.mark.parametrize("title", [None, 5, ["x"]])
def test_text_of_another_type_is_left_out(title: Any) -> None:
    (row,) = check_hits([hit("https://x.example/", title=title)], REQUEST, "mine")
    assert row.title == ""


@given(st.text(max_size=30))
def test_usable_url_never_raises(url: str) -> None:
    usable_url(url, ("http", "https"))
    usable_url(f"https://{url}", ("http", "https"))


@given(st.text(max_size=50))
def test_visible_only_takes_away(text: str) -> None:
    kept = visible(text)
    assert visible(kept) == kept and len(kept) <= len(text)


# ---- pages and documents ----


def test_pages() -> None:
    page = Page(url="https://x.example/", body=b"x")
    assert check_page(page) == page
    for wrong in (None, b"x", Page(url="u", body="text")):  # type: ignore[arg-type]
        with pytest.raises(ContractViolation):
            check_page(wrong)


def test_documents() -> None:
    document = Document(url="u", text="x")
    assert check_document(document) == document
    assert check_document(None) is None
    assert check_document(Document(url="u", text=" \n")) is None
    for wrong in ("text", Document(url="u", text=None)):  # type: ignore[arg-type]
        with pytest.raises(ContractViolation):
            check_document(wrong)


# ---- scores and vectors ----


@given(st.lists(st.floats(-MAX_SCORE, MAX_SCORE), max_size=8))
def test_finite_scores_of_the_right_number_pass(scores: list[float]) -> None:
    assert check_scores(scores, len(scores)) == tuple(scores)
    with pytest.raises(ContractViolation, match="scores for"):
        check_scores(scores, len(scores) + 1)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 1e101, -1e308, 10**400, "high", None, [1.0]])
def test_other_scores_do_not(bad: Any) -> None:
    with pytest.raises(ContractViolation):
        check_scores([1.0, bad], 2)


def test_more_scores_than_passages() -> None:
    with pytest.raises(ContractViolation, match=r"3\+ scores for 2"):
        check_scores(repeat(1.0), 2)


def test_embeddings_must_fill_their_buffer() -> None:
    good = Embeddings(data=b"\0" * 24, rows=2, dim=3)
    assert check_embeddings(good, 2) is good
    for wrong in (Embeddings(data=b"\0" * 23, rows=2, dim=3), Embeddings(data=b"\0" * 12, rows=1, dim=3)):
        with pytest.raises(ContractViolation):
            check_embeddings(wrong, 2)


# ---- chunks and matches ----

GIVEN = (Chunk(text="one two", url="https://a.example/"), Chunk(text="three", url="https://b.example/"))


def test_compressed_chunks_come_from_what_was_given_and_fit() -> None:
    assert check_compressed([GIVEN[0]], GIVEN, 7) == (GIVEN[0],)
    for wrong, budget in (
        ([GIVEN[0]], 6),
        ([Chunk(text="x", url="https://else.example/")], 100),
        ([*GIVEN, GIVEN[0]], 100),
        (["text"], 100),
        (repeat(GIVEN[0]), 10**9),
    ):
        with pytest.raises(ContractViolation):
            check_compressed(wrong, GIVEN, budget)


def test_matches() -> None:
    match = Match(index=1, query="q", score=0.9)
    assert check_match(match, 2) == match
    for wrong in (Match(index=2, query="q", score=1), Match(index=-1, query="q", score=1),
                  Match(index=0, query="q", score=math.nan), "q", 1):  # fmt: skip
        with pytest.raises(ContractViolation):
            check_match(wrong, 2)


# ---- values that are not what they seem ----


class Sly(str):
    """A string that bites: whatever of it runs, runs in a thread of ours."""

    __slots__ = ()
    __hash__ = str.__hash__

    def _bite(self, *_: Any, **__: Any) -> Any:
        raise SystemExit("bitten")

    __eq__ = __getitem__ = __str__ = __format__ = __add__ = __contains__ = _bite
    lower = strip = split = partition = startswith = encode = replace = casefold = _bite


def _texts(value: Any) -> list[Any]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, (tuple, list)):
        return [text for item in value for text in _texts(item)]
    if isinstance(value, dict):
        return [text for pair in value.items() for text in _texts(list(pair))]
    return []


@pytest.mark.parametrize(
    "text", [Sly("https://x.example/a"), "https://x.example/\ud800"], ids=["sly", "half"]
)
def test_texts_of_any_reply_are_plain_and_can_be_encoded(text: str) -> None:
    given = [Chunk(text="t" * 99, url="https://x.example/a")]
    replies: list[Any] = [
        *check_hits(
            [
                hit("https://x.example/1", title=text, snippet=text, published=text, extra={text: [text]}),
                *([hit(text)] if isinstance(text, Sly) else []),
            ],
            REQUEST,
            "e",
        ),
        check_page(Page(url=text, final_url=text, content_type=text, headers={text: text}, body=b"x")),
        check_document(Document(url=text, text=text, title=text, metadata={text: text}, links=(text,),
                                flags=(text,), page_type=text, published=text)),
        *check_compressed([Chunk(text=text, url=Sly(given[0].url), title=text, heading_path=(text,))],
                          given, 99),
        check_match(Match(index=0, query=text, score=0.5, reason=text), 1),
    ]  # fmt: skip
    for reply in replies:
        for text_of in _texts(asdict(reply)):
            assert type(text_of) is str
            text_of.encode()


@pytest.mark.parametrize(
    "fields",
    [{"url": 5}, {"final_url": None}, {"content_type": b"text/html"}, {"headers": [1]}, {"headers": None},
     {"status": "200"}, {"fetched_by": 1}],
)  # fmt: skip
def test_pages_with_fields_of_another_type_are_refused_by_name(fields: dict[str, Any]) -> None:
    with pytest.raises(ContractViolation, match=next(iter(fields))):
        check_page(Page(**{"url": "https://x.example/", "body": b"x", **fields}))


@pytest.mark.parametrize("score", [math.nan, math.inf, "x", None, 10**400])
def test_a_hit_s_score_is_a_number(score: Any) -> None:
    (row,) = check_hits([hit("https://x.example/", score=score)], REQUEST, "e")
    assert row.score == 0.0


def test_floods_in_fields_are_cut() -> None:
    (row,) = check_hits([hit("https://x.example/", extra={"big": "x" * 10**6, "ok": 1})], REQUEST, "e")
    assert row.extra == {"ok": 1}
    flood = Document(
        url="u", text="x" * (MAX_DOCUMENT_CHARS + 1), metadata={str(n): "v" for n in range(10**4)}
    )
    kept = check_document(flood)
    assert kept is not None
    assert (len(kept.text), kept.flags) == (MAX_DOCUMENT_CHARS, ("truncated",))
    assert len(kept.metadata) < 1_000


def test_extras_share_nothing_with_the_plugin() -> None:
    theirs = {"deep": [1]}
    (row,) = check_hits([hit("https://x.example/", extra=theirs)], REQUEST, "e")
    theirs["deep"].append(2)
    assert row.extra == {"deep": [1]}
