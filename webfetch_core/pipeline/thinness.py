"""Pages whose text is not in them yet: what was read is little, and the markup says that scripts would
bring more. Pure.

A short page is no thin one. A page is called thin for a reason that can be told, never for its size alone.
"""

from __future__ import annotations

import re
from html import unescape

from ..models import Document, Page

THIN_CHARS = 300
"""Readable characters below which a page may be thin."""

SHELL_CHARS = 1_000
"""The same for a page that says itself that it is a shell: its menu and its footer may be there already."""

RICHER = 1.2
"""How many times the text another reading must have to be taken in place of the first."""

_LOOKED_AT = 1_000_000  # of the markup: shells are small, and what is beyond is content
_BARE_CHARS = 40
_CODE_CHARS = 2_000
_HTML = frozenset({"", "text/html", "application/xhtml+xml"})
_SELF_SAID = "metadata_only"  # a document of nothing but what its head says of it

_RAW = re.compile(r"<(script|style|noscript|template|svg|title)\b([^<>]*)>", re.IGNORECASE)
_TAGS = re.compile(r"<!--[\s\S]*?(?:-->|\Z)|<[^<>]*>")
_SRC = re.compile(r"""\bsrc\s*=\s*["']?([^"'\s>]+)""", re.IGNORECASE)
_TYPE = re.compile(r"""\btype\s*=\s*["']?([^"'\s>]+)""", re.IGNORECASE)
_DATA_TYPES = re.compile(r"json|template|x-|text/html|speculationrules|importmap", re.IGNORECASE)
_COUNTERS = re.compile(
    r"google-?analytics|googletagmanager|gtag|gtm\.|matomo|piwik|plausible|umami|fathom|analytics|hotjar"
    r"|clarity\.ms|segment\.|facebook|fbevents|adsbygoogle|doubleclick|cloudflareinsights|beacon|cookie|consent|onetrust"
    r"|recaptcha|hcaptcha|sentry|newrelic|statcounter|quantserve|chartbeat|speedcurve|jquery",
    re.IGNORECASE,
)
"""Scripts that count, advertise or ask for consent: no text comes from them."""

_ASKS = re.compile(r"java\s?-?script", re.IGNORECASE)
_NEEDS = re.compile(
    r"(?:enable|activate|requires?|without|turn on|allow|needs?|aktivier\w*|activ\w+|habilit\w+)\W.{0,40}"
    r"java\s?-?script"
    r"|java\s?-?script\W.{0,40}(?:disabled|required|enabled?|needed|deaktiviert|erforderlich|désactivé)",
    re.IGNORECASE,
)
# All patterns here are linear: none looks beyond the next angle bracket, or for what may never come.
_WAITS = re.compile(
    r"\W*(?:loading|please wait|one moment|initiali[sz]ing|wird geladen|bitte warten|lädt|chargement|cargando"
    r"|carregando|caricamento|laden|ładowanie|загрузка|読み込み中|加载中|로딩)\b",
    re.IGNORECASE,
)
_MOUNT = re.compile(
    r"<(div|main|section|article|app-root|ul|table|tbody)\b([^<>]*)>(?:\s|<!--[^<>]*-->|&nbsp;)*+</\1\s*>",
    re.IGNORECASE,
)
_NAMED_ROOT = re.compile(
    r"""\bid\s*=\s*["']?(?:root|app|main|__next|__nuxt|___gatsby|gatsby-focus-wrapper|react-root|app-root|q-app"""
    r"""|svelte|sapper|ember\d*|mount|container|content|page|application|main-app|wrapper|board|list)["'\s>/]""",
    re.IGNORECASE,
)
_HAS_ID = re.compile(r"""\bid\s*=""", re.IGNORECASE)
_SIDE = re.compile(
    r"""["'\s_-](?:fb|ads?|banner|cookie|modal|toast|overlay|captcha|tooltip|lightbox|popup|spinner|portal|gtm)["'\s_-]""",
    re.IGNORECASE,
)
_BUNDLES = re.compile(
    r"/_next/|/_nuxt/|/_app/immutable|static/js/|webpack|bundle|chunk|runtime[.-]|vendors?[.~-]|/assets/index[.-]"
    r"|app\.[0-9a-f]{6,}\.js|main\.[0-9a-f]{6,}\.js|polyfills",
    re.IGNORECASE,
)
_CLOAKS = re.compile(r"\b(?:ng-cloak|v-cloak|x-cloak|ng-app|data-ng-app|aria-busy=[\"']?true)", re.IGNORECASE)
_STATE = re.compile(r"__(?:INITIAL|PRELOADED|APOLLO)_STATE__|__NUXT__|__remixContext|self\.__next_f")


