"""Pages that are no content: walls and error pages under a good status.

Conservative on purpose: a wall is small, and what it is shows in its structure. An article
about walls is neither.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from webfetch_core.api import Blocked, PageError, ProviderError

from . import phrases
from .gone import GONE
from .outline import Outline

_WALL_CHARS = 1_500
_SOFT_404_CHARS = 600
_LOGIN_CHARS = 800
_BARE_CHARS = 400

# Each line: all of these in the markup of a small page are the vendor's challenge.
_CHALLENGES = (
    ("_cf_chl_opt",),
    ("/cdn-cgi/challenge-platform/", "/orchestrate/"),
    ("<title>just a moment", "cloudflare"),
    ("captcha-delivery.com", "datadome"),
    ("geo.captcha-delivery.com",),
    ("px-captcha",),
    ("_incapsula_resource", "iframe"),
    ("_incapsula_resource", "robots"),
    ("awswafintegration", "challenge"),
    ("ak_bmsc", "challenge"),
    ("/_sec/cp_challenge/",),
    ("ddos-guard", "checking your browser"),
    ("sucuri_cloudproxy_js",),
    ("kpsdk",),
    ("/.well-known/sgcaptcha/",),
    ("anubis_challenge",),
)
_WIDGETS = (
    "g-recaptcha",
    "h-captcha",
    "cf-turnstile",
    "challenges.cloudflare.com",
    "recaptcha/api.js",
    "hcaptcha.com/1/api.js",
    "arkoselabs",
    "captcha",
)
_WAF_ACTIONS = frozenset({"captcha", "challenge"})
_SEPARATORS = re.compile(r"\s+[|\u2013\u2014\u00b7\u2022:\u00bb-]+\s+|\s*\|\s*")


def challenge(page: Outline, headers: Mapping[str, str]) -> ProviderError | None:
    """Return Blocked for a bot wall, under whatever status it came."""
    announced = headers.get("cf-mitigated", "").lower() == "challenge"
    if announced or headers.get("x-amzn-waf-action", "").lower() in _WAF_ACTIONS:
        return Blocked("a bot wall answered instead of the page")
    if page.chars > _WALL_CHARS:
        return None
    marked = any(all(mark in page.markup for mark in marks) for marks in _CHALLENGES)
    human = bool(phrases.HUMAN.search(_plain(page.text)))
    asked = human and page.chars < 800 and any(widget in page.markup for widget in _WIDGETS)
    named = (page.title, page.heading) if page.chars < _BARE_CHARS else (page.title,)
    titled = (human or page.chars < _BARE_CHARS) and any(phrases.WALL_TITLE.match(_plain(n)) for n in named)
    if marked or asked or titled:
        return Blocked("a bot wall answered instead of the page")
    return None


def hollow(page: Outline, final_url: str) -> PageError | None:
    """Return the PageError of a page that is no content although its status is good."""
    if page.chars < _SOFT_404_CHARS and (_says_gone(page.title) or _says_gone(page.heading)):
        return PageError("the page says that it does not exist", kind="not_found")
    if page.chars < _LOGIN_CHARS and _asks_for_login(page):
        return PageError("the page asks for a login", kind="login")
    if page.chars < _WALL_CHARS and (page.controls or page.chars < 200) and _asks_for_consent(page):
        return PageError("the page asks for consent before it shows anything", kind="consent")
    if page.chars < _WALL_CHARS and re.match(r"https?://consent\.[^/]+/", final_url):
        return PageError("the page asks for consent before it shows anything", kind="consent")
    return None


def _asks_for_login(page: Outline) -> bool:
    named = any(
        phrases.LOGIN_TITLE.match(part) for text in (page.title, page.heading) for part in _parts(text)
    )
    text = _plain(page.text)
    asked = bool(phrases.LOGIN_TEXT.search(text))
    if page.password:
        return named or asked
    return (named and asked) or (page.chars < _BARE_CHARS and bool(phrases.LOGIN_TO_READ.search(text)))


def _asks_for_consent(page: Outline) -> bool:
    named = [_plain(text) for text in (page.heading or page.title, page.title) if text]
    if any(phrases.CONSENT_TITLE.match(name) for name in named):
        return True
    asks = bool(phrases.ACCEPT.search(page.text))
    return asks and any(phrases.PRIVACY_TITLE.match(name) for name in named)


def _says_gone(text: str) -> bool:
    """Whether a title or heading, or one part of it, is nothing but such a message."""
    return any(GONE.match(_plain(part)) for part in _parts(text))


def _parts(text: str) -> list[str]:
    return [text, *_SEPARATORS.split(text)] if text else []


def _plain(text: str) -> str:
    return text.replace("\u2019", "'")
