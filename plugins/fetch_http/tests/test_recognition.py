"""Walls and error pages under a good status, in the words and languages that sites use, and what is none."""

# ruff: noqa: E501  (one pattern or page a line)

from __future__ import annotations

import pytest
from webfetch_fetch_http.outline import outline
from webfetch_fetch_http.paywall import is_paywalled
from webfetch_fetch_http.walls import challenge, hollow

NAV = '<nav><a href="/">Home</a> <a href="/about">About us</a> <a href="/contact">Contact</a></nav>'
PROSE = "<p>" + "The field team walked the northern shore twice and wrote down every reading. " * 50 + "</p>"


def judged(title: str, body: str) -> str | None:
    html = f"<!doctype html><title>{title}</title>{NAV}{body}<footer>\u00a9 2026 T. Terms. Privacy.</footer>"
    seen = outline(html.encode())
    error = challenge(seen, {}) or hollow(seen, "https://t.example/x")
    return error.kind if error else ("paywalled" if is_paywalled(seen) else None)


GONE = [
    ("404 Not Found | T", "<h1>Oops!</h1><p>The page you're looking for can't be found.</p>"),
    ("T", "<h1>Page not found</h1>"),
    ("Error 404 - Page Not Found", ""),
    ("T", "<h1>Sorry, this page isn't available.</h1>"),
    ("T", "<h1>We can't find the page you're looking for</h1>"),
    ("T", "<h1>404</h1><p>The requested URL /x was not found on this server.</p>"),
    ("404: This page could not be found", "<h1>404</h1><h2>This page could not be found.</h2>"),
    ("T", "<h1>Hmm, that page doesn't exist</h1>"),
    ("T - Product not found", "<h1>Product not found</h1>"),
    ("T", "<h1>This product is no longer available</h1>"),
    ("T", "<h1>This job has expired</h1>"),
    ("T", "<h1>The article you requested does not exist</h1>"),
    (
        "Oops",
        "<h1>Oops! That page can’t be found.</h1><p>It looks like nothing was found at this location.</p>",
    ),
    ("Nothing Found", "<h1>Nothing found</h1><p>It seems we can't find what you're looking for.</p>"),
    ("T", "<h1>The page you were looking for doesn't exist.</h1><p>You may have mistyped the address.</p>"),
    ("The page you were looking for doesn't exist (404)", ""),
    ("T", "<h1>Page Not Found (404)</h1>"),
    ("T", "<h1>HTTP 404</h1>"),
    ("T", "<h1>410 Gone</h1>"),
    ("T", "<h1>Whoops, looks like this page has moved</h1>"),
]
GONE_IN_OTHER_LANGUAGES = [
    "Seite nicht gefunden",
    "Diese Seite existiert nicht",
    "Die angeforderte Seite wurde nicht gefunden",
    "Fehler 404",
    "Cette page n'existe pas",
    "Erreur 404",
    "La page que vous recherchez n'existe pas",
    "Error 404",
    "La página que buscas no existe",
    "No se encontró la página",
    "Página no encontrada",
    "Pagina non trovata",
    "Errore 404",
    "Página não encontrada",
    "Erro 404",
    "Pagina niet gevonden",
    "Nie znaleziono strony",
    "Strona nie istnieje",
    "Страница не найдена",
    "Ошибка 404",
    "Sayfa bulunamadı",
    "Stránka nenalezena",
    "Stránka nebyla nalezena",
    "Az oldal nem található",
    "お探しのページは見つかりませんでした",
    "页面不存在",
    "您访问的页面不存在",
    "페이지를 찾을 수 없습니다",
    "الصفحة غير موجودة",
    "Không tìm thấy trang",
    "Sidan kunde inte hittas",
    "Siden blev ikke fundet",
    "Siden ble ikke funnet",
    "Sivua ei löytynyt",
    "Η σελίδα δεν βρέθηκε",
    "הדף לא נמצא",
    "ไม่พบหน้าที่คุณต้องการ",
    "Halaman tidak ditemukan",
    "Сторінку не знайдено",
    "Pagina nu a fost găsită",
    "Stranica nije pronađena",
    "ページが見つかりません",
    "頁面不存在",
    "找不到頁面",
]
LOGIN = [
    ("Log in to T", "<form><input name=u><input type=password></form>"),
    (
        "T",
        "<h1>Sign in</h1><form><input type=email><button>Next</button></form><p>Please sign in to continue.</p>",
    ),
    ("Login - T", "<h1>Login</h1><form><input type=password></form>"),
    ("T", "<h1>You must be logged in to view this page</h1><a href=/login>Log in</a>"),
    ("Facebook – log in or sign up", "<form><input type=password></form>"),
    ("Anmelden", "<form><input type=password><button>Anmelden</button></form>"),
    ("T", "<h2>Connectez-vous</h2><form><input type=password></form>"),
    ("Iniciar sesión", "<form><input type=password></form>"),
    (
        "Sign Up | LinkedIn",
        "<h1>Join LinkedIn</h1><form><input type=password><button>Agree & Join</button></form>",
    ),
    ("ログイン", "<form><input type=password></form>"),
    (
        "T",
        "<h1>Welcome back</h1><form><label>Password</label><input type=password><button>Log in</button></form>",
    ),
    ("Single sign-on", "<h1>Single Sign-On</h1><form><input type=password></form>"),
    ("T", "<p>This content is for members only. Please log in.</p>"),
]
CONSENT = [
    (
        "Before you continue to Google Search",
        "<form><h1>Before you continue to Google</h1><p>We use cookies and data to deliver and maintain services</p><button>Reject all</button><button>Accept all</button></form>",
    ),
    (
        "Yahoo is part of the Yahoo family of brands",
        "<h1>Yahoo is part of the Yahoo family of brands</h1><form><button name=agree>Accept all</button></form>",
    ),
    (
        "T",
        "<h1>We value your privacy</h1><p>We and our partners store and/or access information on a device</p><button>AGREE</button>",
    ),
    (
        "Privacy settings",
        "<h2>Datenschutzeinstellungen</h2><p>Wir und unsere Partner verwenden Cookies</p><button>Alle akzeptieren</button>",
    ),
    (
        "T",
        "<h1>Mit Werbung weiterlesen</h1><p>Besuchen Sie T wie gewohnt mit Werbung und Cookies</p><button>Akzeptieren und weiter</button>",
    ),
    ("T", "<h1>Votre vie privée est importante</h1><p>cookies</p><button>Tout accepter</button>"),
    ("DPG Media Privacy Gate", "<p>Loading</p>"),
    (
        "T",
        "<h1>Your privacy</h1><p>cookies and data partners</p><button>Accept all</button><button>Manage</button>",
    ),
    ("Age verification", "<h1>Are you over 18?</h1><button>Yes</button><button>No</button>"),
]
WALLS = [
    (
        "Just a moment...",
        "<h1>Checking your browser before accessing t.example</h1><p>Enable JavaScript and cookies to continue</p>",
    ),
    ("Attention Required! | Cloudflare", "<h1>Sorry, you have been blocked</h1>"),
    (
        "Access Denied",
        '<h1>Access Denied</h1><p>You don\'t have permission to access "http://t.example/" on this server.</p><p>Reference #18.1</p>',
    ),
    (
        "Pardon Our Interruption",
        "<p>As you were browsing something about your browser made us think you were a bot.</p>",
    ),
    ("T", "<p>Please verify you are a human</p><div class=h-captcha></div>"),
    ("Human Verification", "<div id=captcha></div>"),
    ("DDoS-Guard", "<p>Checking your browser before accessing</p>"),
    ("Verify you are human", "<p>Press & Hold to confirm you are a human</p>"),
    ("Security Check", "<p>complete the security check to access</p>"),
    ("T", "<h1>Too many requests</h1><p>You have sent too many requests in a given amount of time.</p>"),
    (
        "Request Rejected",
        "<p>The requested URL was rejected. Please consult with your administrator. Your support ID is: 123</p>",
    ),
    ("403 Forbidden", "<h1>403 Forbidden</h1>"),
    (
        "Error",
        "<h1>Error 1020</h1><p>Access denied. You do not have access to t.example. The site owner may have set restrictions</p>",
    ),
    ("Are you a robot?", "<p>To continue, please click the box below to let us know you're not a robot.</p>"),
    ("Vercel Security Checkpoint", "<p>We're verifying your browser</p>"),
    (
        "Client Challenge",
        "<p>JavaScript is disabled in your browser. Please enable JavaScript to proceed. A required part of this site couldn't load.</p>",
    ),
    ("Blocked", "<p>Your IP address has been blocked</p>"),
]
PAYWALLED = [
    ("T", "<h1>The dam</h1><p>It rose.</p><p>Subscribe to continue reading.</p>"),
    ("T", "<p>Already a subscriber? Log in</p>"),
    ("T", "<p>Dieser Artikel ist exklusiv für Abonnenten</p>"),
    ("T", "<p>Cet article est réservé aux abonnés.</p>"),
    ("T", "<p>To continue reading this article you must be a subscriber</p>"),
    ("T", "<p>You have reached your limit of free articles.</p>"),
    ("T", "<p>You've read 3 of 3 free articles this month</p>"),
    ("T", "<p>Unlock this article with a subscription</p>"),
    ("T", "<p>This is a premium article for subscribers only</p>"),
]


