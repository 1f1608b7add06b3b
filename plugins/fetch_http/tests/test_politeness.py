"""Manners by host: turns, rests, and what they never do."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from webfetch_fetch_http import politeness
from webfetch_fetch_http.fetcher import HttpFetcher
from webfetch_fetch_http.politeness import Politeness
from webfetch_fetch_http.settings import FetchHttpSettings

from webfetch_core.api import FetchRequest, RateLimited, Refused, WebfetchError
from webfetch_core.testing import FakeClock, LoopbackSite, loopback_http
from webfetch_core.testing.site import Reply

HTML = "<!doctype html><title>Tarn</title><p>The span is 214 m.</p>"


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def manners(clock: FakeClock) -> Politeness:
    return Politeness(clock, 600.0, clock.advance)


# ---- turns ----


def test_requests_to_one_host_keep_their_distance_and_others_do_not_wait(
    manners: Politeness, clock: FakeClock
) -> None:
    start = clock.monotonic()
    for host in ("a", "a", "b", "a"):
        manners.wait(host, 0.5, None)
    assert clock.monotonic() - start == pytest.approx(1.0)


def test_without_a_distance_nobody_waits(manners: Politeness, clock: FakeClock) -> None:
    start = clock.monotonic()
    for _ in range(5):
        manners.wait("a", 0.0, None)
    assert clock.monotonic() == start


def test_a_turn_after_the_deadline_is_left_to_others(manners: Politeness, clock: FakeClock) -> None:
    manners.wait("a", 2.0, None)
    with pytest.raises(RateLimited, match="2 s between requests") as caught:
        manners.wait("a", 2.0, clock.monotonic() + 1.0)
    assert (caught.value.kind, caught.value.retry_after_s) == ("busy", pytest.approx(2.0))
    clock.advance(2.0)
    start = clock.monotonic()
    manners.wait("a", 2.0, start + 1.0)
    assert clock.monotonic() == start


@given(st.lists(st.sampled_from("abc"), max_size=20), st.floats(0.01, 5))
def test_no_two_requests_to_a_host_are_nearer_than_its_distance(hosts: list[str], distance: float) -> None:
    clock = FakeClock()
    manners = Politeness(clock, 1.0, clock.advance)
    seen: dict[str, float] = {}
    for host in hosts:
        manners.wait(host, distance, None)
        now = clock.monotonic()
        assert now - seen.get(host, float("-inf")) >= distance * 0.999999
        seen[host] = now


def test_threads_get_a_turn_each(clock: FakeClock) -> None:
    slept: list[float] = []
    manners = Politeness(clock, 1.0, slept.append)
    threads = [threading.Thread(target=manners.wait, args=("a", 1.0, None)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(5)
    assert sorted(slept) == pytest.approx([1, 2, 3, 4, 5])


def test_hosts_are_forgotten_at_last(manners: Politeness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(politeness, "MAX_HOSTS", 3)
    for number in range(5):
        manners.rest(str(number), 60.0)
    manners.require_rested("0")
    with pytest.raises(RateLimited):
        manners.require_rested("4")


# ---- rests ----


def test_a_host_is_left_alone_as_long_as_it_says_and_no_longer(manners: Politeness, clock: FakeClock) -> None:
    manners.rest("a", 30.0)
    clock.advance(10)
    with pytest.raises(RateLimited, match="20 s more") as caught:
        manners.require_rested("a")
    assert (caught.value.kind, caught.value.retry_after_s) == ("rate_limited", pytest.approx(20.0))
    manners.require_rested("b")
    clock.advance(20)
    manners.require_rested("a")


def test_a_rest_is_bounded(manners: Politeness, clock: FakeClock) -> None:
    manners.rest("a", 1e9)
    clock.advance(600)
    manners.require_rested("a")


@pytest.mark.parametrize("wait_s", [None, 0.0])
def test_who_asks_for_nothing_is_not_left_alone(manners: Politeness, wait_s: float | None) -> None:
    manners.rest("a", wait_s)
    manners.require_rested("a")


# ---- over the network ----


@pytest.fixture
def site() -> Iterator[LoopbackSite]:
    with LoopbackSite() as made:
        yield made


@pytest.fixture
def make(clock: FakeClock) -> Iterator[Any]:
    with loopback_http(clock, allow=["127.0.0.1", "localhost"]) as http:
        yield lambda **settings: HttpFetcher(FetchHttpSettings(**settings), http, clock, clock.advance)


def get(fetcher: HttpFetcher, url: str, purpose: str = "search", deadline: float | None = None) -> str:
    try:
        fetcher.fetch(FetchRequest(url=url, purpose=purpose, deadline=deadline))
    except WebfetchError as exc:
        return exc.kind
    return "ok"


@pytest.mark.parametrize(
    ("status", "kind", "retry_after"),
    [
        (429, "rate_limited", "30"),
        (503, "unavailable", "30"),
        (429, "rate_limited", "Mon, 01 Jan 2024 00:00:30 GMT"),
    ],
)
def test_the_next_page_of_a_host_that_wants_a_rest_is_not_asked(
    site: LoopbackSite, make: Any, clock: FakeClock, status: int, kind: str, retry_after: str
) -> None:
    fetcher = make(obey_robots=False)
    site.add("/a", "slow down", status=status, headers={"Retry-After": retry_after}).add("/b", HTML)
    assert get(fetcher, site.url("/a")) == kind
    assert get(fetcher, site.url("/b")) == "rate_limited"
    assert get(fetcher, site.url("/b"), "user") == "ok"  # who names a page wants it asked for
    assert site.paths == ["/a", "/b"]
    clock.advance(31)
    assert get(fetcher, site.url("/b")) == "ok"


@pytest.mark.parametrize("status", [404, 500, 200])
def test_other_answers_do_not_bench_a_host(site: LoopbackSite, make: Any, status: int) -> None:
    fetcher = make(obey_robots=False)
    site.add("/a", HTML, status=status, headers={"Retry-After": "30"}).add("/b", HTML)
    get(fetcher, site.url("/a"))
    assert get(fetcher, site.url("/b")) == "ok"


def test_a_redirect_to_a_host_that_wants_a_rest_is_not_followed(site: LoopbackSite, make: Any) -> None:
    fetcher = make(obey_robots=False)
    with LoopbackSite() as other:
        site.redirect("/a", f"http://localhost:{other.port}/b")
        other.queue("/x", Reply(status=429, headers={"Retry-After": "30"}))
        assert get(fetcher, f"http://localhost:{other.port}/x") == "rate_limited"
        assert get(fetcher, site.url("/a")) == "rate_limited"
        assert other.paths == ["/x"]


def robots(text: str) -> dict[str, Any]:
    return {"body": text, "headers": {"Content-Type": "text/plain"}}


def test_a_crawl_delay_is_kept_but_bounded(site: LoopbackSite, make: Any, clock: FakeClock) -> None:
    site.add("/robots.txt", **robots("User-agent: *\nCrawl-delay: 10\nDisallow: /no"))
    fetcher = make(max_crawl_delay_s=0.5)
    for path in "abc":
        site.add(f"/{path}", HTML)
    start = clock.monotonic()
    for path in "abc":
        assert get(fetcher, site.url(f"/{path}")) == "ok"
    assert clock.monotonic() - start == pytest.approx(1.0)
    with pytest.raises(Refused):
        fetcher.fetch(FetchRequest(url=site.url("/no")))


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("User-agent: *\nCrawl-delay: 0.2", 0.2),
        ("User-agent: *\nCrawl-delay: 9\n\nUser-agent: webfetch\nCrawl-delay: 0.1", 0.1),
        ("User-agent: webfetch\nAllow: /\n\nUser-agent: *\nCrawl-delay: 0.3", 0.0),
        ("User-agent: *\nCrawl-delay: soon", 0.0),
        ("User-agent: *\nCrawl-delay: -1", 0.0),
        ("User-agent: *\nCrawl-delay: inf", 0.0),
        ("Crawl-delay: 5", 0.0),
    ],
)
def test_whose_delay_counts(
    site: LoopbackSite, make: Any, clock: FakeClock, text: str, seconds: float
) -> None:
    site.add("/robots.txt", **robots(text)).add("/a", HTML)
    fetcher, start = make(), clock.monotonic()
    assert [get(fetcher, site.url("/a")) for _ in range(2)] == ["ok", "ok"]
    assert clock.monotonic() - start == pytest.approx(seconds)


def test_pages_that_a_user_names_and_those_of_who_does_not_obey_are_not_slowed(
    site: LoopbackSite, make: Any, clock: FakeClock
) -> None:
    site.add("/robots.txt", **robots("User-agent: *\nCrawl-delay: 10")).add("/a", HTML)
    start = clock.monotonic()
    for fetcher, purpose in ((make(), "user"), (make(obey_robots=False), "search")):
        assert [get(fetcher, site.url("/a"), purpose) for _ in range(2)] == ["ok", "ok"]
    assert clock.monotonic() == start


def test_the_operators_own_distance_is_for_every_request(
    site: LoopbackSite, make: Any, clock: FakeClock
) -> None:
    site.redirect("/a", "/b").add("/b", HTML)
    start = clock.monotonic()
    assert get(make(host_delay_s=0.7), site.url("/a"), "user") == "ok"
    assert clock.monotonic() - start == pytest.approx(0.7)


def test_a_page_whose_turn_comes_too_late_is_not_asked_for(
    site: LoopbackSite, make: Any, clock: FakeClock
) -> None:
    site.add("/a", HTML)
    fetcher = make(host_delay_s=5.0, obey_robots=False)
    assert get(fetcher, site.url("/a")) == "ok"
    assert get(fetcher, site.url("/a"), deadline=clock.monotonic() + 2.0) == "busy"
    assert site.paths == ["/a"]
