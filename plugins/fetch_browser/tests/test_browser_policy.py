"""Policy without a browser: when a page rests, what is a wall, what a visit comes to, where a browser is."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from webfetch_fetch_browser import chromium, settling, switches
from webfetch_fetch_browser.settings import FetchBrowserSettings
from webfetch_fetch_browser.settling import Seen, Settling
from webfetch_fetch_browser.verdict import Visit, fault, from_navigation, of_the_host
from webfetch_fetch_browser.walls import Outline, is_wall

from webfetch_core.api import ProxyFailure, RateLimited

STEP = 0.1


def rest_after(looks: Iterable[Seen]) -> float:
    """Seconds until a page that shows these looks, one each tenth of a second, rests; -1 when it does not."""
    state = Settling()
    for n, seen in enumerate(looks):
        if state.rests(n * STEP, seen):
            return round(n * STEP, 1)
    return -1.0


def same(chars: int = 1000, *, loaded: bool = True, waiting: int = 0, times: int = 100) -> list[Seen]:
    return [Seen(loaded, chars, 50, waiting)] * times


def test_how_long_a_page_must_be_the_same() -> None:
    assert rest_after(same()) == settling.QUIET_S
    assert rest_after(same(waiting=2)) == settling.QUIET_WAITING_S
    assert rest_after(same(20)) == settling.QUIET_THIN_S
    assert rest_after(same(20, waiting=1)) == settling.QUIET_THIN_WAITING_S
    assert rest_after(same(loaded=False)) == settling.QUIET_LOADING_S
    assert rest_after(same(0, loaded=False)) == settling.QUIET_LOADING_S


def test_text_that_comes_in_begins_the_rest_anew() -> None:
    growing = [Seen(True, 100 * n, 50, 0) for n in range(1, 11)]
    assert rest_after(growing) == -1
    assert rest_after([*growing, *same(1000)]) == pytest.approx(0.9 + settling.QUIET_S)


def test_a_clock_on_the_page_is_no_new_text() -> None:
    assert rest_after(Seen(True, 1000 + n % 3, 50 + n % 2, 0) for n in range(50)) == settling.QUIET_S


def test_growing_little_by_little_is_growing() -> None:
    assert rest_after(Seen(True, 1000 + 8 * n, 50, 0) for n in range(30)) == -1


def test_going_elsewhere_begins_anew() -> None:
    state = Settling()
    assert not state.rests(0.0, Seen(True, 1000, 50, 0))
    state.moved()
    assert not state.rests(1.0, Seen(True, 1000, 50, 0))
    assert state.rests(1.5, Seen(True, 1000, 50, 0))


@given(
    st.lists(
        st.builds(Seen, st.booleans(), st.integers(0, 5000), st.integers(0, 500), st.integers(0, 3)),
        max_size=60,
    )
)
def test_whatever_a_page_does_it_rests_once_it_stands_still(looks: list[Seen]) -> None:
    last = looks[-1] if looks else Seen(True, 10, 10, 0)
    longest = max(settling.QUIET_LOADING_S, settling.QUIET_THIN_WAITING_S)
    assert rest_after([*looks, *[last] * round(longest / STEP + 2)]) >= 0


# ---- walls ----


@pytest.mark.parametrize(
    "page",
    [
        Outline(title="Just a moment...", text="Checking your browser", chars=21),
        Outline(title="Tarn", text="Verify you are human below.", marks="x cf-turnstile", chars=52),
        Outline(title="tarn.example", text="", marks="https://ct.captcha-delivery.com/c.js", chars=0),
        Outline(title="Access to this page has been denied", text="Hold", marks="px-captcha", chars=24),
        Outline(title="", heading="Are you a robot?", text="Are you a robot? Please confirm.", chars=32),
        Outline(title="Attention Required! | Cloudflare", text="Please complete the captcha", chars=27),
    ],
)
def test_walls(page: Outline) -> None:
    assert is_wall(page, {})


@pytest.mark.parametrize(
    "page",
    [
        Outline(title="Just a moment of joy: poems", text="A poem " * 300, chars=2100),
        Outline(title="That you are not a robot", text="Unusual traffic", chars=9000, marks="g-recaptcha"),
        Outline(
            title="Contact", text="Write to us. " * 20, chars=260, marks="https://g.example/recaptcha/api.js"
        ),
        Outline(title="Security checkpoint opens at Tarn", text="The new hall " * 100, chars=1300),
        Outline(title="Tarn", text="Short page.", chars=11, marks="/cdn-cgi/scripts/email-decode.min.js"),
        Outline(),
    ],
)
def test_what_only_looks_like_a_wall(page: Outline) -> None:
    assert not is_wall(page, {})


def test_a_wall_may_say_so_in_its_headers() -> None:
    page = Outline(title="Tarn", text="x", chars=1)
    assert is_wall(page, {"cf-mitigated": "challenge"}) and is_wall(page, {"x-amzn-waf-action": "captcha"})
    assert not is_wall(Outline(chars=5000), {"cf-mitigated": "challenge"})


# ---- verdicts ----

GOOD = Outline(title="t", text="text", chars=500)


def kind(visit: Visit, *failures: ProxyFailure) -> str | None:
    error = fault(visit, failures, max_bytes=1000, now=0.0)
    return error.kind if error else None


def failure(kind: str, host: str = "a.example", port: int = 443) -> ProxyFailure:
    return ProxyFailure(host=host, port=port, kind=kind, message="why")


@pytest.mark.parametrize(
    ("status", "failed", "found"),
    [
        (403, "refused", "refused"),
        (502, "unavailable", "unavailable"),
        (504, "timeout", "timeout"),
        (403, "too_large", "too_large"),
        (200, "refused", None),
        (403, "unavailable", "blocked"),
    ],
)
def test_the_proxys_own_answer_is_told_from_the_sites(status: int, failed: str, found: str | None) -> None:
    visit = Visit(url="https://a.example/x", status=status, html="x", outline=GOOD)
    assert kind(visit, failure(failed)) == found
    assert kind(visit, failure(failed, "b.example"), failure(failed, port=8443)) == kind(visit)


@pytest.mark.parametrize(
    ("status", "found"),
    [
        (200, None),
        (203, None),
        (0, None),
        (304, "bad_response"),
        (400, "bad_response"),
        (406, "blocked"),
        (408, "unavailable"),
        (999, "blocked"),
    ],
)
def test_statuses(status: int, found: str | None) -> None:
    assert kind(Visit(url="https://a.example/", status=status, html="x", outline=GOOD)) == found


def test_sizes_and_ends() -> None:
    page = {"url": "https://a.example/", "status": 200}
    assert kind(Visit(**page, size=1001, outline=GOOD)) == "too_large"
    assert kind(Visit(**page, body=b"x" * 1001, headers={"content-type": "text/plain"})) == "too_large"
    assert kind(Visit(**page, html="", outline=GOOD)) == "empty"
    assert kind(Visit(**page, html="x", outline=GOOD, complete=False)) == "unavailable"
    assert (
        kind(Visit(**page, html="x", outline=GOOD, complete=False), failure("too_large", "c.example"))
        == "too_large"
    )
    assert kind(Visit(**page, body=b"{}", headers={"content-type": "application/json"})) is None


def test_a_wait_that_is_asked_for_is_told() -> None:
    error = fault(
        Visit(url="https://a.example/", status=429, headers={"retry-after": "7"}), (), max_bytes=1, now=0.0
    )
    assert isinstance(error, RateLimited) and error.retry_after_s == 7.0


@pytest.mark.parametrize(
    ("message", "found"),
    [
        ("page.goto: net::ERR_TOO_MANY_REDIRECTS at x", "redirect_loop"),
        ("page.goto: net::ERR_ABORTED at x", "unsupported_type"),
        ("page.goto: Download is starting", "unsupported_type"),
        ("page.goto: net::ERR_CERT_AUTHORITY_INVALID at x", "unavailable"),
        ("page.goto: net::ERR_SSL_PROTOCOL_ERROR at x", "unavailable"),
        ("page.goto: net::ERR_UNSAFE_PORT at x", "refused"),
        ("page.goto: net::ERR_BLOCKED_BY_RESPONSE at x", "refused"),
        ("page.goto: net::ERR_ACCESS_DENIED at x", "refused"),
        ("page.goto: net::ERR_INVALID_AUTH_CREDENTIALS at x", "login"),
        ("page.goto: net::ERR_TIMED_OUT at x", "timeout"),
        ("page.goto: net::ERR_EMPTY_RESPONSE at x", "unavailable"),
        ("page.goto: net::ERR_INVALID_HTTP_RESPONSE at x", "bad_response"),
        ("page.goto: net::ERR_TUNNEL_CONNECTION_FAILED at x", "unavailable"),
        ("something else", "unavailable"),
    ],
)
def test_navigations_that_fail(message: str, found: str) -> None:
    assert from_navigation(message, "https://a.example/x", ()).kind == found
    assert from_navigation(message, "https://a.example/x", [failure("refused")]).kind == "refused"


def test_failures_are_looked_up_by_host_and_port() -> None:
    rows = [failure("timeout"), failure("refused"), failure("unavailable", "::1", 80)]
    assert of_the_host("https://a.example/", rows) == rows[1]
    assert of_the_host("http://[::1]/", rows) == rows[2]
    assert of_the_host("http://a.example/", rows) is None and of_the_host("http://[", rows) is None


# ---- how it is started ----


@pytest.mark.parametrize(
    ("setting", "user", "wanted"),
    [("auto", 1000, True), ("auto", 0, False), ("auto", None, True), ("on", 0, True), ("off", 1000, False)],
)
def test_the_sandbox(setting: str, user: int | None, wanted: bool) -> None:
    assert switches.wants_sandbox(setting, user) is wanted


def test_a_browser_sees_no_keys() -> None:
    seen = switches.browser_environment(
        {
            "PATH": "/bin",
            "HOME": "/h",
            "LC_ALL": "C",
            "BRAVE_API_KEY": "k",
            "http_proxy": "p",
            "LD_PRELOAD": "x",
        }
    )
    assert seen == {"PATH": "/bin", "HOME": "/h", "LC_ALL": "C"}


def test_the_agent_string() -> None:
    assert switches.plain_agent("156.0.8078.114", "").endswith("Chrome/156.0.0.0 Safari/537.36")
    assert switches.plain_agent("1", "A HeadlessChrome/5 B") == "A Chrome/5 B"


def nowhere(folder: Path) -> dict[str, str]:
    """An environment in which no browser is found outside of ``folder``."""
    return {"PATH": str(folder), "HOME": str(folder), "PLAYWRIGHT_BROWSERS_PATH": str(folder / "none")}


def program(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)


def test_where_a_browser_is_looked_for(tmp_path: Path) -> None:
    nothing = nowhere(tmp_path)
    assert chromium.find("", nothing) is None
    named = program(tmp_path / "my" / "browser")
    assert chromium.find(named, nothing) == named
    assert chromium.find(str(tmp_path / "gone"), nothing) is None
    google = program(tmp_path / "google-chrome")
    assert chromium.find("", nothing) == google
    assert chromium.find("", {**nothing, "PATH": ""}) is None
    first = program(tmp_path / "chromium")
    assert chromium.find("", nothing) == first
    assert chromium.find(str(tmp_path / "gone"), nothing) is None, "what is named is not stood in for"


def test_playwrights_own_browser_comes_first_when_it_fits(tmp_path: Path) -> None:
    import playwright

    listed = Path(str(playwright.__file__)).parent / "driver" / "package" / "browsers.json"
    rows = json.loads(listed.read_text(encoding="utf-8"))["browsers"]
    revision = next(row["revision"] for row in rows if row["name"] == "chromium-headless-shell")
    program(tmp_path / "chromium")
    environ = {"PATH": str(tmp_path), "PLAYWRIGHT_BROWSERS_PATH": str(tmp_path)}
    for number, found in (("1", str(tmp_path / "chromium")), (revision, "")):
        folder = tmp_path / f"chromium_headless_shell-{number}"
        folder.mkdir()
        (folder / "INSTALLATION_COMPLETE").touch()
        assert chromium.find("", environ) == found


def test_a_missing_browser_is_told_with_what_to_do(tmp_path: Path) -> None:
    environ = nowhere(tmp_path)
    told = chromium.Chromium().missing(environ)
    assert told is not None and "playwright install chromium" in told and "executable_path" in told
    named = chromium.Chromium().with_settings(FetchBrowserSettings(executable_path="/no/such"))
    assert "'/no/such'" in (named.missing({"PATH": os.defpath}) or "")
    here = program(tmp_path / "b")
    assert (
        chromium.Chromium().with_settings(FetchBrowserSettings(executable_path=here)).missing(environ) is None
    )
    assert chromium.Chromium().with_settings(None).missing(environ) == told


@pytest.mark.parametrize(
    "wrong",
    [
        {"tabs": 0},
        {"sandbox": "maybe"},
        {"user_agent": "a\r\nX: 1"},
        {"settle_s": 0.0},
        {"max_bytes": 0},
        {"locale": "\n"},
    ],
)
def test_bad_settings_name_the_key(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        FetchBrowserSettings(**wrong)  # type: ignore[arg-type]
