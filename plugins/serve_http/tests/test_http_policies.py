"""The pure parts: who may ask, how often, which dialect, how input is read, what compression cut."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from webfetch_serve_http.access import matches, tokens_of
from webfetch_serve_http.asking import freshness_of, locale_of
from webfetch_serve_http.dialects import dialect_in, dialect_of, reply_to
from webfetch_serve_http.faults import Fault, clean, fault_of
from webfetch_serve_http.given import Given, mended
from webfetch_serve_http.rates import MOST_CLIENTS, RateLimit
from webfetch_serve_http.replies import JsonReply, plain
from webfetch_serve_http.view import link_of, pieces_of

from webfetch_core.api import (
    BadQuery,
    Freshness,
    PageError,
    Refused,
    TimedOut,
    Unavailable,
)

# ---- who may ask ---------------------------------------------------------------------------------


def test_tokens_are_found_wherever_clients_put_them() -> None:
    assert tokens_of({"authorization": "Bearer abc"}) == ["abc"]
    assert tokens_of({"authorization": "bearer  abc "}) == ["abc"]
    assert tokens_of({"authorization": "abc"}) == ["abc"]
    assert tokens_of({"authorization": "Basic dXNlcjphYmM="}) == ["abc"]
    assert tokens_of({"authorization": "Basic !!"}) == []
    assert tokens_of({"authorization": "Bearer "}) == []
    assert tokens_of({"x-api-key": "abc", "authorization": "Bearer x"}) == ["x", "abc"]


@given(st.lists(st.text()), st.text(min_size=1))
def test_a_token_matches_itself_alone(given_: list[str], token: str) -> None:
    assert matches([*given_, token], token)
    assert matches(given_, token) is (token in given_)


# ---- how often -----------------------------------------------------------------------------------


def test_a_burst_is_let_through_and_then_the_rate() -> None:
    limit = RateLimit(per_minute=60, burst=3)
    assert [limit.take("a", 0.0) for _ in range(4)] == [0.0, 0.0, 0.0, 1.0]
    assert limit.take("b", 0.0) == 0.0, "another client has its own"
    assert limit.take("a", 0.5) == pytest.approx(0.5)
    assert limit.take("a", 1.0) == 0.0


@given(st.lists(st.floats(min_value=0, max_value=100), min_size=1, max_size=60))
def test_nobody_gets_more_than_the_burst_and_the_rate(gaps: list[float]) -> None:
    limit, now, passed = RateLimit(per_minute=120, burst=5), 0.0, 0
    for gap in gaps:
        now += gap
        passed += limit.take("a", now) == 0.0
    assert passed <= 5 + 2 * now + 1e-6


def test_what_is_remembered_is_bounded() -> None:
    limit = RateLimit(per_minute=1, burst=1)
    for number in range(MOST_CLIENTS + 10):
        limit.take(str(number), 0.0)
    assert len(limit._clients) == MOST_CLIENTS


# ---- whose API -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "path", "query", "kind", "dialect"),
    [
        ("GET", "/", "", "", "page"),
        ("GET", "/", "q=x", "", "page"),
        ("GET", "/", "q=x&format=json", "", "searxng"),
        ("GET", "/search", "q=x&format=html", "", "page"),
        ("GET", "/search", "q=x&format=csv", "", "searxng"),
        ("POST", "/search", "", "application/json", "tavily"),
        ("POST", "/search", "", "", "tavily"),
        ("POST", "/search", "", "application/x-www-form-urlencoded; charset=utf-8", "searxng"),
        ("POST", "/", "", "application/json", "searxng"),
        ("POST", "/extract", "", "application/json", "tavily"),
        ("POST", "/v2/scrape", "", "application/json", "firecrawl"),
        ("POST", "/v1/rerank", "", "application/json", "jina"),
        ("GET", "/r/https://example.org/search", "", "", "jina"),
        ("GET", "/robots.txt", "", "", "native"),
        ("POST", "/api/v1/search", "", "application/json", "native"),
        ("POST", "/openwebui/load", "", "application/json", "openwebui"),
        ("GET", "/", "&".join(f"a{n}=1" for n in range(400)), "", "page"),
        ("POST", "/search", "q=warp&format=json", "application/json", "searxng"),
        ("POST", "/search", "q=warp", "", "searxng"),
        ("POST", "/search", "pretty=1", "application/json", "tavily"),
        ("POST", "/mcp", "", "application/json", "mcp"),
        ("GET", "/mcp/x", "", "", "mcp"),
        ("GET", "/mcpx", "", "", "native"),
    ],
)
def test_requests_are_told_apart(method: str, path: str, query: str, kind: str, dialect: str) -> None:
    assert dialect_of(method, path, query, kind) == dialect


@pytest.mark.parametrize(
    ("path", "query", "body", "dialect"),
    [
        ("/search", "", b' {"query": "warp"}', "tavily"),  # what curl calls a form
        ("/search", "", b"q=warp&format=json", "searxng"),
        ("/search", "q=warp", b'{"query": "warp"}', "searxng"),
        ("/", "", b'{"query": "warp"}', "searxng"),
        ("/search", "", b"", "searxng"),
    ],
)
def test_a_body_tells_more_than_its_label(path: str, query: str, body: bytes, dialect: str) -> None:
    assert dialect_in("searxng", path, query, body) == dialect
    assert dialect_in("page", path, query, body) == "page"


def test_errors_have_the_shape_of_the_imitated_api() -> None:
    fault = Fault(504, "timeout", "too late", retry_after_s=0.2)
    told = {
        name: reply_to(fault, name) for name in ("native", "tavily", "searxng", "firecrawl", "jina", "mcp")
    }
    bodies = {name: json.loads(bytes(reply.body)) for name, reply in told.items()}
    assert bodies["native"] == {"error": {"kind": "timeout", "message": "too late", "retry_after_s": 1}}
    assert bodies["tavily"] == {"detail": {"error": "too late"}}
    assert bodies["searxng"] == {"error": "too late"}
    assert bodies["mcp"] == {"jsonrpc": "2.0", "id": None, "error": {"code": -32000, "message": "too late"}}
    assert bodies["firecrawl"]["success"] is False and told["firecrawl"].status_code == 408
    assert bodies["jina"]["code"] == 504 and bodies["jina"]["readableMessage"] == "TimeoutError: too late"
    assert all(reply.headers["Retry-After"] == "1" for reply in told.values())


@pytest.mark.parametrize("status", [502, 504])
def test_firecrawl_is_never_told_to_ask_again_at_once(status: int) -> None:
    assert reply_to(Fault(status, "unavailable", "no"), "firecrawl").status_code not in (502, 504)


# ---- what went wrong -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "status", "kind"),
    [
        (BadQuery("empty"), 400, "bad_query"),
        (Refused("private"), 403, "refused"),
        (PageError("gone", kind="not_found"), 404, "not_found"),
        (PageError("a wall", kind="login"), 422, "login"),
        (TimedOut("late"), 504, "timeout"),
        (Unavailable("down"), 502, "unavailable"),
        (ValueError("at /srv/user/secret.py: key=hunter2"), 500, "fault"),
    ],
)
def test_every_error_has_a_status(error: Exception, status: int, kind: str) -> None:
    fault = fault_of(error)
    assert (fault.status, fault.kind) == (status, kind)
    assert "hunter2" not in fault.told and "secret.py" not in fault.told


def test_paths_of_this_machine_are_not_told() -> None:
    told = clean(
        "cannot open '/var/lib/x/cache.mdb' nor /etc/webfetch/a.toml\nfor https://a.example/b/c.html"
    )
    assert told == "cannot open (a path) nor (a path) for https://a.example/b/c.html"
    assert len(clean("word " * 500)) <= 500


# ---- input ---------------------------------------------------------------------------------------

_JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(), lambda c: st.lists(c, max_size=3)
)


@given(_JSON)
def test_any_value_is_read_or_refused(value: object) -> None:
    fields = Given({"x": value})
    for read in (
        lambda: fields.text("x"),
        lambda: fields.needed("x"),
        lambda: fields.texts("x"),
        lambda: fields.flag("x"),
        lambda: fields.whole("x", 5, 0, 20),
        lambda: fields.number("x", 5.0, 0.0, 20.0),
    ):
        try:
            read()
        except Fault as fault:
            assert fault.status == 400


@given(st.integers() | st.floats(allow_nan=False))
def test_numbers_stay_within_their_bounds(value: float) -> None:
    assert 0 <= Given({"x": value}).whole("x", 5, 0, 20) <= 20


def test_empty_is_absent() -> None:
    fields = Given({"a": "", "b": [], "c": None})
    assert fields.text("a") == "" and fields.texts("b") == () and fields.whole("c", 7, 0, 9) == 7


@pytest.mark.parametrize("body", [b"", b"{", b"[1]", b'"x"', b"[" * 100_000, b"\xff", b"NaN", b"1" * 9_999])
def test_bodies_that_are_no_object_are_refused(body: bytes) -> None:
    with pytest.raises(Fault) as caught:
        Given.of_json(body)
    assert caught.value.status == 400


@given(st.text(st.characters(exclude_categories=())))
def test_mended_text_can_be_encoded(text: str) -> None:
    assert mended(text).encode().decode() == mended(text)


def test_times_and_places_of_other_apis() -> None:
    assert freshness_of("d") is Freshness.REALTIME and freshness_of("Month") is Freshness.RECENT
    assert freshness_of("year") is None and freshness_of("soon") is None
    assert locale_of("en-us") == ("en", "US") and locale_of("de") == ("de", None)
    assert locale_of("all") == locale_of("auto") == (None, None)


# ---- output --------------------------------------------------------------------------------------


def test_json_holds_whatever_a_page_had() -> None:
    body = JsonReply(plain({"a": float("nan"), "b": "\ud800", "c": (1, 2)})).body
    assert json.loads(bytes(body)) == {"a": None, "b": "?", "c": [1, 2]}


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "data:text/html,x", "local:a/b", "http://", "http://["]
)
def test_only_web_addresses_become_links(url: str) -> None:
    assert link_of(url) == ""


@given(st.lists(st.text(min_size=1, max_size=12), max_size=12), st.data())
def test_pieces_are_the_passage_in_order(sentences: list[str], data: st.DataObject) -> None:
    """Whatever was cut: together the pieces are the passage, and what is not cut is in the kept text."""
    kept = [s for s in sentences if data.draw(st.booleans())]
    original, rest = " ".join(sentences), " ".join(kept)
    pieces = pieces_of(original, rest)
    assert "".join(piece.text for piece in pieces) == original
    shown = "".join(piece.text for piece in pieces if not piece.cut).split()
    words = iter(rest.split())
    assert all(word in words for word in shown), "a subsequence of what was kept"


def test_a_sentence_that_was_cut_is_one_piece() -> None:
    pieces = pieces_of(
        "Start at 180 g. The weather is fine. Loosen it later.", "Start at 180 g. Loosen it later."
    )
    assert [(p.text, p.cut) for p in pieces] == [
        ("Start at 180 g. ", False),
        ("The weather is fine. ", True),
        ("Loosen it later.", False),
    ]
