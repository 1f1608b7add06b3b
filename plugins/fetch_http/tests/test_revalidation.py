"""Pages asked for again on condition that they changed: cache, core and fetcher over real sockets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from attrs import define
from webfetch_fetch_http import plugin

from webfetch_core import Settings, Webfetch
from webfetch_core.api import WebfetchError
from webfetch_core.testing import FakeClock, LoopbackSite, MemoryCache, ScriptedExtractor, fake_plugin
from webfetch_core.testing.site import Received, Reply

OLD_S = 200.0
LAST = "Mon, 23 Nov 2026 08:00:00 GMT"


@define
class World:
    wf: Webfetch
    site: LoopbackSite
    clock: FakeClock
    cache: MemoryCache
    events: list[Any]

    def fetch(self, path: str = "/p", **more: Any) -> Any:
        return self.wf.fetch(self.site.url(path), **more)

    def outcomes(self) -> list[str]:
        return [e.outcome for e in self.events if e.name == "page.cached"]

    def sent(self, header: str) -> list[str]:
        return [r.headers.get(header, "") for r in self.site.requests]


@pytest.fixture
def world() -> Iterator[Callable[..., World]]:
    made: list[Any] = []

    def make(**ttl: float) -> World:
        site = LoopbackSite().start()
        clock, cache, events = FakeClock(), MemoryCache(), []
        wanted = {"stable_s": 100.0, "stale_factor": 10.0, **ttl}
        settings = Settings.load(
            {},
            overrides={
                "net.allow_hosts": ("127.0.0.1", "localhost"),
                "extract_workers": 0,
                **{f"ttl.{name}": value for name, value in wanted.items()},
            },
        )
        plugins = [
            ("fetch_http", plugin),
            fake_plugin("cache", cache),
            fake_plugin("extract", ScriptedExtractor()),
        ]
        named = [p if isinstance(p, tuple) else (p.name, p) for p in plugins]
        wf = Webfetch(settings, plugins=named, autoload=False, environ={}, clock=clock)
        wf.subscribe(events.append)
        made.extend((wf, site))
        return World(wf, site, clock, cache, events)

    yield make
    for thing in made:
        thing.close()


def versioned(text: str, etag: str = '"v1"', **headers: str) -> Callable[[Received], Reply]:
    """A page that answers 304 to who has this version."""

    def answer(request: Received) -> Reply:
        given = {"ETag": etag, "Content-Type": "text/plain", **headers}
        if request.headers.get("if-none-match") == etag:
            return Reply(status=304, headers=given)
        return Reply(body=text.encode(), headers=given)

    return answer


@pytest.mark.parametrize("etag", ['"v1"', 'W/"v1"'])
def test_a_page_that_has_not_changed_is_renewed(world: Any, etag: str) -> None:
    one = world()
    one.site.add("/p", versioned("The span is 214 m.", etag))
    first = one.fetch()
    one.clock.advance(OLD_S)
    assert one.fetch() == first
    one.clock.advance(99)
    assert one.fetch() == first  # its age counts from when it was confirmed
    assert one.sent("if-none-match") == ["", etag]
    assert one.outcomes() == ["stored", "renewed", "hit"]


def test_a_page_that_has_changed_is_taken_anew(world: Any) -> None:
    one = world()
    one.site.add("/p", versioned("The span is 214 m."))
    one.fetch()
    one.site.add("/p", versioned("The span is 215 m.", '"v2"'))
    one.clock.advance(OLD_S)
    assert "215" in one.fetch().text
    one.clock.advance(OLD_S)
    assert "215" in one.fetch().text
    assert one.sent("if-none-match") == ["", '"v1"', '"v2"']
    assert one.outcomes() == ["stored", "stored", "renewed"]


def test_a_date_will_do(world: Any) -> None:
    one = world()
    one.site.add("/p", "The span is 214 m.", headers={"Last-Modified": LAST})
    one.site.queue(
        "/p", Reply(body=b"The span is 214 m.", headers={"Last-Modified": LAST}), Reply(status=304)
    )
    one.fetch()
    one.clock.advance(OLD_S)
    assert "214" in one.fetch().text
    assert one.sent("if-modified-since") == ["", LAST] and one.sent("if-none-match") == ["", ""]
    assert one.outcomes() == ["stored", "renewed"]


def test_the_validators_of_the_304_are_the_new_ones(world: Any) -> None:
    one = world()
    one.site.queue(
        "/p",
        Reply(body=b"The span is 214 m.", headers={"ETag": '"v1"', "Last-Modified": LAST}),
        Reply(status=304, headers={"ETag": '"v1b"'}),
        Reply(status=304),
    )
    for _ in range(3):
        one.fetch()
        one.clock.advance(OLD_S)
    assert one.sent("if-none-match") == ["", '"v1"', '"v1b"']
    assert one.sent("if-modified-since") == ["", LAST, LAST]


def test_without_validators_it_is_fetched_again(world: Any) -> None:
    one = world()
    one.site.add("/p", "The span is 214 m.")
    one.fetch()
    one.clock.advance(OLD_S)
    one.fetch()
    assert one.sent("if-none-match") == ["", ""] and one.sent("if-modified-since") == ["", ""]


def test_force_fresh_makes_no_conditions(world: Any) -> None:
    one = world()
    one.site.add("/p", versioned("The span is 214 m."))
    one.fetch()
    one.clock.advance(OLD_S)
    one.fetch(force_fresh=True)
    assert one.sent("if-none-match") == ["", ""]
    assert one.outcomes() == ["stored", "stored"]


def test_validators_go_to_the_url_that_gave_them(world: Any) -> None:
    one = world()
    one.site.redirect("/p", "/q").add("/q", versioned("The span is 214 m."))
    one.fetch()
    one.clock.advance(OLD_S)
    one.fetch()
    assert list(zip(one.site.paths, one.sent("if-none-match"), strict=True)) == [
        ("/p", ""),
        ("/q", ""),
        ("/p", ""),
        ("/q", '"v1"'),
    ]
    assert one.outcomes() == ["stored", "renewed"]


def test_a_redirect_that_leads_elsewhere_by_now_learns_nothing(world: Any) -> None:
    one = world()
    with LoopbackSite() as other:
        other.add("/q", "Another page: the span is 300 m.")
        one.site.redirect("/p", "/q").add("/q", versioned("The span is 214 m."))
        one.fetch()
        one.site.redirect("/p", other.url("/q"))
        one.clock.advance(OLD_S)
        assert "300" in one.fetch().text
        assert all("if-none-match" not in r.headers for r in other.requests)
        other.add("/q", "", status=304)  # it was asked nothing that this could answer
        one.clock.advance(OLD_S)
        assert "stale" in one.fetch().flags


def test_an_unasked_304_is_a_bad_response(world: Any) -> None:
    one = world()
    one.site.add("/p", "", status=304)
    with pytest.raises(WebfetchError) as caught:
        one.fetch()
    assert caught.value.kind == "bad_response"


def test_a_row_that_vanished_meanwhile_is_fetched_again(world: Any) -> None:
    one = world()
    answer = versioned("The span is 214 m.")
    one.site.add("/p", answer)
    one.fetch()

    def clearing(request: Received) -> Reply:
        one.cache.clear("pages")
        return answer(request)

    one.site.queue("/p", clearing)
    one.clock.advance(OLD_S)
    assert "214" in one.fetch().text
    assert one.sent("if-none-match") == ["", '"v1"', ""]
    assert one.outcomes() == ["stored", "stored"]


@pytest.mark.parametrize("status", [500, 503, 429, 400])
def test_an_old_copy_stands_in_for_a_site_that_fails(world: Any, status: int) -> None:
    one = world()
    one.site.add("/p", versioned("The span is 214 m."))
    one.fetch()
    one.site.add("/p", "down", status=status)
    one.clock.advance(OLD_S)
    for _ in range(2):  # the second time by the memory of the failure
        document = one.fetch()
        assert "214" in document.text and document.flags == ("stale",)
    assert one.outcomes() == ["stored", "stale", "stale"]
    assert len(one.site.requests) == 2


def test_a_site_that_hangs_or_is_gone_is_stood_in_for_too(world: Any) -> None:
    one = world()
    one.site.add("/p", versioned("The span is 214 m."))
    one.fetch()
    one.site.close()
    one.clock.advance(OLD_S)
    assert one.fetch().flags == ("stale",)


@pytest.mark.parametrize(
    ("status", "kind"), [(404, "not_found"), (410, "not_found"), (401, "login"), (403, "blocked")]
)
def test_what_the_site_says_of_the_page_itself_counts(world: Any, status: int, kind: str) -> None:
    one = world()
    one.site.add("/p", versioned("The span is 214 m."))
    one.fetch()
    one.site.add("/p", "no", status=status)
    one.clock.advance(OLD_S)
    with pytest.raises(WebfetchError) as caught:
        one.fetch()
    assert caught.value.kind == kind


def test_a_copy_that_is_far_too_old_does_not_stand_in(world: Any) -> None:
    one = world(stale_factor=1.5)
    one.site.add("/p", versioned("The span is 214 m."))
    one.fetch()
    one.site.add("/p", "down", status=500)
    one.clock.advance(OLD_S)
    with pytest.raises(WebfetchError) as caught:
        one.fetch()
    assert caught.value.kind == "unavailable"


@pytest.mark.parametrize("etag", ['"a\tb"', '"' + "x" * 2_000 + '"', '"\u00e9"'])
def test_validators_that_cannot_be_sent_as_they_came_are_not(world: Any, etag: str) -> None:
    one = world()
    one.site.add("/p", b"The span is 214 m.", headers={"ETag": etag})
    one.fetch()
    one.clock.advance(OLD_S)
    one.fetch()
    assert one.sent("if-none-match") == ["", ""]
