"""Statuses, waiting times and messages: nothing secret, nothing lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webfetch_core.runtime.http_errors import excerpt, for_status, is_wall, redact

NOW = 1_800_000_000.0


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (200, None),
        (204, None),
        (301, "bad_response"),
        (304, "bad_response"),
        (400, "bad_response"),
        (401, "auth"),
        (402, "quota"),
        (403, "auth"),
        (404, "bad_response"),
        (408, "unavailable"),
        (418, "bad_response"),
        (429, "rate_limited"),
        (500, "unavailable"),
        (503, "unavailable"),
        (599, "unavailable"),
    ],
)
def test_statuses_of_an_api(status: int, kind: str | None) -> None:
    error = for_status(
        status, {"content-type": "application/json"}, b'{"m": 1}', host="api.example", secrets=(), now=NOW
    )
    assert (error.kind if error else None) == kind
    if error is not None:
        assert str(status) in error.message and "api.example" in error.message
        assert vars(error)["status"] == status and vars(error)["body"] == b'{"m": 1}'


def test_a_bot_wall_is_not_a_wrong_key() -> None:
    page = b"<html><script src='/cdn-cgi/challenge-platform/h/b/orchestrate'></script>"
    for headers, body in (({"cf-mitigated": "challenge"}, b""), ({"content-type": "text/html"}, page)):
        error = for_status(403, headers, body, host="api.example", secrets=(), now=NOW)
        assert error is not None and error.kind == "blocked"
    assert not is_wall({"content-type": "application/json"}, b'{"error": "g-recaptcha"}')


def test_rate_limits_carry_what_was_asked_for() -> None:
    error = for_status(429, {"retry-after": "7"}, b"", host="h", secrets=(), now=NOW)
    assert error is not None and vars(error)["retry_after_s"] == 7.0


@pytest.mark.parametrize(
    "text",
    [
        "https://h/?api_key=hunter22&q=cats",
        "https://h/?q=cats&access_token=hunter22",
        "X-Subscription-Token: hunter22",
        '{"apiKey": "hunter22"}',
        "Authorization: Bearer hunter22",
        "sig=hunter22;",
        "client_secret='hunter22'",
        "got Bearer hunter22zz",
    ],
)
def test_values_of_key_like_names_are_struck_out(text: str) -> None:
    assert "hunter22" not in redact(text)
    assert ("cats" in redact(text)) == ("cats" in text)


@given(
    st.text(min_size=4, max_size=30).filter(lambda s: len(s.strip()) >= 4),
    st.text(max_size=50),
    st.text(max_size=50),
)
def test_a_secret_never_shows(secret: str, before: str, after: str) -> None:
    assert secret not in redact(before + secret + after, (secret,)) or secret in "***"


def test_excerpts_are_short_printable_and_clean() -> None:
    shown = excerpt(b"\x1b[31mred\x00\r\n" + b"key=abcdef&" + b"x" * 5000, ("red",))
    assert len(shown) <= 200 and shown.isprintable() and "abcdef" not in shown
    assert excerpt(b"\xff\xfe\x00") is not None


def test_a_wait_in_milliseconds_is_the_more_exact_one() -> None:
    headers = {"retry-after": "2", "retry-after-ms": "1500"}
    error = for_status(429, headers, b"", host="api.example", secrets=(), now=0.0)
    assert error is not None
    assert error.retry_after_s == 1.5
