"""When two URLs are one page: never two pages merged, never one page counted twice."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from webfetch_core.pipeline.urls import canonical, clean, host_of, in_domains, unwrap

CASES = Path(__file__).parents[3].parent / "shared" / "cases" / "inputs"

WORD = st.text("abcXYZ019-._~", min_size=1, max_size=6).filter(
    lambda w: w.strip(".") and "amp" not in w.lower()
)
PATH = st.lists(WORD, max_size=4).map("/".join)
NAME = st.sampled_from(["id", "q", "ref", "source", "v", "page", "lang", "a"])
QUERY = st.lists(st.tuples(NAME, WORD), max_size=4)
ANY_URL = st.one_of(
    st.text(max_size=40),
    st.text(max_size=30).map(lambda t: f"https://{t}"),
    st.text(max_size=30).map(lambda t: f"http://a.example/{t}"),
    st.text("%25aAfF41wm./?&=#!:@[]", max_size=30).map(lambda t: f"https://a.example/{t}"),
    st.text("wm.aAp[]:1。", max_size=20).map(lambda t: f"http://www.{t}/x/amp"),
)


def made(path: str, query: list[tuple[str, str]], route: str = "") -> str:
    text = f"https://site.example/{path}"
    if query:
        text += "?" + "&".join(f"{name}={value}" for name, value in query)
    return text + (f"#/{route}" if route else "")


@given(ANY_URL)
@example("https://x.example/%%341")
@example("https://www.m.site.example/a")
@example("https://x.example/a/amp/amp//")
@example("https://x.example/a.amp/amp")
@example("http://[::1]:81/x")
@example("https://例え。/")
@example("https://x.example/\ud800?\udfff#/\ud800")
@example("HTTP://USER@Host.Example:80/a?b#!c")
def test_canonical_never_raises_and_is_idempotent(url: str) -> None:
    once = canonical(url)
    assert canonical(once) == once


@given(PATH, QUERY, PATH, QUERY, WORD, WORD)
def test_pages_that_differ_in_path_parameters_or_route_never_merge(
    path: str, query: list[tuple[str, str]], other: str, others: list[tuple[str, str]], route: str, way: str
) -> None:
    assume(not path.endswith("/") and not other.endswith("/"))
    one, two = made(path, query), made(other, others)
    assert (canonical(one) == canonical(two)) == (one == two)
    assert (canonical(made(path, query, route)) == canonical(made(path, query, way))) == (route == way)


@given(PATH, QUERY)
def test_the_order_of_parameters_counts(path: str, query: list[tuple[str, str]]) -> None:
    turned = query[::-1]
    assert (canonical(made(path, query)) == canonical(made(path, turned))) == (query == turned)


TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=10)


@given(TEXT)
def test_percent_encoding_variants_merge(text: str) -> None:
    low = "".join(f"%{byte:02x}" for byte in text.encode())
    least = "".join(c if c.isalnum() else quote(c, safe="") for c in text)
    for place in ("https://site.example/x{}y", "https://site.example/?q=x{}y"):
        assert canonical(place.format(low)) == canonical(place.format(low.upper()))
        assert canonical(place.format(low)) == canonical(place.format(least))


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("http://site.example/a", "https://www.site.example/a/"),
        ("https://m.site.example/a", "https://site.example:443/a#section"),
        ("https://SITE.example/a", "https://site.example/a?utm_source=x&UTM_Medium=y"),
        ("https://site.example/a?%75tm_source=q", "https://site.example/a"),
        ("https://site.example/a/amp", "https://site.example/a"),
        ("https://site.example/a.amp.html", "https://site.example/a.html"),
        ("https://site.example/a?amp=1", "https://site.example/a"),
        ("https://münchen.example/", "https://xn--mnchen-3ya.example"),
        ("https://site.example./a", "https://site.example/a"),
        ("https://site.example/caf%C3%A9?q=%C3%A9", "https://site.example/café?q=é"),
    ],
)
def test_spellings_of_one_page_merge(one: str, two: str) -> None:
    assert canonical(one) == canonical(two)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("https://site.example/A", "https://site.example/a"),
        ("https://site.example/a%2Fb", "https://site.example/a/b"),
        ("https://site.example/?q=a%26b", "https://site.example/?q=a&b"),
        ("https://site.example/?q=a+b", "https://site.example/?q=a%2Bb"),
        ("https://site.example/amp", "https://site.example/"),
        ("https://site.example/camp", "https://site.example/c"),
        ("https://site.example:8443/", "https://site.example/"),
        ("https://en.site.example/", "https://de.site.example/"),
        ("https://site.example/?ref=1", "https://site.example/"),
        ("http://[::1]:8080/", "http://[::1:8080]/"),
        ("local:docs/a", "local:docs/b"),
        ("local:docs/a/", "local:docs/a"),
        ("https://site.example/index.html", "https://site.example/main.html"),
    ],
)
def test_pages_that_only_look_alike_stay_apart(one: str, two: str) -> None:
    assert canonical(one) != canonical(two)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("https://t.example/?f=3*4&_gl=1*q", "https://t.example/?f=3*4"),
        ("https://t.example/p?gclid=1&flag&k=#frag", "https://t.example/p?flag&k=#frag"),
        ("https://t.example/p?utm_term=1#/r?utm_source=2", "https://t.example/p#/r?utm_source=2"),
        ("https://t.example/p?a=%e2%82%ac&a=+&&b", "https://t.example/p?a=%e2%82%ac&a=+&&b"),
        ("https://t.example/p?", "https://t.example/p?"),
    ],
)
def test_cleaning_takes_trackers_and_leaves_every_other_byte(given: str, expected: str) -> None:
    assert clean(given) == expected


@given(
    st.lists(st.text("ab%=+é", max_size=5), min_size=1, max_size=4),
    st.integers(0, 4),
    st.text("a#?&", max_size=4),
)
def test_cleaning_undoes_an_added_tracker(query: list[str], place: int, fragment: str) -> None:
    page, longer = "https://a.example/p?", [*query[:place], "utm_source=x", *query[place:]]
    assert clean(f"{page}{'&'.join(longer)}#{fragment}") == f"{page}{'&'.join(query)}#{fragment}"


@pytest.mark.parametrize(
    ("url", "target"),
    [
        (
            "//duckduckgo.com/l/?uddg=https%3A%2F%2Ft.example%2Fa%3Fb%3D1%26c%3D2&rut=9f",
            "https://t.example/a?b=1&c=2",
        ),
        ("https://duckduckgo.com/y.js?ad_domain=shop.example", None),
        ("https://duckduckgo.com/l/?uddg=https%3A%2F%2Fduckduckgo.com%2Fy.js%3Fad_domain%3Dx", None),
        ("https://www.google.com/url?q=https://t.example/&sa=U", "https://t.example/"),
        ("https://duckduckgo.com/?q=x", "https://duckduckgo.com/?q=x"),
        (
            "https://t.example/l/?uddg=https://other.example/",
            "https://t.example/l/?uddg=https://other.example/",
        ),
        ("local:docs/a.md", "local:docs/a.md"),
        ("https://[broken", "https://[broken"),
    ],
)
def test_redirect_links_lead_to_their_page_and_ads_nowhere(url: str, target: str | None) -> None:
    assert unwrap(url) == target


@pytest.mark.parametrize(
    "target", ["local:docs/secret.md", "file:///etc/passwd", "javascript:alert(1)", "//intranet/x", "/x", ""]
)
@pytest.mark.parametrize("wrapper", ["https://duckduckgo.com/l/?uddg=", "https://www.google.com/url?q="])
def test_a_redirect_link_leads_to_the_web_or_stays_what_it_is(wrapper: str, target: str) -> None:
    assert unwrap(wrapper + quote(target, safe="")) == wrapper + quote(target, safe="")


def test_a_long_chain_of_wrappers_ends() -> None:
    assert unwrap("https://duckduckgo.com/l/?uddg=" * 240 + "https://t.example/") == "https://t.example/"


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://www.t.example:81/a", "t.example"),
        ("local:docs/a/b.md", "local:docs"),
        ("https://[broken", ""),
        ("", ""),
        ("relative/path", ""),
    ],
)
def test_the_host_that_is_shown(url: str, host: str) -> None:
    assert host_of(url) == host


@pytest.mark.parametrize(
    ("url", "domains", "inside"),
    [
        ("https://a.site.example/x", ("site.example",), True),
        ("https://site.example/x", ("*.site.example",), True),
        ("https://notsite.example/x", ("site.example",), False),
        ("https://site.example.evil.example/", ("site.example",), False),
        ("https://evil.example/?site.example", ("site.example",), False),
        ("https://site.example@evil.example/", ("site.example",), False),
        ("https://xn--mnchen-3ya.example/", ("münchen.example",), True),
        ("https://SITE.example./x", ("Site.Example.",), True),
        ("local:docs/site.example", ("site.example",), False),
        ("https://[broken", ("site.example",), False),
        ("https://site.example/", ("", " "), False),
    ],
)
def test_a_domain_holds_itself_and_what_is_below(url: str, domains: tuple[str, ...], inside: bool) -> None:
    assert in_domains(url, domains) is inside


@pytest.mark.skipif(not CASES.is_dir(), reason="the cases are not beside this checkout")
@pytest.mark.parametrize("case", ["C041", "C043"])
def test_pairs_of_the_cases(case: str) -> None:
    listed = json.loads((CASES / case / "pairs.json").read_text())
    for one, two in listed["pairs"]:
        assert (canonical(one) == canonical(two)) is listed["same"], (one, two)


@pytest.mark.skipif(not CASES.is_dir(), reason="the cases are not beside this checkout")
def test_inputs_and_outputs_of_the_cases() -> None:
    for given_url, expected in json.loads((CASES / "C045" / "io.json").read_text())["cases"]:
        assert clean(given_url) == expected
    for given_url, expected in json.loads((CASES / "C047" / "io.json").read_text())["cases"]:
        assert unwrap(given_url) == expected