def readable_chars(document: Document | None) -> int:
    """How much a reader gets: characters of the text, white space folded; what the head alone says is
    no text of the page's."""
    if document is None or _SELF_SAID in document.flags:
        return 0
    return len(" ".join(document.text.split()))


def is_richer(other: Document | None, first: Document | None) -> bool:
    """Whether ``other`` is the one to take, of two readings of a page."""
    if other is None or first is None:
        return other is not None
    return readable_chars(other) > RICHER * readable_chars(first)


def is_rendered(page: Page) -> bool:
    """Whether a page is of a kind that browsers render, and that may have scripts."""
    return page.content_type.partition(";")[0].strip().lower() in _HTML


def calls_for_scripts(page: Page, document: Document | None) -> str:
    """Why a page, read as ``document``, would have more to say if its scripts were run; empty when
    nothing suggests it."""
    chars = readable_chars(document)
    if not is_rendered(page) or chars >= SHELL_CHARS:
        return ""
    markup = _Markup(page.body[:_LOOKED_AT].decode("utf-8", "replace"))
    if not markup.has_scripts:
        return ""
    if reason := _shell(markup):
        return reason
    return "" if chars >= THIN_CHARS else _hints(markup)


def _shell(markup: _Markup) -> str:
    """Reasons that hold also for a page with a menu and a footer."""
    if _ASKS.search(markup.noscript) or (len(markup.text) < SHELL_CHARS and _NEEDS.search(markup.text)):
        return "it asks for JavaScript"
    for match in _MOUNT.finditer(markup.html):
        if _NAMED_ROOT.search(f"{match[2]} ") or match[1].lower() == "app-root":
            return "the element that its scripts fill is empty"
    return ""


def _hints(markup: _Markup) -> str:
    if _WAITS.match(markup.text):
        return "it says that it is loading"
    if len(markup.text) < _BARE_CHARS:
        return "it has scripts, and hardly any text"
    if any(_HAS_ID.search(m[2]) and not _SIDE.search(f" {m[2]} ") for m in _MOUNT.finditer(markup.html)):
        return "an element with a name is empty"
    if markup.bundled or _CLOAKS.search(markup.html) or _STATE.search(markup.code):
        return "it is built by scripts"
    if len(markup.code) > max(_CODE_CHARS, 10 * len(markup.text)):
        return "it is scripts for the most part"
    return ""


class _Markup:
    """What there is in a page's markup, in one pass."""

    def __init__(self, html: str) -> None:
        code: list[str] = []
        noscript: list[str] = []
        kept: list[str] = []
        self.bundled = self.has_scripts = False
        at = 0
        low = html.lower()
        if len(low) != len(html):  # a few letters grow in lower case; offsets must not shift
            low = "".join(c.lower() if c.isascii() else c for c in html)
        while match := _RAW.search(html, at):
            name = match[1].lower()
            kept.append(html[at : match.start()])
            end = low.find(f"</{name}", match.end())
            end = len(html) if end < 0 else end
            inner = html[match.end() : end]
            if name == "script":
                self._script(match[2], inner, code)
            elif name == "noscript":
                noscript.append(inner)
            close = html.find(">", end)
            at = len(html) if close < 0 else close + 1
        kept.append(html[at:])
        self.html = "".join(kept)
        body = re.search(r"<body\b", self.html, re.IGNORECASE)
        self.code = "\n".join(code)
        self.noscript = _plain(" ".join(noscript))
        self.text = _plain(self.html[body.start() :] if body else self.html)

    def _script(self, attributes: str, inner: str, code: list[str]) -> None:
        kind = _TYPE.search(attributes)
        if kind and _DATA_TYPES.search(kind[1]):
            return
        source = _SRC.search(attributes)
        if source:
            if not _COUNTERS.search(source[1]):
                self.has_scripts = True
                module = bool(kind and kind[1].lower() == "module")
                self.bundled = self.bundled or module or bool(_BUNDLES.search(source[1]))
        elif inner.strip() and not (len(inner) < _CODE_CHARS and _COUNTERS.search(inner)):
            self.has_scripts = True
            code.append(inner)


def _plain(markup: str) -> str:
    return " ".join(unescape(_TAGS.sub(" ", markup)).split())
