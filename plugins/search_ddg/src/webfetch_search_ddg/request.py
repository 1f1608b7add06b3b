"""From a search request to DuckDuckGo's form fields. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import urlsplit

from webfetch_core.api import Freshness, SearchRequest

MAX_QUERY_CHARS = 499
"""Longest ``q`` that the form takes."""

_TIME_FILTER = {Freshness.REALTIME: "d", Freshness.RECENT: "m", Freshness.STABLE: ""}

# "!w lake" and "\lake" make the engine redirect to another site instead of answering.
_BANG = re.compile(r"(?<!\S)[!\\]+(?=\w)")

_HOST = re.compile(r"[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)+\Z")

# Each country of the engine's regions with its languages, the usual one first.
_TABLE = """
ar es, at de, au en, be fr nl, bg bg, br pt, ca en fr, ch de fr it, cl es, cn zh, co es, cz cs, de de, dk da,
ee et, es es ca, fi fi, fr fr, gb en, gr el, hk zh, hr hr, hu hu, id id en, ie en, il he, in en, it it, jp ja,
kr ko, lt lt, lv lv, mx es, my ms en, nl nl, no no, nz en, pe es, ph en tl, pl pl, pt pt, ro ro, ru ru, se sv,
sg en, si sl, sk sk, th th, tr tr, tw zh, ua uk, us en es, ve es, vn vi, za en
"""
_REGIONS = {country: tuple(spoken) for country, *spoken in (row.split() for row in _TABLE.split(","))}
# Where the engine's code is not "country-language".
_OWN_CODES = {
    "gb-en": "uk-en",
    "jp-ja": "jp-jp",
    "kr-ko": "kr-kr",
    "hk-zh": "hk-tzh",
    "tw-zh": "tw-tzh",
    "si-sl": "sl-sl",
    "es-ca": "ct-ca",
    "us-es": "ue-es",
}
# Languages of several countries: the one that is meant without a country.
_HOME = {
    "en": "us",
    "es": "es",
    "pt": "pt",
    "fr": "fr",
    "de": "de",
    "nl": "nl",
    "ca": "es",
    "it": "it",
    "id": "id",
}
_SYNONYMS = {"nb": "no", "nn": "no", "fil": "tl", "iw": "he"}


def form_fields(request: SearchRequest, default_region: str) -> dict[str, str]:
    """Return the fields of page 1."""
    fields = {
        "q": query_text(request.query, request.include_domains, request.exclude_domains),
        "b": "",
        "kl": region_code(request.language, request.country) or default_region,
    }
    time_filter = _TIME_FILTER[request.freshness] if request.freshness else ""
    if time_filter:
        fields["df"] = time_filter
    return fields


def query_text(query: str, include: Iterable[str] = (), exclude: Iterable[str] = ()) -> str:
    """Return the query with ``site:`` operators, at most 499 characters.

    The words come first. An include list is written whole or not at all: half of it would lose
    the hits of the other half. Hits are filtered again afterwards, so operators may be left out.
    """
    text = shorten(_BANG.sub("", " ".join(query.split())))
    wanted = [host for host in map(host_of_filter, include) if host]
    if wanted:
        operators = " OR ".join(f"site:{host}" for host in wanted)
        operators = f"({operators})" if len(wanted) > 1 else operators
        if len(text) + 1 + len(operators) <= MAX_QUERY_CHARS:
            text = f"{text} {operators}"
    for host in filter(None, map(host_of_filter, exclude)):
        if len(text) + len(host) + 7 <= MAX_QUERY_CHARS:
            text = f"{text} -site:{host}"
    return text


def shorten(text: str, limit: int = MAX_QUERY_CHARS) -> str:
    """Cut ``text`` to ``limit`` characters, at a blank where there is one."""
    if len(text) <= limit:
        return text
    cut = text.rfind(" ", 0, limit + 1)
    return text[: cut if cut > 0 else limit].rstrip()


def region_code(language: str | None, country: str | None) -> str:
    """Return DuckDuckGo's region (``de-de``, ``uk-en``) or "" where it has none.

    ``language`` may carry a country of its own (``pt-BR``); ``country`` wins.
    """
    parts = re.split(r"[-_]", (language or "").strip().lower())
    tongue = _SYNONYMS.get(parts[0], parts[0])
    place = (country or "").strip().lower()
    if not place and len(parts) > 1 and len(parts[-1]) == 2:
        place = parts[-1]
    place = "gb" if place == "uk" else place
    if place not in _REGIONS:
        place = _HOME.get(tongue) or next((c for c, spoken in _REGIONS.items() if tongue in spoken), "")
    if not place:
        return ""
    spoken = _REGIONS[place]
    code = f"{place}-{tongue if tongue in spoken else spoken[0]}"
    return _OWN_CODES.get(code, code)


def accept_language(region: str) -> str:
    """Return the ``Accept-Language`` that a browser set to that region would send."""
    country, _, tongue = region.partition("-")
    if country == "wt":
        return "en-US,en;q=0.9"
    tongue = {"jp": "ja", "kr": "ko", "tzh": "zh"}.get(tongue, tongue)
    country = {"uk": "gb", "ct": "es", "ue": "us"}.get(country, country)
    tail = "" if tongue == "en" else ",en;q=0.5"
    return f"{tongue}-{country.upper()},{tongue};q=0.9{tail}"


def host_of_filter(domain: str) -> str:
    """Return the host that a domain filter means (``https://www.A.example/x`` → ``a.example``), or ""."""
    text = domain.strip().lower()
    host = text.split("//", 1)[-1].split("/", 1)[0].split(":", 1)[0].removeprefix("*.").strip(".")
    host = _ascii(host.removeprefix("www."))
    return host if _HOST.match(host) else ""


def allowed(url: str, include: Iterable[str], exclude: Iterable[str]) -> bool:
    """Whether the filters let ``url`` through: a domain stands for itself and its subdomains."""
    try:
        host = _ascii((urlsplit(url).hostname or "").rstrip("."))
    except ValueError:
        return False
    include = tuple(include)
    if any(_within(host, host_of_filter(d)) for d in exclude):
        return False
    return not include or any(_within(host, host_of_filter(d)) for d in include)


def _within(host: str, domain: str) -> bool:
    return bool(domain) and (host == domain or host.endswith(f".{domain}"))


def _ascii(host: str) -> str:
    try:
        return host.encode("idna").decode("ascii")
    except UnicodeError:
        return host
