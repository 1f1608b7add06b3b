"""What is no content, and the controls: what looks like it and is."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from webfetch_fetch_http.outline import MAX_BYTES, outline
from webfetch_fetch_http.walls import challenge, hollow

PROSE = "<p>" + "The field team walked the northern shore twice and wrote down every reading. " * 14 + "</p>"


def kind(html: str, url: str = "https://t.example/x", **headers: str) -> str | None:
    seen = outline(html.encode())
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    error = challenge(seen, named) or hollow(seen, url)
    return error.kind if error else None


def page(title: str, body: str, head: str = "") -> str:
    return f"<!doctype html><html><head><title>{title}</title>{head}</head><body>{body}</body></html>"


@pytest.mark.parametrize(
    "html",
    [
        page(
            "Just a moment...",
            "<script src='/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1'></script>",
        ),
        page("t.example", "<p>Loading</p><script>window._cf_chl_opt={}</script>"),
        page("Attention Required! | Cloudflare", "<h1>Sorry, you have been blocked</h1>"),
        page("t.example", "<script src='https://geo.captcha-delivery.com/captcha/x.js'></script>"),
        page("Access to this page has been denied", "<div id='px-captcha'></div><p>Press and hold</p>"),
        page("", "<iframe src='/_Incapsula_Resource?x=1'>Request unsuccessful.</iframe>"),
        page("Sorry", "<p>Our systems have detected unusual traffic.</p><div class='g-recaptcha'></div>"),
        page("Robot Check", "<p>Enter the characters you see below</p><img src='/captcha/x.jpg'>"),
        page("Pardon Our Interruption", "<p>As you were browsing something made us think you are a bot.</p>"),
        page("Access Denied", "<p>You don't have permission to access this page. Reference #18.2</p>"),
    ],
)
def test_bot_walls(html: str) -> None:
    assert kind(html) == "blocked"


def test_an_announced_challenge_needs_no_words() -> None:
    assert kind(page("x", PROSE), cf_mitigated="challenge") == "blocked"
    assert kind("", x_amzn_waf_action="captcha") == "blocked"


@pytest.mark.parametrize(
    "html",
    [
        page("Page not found | Tarn Docs", "<h1>404</h1><p>Sorry, we couldn't find that page.</p>"),
        page("Tarn Docs", "<h1>Page Not Found</h1><p>It may have moved.</p>"),
        page("404", "<p>nothing</p>"),
        page("Error 404 (Not Found)", "<p>That's all we know.</p>"),
        page("Tarn - Seite nicht gefunden", "<p>Zur Startseite</p>"),
        page("x", "<h1>P\u00e1gina no encontrada</h1>"),
        page("x", "<h1>Oops! We can\u2019t find the page you\u2019re looking for.</h1>"),
        page(
            "\u30da\u30fc\u30b8\u304c\u898b\u3064\u304b\u308a\u307e\u305b\u3093",
            "<p>\u30db\u30fc\u30e0\u3078</p>",
        ),
    ],
)
def test_soft_404(html: str) -> None:
    assert kind(html) == "not_found"


@pytest.mark.parametrize(
    "html",
    [
        page(
            "Log in to Tarn Social",
            "<h1>Log in</h1><form><input type='password'></form><p>You must log in to continue.</p>",
        ),
        page("Tarn", "<h1>Sign in</h1><form><input name=u><input type=PASSWORD></form>"),
        page("Anmelden - Tarn", "<form><input type=password></form>"),
        page("Sign in | Tarn", "<p>Please sign in to view this page.</p><a href='/sso'>Continue</a>"),
    ],
)
def test_login_pages(html: str) -> None:
    assert kind(html) == "login"


@pytest.mark.parametrize(
    ("html", "url"),
    [
        (
            page(
                "Before you continue",
                "<h1>Before you continue</h1><p>We use cookies.</p><form><button>Accept</button></form>",
            ),
            "https://t.example/",
        ),
        (page("x", "<h1>Bevor Sie fortfahren</h1><button>Ja</button>"), "https://t.example/"),
        (page("Yahoo", "<p>We use cookies</p>"), "https://consent.yahoo.example/v2/collect"),
    ],
)
def test_consent_pages(html: str, url: str) -> None:
    assert kind(html, url) == "consent"


@pytest.mark.parametrize(
    "html",
    [
        page(
            "404 Not Found: what the status means | Tarn blog",
            f"<article><h1>404 Not Found: what it means</h1>{PROSE}</article>",
        ),
        page("404 Not Found", f"<h1>404 Not Found</h1>{PROSE}"),
        page("Peugeot 404", "<h1>Peugeot 404</h1><p>A car built from 1960.</p>"),
        page("Lost and not found - short stories", "<p>A short story of 200 words.</p>"),
        page(
            "How bot challenges work", f"<h1>How bot challenges work</h1><p>verify you are human</p>{PROSE}"
        ),
        page(
            "Contact us",
            "<form><input name=mail><div class='g-recaptcha'></div><button>Send</button></form>"
            "<p>Write to us.</p>",
        ),
        page("Tarn news", f"{PROSE}<script src='/cdn-cgi/challenge-platform/scripts/jsd/main.js'></script>"),
        page(
            "Tarn",
            "<h1>Hours</h1><p>Open 10 to 4.</p>"
            "<script src='/cdn-cgi/challenge-platform/scripts/jsd/main.js'></script>",
        ),
        page("How to log in", "<h1>How to log in</h1><p>Press the button, then type your name.</p>"),
        page("Forum", f"<form>Login: <input type=password></form><h1>Sluice gates</h1>{PROSE}"),
        page(
            "Mill opening hours",
            "<div id='cookie-banner'><h2>Your choices on cookies</h2><p>analytics cookies</p>"
            "<button>Allow</button></div><main><h1>Mill opening hours</h1><p>Open daily 10:15.</p></main>",
        ),
        page("Blocked drains", "<h1>Blocked drains</h1><p>Call us.</p>"),
        page("Sign in sheet template", "<p>A printable sheet.</p>"),
        page("Hello", "<p>hi</p>"),
        "plain words",
        "",
    ],
)
def test_controls_are_pages(html: str) -> None:
    assert kind(html) is None


# ---- the outline itself --------------------------------------------------------------------------


def test_the_outline_sees_what_a_reader_sees() -> None:
    seen = outline(
        b"<title>A &amp; B</title><style>p{}</style><script>var x='<h1>no</h1>'</script><!-- <h1>no</h1> -->"
        b"<noscript>no</noscript><svg><title>no</title></svg>"
        b"<h2>Two</h2><h1>One <b>bold</b></h1><p>text &lt;here</p>"
        b"<input type='password'><button>Go</button>"
    )
    assert (seen.title, seen.heading, seen.text) == ("A & B", "One bold", "Two One bold text <here Go")
    assert seen.password and seen.controls and seen.scripts == "var x='<h1>no</h1>'"


@pytest.mark.parametrize(
    "piece",
    ["<", "<script", "<!--", "<a b='", "<title>", "<h1>", "<svg>", "</", '<meta x="', "&amp", "\u0130"],
)
def test_hostile_markup_takes_no_time(piece: str) -> None:
    html = (piece * (MAX_BYTES // len(piece.encode()))).encode()
    started = time.process_time()
    challenge(outline(html), {})
    assert time.process_time() - started < 20


def test_reading_stops_when_there_is_enough_text() -> None:
    seen = outline(("<title>T</title>" + PROSE * 1000 + "<h1>Late</h1>").encode())
    assert seen.title == "T" and 2_000 < seen.chars < 3_000 and seen.heading == ""


@given(st.text("<>/!-abcdehimnoprst1 ='\"", max_size=200))
def test_any_markup_has_an_outline(html: str) -> None:
    seen = outline(html.encode())
    assert seen.chars >= 0
    hollow(seen, "https://t.example/")