@pytest.mark.parametrize(("title", "body"), GONE)
def test_pages_that_do_not_exist(title: str, body: str) -> None:
    assert judged(title, body) == "not_found"


@pytest.mark.parametrize("message", GONE_IN_OTHER_LANGUAGES)
def test_pages_that_do_not_exist_in_other_languages(message: str) -> None:
    assert judged("T", f"<h1>{message}</h1>") == "not_found"
    assert judged(f"{message} | T", "<p>Search our site</p>") == "not_found"
    assert judged(message, PROSE) is None  # an article may have it as its title
    assert judged("T", f"<h1>How we came by the words</h1><p>{message}</p>") is None


@pytest.mark.parametrize(("title", "body"), LOGIN)
def test_pages_that_ask_for_a_login(title: str, body: str) -> None:
    assert judged(title, body) == "login"


@pytest.mark.parametrize(("title", "body"), CONSENT)
def test_pages_that_ask_for_consent(title: str, body: str) -> None:
    assert judged(title, body) == "consent"


@pytest.mark.parametrize(("title", "body"), WALLS)
def test_pages_of_bot_walls(title: str, body: str) -> None:
    assert judged(title, body) == "blocked"


@pytest.mark.parametrize(("title", "body"), PAYWALLED)
def test_beginnings_of_pages_that_cost_money(title: str, body: str) -> None:
    assert judged(title, body) == "paywalled"


