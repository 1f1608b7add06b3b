"""Pages over real sockets, as the fetcher hands them on."""

from __future__ import annotations

import gzip
import time
from collections.abc import Iterator
from typing import Any

import pytest
from webfetch_fetch_http.fetcher import HttpFetcher
from webfetch_fetch_http.settings import FetchHttpSettings

from webfetch_core.api import FetchRequest, Page, RateLimited, Refused, TimedOut, WebfetchError
from webfetch_core.testing import FakeClock, LoopbackSite, loopback_http


class RealClock:
    def monotonic(self) -> float:
        return time.monotonic()

    def time(self) -> float:
        return time.time()


@pytest.fixture
def site() -> Iterator[LoopbackSite]:
    with LoopbackSite() as made:
        yield made


@pytest.fixture
def make() -> Iterator[Any]:
    clock = RealClock()
    with loopback_http(clock, allow=["127.0.0.1"]) as http:
        yield lambda **settings: HttpFetcher(FetchHttpSettings(**settings), http, clock)


def fetch(fetcher: HttpFetcher, url: str, purpose: str = "user", within_s: float = 5.0) -> Page:
    return fetcher.fetch(FetchRequest(url=url, deadline=time.monotonic() + within_s, purpose=purpose))


def kind_of(fetcher: HttpFetcher, url: str, **more: Any) -> str:
    with pytest.raises(WebfetchError) as caught:
        fetch(fetcher, url, **more)
    return caught.value.kind


HTML = "<!doctype html><title>Tarn</title><h1>Tarn</h1><p>The span is 214 m.</p>"


def test_a_page_is_handed_on_with_its_facts(site: LoopbackSite, make: Any) -> None:
    site.redirect("/a", "/b").add("/b", HTML, headers={"Content-Type": "application/octet-stream"})
    page = fetch(make(), site.url("/a"))
    assert page.body == HTML.encode() and page.content_type == "text/html" and page.fetched_by == "http"
    assert (page.url, page.final_url, page.redirects) == (site.url("/a"), site.url("/b"), 1)
    sent = site.requests[0].headers
    assert "webfetch/" in sent["user-agent"] and sent["accept"].startswith("text/html")
    assert "br" in sent["accept-encoding"] and "zstd" in sent["accept-encoding"] and sent["accept-language"]


def test_a_user_agent_can_be_set(site: LoopbackSite, make: Any) -> None:
    site.add("/a", HTML)
    fetch(make(user_agent="MyBot/1.0 (+mailto:ops@t.example)"), site.url("/a"))
    assert site.requests[0].headers["user-agent"] == "MyBot/1.0 (+mailto:ops@t.example)"


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (204, "empty"),
        (304, "bad_response"),
        (400, "bad_response"),
        (401, "login"),
        (402, "paywall"),
        (403, "blocked"),
        (404, "not_found"),
        (408, "unavailable"),
        (410, "not_found"),
        (429, "rate_limited"),
        (451, "blocked"),
        (500, "unavailable"),
        (503, "unavailable"),
        (521, "unavailable"),
        (999, "blocked"),
    ],
)
def test_error_statuses_are_not_content(site: LoopbackSite, make: Any, status: int, kind: str) -> None:
    site.add("/e", "<p>secret policy text</p>", status=status)
    with pytest.raises(WebfetchError) as caught:
        fetch(make(), site.url("/e"))
    assert caught.value.kind == kind and "policy" not in str(caught.value)


def test_a_wall_under_503_is_a_block(site: LoopbackSite, make: Any) -> None:
    site.add("/w", "<title>Just a moment...</title><script>_cf_chl_opt</script>", status=503)
    assert kind_of(make(), site.url("/w")) == "blocked"


def test_rate_limits_carry_the_wait(site: LoopbackSite, make: Any) -> None:
    site.add("/l", "x", status=429, headers={"Retry-After": "9"})
    with pytest.raises(RateLimited) as caught:
        fetch(make(), site.url("/l"))
    assert caught.value.retry_after_s == 9.0


@pytest.mark.parametrize("body", ["", " \n\t"])
def test_empty_pages(site: LoopbackSite, make: Any, body: str) -> None:
    site.add("/e", body)
    assert kind_of(make(), site.url("/e")) == "empty"


@pytest.mark.parametrize(
    ("html", "kind"),
    [
        ("<title>Page not found</title><p>Sorry.</p>", "not_found"),
        ("<title>Log in</title><form><input type=password></form>", "login"),
    ],
)
def test_hollow_pages(site: LoopbackSite, make: Any, html: str, kind: str) -> None:
    site.add("/h", html)
    assert kind_of(make(), site.url("/h")) == kind


def test_caps_are_handed_to_the_client(site: LoopbackSite, make: Any) -> None:
    site.add("/big", HTML + "x" * 5000)
    assert kind_of(make(max_bytes=1000), site.url("/big")) == "too_large"
    assert kind_of(make(max_wire_bytes=1000), site.url("/big")) == "too_large"


def test_the_deadline_holds(site: LoopbackSite, make: Any) -> None:
    site.add("/d", "x" * 1000, drip=(1, 0.25))
    started = time.monotonic()
    with pytest.raises(TimedOut):
        fetch(make(), site.url("/d"), within_s=1.0)
    assert time.monotonic() - started < 20


# ---- redirects of the page's own -----------------------------------------------------------------


def test_a_meta_refresh_is_followed_like_any_redirect(site: LoopbackSite, make: Any) -> None:
    site.add("/a", "<meta http-equiv=refresh content='0;url=/b'>").redirect("/b", "/c").add("/c", HTML)
    page = fetch(make(), site.url("/a"))
    assert (page.url, page.final_url, page.redirects) == (site.url("/a"), site.url("/c"), 2)


