"""Which pages have more to say than was read, and which are merely short."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webfetch_core.models import Document, Page
from webfetch_core.pipeline.thinness import (
    SHELL_CHARS,
    THIN_CHARS,
    calls_for_scripts,
    is_richer,
    readable_chars,
)

COUNTER = "<script src='https://www.googletagmanager.com/gtag/js'></script><script>gtag('config')</script>"
LONG = "The keeper lights the lamp at dusk and puts it out at dawn. " * 6


def document(text: str, *flags: str) -> Document:
    return Document(url="https://a.example/", text=text, flags=flags)


def reason(html: str, text: str = "", content_type: str = "text/html", flags: tuple[str, ...] = ()) -> str:
    page = Page(url="https://a.example/", body=html.encode(), content_type=content_type)
    return calls_for_scripts(page, document(text, *flags) if text else None)


@pytest.mark.parametrize(
    "html",
    [
        "<body><noscript>You need to enable JavaScript to run this app.</noscript><div id=root></div>"
        "<script src=/static/js/main.1a2b3c4d.js></script>",
        "<body><noscript>Bitte aktivieren Sie JavaScript.</noscript><p>Tarn</p><script src=/x.js></script>",
        "<body><p>This site requires JavaScript.</p><script src=/x.js></script>",
        "<body><div id='__next'></div><script id=__NEXT_DATA__ type='application/json'>{}</script>"
        "<script src='/_next/static/chunks/main.js'></script>",
        "<body><app-root></app-root><script type=module src=main.js></script>",
        "<!doctype html><title>Board</title><main id=m></main><script>m.innerHTML='x'</script>",
        "<body><p>Loading...</p><script src=/app.js></script>",
        "<body><div>Wird geladen</div><script>go()</script>",
        "<body><div aria-busy='true'>Departures of all ferries from here, every day</div>"
        "<script src=/app.js></script>",
        "<body><h1>Departures of all ferries from here</h1><script type=module src=/a.js></script>",
        "<body><h1>Departures of all ferries from here</h1><table id=t></table><script src=/t.js></script>",
        f"<body><h1>Departures of all ferries from here</h1><script>{'var a = 1;' * 500}</script>",
        "<body><h1>Departures of all ferries from here</h1><script>__INITIAL_STATE__ = {}</script>",
        "<script>document.write('all of it')</script>",
    ],
)
def test_shells_say_so(html: str) -> None:
    assert reason(html, "Departures") and reason(html)


@pytest.mark.parametrize(
    "html",
    [
        "",
        "<p>Short.",
        "<title>Tarn</title><h1>Opening hours</h1><p>Daily from 9 to 5 or so.</p>",
        f"<h1>Opening hours of museums</h1><p>Monday to Friday, from 9 to 5.</p>{COUNTER}",
        "<h1>Opening hours of museums</h1><p>Daily from 9 to 5 or so.</p><div id=fb-root></div>"
        "<script src=//connect.facebook.net/sdk.js></script>",
        "<h1>Opening hours of museums</h1><p>Daily from 9 to 5 or so.</p>"
        "<script src=/js/jquery.min.js></script>",
        "<h1>Opening hours of museums</h1><p>Daily from 9 to 5 or so.</p><div id='cookie-banner'></div>"
        "<script src=/menu.js></script>",
        "<h1>Opening hours of museums</h1><script type='application/ld+json'>{}</script>",
        "<h1>Loading docks of the harbour: who may use them</h1><p>Everyone.</p>",
        f"<body><noscript><img src=/p></noscript><h1>Opening hours of museums</h1><p>Always.</p>{COUNTER}",
        "<h1>JavaScript for beginners: a course</h1><p>On Mondays.</p><script src=/menu.js></script>",
    ],
)
def test_a_page_that_is_merely_short_is_left_alone(html: str) -> None:
    assert reason(html, "Opening hours") == ""


def test_a_shell_with_a_menu_and_a_footer_is_one_still() -> None:
    shell = "<body><nav>Home</nav><div id=root></div><script src=/x.js></script>"
    assert reason(shell, "x" * (THIN_CHARS + 50)) and not reason(shell, "x" * SHELL_CHARS)
    hint = "<body><p>Loading...</p><script src=/x.js></script>"
    assert reason(hint, "x" * (THIN_CHARS - 50)) and not reason(hint, "x" * (THIN_CHARS + 50))


def test_what_the_head_alone_says_is_no_text() -> None:
    assert readable_chars(document(LONG, "metadata_only")) == readable_chars(None) == 0
    assert readable_chars(document("a \n\n b")) == 3
    assert reason("<p>Loading...</p><script src=/x.js></script>", LONG * 9, flags=("metadata_only",))


@pytest.mark.parametrize("kind", ["application/json", "text/plain", "application/pdf"])
def test_other_types_have_no_scripts(kind: str) -> None:
    assert reason("<div id=root></div><script src=/x.js></script>", content_type=kind) == ""


def test_the_richer_reading_is_clearly_richer() -> None:
    short, longer, long = document("a" * 100), document("a" * 115), document("a" * 130)
    assert is_richer(long, short) and not is_richer(longer, short) and not is_richer(short, long)
    assert is_richer(short, None) and not is_richer(None, short) and not is_richer(None, None)
    assert is_richer(short, document("a" * 900, "metadata_only"))


@pytest.mark.parametrize(
    "piece",
    [
        "<",
        "<div ",
        "<div id=a>",
        "<script ",
        "<script>",
        "<title ",
        "<!--",
        "<div id=a><!--",
        "<noscript>",
        "a ",
        "&",
        "\u0130",
    ],
)
def test_any_megabyte_is_looked_at_in_one_pass(piece: str) -> None:
    """Each of these takes hours where a pattern looks back over what it has seen."""
    body = "<script>x</script>" + piece * (1_200_000 // len(piece))
    assert isinstance(reason(body), str)


@given(st.text(alphabet="<>/=-! \"'abdeinoprstv", max_size=200))
def test_any_markup_is_survived(html: str) -> None:
    assert isinstance(reason(f"<script src=/a.js></script>{html}"), str)