NOT_FREE = '<script type="application/ld+json">{"@type":"NewsArticle","isAccessibleForFree":%s}</script>'


@pytest.mark.parametrize(
    ("value", "text", "expected"),
    [
        ("false", "<p>The dam rose.</p>", "paywalled"),
        ('"False"', "<p>The dam rose.</p>" + "<a href=/>More</a>" * 900, "paywalled"),
        ('"http://schema.org/False"', "<p>The dam rose.</p>", "paywalled"),
        ("true", "<p>The dam rose.</p>", None),
        ("false", PROSE, None),  # the text is there, whatever it costs
        ("false", f"<div>{PROSE}</div>", None),
    ],
)
def test_what_a_page_says_of_its_price(value: str, text: str, expected: str | None) -> None:
    assert judged("The dam", NOT_FREE % value + text) == expected


@pytest.mark.parametrize(
    ("title", "body"),
    [
        ("The product page nobody read", "<h1>The product page nobody read</h1><p>An essay.</p>"),
        (
            "Missing: a page of the ledger",
            "<h1>Missing: a page of the ledger</h1><p>It was found in May.</p>",
        ),
        ("Page 404 of the ledger", "<h1>Page 404 of the ledger</h1><p>Readings of April.</p>"),
        ("Welcome back, swallows", "<h1>Welcome back, swallows</h1><p>They came on Monday.</p>"),
        (
            "Join us on the shore",
            "<h1>Join us on the shore</h1><p>We meet at ten.</p><form><input name=q></form>",
        ),
        ("Login", "<h1>Login</h1><p>A village of 300 people by the northern shore.</p>"),
        ("Your privacy", "<h1>Your privacy</h1><p>An essay on curtains.</p><form><input name=q></form>"),
        ("Are you over it?", f"<h1>Are you over it?</h1>{PROSE}<button>Like</button>"),
        ("Too many requests", f"<h1>Too many requests</h1>{PROSE}"),
        ("Blocked drains", "<h1>Blocked drains</h1><p>Call the keeper.</p>"),
        ("Forbidden City", "<h1>Forbidden City</h1><p>Open from nine to five.</p>"),
        ("403 metres", "<h1>403 metres</h1><p>The length of the dam.</p>"),
        ("T", "<h1>Gauge</h1><p>1,234 readings</p><p>Please log in to reply.</p>"),
        ("Sign up sheet", f"<h1>Sign up sheet</h1>{PROSE}"),
        ("T", f"{PROSE}<p>Already a subscriber? Log in.</p>"),
    ],
)
def test_what_only_sounds_like_it_is_a_page(title: str, body: str) -> None:
    assert judged(title, body) is None