def test_a_mixed_loop_ends_at_the_one_limit(site: LoopbackSite, make: Any) -> None:
    site.add("/a", "<meta http-equiv=refresh content='0;url=/b'>").redirect("/b", "/a")
    assert kind_of(make(max_redirects=6), site.url("/a")) == "redirect_loop"
    assert len(site.requests) <= 7


def test_a_page_that_refreshes_to_itself_is_a_loop(site: LoopbackSite, make: Any) -> None:
    site.add("/a", "<meta http-equiv=refresh content='0;url=/a'>")
    assert kind_of(make(max_redirects=3), site.url("/a")) == "redirect_loop"
    assert len(site.requests) == 4


def test_client_redirects_are_guarded(site: LoopbackSite, make: Any) -> None:
    site.add("/a", "<script>location.href='http://169.254.169.254/latest/'</script>")
    with pytest.raises(Refused):
        fetch(make(), site.url("/a"))


# ---- robots --------------------------------------------------------------------------------------


def test_only_searches_ask_robots(site: LoopbackSite, make: Any) -> None:
    site.add("/robots.txt", "User-agent: *\nDisallow: /", headers={"Content-Type": "text/plain"}).add(
        "/a", HTML
    )
    fetch(make(), site.url("/a"), purpose="user")
    assert site.paths == ["/a"]
    with pytest.raises(Refused, match="robots"):
        fetch(make(), site.url("/a"), purpose="search")
    fetch(make(obey_robots=False), site.url("/a"), purpose="search")
    assert site.paths == ["/a", "/robots.txt", "/a"]


def test_every_hop_is_asked_about(site: LoopbackSite, make: Any) -> None:
    site.add("/robots.txt", "User-agent: *\nDisallow: /no", headers={"Content-Type": "text/plain"})
    site.redirect("/a", "/no/b").add("/m", "<meta http-equiv=refresh content='0;url=/no/b'>").add(
        "/no/b", HTML
    )
    for path in ("/a", "/m"):
        with pytest.raises(Refused, match="robots"):
            fetch(make(), site.url(path), purpose="search")
    assert "/no/b" not in site.paths


def test_a_robots_that_hangs_costs_no_more_than_the_deadline(site: LoopbackSite, make: Any) -> None:
    site.add("/robots.txt", hang=True).add("/a", HTML)
    started = time.monotonic()
    assert kind_of(make(), site.url("/a"), purpose="search", within_s=1.0) in ("timeout", "refused")
    assert time.monotonic() - started < 20


@pytest.mark.parametrize("purpose", ["user", "search"])
@pytest.mark.parametrize(
    "url", ["http://[::1", "http://[x]/", "http:///x", "http://t.example:port/", "file:///x", ""]
)
def test_what_is_no_url_is_refused_whoever_asks(make: Any, url: str, purpose: str) -> None:
    assert kind_of(make(), url, purpose=purpose) == "refused"


def test_a_page_that_is_cut_off_is_flagged(site: LoopbackSite, make: Any) -> None:
    whole = gzip.compress((HTML + "<p>" + "".join(f"Reading {n * n}. " for n in range(5_000))).encode())
    site.add("/cut", whole[: len(whole) // 2], headers={"Content-Encoding": "gzip"})
    site.add("/whole", whole, headers={"Content-Encoding": "gzip"})
    cut, full = fetch(make(), site.url("/cut")), fetch(make(), site.url("/whole"))
    assert cut.flags == ("truncated",) and full.flags == ()
    assert full.body.startswith(cut.body) and b"214 m" in cut.body and len(cut.body) < len(full.body)


def test_a_teaser_is_a_page_with_a_flag(site: LoopbackSite, make: Any) -> None:
    site.add("/p", f"{HTML}<div class=paywall>Subscribe to continue reading.</div>")
    page = fetch(make(), site.url("/p"))
    assert page.flags == ("paywalled",) and b"214 m" in page.body


def test_a_refresh_header_is_read_as_a_location_is(site: LoopbackSite, make: Any) -> None:
    target = site.url("/\u6c34").encode().decode("latin-1")
    site.add("/a", "<p>moved</p>", headers={"Refresh": f"0; url={target}"}).add("/%E6%B0%B4", HTML)
    assert b"214 m" in fetch(make(), site.url("/a")).body


def test_a_body_that_trickles_is_given_up(site: LoopbackSite) -> None:
    """The server trickles on until it is hung up on: whenever the client begins to read, time is ahead."""
    clock = FakeClock()

    def trickle(pieces: int) -> Iterator[bytes]:
        for _ in range(pieces):
            clock.advance(1.0)
            time.sleep(0.001)
            yield b"<p>slowly</p>"

    site.add("/slow", "", stream=lambda: trickle(30_000))
    site.add("/ends", "", stream=lambda: trickle(100))
    with loopback_http(clock, allow=["127.0.0.1"]) as http:
        fetcher = HttpFetcher(FetchHttpSettings(min_bytes_per_s=200.0), http, clock)
        with pytest.raises(TimedOut, match="too slowly"):
            fetcher.fetch(
                FetchRequest(url=site.url("/slow"), deadline=clock.monotonic() + 5e5, purpose="user")
            )
        patient = HttpFetcher(FetchHttpSettings(min_bytes_per_s=0.0), http, clock)
        page = patient.fetch(
            FetchRequest(url=site.url("/ends"), purpose="user", deadline=clock.monotonic() + 5e5)
        )
        assert len(page.body) == 1_300
