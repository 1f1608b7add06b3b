"""Google's forms of countries (``gl``) and languages (``hl``). Pure."""

from __future__ import annotations

import re

_COUNTRY = re.compile(r"[a-z]{2}\Z")
_LANGUAGE = re.compile(r"[a-z]{2,3}\Z")

# Languages that Google knows with a region or a script; of any other it takes the first part alone.
_WITH_REGION = frozenset({"en-gb", "es-419", "fr-ca", "pt-br", "pt-pt", "zh-cn", "zh-hk", "zh-tw"})
_SPELLINGS = {
    "he": "iw",
    "nb": "no",
    "nn": "no",
    "fil": "tl",
    "zh": "zh-cn",
    "zh-hans": "zh-cn",
    "zh-hant": "zh-tw",
    "zh-mo": "zh-hk",
    "zh-sg": "zh-cn",
}


def google_country(country: str | None) -> str:
    """The two letters of ``gl``, or "" for what is no country code."""
    code = (country or "").strip().lower()
    code = "gb" if code == "uk" else code
    return code if code.isascii() and _COUNTRY.match(code) else ""


def google_language(language: str | None) -> str:
    """``hl`` for a language tag (``pt_BR``, ``zh-Hant-TW``, ``de-AT``), or "" for what is none."""
    tag = (language or "").strip().lower().replace("_", "-")
    while tag:
        code = _SPELLINGS.get(tag, tag)
        if code in _WITH_REGION or (code.isascii() and _LANGUAGE.match(code)):
            return code
        tag = tag.rpartition("-")[0]
    return ""
