"""robots.txt: the rules as RFC 9309 has them, and when they are asked for."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from webfetch_fetch_http.robots import FETCH_S, Robots, matches, parse

from webfetch_core import CancelToken
from webfetch_core.api import Refused, TimedOut
from webfetch_core.testing import FakeClock, LoopbackSite, loopback_http
from webfetch_core.testing.site import Reply

SOON_S = 15.0
"""Within this, on a busy machine too, what is given up has ended."""


def allowed(text: str, path: str, agent: str = "webfetch") -> bool:
    return parse(text, agent).allow(f"https://t.example{path}")


@pytest.mark.parametrize(
    ("text", "path", "expected"),
    [
        ("", "/x", True),
        ("User-agent: *\nDisallow: /", "/x", False),
        ("User-agent: *\nDisallow: /", "/robots.txt", True),
        ("User-agent: *\nDisallow:", "/x", True),
        ("user-AGENT : *  # all\nDISALLOW : /p # private", "/p/1", False),
        ("User-agent: *\nDisallow: /p", "/q", True),
        ("User-agent: *\nDisallow: /a\nAllow: /a/b", "/a/b/c", True),
        ("User-agent: *\nAllow: /a\nDisallow: /a/b", "/a/b/c", False),
        ("User-agent: *\nDisallow: /a\nAllow: /a", "/a", True),
        ("User-agent: other\nDisallow: /\n\nUser-agent: *\nDisallow: /x", "/y", True),
        ("User-agent: WebFetch/2.0\nDisallow: /\n\nUser-agent: *\nAllow: /", "/y", False),
        ("User-agent: webfetch\nUser-agent: other\nDisallow: /x", "/x", False),
        (
            "User-agent: webfetch\nDisallow: /a\nUser-agent: o\nDisallow: /\n"
            "User-agent: webfetch\nDisallow: /b",
            "/b",
            False,
        ),
        ("User-agent: webfetchers\nDisallow: /", "/x", True),
        ("User-agent: *\nCrawl-delay: 5\nSitemap: https://t.example/s.xml\nDisallow: /x", "/x", False),
        ("Disallow: /", "/x", True),
        ("User-agent: *\nDisallow: /*.pdf$", "/a/b.pdf", False),
        ("User-agent: *\nDisallow: /*.pdf$", "/a/b.pdf?x", True),
        ("User-agent: *\nDisallow: /*?sort=", "/list?sort=up", False),
        ("User-agent: *\nDisallow: /caf\u00e9", "/caf%c3%a9/x", False),
        ("User-agent: *\nDisallow: /a%2Fb", "/a/b", True),
        ("User-agent: *\nDisallow: /%7Eme", "/~me/x", False),
        ("\ufeffUser-agent: *\r\nDisallow: /x\r\n", "/x", False),
        ("<html><body>Disallow: /</body></html>", "/x", True),
    ],
)
def test_rules(text: str, path: str, expected: bool) -> None:
    assert allowed(text, path) is expected


@given(st.text("ab*$/", max_size=12), st.text("ab$/", max_size=14))
def test_patterns_match_as_the_equal_regular_expression(pattern: str, path: str) -> None:
    body = pattern[:-1] if pattern.endswith("$") else pattern
    as_regex = ".*".join(re.escape(p) for p in body.split("*")) + (r"\Z" if pattern.endswith("$") else "")
    assert matches(pattern, path) == bool(re.match(as_regex, path))


def test_hostile_patterns_take_no_time() -> None:
    started = time.perf_counter()
    matches("/" + "*a" * 5000 + "$", "/" + "a" * 4999 + "b")
    assert time.perf_counter() - started < 20


# ---- over the network ----------------------------------------------------------------------------


@pytest.fixture
def site() -> Iterator[LoopbackSite]:
    with LoopbackSite() as made:
        yield made


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def robots(site: LoopbackSite, clock: FakeClock) -> Iterator[Robots]:
    with loopback_http(clock, allow=["127.0.0.1"]) as http:
        yield Robots(http, clock, "webfetch", {}, 100.0)


def text(body: str, **more: Any) -> dict[str, Any]:
    return {"body": body, "headers": {"Content-Type": "text/plain"}, **more}


def test_rules_are_fetched_once_and_again_after_their_time(
    site: LoopbackSite, robots: Robots, clock: FakeClock
) -> None:
    site.add("/robots.txt", **text("User-agent: *\nDisallow: /no"))
    for _ in range(3):
        robots.require(site.url("/yes"), None)
        with pytest.raises(Refused, match=r"robots\.txt of 127"):
            robots.require(site.url("/no"), None)
    assert site.paths == ["/robots.txt"]
    clock.advance(101)
    robots.require(site.url("/yes"), None)
    assert len(site.paths) == 2


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410])
def test_no_rules_are_no_hindrance(site: LoopbackSite, robots: Robots, status: int) -> None:
    site.add("/robots.txt", **text("User-agent: *\nDisallow: /", status=status))
    robots.require(site.url("/x"), None)


@pytest.mark.parametrize("status", [500, 503])
def test_a_server_error_is_a_no(site: LoopbackSite, robots: Robots, status: int) -> None:
    site.add("/robots.txt", **text("down", status=status))
    with pytest.raises(Refused, match=f"robots.*{status}"):
        robots.require(site.url("/x"), None)


def test_an_unreachable_robots_is_a_no_for_a_while(
    site: LoopbackSite, robots: Robots, clock: FakeClock
) -> None:
    site.queue("/robots.txt", Reply(raw=b""))
    site.add("/robots.txt", **text(""))
    for _ in range(2):
        with pytest.raises(Refused, match="cannot be reached"):
            robots.require(site.url("/x"), None)
    clock.advance(101)
    robots.require(site.url("/x"), None)


def test_redirects_are_followed_and_guarded(site: LoopbackSite, robots: Robots) -> None:
    site.redirect("/robots.txt", "/r2").add("/r2", **text("User-agent: *\nDisallow: /no"))
    with pytest.raises(Refused):
        robots.require(site.url("/no"), None)
    with LoopbackSite() as other:
        other.redirect("/robots.txt", "http://169.254.169.254/latest/")
        with pytest.raises(Refused, match="refused"):
            robots.require(other.url("/x"), None)


def test_endless_redirects_are_as_if_there_were_none(site: LoopbackSite, robots: Robots) -> None:
    site.redirect("/robots.txt", "/robots.txt")
    robots.require(site.url("/x"), None)
    assert len(site.paths) == 6


def test_a_flood_is_a_no(site: LoopbackSite, robots: Robots) -> None:
    site.add("/robots.txt", stream=lambda: (b"#" * 65536 for _ in range(200)))
    with pytest.raises(Refused, match="cannot be read"):
        robots.require(site.url("/x"), None)


def test_a_deadline_of_the_page_is_not_held_against_the_site(
    site: LoopbackSite, robots: Robots, clock: FakeClock
) -> None:
    site.queue("/robots.txt", Reply(hang=True))
    site.add("/robots.txt", **text(""))
    with pytest.raises(TimedOut):
        robots.require(site.url("/x"), clock.monotonic() + 0.1)
    robots.require(site.url("/x"), None)


def begun(robots: Robots, url: str, deadline: float | None, token: CancelToken) -> Future[float]:
    """What ``robots`` requires, asked in a thread of its own that ``token`` ends."""
    outcome: Future[float] = Future()

    def ask() -> None:
        try:
            with token.applied():
                outcome.set_result(robots.require(url, deadline))
        except BaseException as exc:
            outcome.set_exception(exc)

    threading.Thread(target=ask, daemon=True).start()
    return outcome


def until(condition: Callable[[], Any]) -> None:
    end = time.monotonic() + SOON_S
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.002)


@pytest.mark.parametrize("how", ["out of time", "cancelled"])
def test_whoever_still_has_time_asks_again_when_the_asker_has_none(
    site: LoopbackSite, robots: Robots, clock: FakeClock, how: str
) -> None:
    """The one who asked is gone while the others wait for its answer."""
    site.queue("/robots.txt", Reply(hang=True))
    site.add("/robots.txt", **text("User-agent: *\nDisallow: /no"))
    token, url = CancelToken(), site.url("/yes")
    hasty = begun(robots, url, clock.monotonic() + 2.0 if how == "out of time" else None, token)
    until(lambda: site.paths)
    patient = [begun(robots, url, None, CancelToken()) for _ in range(2)]
    ((_, shared),) = robots._known.values()
    until(lambda: hasty.done() or len(shared._condition._waiters) == 2)  # type: ignore[attr-defined]
    if how == "cancelled":
        token.cancel()
    assert isinstance(hasty.exception(SOON_S), TimedOut)
    assert [one.result(SOON_S) for one in patient] == [0.0, 0.0]
    assert len(site.paths) == 2, "one of them asks for both"


def test_a_cancelled_ask_is_not_held_against_the_site_however_late_it_is(
    site: LoopbackSite, robots: Robots, clock: FakeClock
) -> None:
    site.queue("/robots.txt", Reply(hang=True))
    site.add("/robots.txt", **text(""))
    token = CancelToken()
    asked = begun(robots, site.url("/x"), None, token)
    until(lambda: site.paths)
    clock.advance(FETCH_S * 0.95)
    token.cancel()
    error = asked.exception(SOON_S)
    assert isinstance(error, TimedOut) and error.kind == "cancelled"
    robots.require(site.url("/x"), None)
