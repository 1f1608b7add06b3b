from __future__ import annotations

from datetime import UTC, datetime

import pytest
from webfetch_search_ddg.verdict import MAX_WAIT_S, TINY_BYTES, Reply, hits_of

from webfetch_core.api import (
    BadResponse,
    Blocked,
    ProviderError,
    RateLimited,
    SearchHit,
    Unavailable,
)

RESULT = b'<div class="result"><a class="result__a" href="https://x.example/">X</a></div>'
EMPTY = b'<div class="no-results">No results.</div>'
AD = b'<div class="result result--ad"><a class="result__a" href="https://shop.example/">Ad</a></div>'
CHALLENGE = b'<form id="challenge-form" action="//duckduckgo.com/anomaly.js?sv=html"></form>'
LAYOUT = b"<div id='app'></div>" + b"<link rel='preload' href='/dist/x.js'>" * 100
NOW = datetime(2026, 10, 21, 7, 26, tzinfo=UTC).timestamp()


def hits_of_now(reply: Reply) -> list[SearchHit]:
    return hits_of(reply, now=NOW)


def test_results_are_hits_whatever_the_success_status() -> None:
    assert [h.url for h in hits_of_now(Reply(status=200, body=RESULT))] == ["https://x.example/"]
    assert len(hits_of_now(Reply(status=202, body=RESULT))) == 1


@pytest.mark.parametrize("body", [EMPTY, AD, EMPTY + LAYOUT])
def test_nothing_found_is_an_empty_list(body: bytes) -> None:
    assert hits_of_now(Reply(status=200, body=body)) == []


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (Reply(status=202, body=b""), Blocked),
        (Reply(status=202, body=EMPTY), Blocked),
        (Reply(status=202, body=LAYOUT), Blocked),
        (Reply(status=200, body=CHALLENGE), Blocked),
        (Reply(status=200, body=CHALLENGE + LAYOUT), Blocked),
        (Reply(status=200, body=CHALLENGE + EMPTY), Blocked),
        (Reply(status=200, body=b""), Blocked),
        (Reply(status=200, body=b"<html>" + b" " * (TINY_BYTES - 7)), Blocked),
        (Reply(status=403, body=RESULT), Blocked),
        (Reply(status=429), RateLimited),
        (Reply(status=200, body=LAYOUT), BadResponse),
        (Reply(status=200, body=b' {"unexpected": true}'), BadResponse),
        (Reply(status=200, body=b"["), BadResponse),
        (Reply(status=202, body=b"{}"), Blocked),
        (Reply(status=404), BadResponse),
        (Reply(status=400), BadResponse),
        (Reply(status=301, location_host="www.example"), Unavailable),
        (Reply(status=500), Unavailable),
        (Reply(status=503, body=RESULT), Unavailable),
    ],
)
def test_what_is_no_answer_is_an_error(reply: Reply, kind: type[ProviderError]) -> None:
    with pytest.raises(ProviderError) as caught:
        hits_of_now(reply)
    assert type(caught.value) is kind


@pytest.mark.parametrize(
    ("sent", "wait"),
    [
        ("30", 30.0),
        ("", None),
        ("-1", None),
        ("soon", None),
        ("Wed, 21 Oct 2026 07:28:00 GMT", 120.0),
        ("Wed, 21 Oct 2026 07:20:00 GMT", 0.0),
        ("9" * 12, MAX_WAIT_S),
        ("9" * 5000, None),
    ],
)
@pytest.mark.parametrize(("status", "kind"), [(429, RateLimited), (503, Unavailable)])
def test_the_wait_that_was_asked_for(
    status: int, kind: type[ProviderError], sent: str, wait: float | None
) -> None:
    with pytest.raises(kind) as caught:
        hits_of_now(Reply(status=status, retry_after=sent))
    assert caught.value.retry_after_s == wait


def test_a_block_says_what_helps() -> None:
    with pytest.raises(Blocked, match=r"another engine.*BRAVE_API_KEY"):
        hits_of_now(Reply(status=202))


def test_a_new_layout_names_the_engine_and_the_size() -> None:
    with pytest.raises(BadResponse, match=f"DuckDuckGo.*{len(LAYOUT)} bytes"):
        hits_of_now(Reply(status=200, body=LAYOUT))
